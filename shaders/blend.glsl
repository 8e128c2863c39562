// Blending: one matrix from the joint matrices that influence a vertex (glTF 2.0, 3.7.3.1).
//
// In: an unpacked vertex, and the palette of the frame. Out: the matrix that takes the vertex from mesh space to model space.
#ifndef THRONG_BLEND
#define THRONG_BLEND

#include "unpacked.glsl"

// Returns the influence with a number from 0 to the vertex's influence_count - 1.
GpuInfluence influence_of(UnpackedVertex vertex, uint number) {
    if (INFLUENCE_COUNT != 0) {
        return vertex.influences[number];
    }
    uint at = vertex.first_influence + number;
    return GpuInfluence(influences[at].joint, influences[at].weight);
}

// Returns the weighted sum of the joint matrices that influence a vertex.
JointMatrix blend_joint_matrices(UnpackedVertex vertex, uint palette_offset) {
    JointMatrix blended = JointMatrix(vec4[3](vec4(0.0), vec4(0.0), vec4(0.0)));
    for (uint i = 0; i < vertex.influence_count; ++i) {
        GpuInfluence influence = influence_of(vertex, i);
        uint joint = palette_offset + influence.joint;
        blended.rows[0] += influence.weight * palette[joint].rows[0];
        blended.rows[1] += influence.weight * palette[joint].rows[1];
        blended.rows[2] += influence.weight * palette[joint].rows[2];
    }
    return blended;
}

#include "blend_dual.glsl"

// Returns the matrix of a vertex. There is nothing to blend for one joint.
JointMatrix blended(UnpackedVertex vertex, uint palette_offset) {
    bool by_matrices = WITH_DUAL_QUATERNIONS == 0 || vertex.influence_count <= 1;
    return by_matrices ? blend_joint_matrices(vertex, palette_offset) : blend_dual_quaternions(vertex, palette_offset);
}

#endif
