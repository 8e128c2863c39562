//! `repr(C)` mirrors of the structs in `shaders/shared.glsl`: the contract between the CPU and the shaders.
//!
//! Sizes and offsets are asserted here at compile time, and `tests/shader_layout.rs` compares names and offsets with
//! the reflected SPIR-V. Members are scalars, 16-byte vectors, or 12-byte ones whose fourth place a scalar fills, so that std430 and C
//! agree without padding rules.
//! This module imports nothing of ours: every layer that touches GPU data may use it.

use bytemuck::{Pod, Zeroable};
use glam::{Affine3A, Vec3, Vec4};

/// A 3x4 row-major affine matrix, 48 bytes: element of the palette SSBO. Takes bind-pose mesh space to model space.
///
/// Rows, because a shader then transforms a point by three dot products and blending four matrices touches 12 vec4s.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct JointMatrix {
    /// `rows[r][c]`; column 3 is the translation.
    pub rows: [[f32; 4]; 3],
}

impl JointMatrix {
    /// The matrix that changes nothing.
    pub const IDENTITY: Self = Self { rows: [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]] };

    /// Transforms a point.
    #[must_use]
    pub fn transform_point(&self, point: Vec3) -> Vec3 {
        let p = point.extend(1.0);
        Vec3::new(Vec4::from(self.rows[0]).dot(p), Vec4::from(self.rows[1]).dot(p), Vec4::from(self.rows[2]).dot(p))
    }
}

impl From<Affine3A> for JointMatrix {
    #[inline]
    fn from(m: Affine3A) -> Self {
        let (x, y, z, t) = (m.matrix3.x_axis, m.matrix3.y_axis, m.matrix3.z_axis, m.translation);
        Self { rows: [[x.x, y.x, z.x, t.x], [x.y, y.y, z.y, t.y], [x.z, y.z, z.z, t.z]] }
    }
}

impl From<JointMatrix> for Affine3A {
    fn from(m: JointMatrix) -> Self {
        let column = |c: usize| Vec3::new(m.rows[0][c], m.rows[1][c], m.rows[2][c]);
        Affine3A::from_cols(column(0).into(), column(1).into(), column(2).into(), column(3).into())
    }
}

/// One bind-pose vertex as `skin.comp` reads it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct BindVertex {
    /// Mesh space.
    pub position: [f32; 3],
    /// Mesh space, [`pack_octahedral`].
    pub normal_octahedral: u32,
    /// Into the model's influence array.
    pub first_influence: u32,
    /// At least 1.
    pub influence_count: u32,
    /// Into the model's array of morph deltas.
    pub first_morph_delta: u32,
    /// Often 0.
    pub morph_delta_count: u32,
}

/// One joint's pull on one vertex.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct GpuInfluence {
    /// Relative to the pose's `palette_offset`.
    pub joint: u32,
    /// The weights of a vertex sum to one.
    pub weight: f32,
}

/// How far one morph target moves one vertex where its weight is 1.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct GpuMorphDelta {
    /// Relative to the pose's `morph_weight_offset`.
    pub weight: u32,
    /// Mesh space.
    pub position: [f32; 3],
    /// Added to the unit normal of the bind pose.
    pub normal: [f32; 3],
}

/// What is the same for every instance of a vertex and therefore never copied per instance.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct SurfaceVertex {
    /// Two pairs of texture coordinates; which texture uses which, [`MaterialData::texture_rows`] say.
    pub tex_coords: [f32; 4],
    /// Linear RGBA, four unsigned normalised bytes, red lowest.
    pub color_unorm8: u32,
}

/// One vertex of one pose, written by `skin.comp`, read by every later pass: the transient vertex buffer.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct SkinnedVertex {
    /// Model space.
    pub position: [f32; 3],
    /// Model space, [`pack_octahedral`].
    pub normal_octahedral: u32,
}

/// One visible instance.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct InstanceData {
    /// Placement in the world: rows of a 3x4 matrix.
    pub world_from_model: JointMatrix,
    /// Index of the instance's first joint matrix in the palette SSBO.
    pub palette_offset: u32,
    /// Index of the instance's first vertex in its page of the transient vertex buffer.
    pub skinned_vertex_offset: u32,
    /// Index of the instance's first morph weight in the buffer of all morph weights.
    pub morph_weight_offset: u32,
    /// Rounds the size to 64 bytes.
    pub padding: u32,
}

