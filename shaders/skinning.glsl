// Skinning of one vertex: unpack, morph, blend, transform (glTF 2.0, 3.7.2.2 and 3.7.3). --skinning compute (skin.comp) and
// --skinning vertex (character_skinning.vert and others) share this code. Its CPU twin, line by line, is src/animation/skin.rs.
//
// In: a vertex of the bind pose, in mesh space, and a PoseRecord. Out: the vertex in model space. unpack_vertex reads the data
// that all poses of a vertex share, and skin_vertex computes one pose.
#ifndef THRONG_SKINNING
#define THRONG_SKINNING

#include "blend.glsl"
#include "morph.glsl"

layout(set = 1, binding = 3, std430) readonly buffer BindTangents {
    uint bind_tangents[];
};

// Reads one vertex of the model, with its normal and tangent if they are wanted. bind_vertex_offset is that of the pose: a
// coarser level may have influences of its own, and then bind vertices of its own, but never tangents.
UnpackedVertex unpack_vertex(uint vertex, uint bind_vertex_offset, bool wants_normal, bool wants_tangent) {
    UnpackedVertex unpacked;
    uint bound = bind_vertex_offset + vertex;
    unpacked.position = bind_vertices[bound].position;
    unpacked.normal = vec3(0.0);
    if (wants_normal) {
        unpacked.normal = unpack_octahedral(bind_vertices[bound].normal_octahedral);
    }
    unpacked.tangent = vec4(0.0);
    if (wants_tangent) {
        unpacked.tangent = unpack_tangent(bind_tangents[vertex]);
    }
    unpacked.first_delta = bind_vertices[bound].first_morph_delta;
    unpacked.end_delta = unpacked.first_delta + bind_vertices[bound].morph_delta_count;
    unpacked.first_influence = bind_vertices[bound].first_influence;
    unpacked.influence_count = INFLUENCE_COUNT != 0 ? INFLUENCE_COUNT : bind_vertices[bound].influence_count;
    for (uint i = 0; i < INFLUENCE_COUNT; ++i) {
        unpacked.influences[i].joint = influences[unpacked.first_influence + i].joint;
        unpacked.influences[i].weight = influences[unpacked.first_influence + i].weight;
    }
    return unpacked;
}

// Skins one vertex, with the normal and the tangent that were unpacked. Only models with normal maps have tangents. A normal
// that is not wanted becomes +Z, which is packed as 0.
SkinnedVertex skin_vertex(UnpackedVertex vertex, PoseRecord pose, bool wants_normal, bool wants_tangent,
                          out uint skinned_tangent) {
    vec3 bind_normal = vertex.normal;
    vec4 bind_tangent = vertex.tangent;
    vec3 bind_position = morphed(vertex, pose, wants_tangent, bind_normal, bind_tangent);
    JointMatrix model_from_mesh = blended(vertex, pose.palette_offset);
    vec3 position = transform_point(model_from_mesh, bind_position);
    uint skinned_normal = 0;
    if (wants_normal) {
        vec3 normal = transform_normal(model_from_mesh, bind_normal);
        // The octahedral map needs no unit vector. If a joint has collapsed, the vertex keeps the bind pose's normal.
        bool collapsed = dot(normal, normal) == 0.0;
        skinned_normal = pack_octahedral(collapsed ? bind_normal : normal);
    }
    skinned_tangent = 0;
    if (wants_tangent) {
        // A tangent lies in the surface, so the matrix itself transforms it. A mirroring matrix changes the handedness.
        vec3 row0 = model_from_mesh.rows[0].xyz, row1 = model_from_mesh.rows[1].xyz, row2 = model_from_mesh.rows[2].xyz;
        vec3 tangent = vec3(dot(row0, bind_tangent.xyz), dot(row1, bind_tangent.xyz), dot(row2, bind_tangent.xyz));
        float mirrored = dot(row0, cross(row1, row2)) < 0.0 ? -1.0 : 1.0;
        skinned_tangent = pack_tangent(dot(tangent, tangent) == 0.0 ? bind_tangent.xyz : tangent,
                                       mirrored * bind_tangent.w);
    }
    return SkinnedVertex(position, skinned_normal);
}

#endif
