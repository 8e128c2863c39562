// --skinning vertex: draws the same crowd from the same pose records and palette, but skins each vertex again in every pass.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "skinning.glsl"
#include "character.glsl"
#include "placement.glsl"

void main() {
    uint tangent;
    SkinnedVertex skinned = skin_vertex(gl_VertexIndex, pose_at_placement(), has_feature(FEATURE_TANGENTS), tangent);
    emit_vertex(skinned, tangent);
}
