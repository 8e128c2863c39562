// Morph targets: displacements of the bind pose, each times a weight of the pose (glTF 2.0, 3.7.2.2).
//
// In: an unpacked vertex, a PoseRecord and the morph weights of the frame. Out: its position, normal and tangent, still in mesh
// space: glTF applies morph targets before joints.
#ifndef THRONG_MORPH
#define THRONG_MORPH

#include "unpacked.glsl"

layout(set = 1, binding = 2, std430) readonly buffer MorphDeltas {
    GpuMorphDelta morph_deltas[];
};

// Three numbers for each morph delta.
layout(set = 1, binding = 4, std430) readonly buffer MorphTangents {
    float morph_tangents[];
};

// Returns the position of a vertex with all active targets. Adds to its normal, and to its tangent if that is wanted.
vec3 morphed(UnpackedVertex vertex, PoseRecord pose, bool wants_tangent, inout vec3 normal, inout vec4 tangent) {
    vec3 position = vertex.position;
    if (WITH_MORPHS != 0) {
        uint end_delta = pose.morph_weight_count == 0 ? vertex.first_delta : vertex.end_delta;
        for (uint i = vertex.first_delta; i < end_delta; ++i) {
            GpuMorphDelta delta = morph_deltas[i];
            float weight = morph_weights[pose.morph_weight_offset + delta.weight_index];
            position += weight * vec3(delta.position[0], delta.position[1], delta.position[2]);
            normal += weight * vec3(delta.normal[0], delta.normal[1], delta.normal[2]);
            if (wants_tangent) {
                tangent.xyz += weight * vec3(morph_tangents[3 * i], morph_tangents[3 * i + 1], morph_tangents[3 * i + 2]);
            }
        }
    }
    return position;
}

#endif
