// --skinning vertex: the depth of the selected character as the camera sees it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "copies.glsl"
#include "shadow_caster.glsl"
#include "skinning.glsl"

void main() {
    uint no_tangent;
    Instance instance = drawn_instance();
    PoseRecord pose = poses[instance.pose];
    UnpackedVertex vertex = unpack_vertex(drawn_vertex(), pose.bind_vertex_offset, false, false);
    SkinnedVertex skinned = skin_vertex(vertex, pose, false, false, no_tangent);
    emit_caster(instance, skinned.position, frame.clip_from_world);
}
