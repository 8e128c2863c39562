//! What a surface looks like: the part of glTF's materials that the renderer draws.

use glam::{Affine2, Vec3, Vec4};

/// How a texture is continued outside 0..1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// Tiled.
    Repeat,
    /// Tiled, every other tile mirrored.
    MirroredRepeat,
    /// The border goes on.
    ClampToEdge,
}

/// How texels are blended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The nearest texel.
    Nearest,
    /// The weighted mean of the nearest ones.
    Linear,
}

/// glTF 2.0, 5.26.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TextureSampler {
    /// Horizontal continuation.
    pub wrap_u: Wrap,
    /// Vertical continuation.
    pub wrap_v: Wrap,
    /// Magnification.
    pub mag: Filter,
    /// Minification within a level.
    pub min: Filter,
    /// Between levels; `None` never uses mipmaps.
    pub mipmap: Option<Filter>,
}

impl Default for TextureSampler {
    /// What is used where the file is silent: repeat, linear, with mipmaps.
    fn default() -> Self {
        Self {
            wrap_u: Wrap::Repeat,
            wrap_v: Wrap::Repeat,
            mag: Filter::Linear,
            min: Filter::Linear,
            mipmap: Some(Filter::Linear),
        }
    }
}

/// An image and how to sample it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Texture {
    /// Index into the model's images.
    pub image: u32,
    /// How to sample it.
    pub sampler: TextureSampler,
}

/// A texture as one slot of a material uses it: what to sample, and where.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MaterialTexture {
    /// What to sample.
    pub texture: Texture,
    /// Which of the two pairs in [`Geometry::tex_coords`](super::Geometry::tex_coords): 0 or 1.
    pub tex_coords: u32,
    /// From the vertex's coordinates to those that are sampled at (KHR_texture_transform). Finite.
    pub texture_from_vertex: Affine2,
}

impl MaterialTexture {
    /// Whether it is sampled at the vertex's first pair of coordinates, as that is.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.tex_coords == 0 && self.texture_from_vertex == Affine2::IDENTITY
    }
}

/// What alpha means (glTF 2.0, 3.9.4).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum AlphaMode {
    /// Ignored.
    #[default]
    Opaque,
    /// Drawn where alpha is at least the cutoff.
    Mask(f32),
    /// Blended over what is behind.
    Blend,
}

/// The drawn part of a glTF material: core glTF 2.0 (3.9) with KHR_materials_unlit and KHR_materials_emissive_strength.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// The file's name, or `material N`.
    pub name: String,
    /// Linear RGBA in 0..1, multiplied with texture and vertex colour.
    pub base_color_factor: Vec4,
    /// sRGB-encoded colour, linear alpha.
    pub base_color_texture: Option<MaterialTexture>,
    /// 0 (dielectric) to 1; multiplied with blue of `metallic_roughness_texture`.
    pub metallic: f32,
    /// 0 (mirror) to 1; multiplied with green of `metallic_roughness_texture`.
    pub roughness: f32,
    /// Linear: roughness in green, metalness in blue.
    pub metallic_roughness_texture: Option<MaterialTexture>,
    /// Linear: in red the share of the light from all around that arrives.
    pub occlusion_texture: Option<MaterialTexture>,
    /// 0 (the texture changes nothing) to 1.
    pub occlusion_strength: f32,
    /// Linear RGB radiance, the strength included; multiplied with `emissive_texture`.
    pub emission: Vec3,
    /// sRGB-encoded colour.
    pub emissive_texture: Option<MaterialTexture>,
    /// Linear: a direction in tangent space, 0..1 standing for -1..1.
    pub normal_texture: Option<MaterialTexture>,
    /// Multiplies x and y of `normal_texture`; finite.
    pub normal_scale: f32,
    /// Base colour alone is shown, as it is; no light changes it.
    pub unlit: bool,
    /// What alpha means.
    pub alpha_mode: AlphaMode,
    /// Back faces are drawn, with their normals turned.
    pub double_sided: bool,
}

impl Default for Material {
    /// glTF's default material, made less metallic: a fully metallic surface without an environment is black.
    fn default() -> Self {
        Self {
            name: "default".to_owned(),
            base_color_factor: Vec4::ONE,
            base_color_texture: None,
            metallic: 0.0,
            roughness: 1.0,
            metallic_roughness_texture: None,
            occlusion_texture: None,
            occlusion_strength: 1.0,
            emission: Vec3::ZERO,
            emissive_texture: None,
            normal_texture: None,
            normal_scale: 1.0,
            unlit: false,
            alpha_mode: AlphaMode::Opaque,
            double_sided: false,
        }
    }
}

/// Eight-bit RGBA, rows from the top, no padding. Colour or data: that is for the slots that use it to say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Image {
    /// For labels and reports.
    pub name: String,
    /// In texels, at least 1.
    pub width: u32,
    /// In texels, at least 1.
    pub height: u32,
    /// `4 * width * height` bytes.
    pub rgba: Vec<u8>,
}
