// The depth that the light sees, from the vertices that skin.comp wrote.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "copies.glsl"
#include "shadow_caster.glsl"

layout(set = 1, binding = 0, std430) readonly buffer SkinnedVertices {
    SkinnedVertex skinned_vertices[];
};

void main() {
    Instance instance = drawn_instance();
    uint index = poses[instance.pose].skinned_vertex_offset + drawn_vertex();
    emit_caster(instance, skinned_vertices[index].position, frame.shadow_from_world);
}
