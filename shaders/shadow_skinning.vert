// --skinning vertex: depth as the light sees it, skinning every vertex a second time.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "skinning.glsl"

void main() {
    uint instance = gl_InstanceIndex;
    uint no_tangent;
    SkinnedVertex skinned = skin_vertex(gl_VertexIndex, instance, false, no_tangent);
    vec3 position = vec3(skinned.position[0], skinned.position[1], skinned.position[2]);
    gl_Position = frame.shadow_from_world * vec4(transform_point(instances[instance].world_from_model, position), 1.0);
}
