//! From glTF image indices to the images of a model.
//!
//! Only images that a material uses are read, each once, and decoded, to know that they are whole. If an image is missing or
//! broken, there is a warning, and the texture is left out. If a URI leads out of the model's folder, a file of the same name
//! beside the model's others takes its place.
//!
//! Decoding takes most of the import time of a character with one texture, so other threads decode some images while this one
//! reads nodes, skins and clips. Results, messages and their order do not depend on it: each image is checked and charged when
//! a material uses it, and only then are the decoded texels taken, or decoded.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use gltf::json;
use image::ImageDecoder;
use serde_json::{Map, Value};

use crate::model::image::{Reason, decode_rgba, open_decoder, texel_count};
use crate::model::import::decode::Document;
use crate::model::import::error::{Result, Warnings, look_up};
use crate::model::import::file::{UriFault, kind_of};
use crate::model::import::limits::{ENCODED_IMAGE_BYTES, MAX_DECODED_IMAGE_BYTES, TEXELS};
use crate::model::{Image, ImageSource};

#[derive(Default)]
pub(super) struct Images {
    pub list: Vec<Image>,
    pub sources: Vec<ImageSource>,
    /// The index in `list` for each glTF index that has been tried; `None` if it failed.
    index_of: HashMap<usize, Option<u32>>,
    texels_taken: u64,
    encoded_bytes_taken: u64,
    ahead: DecodedAhead,
}

impl Images {
    /// Starts without images. `ahead` holds images that are already decoded.
    pub fn new(ahead: DecodedAhead) -> Self {
        Self { ahead, ..Self::default() }
    }

    /// Returns the model's index of the glTF image `source`, which is decoded at its first use; `None` if that fails.
    pub fn load(&mut self, document: &mut Document, source: usize, warnings: &mut Warnings) -> Result<Option<u32>> {
        if let Some(&known) = self.index_of.get(&source) {
            return Ok(known);
        }
        let encoded = match self.check_encoded_bytes(document.files.bytes_read()) {
            Ok(()) => encoded_bytes(document, source, warnings)?,
            Err(reason) => Err(reason),
        };
        let index = match encoded.and_then(|bytes| self.decode(source, bytes, document)) {
            Ok((image, origin)) => {
                self.list.push(image);
                self.sources.push(origin);
                Some(self.list.len() as u32 - 1)
            }
            Err(reason) => {
                warnings.add(format_args!("images[{source}]"), format_args!("{reason}; the image is left out"));
                None
            }
        };
        self.index_of.insert(source, index);
        Ok(index)
    }

    /// Checks the encoded bytes so far. The bytes of refused images count too, so once this fails, no further image is read.
    fn check_encoded_bytes(&self, file_bytes: u64) -> Result<(), Reason> {
        let limit = ENCODED_IMAGE_BYTES.at(file_bytes);
        if self.encoded_bytes_taken <= limit {
            return Ok(());
        }
        Err(format!("all images of a model with files of this size may have {limit} bytes, and earlier ones have more"))
    }

    fn decode(&mut self, source: usize, bytes: Vec<u8>, document: &Document) -> Result<(Image, ImageSource), Reason> {
        let file_bytes = document.files.bytes_read();
        self.encoded_bytes_taken = self.encoded_bytes_taken.saturating_add(bytes.len() as u64);
        self.check_encoded_bytes(file_bytes)?;
        let what = |reason: Reason| kind_of(&bytes).map_or(reason, |kind| format!("is {kind}"));
        let (decoder, format) = open_decoder(&bytes).map_err(what)?;
        let (width, height) = decoder.dimensions();
        // The limits are checked before decoding, because a small file may decode to gigabytes.
        let (texels, limit) = (texel_count(&decoder), TEXELS.at(file_bytes));
        if texels > limit.saturating_sub(self.texels_taken) || decoder.total_bytes() > MAX_DECODED_IMAGE_BYTES {
            let problem = "texels are too many; all images of a model with files of this size may have";
            return Err(format!("{width}x{height} {problem} {limit}"));
        }
        document
            .budget
            .take_image(texels, bytes.len() as u64, file_bytes)
            .map_err(|too_much| format!("{width}x{height} texels are too many: {too_much}"))?;
        self.texels_taken += texels;
        let rgba = self.ahead.remove(&source).map_or_else(|| decode_rgba(decoder), Ok)?;
        let name = document.root.images.get(source).and_then(|image| image.name.clone());
        let name = name.unwrap_or_else(|| format!("image {source}"));
        let origin = ImageSource { index: source as u32, format, bytes: bytes.len() as u64 };
        Ok((Image::encoded(name, [width, height], bytes, rgba), origin))
    }
}

/// Returns the encoded bytes of an image. The outer error is fatal, the inner one is not.
fn encoded_bytes(document: &mut Document, source: usize, warnings: &mut Warnings) -> Result<Result<Vec<u8>, Reason>> {
    let at = format!("images[{source}]");
    let entry = look_up(&document.root.images, "images", source, &at)?;
    if let Some(uri) = &entry.uri {
        return match document.files.fetch(uri) {
            Ok(bytes) => Ok(Ok(Arc::unwrap_or_clone(bytes))),
            Err(UriFault::Unreadable(why)) => Ok(Err(why)),
            Err(UriFault::Refused(why)) => {
                let json::Root { buffers, images, .. } = &document.root;
                let others = buffers.iter().map(|buffer| &buffer.uri).chain(images.iter().map(|image| &image.uri));
                let others = others.flatten().map(String::as_str).filter(|other| !other.starts_with("data:"));
                let Some((bytes, path)) = document.files.fetch_by_name(uri, others) else { return Ok(Err(why)) };
                warnings.add(format_args!("{at}.uri"), format_args!("{why}; {path:?} is read instead"));
                Ok(Ok(Arc::unwrap_or_clone(bytes)))
            }
        };
    }
    match entry.buffer_view {
        Some(view) => document.view(view.value(), &format!("{at}.bufferView")).map(|(bytes, _)| Ok(bytes.to_vec())),
        None => Ok(Err("has neither a uri nor a bufferView".to_owned())),
    }
}

