//! Materials: the part that the renderer draws, and a warning about the rest.
//!
//! Source: glTF 2.0, 3.9 (materials), 3.8 (textures), 5.26 (samplers); KHR_texture_transform.

use glam::{Affine2, Mat2, Vec2, Vec4};
use gltf::json;
use gltf::json::material::AlphaMode as JsonAlphaMode;
use gltf::json::texture::{MagFilter, MinFilter, WrappingMode};
use gltf::json::validation::Checked;
use serde_json::Value;

use super::document::Document;
use super::error::{Fault, Result, Warnings};
use super::images::Images;
use crate::model::{AlphaMode, Filter, Image, ImageSource, Material, Texture, TextureSampler, Wrap};

/// Which texture coordinates the base-colour texture wants, and how they are changed on the way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TexCoordSource {
    /// Of TEXCOORD_n.
    pub set: u32,
    /// KHR_texture_transform, applied once at import: no other texture is drawn that could want other coordinates.
    pub texture_from_vertex: Affine2,
}

/// All materials of a file; `list` and `tex_coords` have equal length.
pub(super) struct Materials {
    /// By glTF index; the default material, if something uses it, comes last.
    pub list: Vec<Material>,
    /// `None` for materials without a base-colour texture.
    pub tex_coords: Vec<Option<TexCoordSource>>,
    /// What textures show.
    pub images: Vec<Image>,
    /// What each of them was decoded from.
    pub image_sources: Vec<ImageSource>,
    default: Option<u32>,
}

impl Materials {
    /// Reads all materials and the images of their base colours.
    pub fn read(document: &mut Document, warnings: &mut Warnings) -> Result<Self> {
        let mut images = Images::new();
        let (mut list, mut tex_coords) = (Vec::new(), Vec::new());
        // Taken out, because images are fetched through the document meanwhile.
        for (index, entry) in std::mem::take(&mut document.root.materials).iter().enumerate() {
            let (material, source) = read_material(document, entry, index, &mut images, warnings)?;
            list.push(material);
            tex_coords.push(source);
        }
        Ok(Self { list, tex_coords, images: images.list, image_sources: images.sources, default: None })
    }

    /// Index of the material that a primitive names, or of the default one.
    pub fn resolve(&mut self, index: Option<usize>, at: &str) -> Result<u32> {
        match index {
            Some(index) if index < self.list.len() - usize::from(self.default.is_some()) => Ok(index as u32),
            Some(index) => {
                let count = self.list.len() - usize::from(self.default.is_some());
                Err(Fault::dangling(format_args!("{at}.material"), "materials", index, count))
            }
            None => Ok(self.default()),
        }
    }

    /// Index of the default material, which is appended at its first use.
    pub fn default(&mut self) -> u32 {
        *self.default.get_or_insert_with(|| {
            self.list.push(Material::default());
            self.tex_coords.push(None);
            self.list.len() as u32 - 1
        })
    }
}

fn read_material(
    document: &mut Document,
    entry: &json::Material,
    index: usize,
    images: &mut Images,
    warnings: &mut Warnings,
) -> Result<(Material, Option<TexCoordSource>)> {
    let at = format!("materials[{index}]");
    let pbr = &entry.pbr_metallic_roughness;
    warn_about_the_undrawn(entry, &at, warnings);
    let texture = match &pbr.base_color_texture {
        Some(info) => {
            let at = format!("{at}.pbrMetallicRoughness.baseColorTexture");
            let texture = read_texture(document, info.index.value(), &at, images, warnings)?;
            texture.map(|texture| (texture, tex_coord_source(info, &at, warnings)))
        }
        None => None,
    };
    // Without its texture the metallic factor is only an upper bound, and a metal without surroundings is black.
    let metallic = if pbr.metallic_roughness_texture.is_some() { 0.0 } else { pbr.metallic_factor.0 };
    let base_color_factor = Vec4::from(pbr.base_color_factor.0);
    if !base_color_factor.is_finite() {
        return Err(Fault::content(format_args!("{at}.pbrMetallicRoughness.baseColorFactor"), "a number is too large"));
    }
    let material = Material {
        name: entry.name.clone().unwrap_or_else(|| format!("material {index}")),
        base_color_factor,
        base_color_texture: texture.map(|(texture, _)| texture),
        metallic: metallic.clamp(0.0, 1.0),
        roughness: pbr.roughness_factor.0.clamp(0.0, 1.0),
        alpha_mode: match entry.alpha_mode {
            Checked::Valid(JsonAlphaMode::Opaque) => AlphaMode::Opaque,
            Checked::Valid(JsonAlphaMode::Mask) => {
                AlphaMode::Mask(entry.alpha_cutoff.unwrap_or_default().0.clamp(0.0, f32::MAX))
            }
            Checked::Valid(JsonAlphaMode::Blend) => AlphaMode::Blend,
            Checked::Invalid => {
                warnings.add(format_args!("{at}.alphaMode"), "unknown, read as OPAQUE");
                AlphaMode::Opaque
            }
        },
        double_sided: entry.double_sided,
    };
    Ok((material, texture.map(|(_, source)| source)))
}

