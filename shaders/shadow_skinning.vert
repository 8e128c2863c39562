// --skinning vertex: depth as the light sees it, skinning every vertex a second time.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "skinning.glsl"

void main() {
    uint instance = gl_InstanceIndex;
    uint no_tangent;
    SkinnedVertex skinned = skin_vertex(gl_VertexIndex, pose_of(instance), false, no_tangent);
    vec3 place_world = transform_point(instances[instance].world_from_model, skinned.position);
    gl_Position = frame.shadow_from_world * vec4(place_world, 1.0);
}
