// Draws what skin.comp wrote: one instanced draw per material, pulling from a page of the transient vertex buffer.
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
    uint vertex = gl_VertexIndex;
    uint instance = gl_InstanceIndex;
    uint place = instances[instance].skinned_vertex_offset + vertex;
    uint tangent = 0;
    if (surface_has(SURFACE_TANGENTS)) {
        tangent = skinned_tangents[place];
    }
    emit_vertex(vertex, instance, skinned_vertices[place], tangent);
}
