// Pre-skinning, once per frame. Later passes read the skinned vertices and need no joint matrices.
//
// In: the bind-pose vertices, influences and morph deltas of a model and the order of its vertices (set 1), and the pose
// records, the palette and the morph weights of the frame (set 0). Out: the vertices of every visible pose, in model space, in
// a page of the transient vertex buffer (set 2).
//
// Work group (x, y) skins 64 vertices of POSES_PER_GROUP poses, the first of which is first_pose + y * POSES_PER_GROUP. So
// each vertex and its influences are read once for several poses. A dispatch covers poses of one model in one page, and one
// run of vertices: all have INFLUENCE_COUNT influences, or any number of them if that is 0.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "skinning.glsl"

layout(local_size_x = 64) in;

// The vertices of each level of detail, sorted by their number of influences (src/renderer/resident/skin_runs.rs).
layout(set = 1, binding = 5, std430) readonly buffer SkinOrder {
    uint skin_order[];
};

layout(set = 2, binding = 0, std430) writeonly buffer SkinnedVertices {
    SkinnedVertex skinned_vertices[];
};

layout(set = 2, binding = 1, std430) writeonly buffer SkinnedTangents {
    uint skinned_tangents[];
};

layout(push_constant, std430) uniform SkinConstants {
    // A range of skin_order.
    uint first;
    uint end;
    uint first_pose;
    uint end_pose;
} constants;

void main() {
    uint number = constants.first + gl_GlobalInvocationID.x;
    if (number >= constants.end) {
        return;
    }
    uint index = skin_order[number];
    bool wants_normal = WITH_NORMALS != 0, wants_tangent = WITH_TANGENTS != 0;
    uint first_pose = constants.first_pose + gl_WorkGroupID.y * POSES_PER_GROUP;
    // All poses of a dispatch have the same level of detail.
    uint bind_vertex_offset = poses[first_pose].bind_vertex_offset;
    UnpackedVertex vertex = unpack_vertex(index, bind_vertex_offset, wants_normal, wants_tangent);
    uint end_pose = min(first_pose + POSES_PER_GROUP, constants.end_pose);
    for (uint i = first_pose; i < end_pose; ++i) {
        PoseRecord pose = poses[i];
        uint tangent;
        // The offset counts from the start of the page.
        uint at = pose.skinned_vertex_offset + index;
        skinned_vertices[at] = skin_vertex(vertex, pose, wants_normal, wants_tangent, tangent);
        if (wants_tangent) {
            skinned_tangents[at] = tangent;
        }
    }
}
