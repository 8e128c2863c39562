// Draws what skin.comp wrote: one instanced draw per material. Placement and surface are attributes; the skinned vertex
// is pulled from a page of the transient vertex buffer, since its place depends on vertex and instance.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "character.glsl"

layout(set = 2, binding = 0, std430) readonly buffer SkinnedVertices {
    SkinnedVertex skinned_vertices[];
};

layout(set = 2, binding = 1, std430) readonly buffer SkinnedTangents {
    uint skinned_tangents[];
};

void main() {
    uint place = in_offsets.y + gl_VertexIndex;
    uint tangent = 0;
    if (surface_has(SURFACE_TANGENTS)) {
        tangent = skinned_tangents[place];
    }
    emit_vertex(skinned_vertices[place], tangent);
}
