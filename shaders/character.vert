// Draws the vertices that skin.comp wrote, with one instanced draw per draw range of the model. Instances and static vertices
// are vertex attributes. The shader reads the skinned vertex from a page of the transient vertex buffer, because its index
// depends on the vertex and on the pose.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "character.glsl"
#include "copies.glsl"

layout(set = 1, binding = 0, std430) readonly buffer SkinnedVertices {
    SkinnedVertex skinned_vertices[];
};

layout(set = 1, binding = 1, std430) readonly buffer SkinnedTangents {
    uint skinned_tangents[];
};

void main() {
    Instance instance = drawn_instance();
    uint index = poses[instance.pose].skinned_vertex_offset + drawn_vertex();
    uint tangent = 0;
    if (has_feature(FEATURE_TANGENTS)) {
        tangent = skinned_tangents[index];
    }
    emit_vertex(instance, skinned_vertices[index], tangent);
}
