// Which instance and which vertex a vertex shader draws. A draw of copies (src/renderer/resident/copies.rs) has many characters
// in each of its instances, one beside the other, and then the attributes of instance rate say nothing.
#ifndef THRONG_COPIES
#define THRONG_COPIES

#include "instance.glsl"
#include "specialization.glsl"

// All copies of a level have this many vertices together: COPIED_VERTICES of src/renderer/resident/copies.rs.
const uint COPIED_VERTICES = 256;

// As in src/shader_types.rs.
struct InstanceData {
    JointMatrix world_from_model;
    uint pose;
    uint tint_unorm8;
    uvec2 numbers;
};

layout(set = 0, binding = 4, std430) readonly buffer Instances {
    InstanceData instances[];
};

layout(push_constant, std430) uniform CopyConstants {
    uint first_instance;
    uint vertex_bits; // a copy has 2^vertex_bits vertices
} copies;

Instance drawn_instance() {
    if (!has_feature(FEATURE_COPIES)) {
        return instance_of_attributes();
    }
    uint copy = uint(gl_InstanceIndex) * COPIED_VERTICES + uint(gl_VertexIndex) % COPIED_VERTICES >> copies.vertex_bits;
    InstanceData data = instances[copies.first_instance + copy];
    return Instance(data.world_from_model, data.pose, unpackUnorm4x8(data.tint_unorm8));
}

uint drawn_vertex() {
    return has_feature(FEATURE_COPIES) ? gl_VertexIndex & (1u << copies.vertex_bits) - 1u : gl_VertexIndex;
}

#endif
