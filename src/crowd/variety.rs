//! Variety: a size and a tint for each instance, so that a crowd does not consist of clones.
//!
//! In: the crowd's variety, 0 to 1, and random numbers. Out: a factor on the scale, and a multiplier of the base colour. Both
//! are exactly 1 without variety. A multiplier is never above 1, so that no surface reflects more light than it receives.
//!
//! Clothes may have any colour, but fur and skin have not: only a model with other colours than theirs gets tints of any hue.

use glam::Vec3;

use super::random::SplitMix64;
use crate::model::image::{hued, mean_hued};
use crate::model::{DrawRange, Model};

/// The largest deviation of a size from 1, at a variety of 1.
const SIZE_DEVIATION: f32 = 0.2;
const DARKEST: f32 = 0.6;
/// The largest saturation of a tint, at a variety of 1.
const SATURATION: f32 = 0.5;
/// The tint of a model in natural colours, where another one gets a pure hue.
const WARM: Vec3 = Vec3::new(1.0, 0.85, 0.65);
/// The mean of [`hued`] up to which a model is in natural colours, and from which on it gets pure hues.
const NATURAL: f32 = 0.02;
const COLORFUL: f32 = 0.08;

pub(super) fn largest_size(variety: f32) -> f32 {
    1.0 + SIZE_DEVIATION * variety
}

/// Returns the next random size. The mean of two numbers makes medium sizes more frequent than extreme ones.
pub(super) fn size(variety: f32, random: &mut SplitMix64) -> f32 {
    1.0 + SIZE_DEVIATION * variety * 0.5 * (random.signed_unit() + random.signed_unit())
}

/// Returns how colourful the surfaces of a model are: 0 in natural colours, 1 with clothes of any hue.
pub(super) fn colorfulness(model: &Model) -> f32 {
    let of_range = |range: &DrawRange| {
        let material = model.materials.get(range.material as usize)?;
        let image = material.base_color_texture.and_then(|texture| model.images.get(texture.texture.image as usize));
        let hued = image.map_or(0.0, |image| image.hued).max(hued(material.base_color_factor.truncate()));
        Some(hued * range.index_count as f32)
    };
    let ranges = &model.geometry.draw_ranges;
    let all: u32 = ranges.iter().map(|range| range.index_count).sum();
    let of_materials = ranges.iter().filter_map(of_range).sum::<f32>() / all.max(1) as f32;
    let mean = of_materials.max(mean_hued(&model.geometry.colors));
    ((mean - NATURAL) / (COLORFUL - NATURAL)).clamp(0.0, 1.0)
}

/// Returns the next random tint, the multiplier of the base colour: linear RGB in unsigned normalised bytes, red lowest; the
/// highest byte is 255.
pub(super) fn tint_unorm8(variety: f32, colorfulness: f32, random: &mut SplitMix64) -> u32 {
    let brightness = 1.0 - (1.0 - DARKEST) * variety * random.unit();
    let color = WARM.lerp(hue(random.unit()), colorfulness);
    let tint = brightness * Vec3::ONE.lerp(color, SATURATION * variety * random.unit());
    let [red, green, blue] = tint.to_array().map(|channel| (channel * 255.0 + 0.5) as u8);
    u32::from_le_bytes([red, green, blue, 255])
}

/// Returns the pure colour with a hue from 0 to 1: red, yellow, green, cyan, blue, magenta, and red again.
fn hue(hue: f32) -> Vec3 {
    let channel = |at: f32| (((hue + at).fract() * 6.0 - 3.0).abs() - 1.0).clamp(0.0, 1.0);
    Vec3::new(channel(0.0), channel(2.0 / 3.0), channel(1.0 / 3.0))
}
