// The other way to blend: a joint matrix is a stretch, a rotation and a translation, in this order. Stretches are blended like
// matrices; rotations with their translations are blended as dual quaternions, which bends around joints with less loss of
// volume (Kavan et al., "Geometric Skinning with Approximate Dual Quaternion Blending", 2008). blend.glsl includes this file.

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

// Returns the matrix of a vertex.
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
