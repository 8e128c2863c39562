// Depth as the light sees it, from the vertices that skin.comp wrote: pre-skinning pays once more.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "instance.glsl"

layout(set = 2, binding = 0, std430) readonly buffer SkinnedVertices {
    SkinnedVertex skinned_vertices[];
};

void main() {
    vec3 position = skinned_vertices[in_offsets.y + gl_VertexIndex].position;
    gl_Position = frame.shadow_from_world * vec4(to_world(position), 1.0);
}
