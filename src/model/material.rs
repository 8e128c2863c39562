//! What a surface looks like: the part of glTF's materials that the renderer draws.

use glam::Vec4;

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

/// The drawn part of a glTF material.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// The file's name, or `material N`.
    pub name: String,
    /// Linear RGBA, multiplied with texture and vertex colour.
    pub base_color_factor: Vec4,
    /// sRGB-encoded colour, linear alpha.
    pub base_color_texture: Option<Texture>,
    /// 0 (dielectric) to 1.
    pub metallic: f32,
    /// 0 (mirror) to 1.
    pub roughness: f32,
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
            alpha_mode: AlphaMode::Opaque,
            double_sided: false,
        }
    }
}

/// Eight-bit RGBA, sRGB-encoded colour, rows from the top, no padding.
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
