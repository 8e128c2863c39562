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
    skinned_vertices[instances[instance].skinned_vertex_offset + vertex] =
        skin_vertex(vertex, instance);
}
