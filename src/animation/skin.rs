//! The CPU twin of `skin.comp`: the same steps in the same order, so that each can be read beside the other, and so
//! that the shader's output can be held against this one's.

use glam::{Vec3, Vec4, Vec4Swizzles};

use crate::shader_types::{BindVertex, GpuInfluence, JointMatrix, SkinnedVertex, pack_octahedral, unpack_octahedral};

/// Skins vertex `v` of the bind pose; `palette` starts at the instance's first joint matrix.
///
/// # Panics
/// If `v`, an influence or its joint is out of range.
#[must_use]
pub fn skin_vertex(
    vertices: &[BindVertex],
    influences: &[GpuInfluence],
    palette: &[JointMatrix],
    v: usize,
) -> SkinnedVertex {
    let vertex = vertices[v];

    // Linear blend skinning: the weighted sum of the joints' matrices (glTF 2.0, 3.7.3.3).
    let mut row0 = Vec4::ZERO;
    let mut row1 = Vec4::ZERO;
    let mut row2 = Vec4::ZERO;
    for i in vertex.first_influence..vertex.first_influence + vertex.influence_count {
        let influence = influences[i as usize];
        let joint = palette[influence.joint as usize];
        row0 += influence.weight * Vec4::from(joint.rows[0]);
        row1 += influence.weight * Vec4::from(joint.rows[1]);
        row2 += influence.weight * Vec4::from(joint.rows[2]);
    }

    let bind_position = Vec3::from(vertex.position).extend(1.0);
    let position = Vec3::new(row0.dot(bind_position), row1.dot(bind_position), row2.dot(bind_position));

    // Normals go by the cofactor matrix: the inverse transpose times the determinant, so that nothing is divided and a
    // flattened joint does no harm. The determinant's sign turns them back outwards where the matrix mirrors.
    let cofactor0 = row1.xyz().cross(row2.xyz());
    let cofactor1 = row2.xyz().cross(row0.xyz());
    let cofactor2 = row0.xyz().cross(row1.xyz());
    let determinant_sign = if row0.xyz().dot(cofactor0) < 0.0 { -1.0 } else { 1.0 };
    let bind_normal = unpack_octahedral(vertex.normal_octahedral);
    let direction = determinant_sign
        * Vec3::new(cofactor0.dot(bind_normal), cofactor1.dot(bind_normal), cofactor2.dot(bind_normal));
    let length = direction.length();
    let normal = if length > 0.0 { direction / length } else { bind_normal };

    SkinnedVertex { position: position.into(), normal_octahedral: pack_octahedral(normal) }
}

/// Skins all vertices of one instance.
///
/// # Panics
/// If `out` is not as long as `vertices`, or as [`skin_vertex`] does.
pub fn skin_vertices(
    vertices: &[BindVertex],
    influences: &[GpuInfluence],
    palette: &[JointMatrix],
    out: &mut [SkinnedVertex],
) {
    assert_eq!(out.len(), vertices.len(), "room for {} vertices of {}", out.len(), vertices.len());
    for (v, skinned) in out.iter_mut().enumerate() {
        *skinned = skin_vertex(vertices, influences, palette, v);
    }
}
