// Draws what skin.comp wrote: one instanced draw per material, pulling from a page of the transient vertex buffer.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "character.glsl"

layout(set = 2, binding = 0, std430) readonly buffer SkinnedVertices {
    SkinnedVertex skinned_vertices[];
};

void main() {
    uint vertex = gl_VertexIndex;
    uint instance = gl_InstanceIndex;
    emit_vertex(vertex, instance, skinned_vertices[instances[instance].skinned_vertex_offset + vertex]);
}
