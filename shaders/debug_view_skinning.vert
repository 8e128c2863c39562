// --skinning vertex: skins each vertex like character_skinning.vert, for the debug views.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "debug_vertex.glsl"

void main() {
    uint tangent;
    SkinnedVertex skinned = skin_vertex(gl_VertexIndex, poses[in_pose], has_feature(FEATURE_TANGENTS), tangent);
    emit_vertex(skinned, tangent);
    emit_debug(gl_VertexIndex);
}
