//! `repr(C)` mirrors of the structs in `shaders/`: the contract between the CPU and the shaders.
//!
//! Sizes and offsets are asserted here at compile time, and `tests/repository/shader_layout.rs` compares names and offsets with
//! the reflected SPIR-V. Members are scalars, 16-byte vectors, or 12-byte vectors followed by a scalar, so std430 and C agree
//! without padding rules. This module imports nothing else from this crate: every layer that touches GPU data may use it.

mod specialization;

use bytemuck::{Pod, Zeroable};
use glam::{Affine3A, Vec2, Vec3, Vec4};

pub use specialization::{SpecializationConstants, material_features};

/// A row-major 3x4 affine matrix, 48 bytes: an element of the palette SSBO. Maps mesh space to model space.
///
/// With rows, a shader transforms a point by three dot products, and blending four matrices reads 12 vec4s.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct JointMatrix {
    /// `rows[r][c]`; column 3 is the translation.
    pub rows: [[f32; 4]; 3],
}

impl JointMatrix {
    pub const IDENTITY: Self = Self { rows: [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]] };

    pub fn transform_point(&self, point: Vec3) -> Vec3 {
        let p = point.extend(1.0);
        Vec3::new(Vec4::from(self.rows[0]).dot(p), Vec4::from(self.rows[1]).dot(p), Vec4::from(self.rows[2]).dot(p))
    }

    /// Transforms a normal; the result is not normalised. The cofactor matrix is the inverse transpose times the
    /// determinant, so nothing is divided. The determinant's sign turns the normals of mirroring matrices outwards again.
    pub fn transform_normal(&self, n: Vec3) -> Vec3 {
        let [row0, row1, row2] = self.rows.map(|[x, y, z, _]| Vec3::new(x, y, z));
        let (cofactor0, cofactor1, cofactor2) = (row1.cross(row2), row2.cross(row0), row0.cross(row1));
        let determinant_sign = if row0.dot(cofactor0) < 0.0 { -1.0 } else { 1.0 };
        determinant_sign * Vec3::new(cofactor0.dot(n), cofactor1.dot(n), cofactor2.dot(n))
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
    /// The position in mesh space.
    pub position: [f32; 3],
    /// The normal in mesh space, packed by [`pack_octahedral`].
    pub normal_octahedral: u32,
    /// Index of the vertex's first influence in the model's influence array.
    pub first_influence: u32,
    /// The number of influences, at least 1.
    pub influence_count: u32,
    /// Index of the vertex's first morph delta in the model's array of morph deltas.
    pub first_morph_delta: u32,
    /// The number of morph deltas, often 0.
    pub morph_delta_count: u32,
}

/// One joint that moves a vertex, and how much.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct GpuInfluence {
    /// Index of the joint matrix, relative to the pose's `palette_offset`.
    pub joint: u32,
    /// The factor of the joint matrix. The weights of a vertex sum to 1.
    pub weight: f32,
}

/// The displacement of one vertex by one morph target of weight 1.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct GpuMorphDelta {
    /// Index of the target's weight, relative to the pose's `morph_weight_offset`.
    pub weight_index: u32,
    /// The displacement of the position, in mesh space.
    pub position: [f32; 3],
    /// The vector that is added to the unit normal of the bind pose.
    pub normal: [f32; 3],
}

/// The attributes of a vertex that skinning does not change. They are uploaded once and never copied per instance.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct StaticVertex {
    /// Two pairs of texture coordinates. [`MaterialData::texture_rows`] selects a pair for each texture.
    pub tex_coords: [f32; 4],
    /// Linear RGBA, four unsigned normalised bytes, red lowest.
    pub color_unorm8: u32,
}

/// One vertex of one pose in the transient vertex buffer. `skin.comp` writes it and every later pass reads it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct SkinnedVertex {
    /// The position in model space.
    pub position: [f32; 3],
    /// The normal in model space, packed by [`pack_octahedral`].
    pub normal_octahedral: u32,
}

/// The offsets of one visible pose's data: an element of the pose SSBO, which `skin.comp` and all
/// vertex shaders that draw characters read. [`FramePlan`](crate::crowd::FramePlan) computes all members.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct PoseRecord {
    /// Index of the pose's first joint matrix in the palette SSBO.
    pub palette_offset: u32,
    /// Index of the pose's first vertex in its page of the transient vertex buffer.
    pub skinned_vertex_offset: u32,
    /// Index of the pose's first morph weight in the morph weight SSBO.
    pub morph_weight_offset: u32,
    /// The number of morph weights: those of the model, or 0 if no target is active. Such a pose takes no time for targets.
    pub morph_weight_count: u32,
    /// Index of the first bind vertex of the pose's level of detail. It is not 0 for levels that follow fewer joints.
    pub bind_vertex_offset: u32,
}

