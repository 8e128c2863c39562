//! From a document to images decoded on other threads while this thread reads nodes, skins and clips.
//!
//! Decoding takes most of the import time of a character with one texture. Results, messages and their order do not
//! depend on it or on the number of threads: [`Images`](super::images::Images) checks and charges each image when a
//! material uses it, and only then takes the decoded texels or decodes them itself.

use std::collections::{BTreeSet, HashMap};

use gltf::json;

use crate::model::image::{decode_rgba, open_decoder, texel_count};
use crate::model::import::decode::Document;

/// The largest number of texels to decode ahead, possibly all at once: two textures of 2048 x 2048. Others are decoded
/// one at a time when they are used.
const MAX_TEXELS_AHEAD: u64 = 8 << 20;

/// The RGBA texels of images that are already decoded, by glTF index.
pub type DecodedAhead = HashMap<usize, Vec<u8>>;

/// An image in one of the file's buffers that a material uses: its glTF index and its encoded bytes.
type Task<'d> = (usize, &'d [u8]);

/// Runs `work` on this thread while other threads decode images.
pub fn while_decoding<T>(document: &Document, work: impl FnOnce() -> T) -> (T, DecodedAhead) {
    let tasks = tasks(document);
    let mut decoded: Vec<Option<Vec<u8>>> = vec![None; tasks.len()];
    let done = rayon::in_place_scope(|scope| {
        for (&(_, encoded), decoded) in tasks.iter().zip(&mut decoded) {
            scope.spawn(move |_| *decoded = decode(encoded));
        }
        work()
    });
    (done, tasks.iter().zip(decoded).filter_map(|(&(source, _), rgba)| Some((source, rgba?))).collect())
}

/// Decodes an image. `None` if that fails; [`Images`](super::images::Images) will fail again and report the reason.
fn decode(encoded: &[u8]) -> Option<Vec<u8>> {
    decode_rgba(open_decoder(encoded).ok()?.0).ok()
}

fn tasks<'d>(document: &'d Document) -> Vec<Task<'d>> {
    let json::Root { textures, images, .. } = &document.root;
    let sources =
        shown_textures(document).into_iter().filter_map(|texture| Some(textures.get(texture)?.source.value()));
    let (mut tasks, mut texels_left) = (Vec::new(), MAX_TEXELS_AHEAD);
    for source in sources.collect::<BTreeSet<_>>() {
        let Some(view) = images.get(source).and_then(|image| image.buffer_view) else { continue };
        let Ok((encoded, _)) = document.view(view.value(), "images") else { continue };
        let Some(texels) = open_decoder(encoded).ok().map(|(decoder, _)| texel_count(&decoder)) else { continue };
        if let Some(left) = texels_left.checked_sub(texels) {
            texels_left = left;
            tasks.push((source, encoded));
        }
    }
    tasks
}

/// Returns the glTF indices of the textures that materials use.
fn shown_textures(document: &Document) -> BTreeSet<usize> {
    let textures_of = |material: &json::Material| {
        let pbr = &material.pbr_metallic_roughness;
        [
            pbr.base_color_texture.as_ref().map(|texture| texture.index),
            pbr.metallic_roughness_texture.as_ref().map(|texture| texture.index),
            material.normal_texture.as_ref().map(|texture| texture.index),
            material.occlusion_texture.as_ref().map(|texture| texture.index),
            material.emissive_texture.as_ref().map(|texture| texture.index),
        ]
    };
    let indices = document.root.materials.iter().flat_map(textures_of).flatten();
    indices.map(|texture| texture.value()).collect()
}
