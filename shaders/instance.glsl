// The instance that a vertex shader draws: InstanceData of src/shader_types.rs, as vertex attributes with instance rate
// (src/renderer/passes/vertex_input.rs).
#ifndef THRONG_INSTANCE
#define THRONG_INSTANCE

#include "shared.glsl"

layout(location = 0) in vec4 in_world_from_model[3]; // rows, at locations 0 to 2
layout(location = 3) in uint in_pose; // index of the instance's PoseRecord

vec3 to_world(vec3 position) {
    return transform_point(JointMatrix(in_world_from_model), position);
}

// A placement is a rotation with uniform scale, so its matrix also transforms normals.
vec3 direction_to_world(vec3 direction) {
    return vec3(dot(in_world_from_model[0].xyz, direction), dot(in_world_from_model[1].xyz, direction),
                dot(in_world_from_model[2].xyz, direction));
}

#endif
