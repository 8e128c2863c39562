// --skinning vertex: the depth that the light sees. Skins every vertex a second time.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shadow_caster.glsl"
#include "skinning.glsl"
#include "placement.glsl"

void main() {
    uint no_tangent;
    SkinnedVertex skinned = skin_vertex(gl_VertexIndex, pose_at_placement(), false, no_tangent);
    emit_caster(skinned.position);
}