/// The largest number of texels to decode ahead, possibly all at once: four textures of 4096 x 4096. Others are decoded
/// one at a time when they are used.
const MAX_TEXELS_AHEAD: u64 = 64 << 20;

/// The RGBA texels of images that are already decoded, by glTF index.
pub type DecodedAhead = HashMap<usize, Vec<u8>>;

/// Runs `work` on this thread while other threads decode images.
pub fn while_decoding<'f, T>(document: &mut Document<'f>, work: impl FnOnce(&Document<'f>) -> T) -> (T, DecodedAhead) {
    let fetched = fetch_ahead(document);
    let document = &*document;
    let tasks = tasks(document, &fetched);
    let mut decoded: Vec<Option<Vec<u8>>> = vec![None; tasks.len()];
    let done = rayon::in_place_scope(|scope| {
        for (&(_, encoded), decoded) in tasks.iter().zip(&mut decoded) {
            // An image that cannot be decoded is tried again when it is used, and its warning has the reason.
            scope.spawn(move |_| *decoded = open_decoder(encoded).and_then(|(decoder, _)| decode_rgba(decoder)).ok());
        }
        work(document)
    });
    (done, tasks.iter().zip(decoded).filter_map(|(&(source, _), rgba)| Some((source, rgba?))).collect())
}

/// Reads the images outside of the file's buffers that materials use, until their bytes are too many.
fn fetch_ahead(document: &mut Document) -> HashMap<usize, Arc<Vec<u8>>> {
    let Document { root, files, .. } = document;
    let (mut fetched, mut bytes) = (HashMap::new(), 0);
    for source in used(root) {
        let Some(uri) = root.images.get(source).and_then(|image| image.uri.as_deref()) else { continue };
        if bytes > ENCODED_IMAGE_BYTES.at(files.bytes_read()) {
            break;
        }
        if let Ok(encoded) = files.fetch(uri) {
            bytes += encoded.len() as u64;
            fetched.insert(source, encoded);
        }
    }
    fetched
}

fn used(root: &json::Root) -> BTreeSet<usize> {
    let textures = root.materials.iter().flat_map(textures_of).flatten();
    textures.filter_map(|texture| Some(root.textures.get(texture.index)?.source.value())).collect()
}

/// Returns the images to decode ahead: their glTF indices and their encoded bytes.
fn tasks<'d>(document: &'d Document, fetched: &'d HashMap<usize, Arc<Vec<u8>>>) -> Vec<(usize, &'d [u8])> {
    let at_once = document.budget.texels_at_once(document.files.bytes_read());
    let (mut tasks, mut texels_left) = (Vec::new(), at_once.min(MAX_TEXELS_AHEAD));
    for source in used(&document.root) {
        let view = || document.root.images.get(source)?.buffer_view;
        let encoded = match fetched.get(&source) {
            Some(fetched) => Some(&***fetched),
            None => view().and_then(|view| document.view(view.value(), "images").ok()).map(|(encoded, _)| encoded),
        };
        let Some(encoded) = encoded else { continue };
        let Some(texels) = open_decoder(encoded).ok().map(|(decoder, _)| texel_count(&decoder)) else { continue };
        if let Some(left) = texels_left.checked_sub(texels) {
            texels_left = left;
            tasks.push((source, encoded));
        }
    }
    tasks
}

/// The properties that all kinds of texture infos in glTF share.
#[derive(Clone, Copy)]
pub(super) struct TextureUse<'j> {
    pub index: usize,
    pub tex_coord: u32,
    pub extensions: Option<&'j Map<String, Value>>,
}

impl<'j> From<&'j json::texture::Info> for TextureUse<'j> {
    fn from(info: &'j json::texture::Info) -> Self {
        let extensions = info.extensions.as_ref().map(|extensions| &extensions.others);
        Self { index: info.index.value(), tex_coord: info.tex_coord, extensions }
    }
}

/// Returns the textures of a material: base colour, metalness and roughness, emission, occlusion, normals.
pub(super) fn textures_of(material: &json::Material) -> [Option<TextureUse<'_>>; 5] {
    let json::Material { pbr_metallic_roughness: pbr, normal_texture, occlusion_texture, .. } = material;
    let occlusion = occlusion_texture.as_ref().map(|info| TextureUse {
        index: info.index.value(),
        tex_coord: info.tex_coord,
        extensions: info.extensions.as_ref().map(|extensions| &extensions.others),
    });
    let normal = normal_texture.as_ref().map(|info| TextureUse {
        index: info.index.value(),
        tex_coord: info.tex_coord,
        extensions: info.extensions.as_ref().map(|extensions| &extensions.others),
    });
    let [base_color, metallic_roughness, emissive] =
        [&pbr.base_color_texture, &pbr.metallic_roughness_texture, &material.emissive_texture]
            .map(|info| info.as_ref().map(TextureUse::from));
    [base_color, metallic_roughness, emissive, occlusion, normal]
}
