//! Materials and textures: the part of glTF's materials that the renderer uses.

use glam::{Affine2, Vec3, Vec4};

/// The continuation of a texture outside 0..1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wrap {
    Repeat,
    MirroredRepeat,
    ClampToEdge,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Filter {
    Nearest,
    Linear,
}

/// The sampler of a texture (glTF 2.0, 5.26).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TextureSampler {
    pub wrap_u: Wrap,
    pub wrap_v: Wrap,
    pub mag: Filter,
    /// The filter for minification within a mip level.
    pub min: Filter,
    /// The filter between mip levels; `None` disables mipmaps.
    pub mipmap: Option<Filter>,
}

impl Default for TextureSampler {
    /// Returns the sampler of textures without one: repeat, linear, with mipmaps.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Texture {
    pub image: u32,
    pub sampler: TextureSampler,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MaterialTexture {
    pub texture: Texture,
    /// The index, 0 or 1, of the set in [`Geometry::tex_coords`](super::Geometry::tex_coords).
    pub tex_coords: u32,
    /// The transform from the vertex's coordinates to those of the texture (KHR_texture_transform). Finite.
    pub texture_from_vertex: Affine2,
}

impl MaterialTexture {
    /// Whether the texture uses the vertex's first coordinate set without a transform.
    pub fn is_plain(&self) -> bool {
        self.tex_coords == 0 && self.texture_from_vertex == Affine2::IDENTITY
    }
}

/// The meaning of alpha (glTF 2.0, 3.9.4).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum AlphaMode {
    /// Alpha is ignored.
    #[default]
    Opaque,
    /// Fragments with an alpha below this cutoff are discarded.
    Mask(f32),
    /// Fragments are blended over the background.
    Blend,
}

/// A glTF 2.0 material (3.9) with KHR_materials_unlit, KHR_materials_emissive_strength, and the factors of
/// KHR_materials_specular and KHR_materials_ior.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// The name in the file, or `material N`.
    pub name: String,
    /// The base colour, linear RGBA in 0..1, multiplied by texture and vertex colour.
    pub base_color_factor: Vec4,
    /// The base colour texture, with sRGB-encoded colour and linear alpha.
    pub base_color_texture: Option<MaterialTexture>,
    /// The metalness, 0 (dielectric) to 1, multiplied by blue of `metallic_roughness_texture`.
    pub metallic: f32,
    /// The roughness, 0 (mirror) to 1, multiplied by green of `metallic_roughness_texture`.
    pub roughness: f32,
    /// The linear texture with roughness in green and metalness in blue.
    pub metallic_roughness_texture: Option<MaterialTexture>,
    /// The linear texture with ambient occlusion in red: the share of ambient light that arrives.
    pub occlusion_texture: Option<MaterialTexture>,
    /// The strength of `occlusion_texture`, 0 (none) to 1.
    pub occlusion_strength: f32,
    /// The share of light that a dielectric reflects at normal incidence, linear RGB in 0..1.
    pub dielectric_reflectance: Vec3,
    /// The share that it reflects at grazing incidence, 0 to 1.
    pub grazing_reflectance: f32,
    /// The emitted linear RGB radiance, including its strength, multiplied by `emissive_texture`.
    pub emission: Vec3,
    /// The emission texture, with sRGB-encoded colour.
    pub emissive_texture: Option<MaterialTexture>,
    /// The linear texture with directions in tangent space, where 0..1 represents -1..1.
    pub normal_texture: Option<MaterialTexture>,
    /// The factor for x and y of `normal_texture`; finite.
    pub normal_scale: f32,
    /// Whether only the base colour is shown, without any light.
    pub unlit: bool,
    pub alpha_mode: AlphaMode,
    /// Whether back faces are drawn, with their normals reversed.
    pub double_sided: bool,
}

impl Default for Material {
    /// Returns glTF's default material: rough white metal.
    fn default() -> Self {
        Self {
            name: "default".to_owned(),
            base_color_factor: Vec4::ONE,
            base_color_texture: None,
            metallic: 1.0,
            roughness: 1.0,
            metallic_roughness_texture: None,
            occlusion_texture: None,
            occlusion_strength: 1.0,
            dielectric_reflectance: Vec3::splat(Self::REFLECTANCE),
            grazing_reflectance: 1.0,
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

impl Material {
    /// The reflectance of a dielectric with an index of refraction of 1.5, as glTF has it.
    pub const REFLECTANCE: f32 = 0.04;

    /// Whether a dielectric reflects as glTF has it without extensions.
    pub fn has_usual_reflectance(&self) -> bool {
        self.dielectric_reflectance == Vec3::splat(Self::REFLECTANCE) && self.grazing_reflectance == 1.0
    }

    /// Whether a texture uses a set of [`Geometry::tex_coords`](super::Geometry::tex_coords).
    pub fn samples(&self, tex_coords: u32) -> bool {
        self.textures().any(|texture| texture.tex_coords == tex_coords)
    }

    /// Returns the texture of each slot: base colour, metalness and roughness, occlusion, emission, normals.
    pub fn slots(&self) -> [Option<MaterialTexture>; 5] {
        [
            self.base_color_texture,
            self.metallic_roughness_texture,
            self.occlusion_texture,
            self.emissive_texture,
            self.normal_texture,
        ]
    }

    pub fn textures(&self) -> impl Iterator<Item = MaterialTexture> + use<> {
        self.slots().into_iter().flatten()
    }
}
