//! The specialization constants of all pipelines, and the numbers that they take. `shaders/specialization.glsl` has the same;
//! `tests/repository/shader_layout.rs` compares both.

use bytemuck::{Pod, Zeroable};

/// The specialization constants, all `uint`. The id of a member is its place, from 0 on.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
pub struct SpecializationConstants {
    /// Bits of [`material_features`].
    pub features: u32,
    /// The number of influences of every vertex that the pipeline skins; 0 if they differ.
    pub influence_count: u32,
    /// 1 if the model has morph targets.
    pub with_morphs: u32,
    /// `skin.comp`: 1 if the model has tangents.
    pub with_tangents: u32,
    /// 1 if the model has normals.
    pub with_normals: u32,
    /// `skin.comp`: the number of poses that a work group skins.
    pub poses_per_group: u32,
    /// 1 for ground that shadows may reach, 2 for these shadows alone.
    pub ground_is_shaded: u32,
    /// 1 if the shader encodes sRGB, 0 if the format of the output does.
    pub encodes_srgb: u32,
    /// 1 if dual quaternions are blended instead of joint matrices.
    pub with_dual_quaternions: u32,
}

impl SpecializationConstants {
    /// The number of constants.
    pub const COUNT: usize = size_of::<Self>() / size_of::<u32>();

    /// Returns the constants in the order of their ids.
    pub fn words(self) -> [u32; Self::COUNT] {
        bytemuck::cast(self)
    }
}

impl Default for SpecializationConstants {
    fn default() -> Self {
        Self {
            features: 0,
            influence_count: 0,
            with_morphs: 1,
            with_tangents: 0,
            with_normals: 1,
            poses_per_group: 1,
            ground_is_shaded: 1,
            encodes_srgb: 1,
            with_dual_quaternions: 0,
        }
    }
}

/// The features of a material that a pipeline is specialised for. The code of an absent feature is not part of the pipeline.
pub mod material_features {
    /// The file has no normals: each triangle has its own (glTF 2.0, 3.7.2.1).
    pub const FLAT: u32 = 1;
    /// The primitive consists of lines or points, which have no triangle normal.
    pub const THIN: u32 = 2;
    /// Fragments with an alpha below the material's cutoff are discarded.
    pub const MASKED: u32 = 4;
    /// Fragments are blended over the image.
    pub const BLENDED: u32 = 8;
    /// Base colour and emission are shown without lighting.
    pub const UNLIT: u32 = 16;
    /// A texture uses the second pair of texture coordinates or a transform.
    pub const TEX_COORDS_VARY: u32 = 32;
    /// The material has a base colour texture.
    pub const BASE_COLOR_TEXTURE: u32 = 64;
    /// The material has a metallic-roughness texture.
    pub const METALLIC_ROUGHNESS_TEXTURE: u32 = 128;
    /// The material has an occlusion texture.
    pub const OCCLUSION_TEXTURE: u32 = 256;
    /// The material has an emissive texture.
    pub const EMISSIVE_TEXTURE: u32 = 512;
    /// The material has a normal map.
    pub const NORMAL_TEXTURE: u32 = 1024;
    /// The vertices have tangents.
    pub const TANGENTS: u32 = 2048;
    /// The metalness is 0 everywhere, so reflections have no colour.
    pub const DIELECTRIC: u32 = 4096;
    /// The emission is not 0.
    pub const EMITS: u32 = 8192;
    /// The base colour factor is not 1.
    pub const COLOR_FACTOR: u32 = 16384;
    /// A clip mirrors the surface, so its winding does not tell the front.
    pub const MIRRORED_BY_CLIPS: u32 = 32768;
    /// There is a shadow map. This is a feature of the picture, like the next one.
    pub const SHADOWED: u32 = 65536;
    /// Alpha is coverage.
    pub const TRANSPARENT: u32 = 131_072;
    /// A dielectric reflects another share of light than 0.04.
    pub const SPECULAR: u32 = 262_144;
    /// Each instance of the draw is many characters: see [`Copies`](crate::renderer::resident::copies::Copies).
    pub const COPIES: u32 = 524_288;

    /// The bit of each texture, in the order of their bindings.
    pub const TEXTURES: [u32; 5] =
        [BASE_COLOR_TEXTURE, METALLIC_ROUGHNESS_TEXTURE, OCCLUSION_TEXTURE, EMISSIVE_TEXTURE, NORMAL_TEXTURE];
}
