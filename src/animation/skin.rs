//! The CPU twin of `skin.comp`: the same steps in the same order, so that each can be read beside the other, and so
//! that the shader's output can be held against this one's.

use glam::{Vec3, Vec4, Vec4Swizzles};

use crate::shader_types::{
    BindVertex, GpuInfluence, GpuMorphDelta, JointMatrix, SkinnedVertex, pack_octahedral, pack_tangent,
    unpack_octahedral, unpack_tangent,
};

/// What the shader reads of a model: the arrays that [`BindVertex`] points into.
#[derive(Debug, Clone, Copy)]
pub struct BindPose<'a> {
    /// All vertices.
    pub vertices: &'a [BindVertex],
    /// All vertices' influences.
    pub influences: &'a [GpuInfluence],
    /// All vertices' morph deltas.
    pub morph_deltas: &'a [GpuMorphDelta],
}

/// What the shader reads of one instance.
#[derive(Debug, Clone, Copy)]
pub struct InstancePose<'a> {
    /// From the instance's first joint matrix on.
    pub palette: &'a [JointMatrix],
    /// From the instance's first morph weight on.
    pub morph_weights: &'a [f32],
}

/// The tangents of a model with normal maps, as the shader reads them.
#[derive(Debug, Clone, Copy)]
pub struct BindTangents<'a> {
    /// One for each vertex, packed.
    pub tangents: &'a [u32],
    /// Three numbers for each morph delta.
    pub morph_tangents: &'a [f32],
}

/// Rows of the weighted sum of the joints' matrices (glTF 2.0, 3.7.3.3).
fn blend_joint_matrices(bind_pose: BindPose<'_>, pose: InstancePose<'_>, vertex: BindVertex) -> [Vec4; 3] {
    let mut row0 = Vec4::ZERO;
    let mut row1 = Vec4::ZERO;
    let mut row2 = Vec4::ZERO;
    for i in vertex.first_influence..vertex.first_influence + vertex.influence_count {
        let influence = bind_pose.influences[i as usize];
        let joint = pose.palette[influence.joint as usize];
        row0 += influence.weight * Vec4::from(joint.rows[0]);
        row1 += influence.weight * Vec4::from(joint.rows[1]);
        row2 += influence.weight * Vec4::from(joint.rows[2]);
    }
    [row0, row1, row2]
}

/// Morphs and skins the tangent of vertex `v`: what the shader does beside [`skin_vertex`] for models that have tangents.
///
/// # Panics
/// As [`skin_vertex`].
#[must_use]
pub fn skin_tangent(bind_pose: BindPose<'_>, tangents: BindTangents<'_>, pose: InstancePose<'_>, v: usize) -> u32 {
    let vertex = bind_pose.vertices[v];
    let bind_tangent = unpack_tangent(tangents.tangents[v]);
    let mut direction = bind_tangent.xyz();
    for i in vertex.first_morph_delta..vertex.first_morph_delta + vertex.morph_delta_count {
        let weight = pose.morph_weights[bind_pose.morph_deltas[i as usize].weight_index as usize];
        direction += weight * Vec3::from_slice(&tangents.morph_tangents[3 * i as usize..]);
    }

    // Tangents lie in the surface and go by the matrix itself. Where that mirrors, the handedness turns round.
    let [row0, row1, row2] = blend_joint_matrices(bind_pose, pose, vertex).map(Vec4Swizzles::xyz);
    let tangent = Vec3::new(row0.dot(direction), row1.dot(direction), row2.dot(direction));
    let mirrored = if row0.dot(row1.cross(row2)) < 0.0 { -1.0 } else { 1.0 };
    let tangent = if tangent.length_squared() == 0.0 { direction } else { tangent };
    pack_tangent(tangent.extend(mirrored * bind_tangent.w))
}

/// Morphs and skins vertex `v` of the bind pose.
///
/// # Panics
/// If `v`, an influence, its joint, a delta or its weight is out of range.
#[must_use]
pub fn skin_vertex(bind_pose: BindPose<'_>, pose: InstancePose<'_>, v: usize) -> SkinnedVertex {
    let vertex = bind_pose.vertices[v];

    // Morph targets come before joints (glTF 2.0, 3.7.2.2).
    let mut bind_position = Vec3::from(vertex.position);
    let mut bind_normal = unpack_octahedral(vertex.normal_octahedral);
    for i in vertex.first_morph_delta..vertex.first_morph_delta + vertex.morph_delta_count {
        let delta = bind_pose.morph_deltas[i as usize];
        let weight = pose.morph_weights[delta.weight_index as usize];
        bind_position += weight * Vec3::from(delta.position);
        bind_normal += weight * Vec3::from(delta.normal);
    }

    let [row0, row1, row2] = blend_joint_matrices(bind_pose, pose, vertex);
    let bind_position = bind_position.extend(1.0);
    let position = Vec3::new(row0.dot(bind_position), row1.dot(bind_position), row2.dot(bind_position));

    // Normals go by the cofactor matrix: the inverse transpose times the determinant, so that nothing is divided and a
    // flattened joint does no harm. The determinant's sign turns them back outwards where the matrix mirrors.
    let cofactor0 = row1.xyz().cross(row2.xyz());
    let cofactor1 = row2.xyz().cross(row0.xyz());
    let cofactor2 = row0.xyz().cross(row1.xyz());
    let determinant_sign = if row0.xyz().dot(cofactor0) < 0.0 { -1.0 } else { 1.0 };
    let direction = determinant_sign
        * Vec3::new(cofactor0.dot(bind_normal), cofactor1.dot(bind_normal), cofactor2.dot(bind_normal));
    let length = direction.length();
    let normal = if length > 0.0 { direction / length } else { bind_normal.normalize_or(Vec3::Z) };

    SkinnedVertex { position: position.into(), normal_octahedral: pack_octahedral(normal) }
}

/// Skins all vertices of one instance.
///
/// # Panics
/// If `out` is not as long as there are vertices, or as [`skin_vertex`] does.
pub fn skin_vertices(bind_pose: BindPose<'_>, pose: InstancePose<'_>, out: &mut [SkinnedVertex]) {
    assert_eq!(out.len(), bind_pose.vertices.len(), "room for {} vertices", bind_pose.vertices.len());
    for (v, skinned) in out.iter_mut().enumerate() {
        *skinned = skin_vertex(bind_pose, pose, v);
    }
}
