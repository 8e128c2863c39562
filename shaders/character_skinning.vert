// --skinning vertex: the same crowd from the same palette, skinned anew in every pass that draws it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "skinning.glsl"
#include "character.glsl"

void main() {
    uint vertex = gl_VertexIndex;
    uint instance = gl_InstanceIndex;
    uint tangent;
    SkinnedVertex skinned = skin_vertex(vertex, pose_of(instance), surface_has(SURFACE_TANGENTS), tangent);
    emit_vertex(vertex, instance, skinned, tangent);
}
