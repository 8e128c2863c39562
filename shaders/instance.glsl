// The instance that a vertex shader draws: InstanceData of src/shader_types.rs, as vertex attributes with instance rate
// (src/renderer/passes/vertex_input.rs).
#ifndef THRONG_INSTANCE
#define THRONG_INSTANCE

#include "shared.glsl"

layout(location = 0) in vec4 in_world_from_model[3]; // rows, at locations 0 to 2
layout(location = 3) in uint in_pose;
layout(location = 4) in uint in_tint_unorm8;

struct Instance {
    JointMatrix world_from_model;
    uint pose; // index of the instance's PoseRecord
    vec4 tint;
};

Instance instance_of_attributes() {
    return Instance(JointMatrix(in_world_from_model), in_pose, unpackUnorm4x8(in_tint_unorm8));
}

vec3 to_world(Instance instance, vec3 position) {
    return transform_point(instance.world_from_model, position);
}

// A placement is a rotation with uniform scale, so its matrix also transforms normals.
vec3 direction_to_world(Instance instance, vec3 direction) {
    vec4 rows[3] = instance.world_from_model.rows;
    return vec3(dot(rows[0].xyz, direction), dot(rows[1].xyz, direction), dot(rows[2].xyz, direction));
}

#endif
