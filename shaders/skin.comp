// Pre-skinning: computes the vertices of every visible pose once per frame and writes them to the transient vertex buffer.
// Later passes read the skinned vertices and need no joint matrices.
//
// Work group (x, y) skins 64 vertices of pose first_pose + y. A dispatch covers poses of one model in one page, and
// vertices with the same number of influences.
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

// 1 if the model has tangents. Its pages then have room for them.
layout(constant_id = 0) const uint WITH_TANGENTS = 0;

layout(push_constant, std430) uniform SkinConstants {
    uint first_vertex;
    uint end_vertex;
    uint first_pose;
} constants;

void main() {
    uint vertex = constants.first_vertex + gl_GlobalInvocationID.x;
    if (vertex >= constants.end_vertex) {
        return;
    }
    PoseRecord pose = poses[constants.first_pose + gl_WorkGroupID.y];
    uint index = pose.skinned_vertex_offset + vertex;
    uint tangent;
    skinned_vertices[index] = skin_vertex(vertex, pose, WITH_TANGENTS != 0, tangent);
    if (WITH_TANGENTS != 0) {
        skinned_tangents[index] = tangent;
    }
}
