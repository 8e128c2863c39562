// The instance at hand: InstanceData of src/shader_types.rs, fetched as vertex attributes that go on from instance to
// instance (src/renderer/vertex_input.rs).
#ifndef THRONG_INSTANCE
#define THRONG_INSTANCE

#include "shared.glsl"

layout(location = 0) in vec4 in_world_from_model[3]; // rows; locations 0 to 2
layout(location = 3) in uvec4 in_offsets; // palette, skinned vertices, morph weights, nothing

vec3 to_world(vec3 position) {
    return transform_point(JointMatrix(in_world_from_model), position);
}

// Placements are rotations with uniform scale: the matrix itself will do for normals, too.
vec3 direction_to_world(vec3 direction) {
    return vec3(dot(in_world_from_model[0].xyz, direction), dot(in_world_from_model[1].xyz, direction),
                dot(in_world_from_model[2].xyz, direction));
}

#endif