/// What is the same for everything drawn in a frame.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct FrameData {
    /// Reversed-Z, infinite far plane, column-major.
    pub clip_from_world: [[f32; 4]; 4],
    /// Inverse of the above, for rays through pixels.
    pub world_from_clip: [[f32; 4]; 4],
    /// World space; w unused.
    pub camera_position: [f32; 4],
    /// Unit vector from a surface towards the light; w unused.
    pub to_light: [f32; 4],
    /// Linear RGB of the light; w unused.
    pub light_color: [f32; 4],
    /// x: height of the ground plane, y: radius of the crowd, z: spacing of the ground's grid, w: unused; metres.
    pub ground: [f32; 4],
    /// World to the shadow map: x and y in -1..1, depth in 0..1, nearer to the light is greater; column-major.
    pub shadow_from_world: [[f32; 4]; 4],
    /// x: one texel of the shadow map in 0..1, y: one texel in metres, z: strength (0: no shadows), w: unused.
    pub shadow: [f32; 4],
}

/// Which part of the streams is bound, as vertex shaders that skin have it in push constants, and as the plan has it: one
/// binding can be no larger than `maxStorageBufferRange`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct StreamWindow {
    /// Index of the first joint matrix, in the palette SSBO.
    pub first_joint: u32,
    /// Index of the first morph weight, in the buffer of all of them.
    pub first_morph_weight: u32,
}

/// Push constants of `skin.comp`: one dispatch.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct SkinConstants {
    /// First vertex of the model that this dispatch skins.
    pub first_vertex: u32,
    /// One beyond the last.
    pub end_vertex: u32,
    /// Index of the first pose's first vertex in its page of the transient vertex buffer.
    pub skinned_vertex_offset: u32,
    /// From each pose to the next: vertices of the model.
    pub skinned_vertex_stride: u32,
    /// Index of the first pose's first joint matrix in the part of the palette SSBO that is bound.
    pub palette_offset: u32,
    /// From each pose to the next.
    pub palette_stride: u32,
    /// Index of the first pose's first morph weight in what is bound of them.
    pub morph_weight_offset: u32,
    /// From each pose to the next.
    pub morph_weight_stride: u32,
}

/// One material, as `character.frag` reads it from a uniform buffer.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct MaterialData {
    /// Linear RGBA.
    pub base_color_factor: [f32; 4],
    /// Linear RGB radiance.
    pub emission: [f32; 3],
    /// Drawn where alpha is at least this; counts with [`surface::MASKED`].
    pub alpha_cutoff: f32,
    /// 0 to 1.
    pub metallic: f32,
    /// 0 to 1.
    pub roughness: f32,
    /// 0 to 1.
    pub occlusion_strength: f32,
    /// Of the normal map's x and y.
    pub normal_scale: f32,
    /// Two rows for each of [`surface::TEXTURES`]: x, y and z give u (then v) of (u, v, 1) of the vertex; w of the first row
    /// is 0 or 1, the vertex's pair of coordinates. They count with [`surface::TEX_COORDS_VARY`].
    pub texture_rows: [[f32; 4]; 2 * surface::TEXTURES.len()],
}

/// What kind of surface a pipeline draws: bits of specialization constant 0 of the shaders that draw characters, so that
/// what a surface does not have is not in its shader at all. As in `shaders/surface.glsl`, with which
/// `tests/shader_layout.rs` compares them.
pub mod surface {
    /// The normal is the triangle's own: the file has none (glTF 2.0, 3.7.2.1).
    pub const FLAT: u32 = 1;
    /// Lines and points: there is no triangle that could have a normal of its own.
    pub const THIN: u32 = 2;
    /// Fragments whose alpha is less than the material's cutoff are left out.
    pub const MASKED: u32 = 4;
    /// Blended over what is there.
    pub const BLENDED: u32 = 8;
    /// Base colour is shown as it is, and what is emitted is added.
    pub const UNLIT: u32 = 16;
    /// Some texture uses the second pair of coordinates, or has a transform.
    pub const TEX_COORDS_VARY: u32 = 32;
    /// There is a base-colour texture.
    pub const BASE_COLOR_TEXTURE: u32 = 64;
    /// There is a texture of roughness and metalness.
    pub const METALLIC_ROUGHNESS_TEXTURE: u32 = 128;
    /// There is an occlusion texture.
    pub const OCCLUSION_TEXTURE: u32 = 256;
    /// There is a texture of emitted colour.
    pub const EMISSIVE_TEXTURE: u32 = 512;
    /// There is a normal map.
    pub const NORMAL_TEXTURE: u32 = 1024;
    /// Vertices have tangents.
    pub const TANGENTS: u32 = 2048;

    /// The bit of each texture, in the order of their slots.
    pub const TEXTURES: [u32; 5] =
        [BASE_COLOR_TEXTURE, METALLIC_ROUGHNESS_TEXTURE, OCCLUSION_TEXTURE, EMISSIVE_TEXTURE, NORMAL_TEXTURE];
}

