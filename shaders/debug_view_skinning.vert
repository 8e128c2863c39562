// --skinning vertex: skins each vertex like character_skinning.vert, for the debug views.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "debug_vertex.glsl"
#include "placement.glsl"

void main() {
    uint tangent;
    SkinnedVertex skinned = skin_vertex(gl_VertexIndex, pose_at_placement(), has_feature(FEATURE_TANGENTS), tangent);
    emit_vertex(skinned, tangent);
    emit_debug(gl_VertexIndex);
}
