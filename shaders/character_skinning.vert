// --skinning vertex: the same crowd from the same palette, skinned anew in every pass that draws it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "skinning.glsl"
#include "character.glsl"

void main() {
    uint tangent;
    Pose pose = Pose(in_offsets.x, in_offsets.z);
    SkinnedVertex skinned = skin_vertex(gl_VertexIndex, pose, surface_has(SURFACE_TANGENTS), tangent);
    emit_vertex(skinned, tangent);
}