const _: () = {
    use std::mem::{offset_of, size_of};
    assert!(size_of::<JointMatrix>() == 48);
    assert!(size_of::<BindVertex>() == 32 && offset_of!(BindVertex, first_influence) == 16);
    assert!(size_of::<GpuInfluence>() == 8);
    assert!(size_of::<GpuMorphDelta>() == 28 && offset_of!(GpuMorphDelta, normal) == 16);
    assert!(size_of::<SurfaceVertex>() == 20);
    assert!(size_of::<SkinnedVertex>() == 16 && offset_of!(SkinnedVertex, normal_octahedral) == 12);
    assert!(size_of::<InstanceData>() == 64 && offset_of!(InstanceData, palette_offset) == 48);
    assert!(size_of::<FrameData>() == 272 && offset_of!(FrameData, camera_position) == 128);
    assert!(size_of::<StreamWindow>() == 8);
    assert!(size_of::<SkinConstants>() == 32);
    assert!(size_of::<MaterialData>() == 208 && offset_of!(MaterialData, texture_rows) == 48);
};

/// Packs a unit vector into two signed normalised 16-bit numbers by the octahedral map (Cigolle et al., "A Survey of
/// Efficient Representations for Independent Unit Vectors", JCGT 2014): the twin of `pack_octahedral` in
/// `shaders/shared.glsl`. x is in the low half. Worst error about 0.004 degrees.
#[must_use]
pub fn pack_octahedral(n: Vec3) -> u32 {
    let sum = n.x.abs() + n.y.abs() + n.z.abs();
    let mut p = if sum > 0.0 { n.truncate() / sum } else { glam::Vec2::ZERO };
    if n.z < 0.0 {
        p = glam::Vec2::new(
            (1.0 - p.y.abs()) * if p.x >= 0.0 { 1.0 } else { -1.0 },
            (1.0 - p.x.abs()) * if p.y >= 0.0 { 1.0 } else { -1.0 },
        );
    }
    // GLSL's packSnorm2x16: round(clamp(c, -1, 1) * 32767). `as` saturates and turns NaN into 0.
    let snorm16 = |v: f32| u32::from((v.clamp(-1.0, 1.0) * 32767.0).round() as i16 as u16);
    snorm16(p.x) | (snorm16(p.y) << 16)
}

/// Packs a tangent, whose w is its handedness: as [`pack_octahedral`], with the sign in place of the lowest bit.
#[must_use]
pub fn pack_tangent(tangent: Vec4) -> u32 {
    (pack_octahedral(tangent.truncate()) & !1) | u32::from(tangent.w < 0.0)
}

/// Inverse of [`pack_tangent`]; returns a unit vector and 1 or -1.
#[must_use]
pub fn unpack_tangent(packed: u32) -> Vec4 {
    unpack_octahedral(packed & !1).extend(if packed & 1 == 0 { 1.0 } else { -1.0 })
}

/// Inverse of [`pack_octahedral`]; returns a unit vector.
#[must_use]
pub fn unpack_octahedral(packed: u32) -> Vec3 {
    let snorm16 = |bits: u32| (f32::from(bits as u16 as i16) / 32767.0).clamp(-1.0, 1.0);
    let (x, y) = (snorm16(packed & 0xffff), snorm16(packed >> 16));
    let z = 1.0 - x.abs() - y.abs();
    let fold = (-z).max(0.0);
    Vec3::new(x - fold.copysign(x), y - fold.copysign(y), z).normalize_or(Vec3::Z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octahedral_normals_survive_the_round_trip() {
        for i in 0..10_000 {
            // A golden-angle spiral covers the sphere evenly, poles and the folded half included.
            let z = 1.0 - 2.0 * (i as f32 + 0.5) / 10_000.0;
            let (sin, cos) = (i as f32 * 2.399_963).sin_cos();
            let n = Vec3::new(cos * (1.0 - z * z).sqrt(), sin * (1.0 - z * z).sqrt(), z);
            let error_radians = unpack_octahedral(pack_octahedral(n)).angle_between(n);
            assert!(error_radians < 5e-4, "{n} is off by {error_radians}");
            for handedness in [-1.0, 1.0] {
                let tangent = unpack_tangent(pack_tangent(n.extend(handedness)));
                assert!(tangent.w == handedness && tangent.truncate().angle_between(n) < 7e-4, "{n}: {tangent}");
            }
        }
        for n in [Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X, -Vec3::Y, -Vec3::Z] {
            assert!((unpack_octahedral(pack_octahedral(n)) - n).length() < 1e-4, "{n}");
        }
    }

    #[test]
    fn joint_matrices_hold_what_affine_matrices_hold() {
        let affine = Affine3A::from_scale_rotation_translation(
            Vec3::new(1.0, -2.0, 3.0),
            glam::Quat::from_euler(glam::EulerRot::XYZ, 0.3, 0.5, 0.7),
            Vec3::new(4.0, 5.0, 6.0),
        );
        let matrix = JointMatrix::from(affine);
        let point = Vec3::new(0.1, 0.2, 0.3);
        assert!((matrix.transform_point(point) - affine.transform_point3(point)).length() < 1e-5);
        assert_eq!(Affine3A::from(matrix), affine);
    }
}
