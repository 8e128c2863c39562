//! Images that are decoded on other threads while this one reads the rest of the file: of a character with one texture
//! that is most of the time that importing it takes.
//!
//! Nothing depends on it: [`Images`](super::images::Images) checks and pays for each image when a material asks for it,
//! as it would without, and only then takes what was decoded ahead, or decodes what was not. So results, messages and
//! their order are the same however many threads there are.

use std::collections::{BTreeSet, HashMap};

use gltf::json;

use super::image_decoder::{decode_rgba, open_decoder, texel_count};
use crate::model::import::decode::Document;

/// Texels of all images together that are decoded ahead, all at once at worst: two textures of 2048 x 2048. The rest waits
/// for its turn, one at a time.
const MAX_TEXELS_AHEAD: u64 = 8 << 20;

/// Texels by glTF image index.
#[derive(Default)]
pub struct DecodedAhead {
    rgba: HashMap<usize, Vec<u8>>,
}

impl DecodedAhead {
    /// What was decoded of an image, if it was.
    pub fn take(&mut self, source: usize) -> Option<Vec<u8>> {
        self.rgba.remove(&source)
    }
}

/// An image of the file's own buffers that a material shows.
struct Task<'d> {
    /// glTF image index.
    source: usize,
    encoded: &'d [u8],
}

impl Task<'_> {
    /// `None` where it does not succeed: the reason is found again, and told, when the image is asked for.
    fn run(&self) -> Option<Vec<u8>> {
        decode_rgba(open_decoder(self.encoded).ok()?.0).ok()
    }
}

/// Does `work` on this thread while others decode.
pub fn while_decoding<T>(document: &Document, work: impl FnOnce() -> T) -> (T, DecodedAhead) {
    let tasks = tasks(document);
    let mut decoded: Vec<Option<Vec<u8>>> = vec![None; tasks.len()];
    let done = rayon::in_place_scope(|scope| {
        for (task, decoded) in tasks.iter().zip(&mut decoded) {
            scope.spawn(move |_| *decoded = task.run());
        }
        work()
    });
    let images = tasks.iter().zip(decoded).filter_map(|(task, rgba)| Some((task.source, rgba?)));
    (done, DecodedAhead { rgba: images.collect() })
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
            tasks.push(Task { source, encoded });
        }
    }
    tasks
}

/// glTF indices of the textures that materials name.
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