/// One visible instance: its placement, its pose, its tint and its numbers.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct InstanceData {
    /// The placement in the world: the rows of a 3x4 matrix.
    pub world_from_model: JointMatrix,
    /// Index of the instance's [`PoseRecord`].
    pub pose: u32,
    /// The multiplier of the base colour: linear RGBA, four unsigned normalised bytes, red lowest. `u32::MAX` is white.
    pub tint_unorm8: u32,
    /// The number of the instance in its crowd and the number of the pose that it shows. Unlike `pose`, neither depends on
    /// the camera. No pass of the renderer reads them.
    pub numbers: [u32; 2],
}

/// Camera, light, ground and look: the data that all draws of a frame share.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct FrameData {
    /// World to clip space: reversed-Z, infinite far plane, column-major.
    pub clip_from_world: [[f32; 4]; 4],
    /// Clip space to the axes of the world around the eye, for rays through pixels: as exact far from the origin as near it.
    pub direction_from_clip: [[f32; 4]; 4],
    /// The eye in world space.
    pub camera_position: [f32; 3],
    /// A factor of radiance.
    pub exposure: f32,
    /// The unit vector from a surface towards the light.
    pub to_light: [f32; 3],
    /// The reciprocal of the length of `to_light` along the ground, or 0 if the light is straight above.
    pub to_light_ground_scale: f32,
    /// The linear RGB colour of the light.
    pub light_color: [f32; 3],
    /// The alpha of opaque lit fragments: 1 if the image is transparent, otherwise 0.
    pub opaque_alpha: f32,
    /// World to shadow map space: x and y in -1..1, depth in 0..1, greater is nearer to the light; column-major.
    pub shadow_from_world: [[f32; 4]; 4],
    pub shadow_map_texels: f32,
    pub shadow_texel_metres: f32,
    /// The depth of one texel's length along the light.
    pub shadow_depth_per_texel: f32,
    /// How far the ground, which lies at height 0, reaches from the camera.
    pub ground_reach_metres: f32,
    /// The least x and z of the ground that shadows may reach.
    pub shaded_ground_least: [f32; 2],
    /// The greatest x and z of the ground that shadows may reach.
    pub shaded_ground_greatest: [f32; 2],
    /// The colour and alpha into which distant ground fades: those of the horizon, or of a plain background.
    pub background: [f32; 4],
    /// The sky, and the light of the surroundings.
    pub sky: SkyData,
    /// The radiance of the ground in the sun's light, linear RGB.
    pub ground_sunlit: [f32; 3],
    /// The spacing of the ground's fine grid.
    pub ground_cell_metres: f32,
    /// The radiance of the ground in the sky's light, linear RGB.
    pub ground_ambient: [f32; 3],
    /// The height in clip space of the strip at the lower edge of the picture where the ground hides the sky.
    pub hidden_sky_height: f32,
    /// How far the body that the camera follows has gone over the ground, in cells, less whole periods of the pattern.
    pub ground_offset_cells: [f32; 2],
    pub padding: [f32; 2],
}

/// The sky and the ground below it, as light from all directions. Radiance in linear RGB; w is unused.
/// [`Sky`](crate::view::Sky) chooses the colours.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct SkyData {
    pub zenith: [f32; 4],
    pub horizon: [f32; 4],
    /// The air around the sun adds this to the sky.
    pub glow: [f32; 4],
    /// The ground, as seen from above.
    pub ground: [f32; 4],
    /// The unit vector towards the sun.
    pub to_sun: [f32; 4],
}

/// Push constants of the shaders `environment_*.comp`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct EnvironmentConstants {
    pub sky: SkyData,
}

/// Push constants of `skin.comp`: one dispatch.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct SkinConstants {
    /// The first index in the model's skin order that this dispatch skins.
    pub first: u32,
    /// One beyond the last index.
    pub end: u32,
    /// Index of the first pose's [`PoseRecord`].
    pub first_pose: u32,
    /// One beyond the last pose.
    pub end_pose: u32,
}

/// Push constants of `copies.glsl`: one draw of copies.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct CopyConstants {
    /// Index of the first instance.
    pub first_instance: u32,
    /// A copy has `1 << vertex_bits` vertices.
    pub vertex_bits: u32,
}

/// Push constants of `tone_map.frag`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct ToneMapConstants {
    /// A factor of radiance.
    pub exposure: f32,
}

/// `local_size_x` of `skin.comp`. `tests/repository/shader_layout.rs` compares both.
pub const VERTICES_PER_GROUP: u32 = 64;

