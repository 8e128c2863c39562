//! From the texture slot of a material to its image, sampler, texture coordinate set and coordinate transform.
//!
//! A vertex has two sets of texture coordinates, as they are in the file. The transform stays with the slot, because
//! other slots of the material may use the same set without one.
//!
//! Source: glTF 2.0, 3.8 (textures), 5.26 (samplers); KHR_texture_transform; EXT_texture_webp.

use glam::{Affine2, Mat2, Vec2};
use gltf::json;
use gltf::json::texture::{MagFilter, MinFilter, WrappingMode};
use gltf::json::validation::Checked;
use serde_json::Value;

use super::images::{Images, TextureUse};
use crate::model::import::decode::Document;
use crate::model::import::error::{Result, Warnings, look_up};
use crate::model::import::file::mend::index;
use crate::model::{Filter, MaterialTexture, Texture, TextureSampler, Wrap};

/// The two sets TEXCOORD_n that the vertices of one material have, by their numbers n.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TexCoordSets([Option<u32>; 2]);

impl TexCoordSets {
    /// Returns the index, 0 or 1, under which a vertex holds `set`, and adds the set if it is new. `None` for a third set.
    fn index_of(&mut self, set: u32) -> Option<u32> {
        let index = self.0.iter().position(|&known| known.is_none() || known == Some(set))?;
        self.0[index] = Some(set);
        Some(index as u32)
    }

    /// Returns the index, 0 or 1, and the number of each set.
    pub fn iter(self) -> impl Iterator<Item = (usize, u32)> {
        self.0.into_iter().enumerate().filter_map(|(index, set)| Some((index, set?)))
    }
}

/// Reads textures through the document, and their images into the model's list.
pub(super) struct TextureReader<'a, 'f> {
    pub document: &'a mut Document<'f>,
    pub images: &'a mut Images,
    pub warnings: &'a mut Warnings,
}

impl TextureReader<'_, '_> {
    /// Reads the texture of a slot; `None`, with a warning, if its image cannot be read or its coordinates are a third
    /// set. `at` is the slot's JSON path; `sets` collects the sets of all slots of the material.
    pub fn read(&mut self, info: TextureUse, at: &str, sets: &mut TexCoordSets) -> Result<Option<MaterialTexture>> {
        let Some(texture) = self.texture(info.index, at)? else { return Ok(None) };
        let transform = info.extensions.and_then(|extensions| extensions.get("KHR_texture_transform"));
        let (set, texture_from_vertex) = match transform {
            Some(transform) => self.transform(transform, info.tex_coord, at),
            None => (info.tex_coord, Affine2::IDENTITY),
        };
        let Some(tex_coords) = sets.index_of(set) else {
            let problem =
                format!("uses TEXCOORD_{set}, the material's third set; two are supported, so the texture is left out");
            self.warnings.add(at, problem);
            return Ok(None);
        };
        Ok(Some(MaterialTexture { texture, tex_coords, texture_from_vertex }))
    }

    fn texture(&mut self, index: usize, at: &str) -> Result<Option<Texture>> {
        let json::Root { textures, samplers, .. } = &self.document.root;
        let entry = look_up(textures, "textures", index, at)?;
        let at = format!("textures[{index}]");
        let sampler = match entry.sampler {
            Some(sampler) => {
                let (sampler, at) = (sampler.value(), format!("{at}.sampler"));
                read_sampler(look_up(samplers, "samplers", sampler, &at)?, &at, self.warnings)
            }
            None => TextureSampler::default(),
        };
        let sources = sources(entry, &at);
        if sources.is_empty() {
            self.warnings.add(&at, "has no PNG, JPEG or WebP image, so it is left out");
        }
        for (source, at) in sources {
            look_up(&self.document.root.images, "images", source, at)?;
            if let Some(image) = self.images.load(self.document, source, self.warnings)? {
                return Ok(Some(Texture { image, sampler }));
            }
        }
        Ok(None)
    }

    /// Reads KHR_texture_transform: the texture coordinate set and the transform.
    fn transform(&mut self, transform: &Value, tex_coord: u32, at: &str) -> (u32, Affine2) {
        let pair = |key: &str, default: f32| -> Vec2 {
            let number = |rank: usize| transform.get(key)?.get(rank)?.as_f64();
            Vec2::new(number(0).map_or(default, |n| n as f32), number(1).map_or(default, |n| n as f32))
        };
        let rotation_radians = transform.get("rotation").and_then(Value::as_f64).unwrap_or(0.0) as f32;
        let (offset, scale) = (pair("offset", 0.0), pair("scale", 1.0));
        // The rotation is counter-clockwise in the image, where v points down, so the matrix is the transpose of the usual one.
        // The extension's GLSL has the usual one, but its text and its example (lower left quadrant) need this.
        let texture_from_vertex = Affine2::from_translation(offset)
            * Affine2::from_mat2(Mat2::from_angle(-rotation_radians) * Mat2::from_diagonal(scale));
        if !texture_from_vertex.is_finite() {
            self.warnings.add(at, "KHR_texture_transform with a number that is too large is ignored");
            return (tex_coord, Affine2::IDENTITY);
        }
        let set = transform.get("texCoord").and_then(index).and_then(|set| u32::try_from(set).ok());
        (set.unwrap_or(tex_coord), texture_from_vertex)
    }
}

/// Returns the images of a texture, the preferred one first, each with its JSON path.
fn sources(entry: &json::Texture, at: &str) -> Vec<(usize, String)> {
    let extensions = entry.extensions.as_ref().map(|extensions| &extensions.others);
    let webp = extensions.and_then(|extensions| extensions.get("EXT_texture_webp")?.get("source").and_then(index));
    let webp = webp.map(|source| (source, format!("{at}.extensions.EXT_texture_webp.source")));
    // The serde struct has this number if there is no `source`, so that only an extension has an image.
    let plain = Some(entry.source.value()).filter(|&source| source != u32::MAX as usize);
    webp.into_iter().chain(plain.map(|source| (source, format!("{at}.source")))).collect()
}

fn read_sampler(entry: &json::texture::Sampler, at: &str, warnings: &mut Warnings) -> TextureSampler {
    let mut unknown = |property: &str| warnings.add(at, format_args!("unknown {property}; the default is used"));
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
