// Draws the vertices that skin.comp wrote, like character.vert, for the debug views.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "debug_vertex.glsl"

layout(set = 1, binding = 0, std430) readonly buffer SkinnedVertices {
    SkinnedVertex skinned_vertices[];
};

layout(set = 1, binding = 1, std430) readonly buffer SkinnedTangents {
    uint skinned_tangents[];
};

void main() {
    uint index = poses[in_pose].skinned_vertex_offset + gl_VertexIndex;
    uint tangent = 0;
    if (has_feature(FEATURE_TANGENTS)) {
        tangent = skinned_tangents[index];
    }
    emit_vertex(instance_of_attributes(), skinned_vertices[index], tangent);
    emit_debug(gl_VertexIndex);
}
