// The pre-skinning pass: every visible pose's vertices, once per frame, into a page of the transient vertex buffer.
// Later passes read positions and normals from there and never touch a joint again.
//
// x: vertices of the model that are pulled on by equally many joints, y: poses. One dispatch handles poses of one model
// that share a page: all that belongs to them lies at equal distances.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "skinning.glsl"

layout(local_size_x = 64) in;

layout(set = 2, binding = 0, std430) writeonly buffer SkinnedVertices {
    SkinnedVertex skinned_vertices[];
};

layout(set = 2, binding = 1, std430) writeonly buffer SkinnedTangents {
    uint skinned_tangents[];
};

// 1 for models that have tangents; their pages have room for them.
layout(constant_id = 0) const uint WITH_TANGENTS = 0;

layout(push_constant, std430) uniform SkinConstants {
    uint first_vertex;
    uint end_vertex;
    // Of the first pose of the dispatch, and from each pose to the next.
    uint skinned_vertex_offset;
    uint skinned_vertex_stride;
    uint palette_offset;
    uint palette_stride;
    uint morph_weight_offset;
    uint morph_weight_stride;
} constants;

void main() {
    uint vertex = constants.first_vertex + gl_GlobalInvocationID.x;
    if (vertex >= constants.end_vertex) {
        return;
    }
    uint k = gl_WorkGroupID.y;
    Pose pose = Pose(constants.palette_offset + k * constants.palette_stride,
                     constants.morph_weight_offset + k * constants.morph_weight_stride);
    uint place = constants.skinned_vertex_offset + k * constants.skinned_vertex_stride + vertex;
    uint tangent;
    skinned_vertices[place] = skin_vertex(vertex, pose, WITH_TANGENTS != 0, tangent);
    if (WITH_TANGENTS != 0) {
        skinned_tangents[place] = tangent;
    }
}
