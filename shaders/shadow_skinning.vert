// --skinning vertex: the depth that the light sees. Skins every vertex a second time.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shadow_caster.glsl"
#include "skinning.glsl"

void main() {
    uint no_tangent;
    PoseRecord pose = poses[in_pose];
    UnpackedVertex vertex = unpack_vertex(gl_VertexIndex, pose.bind_vertex_offset, false, false);
    SkinnedVertex skinned = skin_vertex(vertex, pose, false, false, no_tangent);
    emit_caster(skinned.position, frame.shadow_from_world);
}
