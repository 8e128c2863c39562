// Morphing and skinning of one vertex (glTF 2.0, 3.7.2.2 and 3.7.3). --skinning compute (skin.comp) and
// --skinning vertex (character_skinning.vert, shadow_skinning.vert, debug_view_skinning.vert) share this code. Its CPU twin,
// line by line, is src/animation/skin.rs.
//
// In: a vertex of the bind pose, in mesh space, and a PoseRecord. Out: the vertex in model space. unpack_vertex reads the data
// that all poses of a vertex share, and skin_vertex computes one pose.
#ifndef THRONG_SKINNING
#define THRONG_SKINNING

#include "shared.glsl"
#include "specialization.glsl"

layout(set = 1, binding = 0, std430) readonly buffer BindVertices {
    BindVertex bind_vertices[];
};

layout(set = 1, binding = 1, std430) readonly buffer Influences {
    GpuInfluence influences[];
};

layout(set = 1, binding = 2, std430) readonly buffer MorphDeltas {
    GpuMorphDelta morph_deltas[];
};

layout(set = 1, binding = 3, std430) readonly buffer BindTangents {
    uint bind_tangents[];
};

// Three numbers for each morph delta.
layout(set = 1, binding = 4, std430) readonly buffer MorphTangents {
    float morph_tangents[];
};

// The bind pose of one vertex, in mesh space, for any number of poses.
struct UnpackedVertex {
    vec3 position;
    vec3 normal;
    vec4 tangent; // w: handedness
    uint first_influence;
    uint influence_count;
    uint first_delta;
    uint end_delta;
    // The first INFLUENCE_COUNT. GLSL wants a length that is no specialization constant, so this is the largest one.
    GpuInfluence influences[8];
};

// Reads one vertex of the model, with its normal and tangent if they are wanted. bind_vertex_offset is that of the pose.
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

// Returns the influence with a number from 0 to the vertex's influence_count - 1.
GpuInfluence influence_of(UnpackedVertex vertex, uint number) {
    if (INFLUENCE_COUNT != 0) {
        return vertex.influences[number];
    }
    uint at = vertex.first_influence + number;
    return GpuInfluence(influences[at].joint, influences[at].weight);
}

// Returns the weighted sum of the joint matrices that influence a vertex.
JointMatrix blend_joint_matrices(UnpackedVertex vertex, uint palette_offset) {
    JointMatrix blended = JointMatrix(vec4[3](vec4(0.0), vec4(0.0), vec4(0.0)));
    for (uint i = 0; i < vertex.influence_count; ++i) {
        GpuInfluence influence = influence_of(vertex, i);
        uint joint = palette_offset + influence.joint;
        blended.rows[0] += influence.weight * palette[joint].rows[0];
        blended.rows[1] += influence.weight * palette[joint].rows[1];
        blended.rows[2] += influence.weight * palette[joint].rows[2];
    }
    return blended;
}

// Returns the quaternion (x, y, z, w) of a rotation. Its largest component comes first, so that nothing small divides it
// (Shepperd, "Quaternion from Rotation Matrix", 1978).
vec4 quaternion_of(mat3 rotation) {
    vec3 x = rotation[0], y = rotation[1], z = rotation[2];
    // The squares of the components, times four.
    vec4 s = 1.0 + vec4(x.x - y.y - z.z, y.y - x.x - z.z, z.z - x.x - y.y, x.x + y.y + z.z);
    float most = max(max(s.x, s.y), max(s.z, s.w));
    vec4 q = vec4(y.z - z.y, z.x - x.z, x.y - y.x, s.w);
    if (s.x == most) {
        q = vec4(s.x, x.y + y.x, z.x + x.z, y.z - z.y);
    } else if (s.y == most) {
        q = vec4(x.y + y.x, s.y, y.z + z.y, z.x - x.z);
    } else if (s.z == most) {
        q = vec4(z.x + x.z, y.z + z.y, s.z, x.y - y.x);
    }
    return q * inversesqrt(dot(q, q));
}

