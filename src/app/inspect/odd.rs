//! What an artist asks about a model first: a line of facts, and everything about it that is odd.

use std::collections::BTreeSet;

use glam::Vec3;

use crate::app::aim::faces_back;
use crate::app::hide::collider_count;
use crate::app::joint::joints;
use crate::app::text::{counted, format_bytes, name, number};
use crate::measure::{PosedBounds, rest_box};
use crate::model::{Image, Material, Model};
use crate::renderer::resident::texture::texture_bytes;
use crate::retarget::humanoid_of;

/// Textures that take more than this are odd.
const MANY_BYTES: u64 = 128 << 20;
/// The heights of people, and of figures of them, in metres.
const HEIGHTS: std::ops::RangeInclusive<f32> = 0.3..=4.0;

/// Returns a line about each model, and what is odd about it.
pub fn lines(models: &[Model]) -> Vec<String> {
    let of_model = |model: &Model| {
        let bounds = rest_box(model);
        std::iter::once(summary(model, bounds.as_ref())).chain(odd_things(model, bounds.as_ref()))
    };
    models.iter().flat_map(of_model).collect()
}

pub fn summary(model: &Model, bounds: Option<&PosedBounds>) -> String {
    let geometry = &model.geometry;
    let mut parts = vec![
        counted(geometry.triangle_count(), "triangle"),
        counted(geometry.vertex_count(), "vertex"),
        counted(joints(model).len(), "joint"),
        counted(model.clips.len(), "clip"),
        counted(model.materials.len(), "material"),
        textures(model).map_or_else(|| "no textures".to_owned(), |(text, _)| text),
    ];
    parts.extend(bounds.map(|bounds| format!("{} m high", number((bounds.max.y - bounds.min.y).into()))));
    format!("{}: {}", name(&model.name), parts.join(", "))
}

/// Returns the number and the size of the textures of all materials, and the bytes that they take on the GPU.
fn textures(model: &Model) -> Option<(String, u64)> {
    let used: BTreeSet<u32> =
        model.materials.iter().flat_map(Material::textures).map(|slot| slot.texture.image).collect();
    let images = used.iter().filter_map(|&image| model.images.get(image as usize));
    let bytes = images.clone().map(|image| texture_bytes(image.width, image.height)).sum();
    let Image { width, height, .. } = images.max_by_key(|image| image.decoded_bytes())?;
    let up_to = if used.len() == 1 { "" } else { "up to " };
    let text = counted(used.len(), "texture");
    Some((format!("{text} ({up_to}{width} × {height}, {})", format_bytes(bytes)), bytes))
}

/// Returns a sentence for everything about a model that is odd, though it is no fault of the file.
pub fn odd_things(model: &Model, bounds: Option<&PosedBounds>) -> Vec<String> {
    let mut odd = Vec::new();
    let size = bounds.map_or(Vec3::ZERO, |bounds| bounds.max - bounds.min);
    if size.max_element() <= 0.0 && !model.geometry.indices.is_empty() {
        odd.push("the rest pose has no size, so nothing is seen of it".to_owned());
    }
    if let Some((text, _)) = textures(model).filter(|(_, bytes)| *bytes > MANY_BYTES) {
        odd.push(format!("{text} are more than {}", format_bytes(MANY_BYTES)));
    }
    if humanoid_of(model).is_some() {
        let is_whole = !model.source.parts.iter().any(|part| part.is_hidden);
        if is_whole && size.y > 0.0 && !HEIGHTS.contains(&size.y) {
            let height = number(size.y.into());
            odd.push(format!("a humanoid of {height} m; --height METRES scales what is drawn"));
        }
        if faces_back(model) {
            odd.push("the body faces -Z; glTF's bodies face +Z. --view front shows its face".to_owned());
        }
    }
    if let count @ 1.. = collider_count(model) {
        let parts = counted(count, "part");
        odd.push(format!("{parts} named as colliders; other commands hide them unless --hide none is given"));
    }
    let drawn: BTreeSet<u32> = model.geometry.draw_ranges.iter().map(|range| range.material).collect();
    let drawn = drawn.into_iter().filter_map(|material| model.materials.get(material as usize));
    let black = drawn.filter(|material| material.base_color_factor.truncate() + material.emission == Vec3::ZERO);
    let black: Vec<String> = black.map(|material| name(&material.name)).collect();
    if let Some(more) = black.len().checked_sub(1) {
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        odd.push(format!("black, whatever its texture and its light: {}{more}", black[0]));
    }
    odd
}
