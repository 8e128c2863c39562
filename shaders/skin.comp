// Pre-skinning, once per frame. Later passes read the skinned vertices and need no joint matrices.
//
// In: the bind-pose vertices, influences and morph deltas of a model and the order of its vertices (set 1), and the pose records, the palette and the morph
// weights of the frame (set 0). Out: the vertices of every visible pose, in model space, in a page of the transient vertex
// buffer (set 2).
//
// Work group (x, y) skins 64 vertices of pose first_pose + y. A dispatch covers poses of one model in one page, and one run
// of vertices: all have INFLUENCE_COUNT influences, or any number of them if that is 0.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "skinning.glsl"

layout(local_size_x = 64) in;

// The vertices of each level of detail, sorted by their number of influences (src/renderer/resident/skin_runs.rs).
layout(set = 1, binding = 7, std430) readonly buffer SkinOrder {
    uint skin_order[];
};

layout(set = 2, binding = 0, std430) writeonly buffer SkinnedVertices {
    SkinnedVertex skinned_vertices[];
};

layout(set = 2, binding = 1, std430) writeonly buffer SkinnedTangents {
    uint skinned_tangents[];
};

// 1 if the model has tangents. Its pages then have room for them. skinning.glsl has the constants 1 and 2.
layout(constant_id = 0) const uint WITH_TANGENTS = 0;

layout(push_constant, std430) uniform SkinConstants {
    // A range of skin_order.
    uint first;
    uint end;
    uint first_pose;
} constants;

void main() {
    uint number = constants.first + gl_GlobalInvocationID.x;
    if (number >= constants.end) {
        return;
    }
    uint vertex = skin_order[number];
    PoseRecord pose = poses[constants.first_pose + gl_WorkGroupID.y];
    // The offset counts from the start of the page.
    uint index = pose.skinned_vertex_offset + vertex;
    uint tangent;
    skinned_vertices[index] = skin_vertex(vertex, pose, WITH_TANGENTS != 0, tangent);
    if (WITH_TANGENTS != 0) {
        skinned_tangents[index] = tangent;
    }
}