mat3 rotation_of(vec4 q) {
    vec3 d = q.xyz + q.xyz, xd = q.x * d, wd = q.w * d;
    float yy = q.y * d.y, yz = q.y * d.z, zz = q.z * d.z;
    return mat3(1.0 - yy - zz, xd.y + wd.z, xd.z - wd.y, xd.y - wd.z, 1.0 - xd.x - zz, yz + wd.x, xd.z + wd.y,
                yz - wd.x, 1.0 - xd.x - yy);
}

// The other way to blend: a joint matrix is a stretch, a rotation and a translation, in this order. Stretches are blended like
// matrices; rotations with their translations are blended as dual quaternions, which bends around joints with less loss of
// volume (Kavan et al., "Geometric Skinning with Approximate Dual Quaternion Blending", 2008).
JointMatrix blend_dual_quaternions(UnpackedVertex vertex, uint palette_offset) {
    vec4 real = vec4(0.0), dual = vec4(0.0);
    mat3 stretch = mat3(0.0);
    for (uint i = 0; i < vertex.influence_count; ++i) {
        GpuInfluence influence = influence_of(vertex, i);
        JointMatrix joint = palette[palette_offset + influence.joint];
        mat3 linear = transpose(mat3(joint.rows[0].xyz, joint.rows[1].xyz, joint.rows[2].xyz));
        vec3 translation = vec3(joint.rows[0].w, joint.rows[1].w, joint.rows[2].w);
        // Gram-Schmidt. A matrix that mirrors or has collapsed is a stretch alone.
        vec3 x = linear[0], z = cross(x, linear[1]);
        mat3 rotation = mat3(1.0);
        if (dot(z, linear[2]) > 0.0 && min(dot(x, x), dot(z, z)) > 1e-30) {
            rotation = mat3(unit(x), cross(unit(z), unit(x)), unit(z));
        }
        stretch += influence.weight * (transpose(rotation) * linear);
        // Of the two quaternions of a rotation, the one on the side of the sum.
        vec4 q = quaternion_of(rotation);
        q *= dot(real, q) < 0.0 ? -influence.weight : influence.weight;
        real += q;
        dual += 0.5 * vec4(q.w * translation + cross(translation, q.xyz), -dot(translation, q.xyz));
    }
    float scale = inversesqrt(dot(real, real));
    real *= scale;
    dual *= scale;
    vec3 translation = 2.0 * (real.w * dual.xyz - dual.w * real.xyz + cross(real.xyz, dual.xyz));
    mat3 rows = transpose(rotation_of(real) * stretch);
    return JointMatrix(vec4[3](vec4(rows[0], translation.x), vec4(rows[1], translation.y), vec4(rows[2], translation.z)));
}

// Skins one vertex, with the normal and the tangent that were unpacked. Only models with normal maps have tangents. A normal
// that is not wanted becomes +Z, which is packed as 0.
SkinnedVertex skin_vertex(UnpackedVertex vertex, PoseRecord pose, bool wants_normal, bool wants_tangent,
                          out uint skinned_tangent) {
    vec3 position = vertex.position;
    vec3 bind_normal = vertex.normal;
    vec4 bind_tangent = vertex.tangent;
    // glTF applies morph targets before joints.
    if (WITH_MORPHS != 0) {
        uint end_delta = pose.morph_weight_count == 0 ? vertex.first_delta : vertex.end_delta;
        for (uint i = vertex.first_delta; i < end_delta; ++i) {
            GpuMorphDelta delta = morph_deltas[i];
            float weight = morph_weights[pose.morph_weight_offset + delta.weight_index];
            position += weight * vec3(delta.position[0], delta.position[1], delta.position[2]);
            bind_normal += weight * vec3(delta.normal[0], delta.normal[1], delta.normal[2]);
            if (wants_tangent) {
                bind_tangent.xyz += weight * vec3(morph_tangents[3 * i], morph_tangents[3 * i + 1], morph_tangents[3 * i + 2]);
            }
        }
    }
    // There is nothing to blend for one joint.
    bool by_matrices = WITH_DUAL_QUATERNIONS == 0 || vertex.influence_count <= 1;
    JointMatrix model_from_mesh = by_matrices ? blend_joint_matrices(vertex, pose.palette_offset)
                                              : blend_dual_quaternions(vertex, pose.palette_offset);
    position = transform_point(model_from_mesh, position);
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
