//! The features of a material that a pipeline is specialised for: bits of specialization constant 0 of the shaders that
//! draw characters. The code of an absent feature is not part of the pipeline. `shaders/material_features.glsl` has the
//! same bits; `tests/repository/shader_layout.rs` compares them.

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
/// There is a shadow map. This is a feature of the picture, like the next one.
pub const SHADOWED: u32 = 32768;
/// Alpha is coverage.
pub const TRANSPARENT: u32 = 65536;

/// The bit of each texture, in the order of their bindings.
pub const TEXTURES: [u32; 5] =
    [BASE_COLOR_TEXTURE, METALLIC_ROUGHNESS_TEXTURE, OCCLUSION_TEXTURE, EMISSIVE_TEXTURE, NORMAL_TEXTURE];

/// The length of the array of all varyings (`shaders/varyings.glsl`).
pub const ALL_VARYINGS: u32 = 5;

/// Returns how many elements of that array the character shaders need for these features.
#[must_use]
pub const fn varying_count(features: u32) -> u32 {
    if features & TANGENTS != 0 {
        ALL_VARYINGS
    } else if features & TEX_COORDS_VARY != 0 {
        4
    } else if features & (FLAT | UNLIT) == 0 || features & (MASKED | BLENDED) != 0 {
        3
    } else {
        2
    }
}