fn warn_about_the_undrawn(entry: &json::Material, at: &str, warnings: &mut Warnings) {
    let textures = [
        ("metallicRoughnessTexture", entry.pbr_metallic_roughness.metallic_roughness_texture.is_some()),
        ("normalTexture", entry.normal_texture.is_some()),
        ("occlusionTexture", entry.occlusion_texture.is_some()),
        ("emissiveTexture", entry.emissive_texture.is_some()),
        ("emissiveFactor", entry.emissive_factor.0 != [0.0; 3]),
    ];
    let undrawn: Vec<&str> = textures.iter().filter(|(_, present)| *present).map(|&(name, _)| name).collect();
    if !undrawn.is_empty() {
        warnings.add(at, format_args!("not drawn: {}", undrawn.join(", ")));
    }
}

fn read_texture(
    document: &mut Document,
    index: usize,
    at: &str,
    images: &mut Images,
    warnings: &mut Warnings,
) -> Result<Option<Texture>> {
    let json::Root { textures, samplers, images: sources, .. } = &document.root;
    let entry = textures.get(index).ok_or_else(|| Fault::dangling(at, "textures", index, textures.len()))?;
    let sampler = match entry.sampler {
        Some(sampler) => {
            let (sampler, at) = (sampler.value(), format!("textures[{index}].sampler"));
            let found = samplers.get(sampler);
            read_sampler(found.ok_or_else(|| Fault::dangling(&at, "samplers", sampler, samplers.len()))?, &at, warnings)
        }
        None => TextureSampler::default(),
    };
    let source = entry.source.value();
    // What the serde struct makes of a missing `source`: then only an extension has the image (KTX2, WebP).
    if source == u32::MAX as usize {
        warnings.add(format_args!("textures[{index}]"), "has no PNG or JPEG image; white is shown instead");
        return Ok(None);
    }
    if source >= sources.len() {
        return Err(Fault::dangling(format_args!("textures[{index}].source"), "images", source, sources.len()));
    }
    let image = images.load(document, source, warnings)?;
    Ok(image.map(|image| Texture { image, sampler }))
}

fn read_sampler(entry: &json::texture::Sampler, at: &str, warnings: &mut Warnings) -> TextureSampler {
    let mut unknown = |property: &str| warnings.add(at, format_args!("unknown {property}, the default is used"));
    let mut wrap = |mode: Checked<WrappingMode>| match mode {
        Checked::Valid(WrappingMode::ClampToEdge) => Wrap::ClampToEdge,
        Checked::Valid(WrappingMode::MirroredRepeat) => Wrap::MirroredRepeat,
        Checked::Valid(WrappingMode::Repeat) => Wrap::Repeat,
        Checked::Invalid => {
            unknown("wrapping mode");
            Wrap::Repeat
        }
    };
    let (wrap_u, wrap_v) = (wrap(entry.wrap_s), wrap(entry.wrap_t));
    let mag = match entry.mag_filter {
        Some(Checked::Valid(MagFilter::Nearest)) => Filter::Nearest,
        Some(Checked::Valid(MagFilter::Linear)) | None => Filter::Linear,
        Some(Checked::Invalid) => {
            unknown("magFilter");
            Filter::Linear
        }
    };
    let (min, mipmap) = match entry.min_filter {
        Some(Checked::Valid(MinFilter::Nearest)) => (Filter::Nearest, None),
        Some(Checked::Valid(MinFilter::Linear)) => (Filter::Linear, None),
        Some(Checked::Valid(MinFilter::NearestMipmapNearest)) => (Filter::Nearest, Some(Filter::Nearest)),
        Some(Checked::Valid(MinFilter::LinearMipmapNearest)) => (Filter::Linear, Some(Filter::Nearest)),
        Some(Checked::Valid(MinFilter::NearestMipmapLinear)) => (Filter::Nearest, Some(Filter::Linear)),
        Some(Checked::Valid(MinFilter::LinearMipmapLinear)) | None => (Filter::Linear, Some(Filter::Linear)),
        Some(Checked::Invalid) => {
            unknown("minFilter");
            (Filter::Linear, Some(Filter::Linear))
        }
    };
    TextureSampler { wrap_u, wrap_v, mag, min, mipmap }
}

fn tex_coord_source(info: &json::texture::Info, at: &str, warnings: &mut Warnings) -> TexCoordSource {
    let plain = TexCoordSource { set: info.tex_coord, texture_from_vertex: Affine2::IDENTITY };
    let transform = info.extensions.as_ref().and_then(|extensions| extensions.others.get("KHR_texture_transform"));
    let Some(transform) = transform else { return plain };
    let pair = |key: &str, default: f32| -> Vec2 {
        let number = |rank: usize| transform.get(key)?.get(rank)?.as_f64();
        Vec2::new(number(0).map_or(default, |n| n as f32), number(1).map_or(default, |n| n as f32))
    };
    let rotation_radians = transform.get("rotation").and_then(Value::as_f64).unwrap_or(0.0) as f32;
    let (offset, scale) = (pair("offset", 0.0), pair("scale", 1.0));
    // Counter-clockwise as seen, in coordinates whose v points down: the transpose of the usual matrix. This is what
    // the Khronos viewer draws.
    let texture_from_vertex = Affine2::from_translation(offset)
        * Affine2::from_mat2(Mat2::from_angle(-rotation_radians) * Mat2::from_diagonal(scale));
    if !texture_from_vertex.is_finite() {
        warnings.add(at, "KHR_texture_transform with a number that is too large is ignored");
        return plain;
    }
    let set = transform.get("texCoord").and_then(Value::as_u64).and_then(|set| u32::try_from(set).ok());
    TexCoordSource { set: set.unwrap_or(plain.set), texture_from_vertex }
}
