// Depth as the light sees it, from the vertices that skin.comp wrote: pre-skinning pays once more.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(set = 2, binding = 0, std430) readonly buffer SkinnedVertices {
    SkinnedVertex skinned_vertices[];
};

void main() {
    uint instance = gl_InstanceIndex;
    uint vertex = instances[instance].skinned_vertex_offset + gl_VertexIndex;
    vec3 position = skinned_vertices[vertex].position;
    gl_Position = frame.shadow_from_world * vec4(transform_point(instances[instance].world_from_model, position), 1.0);
}