/// One material, as `shading.glsl` reads it from a uniform buffer.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct MaterialData {
    /// The linear RGBA factor of the base colour.
    pub base_color_factor: [f32; 4],
    /// The factor of the emitted radiance, linear RGB.
    pub emission: [f32; 3],
    /// With [`material_features::MASKED`], fragments with a smaller alpha are discarded.
    pub alpha_cutoff: f32,
    /// The metalness, 0 to 1.
    pub metallic: f32,
    /// The perceptual roughness, 0 to 1.
    pub roughness: f32,
    /// The strength of the occlusion texture, 0 to 1.
    pub occlusion_strength: f32,
    /// The factor of the normal map's x and y.
    pub normal_scale: f32,
    /// With [`material_features::SPECULAR`], the reflectance of a dielectric at normal incidence, linear RGB.
    pub dielectric_reflectance: [f32; 3],
    /// The same at grazing incidence.
    pub grazing_reflectance: f32,
    /// With [`material_features::TEX_COORDS_VARY`], two rows for each of [`material_features::TEXTURES`]: x, y and z map
    /// the vertex's (u, v, 1) to u (first row) and v (second row). w of the first row selects the pair of coordinates.
    pub texture_rows: [[f32; 4]; 2 * material_features::TEXTURES.len()],
}

const _: () = {
    use std::mem::{offset_of, size_of};
    assert!(size_of::<JointMatrix>() == 48);
    assert!(size_of::<BindVertex>() == 32 && offset_of!(BindVertex, first_influence) == 16);
    assert!(size_of::<GpuInfluence>() == 8);
    assert!(size_of::<GpuMorphDelta>() == 28 && offset_of!(GpuMorphDelta, normal) == 16);
    assert!(size_of::<StaticVertex>() == 20);
    assert!(size_of::<SkinnedVertex>() == 16 && offset_of!(SkinnedVertex, normal_octahedral) == 12);
    assert!(size_of::<PoseRecord>() == 20 && offset_of!(PoseRecord, bind_vertex_offset) == 16);
    assert!(size_of::<InstanceData>() == 64 && offset_of!(InstanceData, tint_unorm8) == 52);
    assert!(size_of::<FrameData>() == 416 && offset_of!(FrameData, ground_offset_cells) == 400);
    assert!(size_of::<SkyData>() == 80 && size_of::<EnvironmentConstants>() == 80);
    assert!(size_of::<SkinConstants>() == 16);
    assert!(size_of::<MaterialData>() == 224 && offset_of!(MaterialData, texture_rows) == 64);
};

/// Packs a direction of any length into two signed normalised 16-bit numbers by the octahedral map (Cigolle et al., "A
/// Survey of Efficient Representations for Independent Unit Vectors", JCGT 2014). x is in the low half; the largest error
/// is about 0.004 degrees. The twin of `pack_octahedral` in `shaders/shared.glsl`.
pub fn pack_octahedral(n: Vec3) -> u32 {
    let sum = n.x.abs() + n.y.abs() + n.z.abs();
    let mut p = if sum > 0.0 { n.truncate() / sum } else { Vec2::ZERO };
    if n.z < 0.0 {
        p = Vec2::new(
            (1.0 - p.y.abs()) * if p.x >= 0.0 { 1.0 } else { -1.0 },
            (1.0 - p.x.abs()) * if p.y >= 0.0 { 1.0 } else { -1.0 },
        );
    }
    // GLSL's packSnorm2x16: round(clamp(c, -1, 1) * 32767). `as` saturates and turns NaN into 0.
    let snorm16 = |v: f32| u32::from((v.clamp(-1.0, 1.0) * 32767.0).round() as i16 as u16);
    snorm16(p.x) | (snorm16(p.y) << 16)
}

/// Packs a tangent like [`pack_octahedral`]. The lowest bit holds the sign of w, the handedness.
pub fn pack_tangent(tangent: Vec4) -> u32 {
    (pack_octahedral(tangent.truncate()) & !1) | u32::from(tangent.w < 0.0)
}

/// Unpacks the result of [`pack_tangent`]: a unit vector, and 1 or -1 as w.
pub fn unpack_tangent(packed: u32) -> Vec4 {
    unpack_octahedral(packed & !1).extend(if packed & 1 == 0 { 1.0 } else { -1.0 })
}

/// Unpacks the result of [`pack_octahedral`]: a unit vector.
pub fn unpack_octahedral(packed: u32) -> Vec3 {
    let snorm16 = |bits: u32| (f32::from(bits as u16 as i16) / 32767.0).clamp(-1.0, 1.0);
    let (x, y) = (snorm16(packed & 0xffff), snorm16(packed >> 16));
    let z = 1.0 - x.abs() - y.abs();
    let fold = (-z).max(0.0);
    Vec3::new(x - fold.copysign(x), y - fold.copysign(y), z).normalize_or(Vec3::Z)
}
