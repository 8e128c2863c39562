// --skinning vertex: skins each vertex like character_skinning.vert, for the debug views.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "skinning.glsl"
#include "debug_vertex.glsl"

void main() {
    uint tangent;
    bool wants_normal = WITH_NORMALS != 0, wants_tangent = has_feature(FEATURE_TANGENTS);
    PoseRecord pose = poses[in_pose];
    UnpackedVertex vertex = unpack_vertex(gl_VertexIndex, pose.bind_vertex_offset, wants_normal, wants_tangent);
    SkinnedVertex skinned = skin_vertex(vertex, pose, wants_normal, wants_tangent, tangent);
    emit_vertex(instance_of_attributes(), skinned, tangent);
    emit_debug(gl_VertexIndex);
}
