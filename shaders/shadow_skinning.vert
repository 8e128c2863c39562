// --skinning vertex: depth as the light sees it, skinning every vertex a second time.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "pose.glsl"

void main() {
    uint no_tangent;
    SkinnedVertex skinned = skin_vertex(gl_VertexIndex, pose_of_instance(), false, no_tangent);
    gl_Position = frame.shadow_from_world * vec4(to_world(skinned.position), 1.0);
}
