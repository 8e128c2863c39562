// --skinning vertex: the same crowd from the same palette, skinned anew in every pass that draws it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "pose.glsl"
#include "character.glsl"

void main() {
    uint tangent;
    SkinnedVertex skinned = skin_vertex(gl_VertexIndex, pose_of_instance(), surface_has(SURFACE_TANGENTS), tangent);
    emit_vertex(skinned, tangent);
}
