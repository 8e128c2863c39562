// The depth that the light sees, from the vertices that skin.comp wrote.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shadow_caster.glsl"

layout(set = 1, binding = 0, std430) readonly buffer SkinnedVertices {
    SkinnedVertex skinned_vertices[];
};

void main() {
    emit_caster(skinned_vertices[poses[in_pose].skinned_vertex_offset + gl_VertexIndex].position, frame.shadow_from_world);
}
