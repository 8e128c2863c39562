// --skinning vertex: the depth that the light sees. Skins every vertex a second time.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shadow_caster.glsl"
#include "skinning.glsl"

void main() {
    uint no_tangent;
    UnpackedVertex vertex = unpack_vertex(gl_VertexIndex, false, false);
    SkinnedVertex skinned = skin_vertex(vertex, poses[in_pose], false, false, no_tangent);
    emit_caster(skinned.position);
}
