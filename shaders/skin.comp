// The pre-skinning pass: every visible instance's vertices, once per frame, into a page of the transient vertex buffer.
// Later passes read positions and normals from there and never touch a joint again.
//
// x: vertices of the model, y: instances. One dispatch handles the instances of one model that share a page.
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
    uint vertex_count;
    uint first_instance;
    uint first_vertex;
} constants;

void main() {
    uint vertex = constants.first_vertex + gl_GlobalInvocationID.x;
    if (vertex >= constants.vertex_count) {
        return;
    }
    uint instance = constants.first_instance + gl_WorkGroupID.y;
    uint place = instances[instance].skinned_vertex_offset + vertex;
    uint tangent;
    skinned_vertices[place] = skin_vertex(vertex, instance, WITH_TANGENTS != 0, tangent);
    if (WITH_TANGENTS != 0) {
        skinned_tangents[place] = tangent;
    }
}
