// --skinning vertex: draws the same crowd from the same pose records and palette, but skins each vertex again in every pass.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "skinning.glsl"
#include "character.glsl"
#include "copies.glsl"

void main() {
    uint tangent;
    bool wants_normal = WITH_NORMALS != 0, wants_tangent = has_feature(FEATURE_TANGENTS);
    Instance instance = drawn_instance();
    PoseRecord pose = poses[instance.pose];
    UnpackedVertex vertex = unpack_vertex(drawn_vertex(), pose.bind_vertex_offset, wants_normal, wants_tangent);
    SkinnedVertex skinned = skin_vertex(vertex, pose, wants_normal, wants_tangent, tangent);
    emit_vertex(instance, skinned, tangent);
}
