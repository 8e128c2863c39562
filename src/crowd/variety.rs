//! Variety: a size and a tint for each instance, so that a crowd does not consist of clones.
//!
//! In: the crowd's variety, 0 to 1, and random numbers. Out: a factor on the scale, and a multiplier of the base colour. Both
//! are exactly 1 without variety. A multiplier is never above 1, so that no surface reflects more light than it receives.

use glam::Vec3;

use super::random::SplitMix64;

/// The largest deviation of a size from 1, at a variety of 1.
const SIZE_DEVIATION: f32 = 0.2;
/// The darkest tint, at a variety of 1.
const DARKEST: f32 = 0.6;
/// The largest saturation of a tint, at a variety of 1.
const SATURATION: f32 = 0.5;

/// The variation of one instance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Variation {
    /// The factor on the scale.
    pub size: f32,
    /// The multiplier of the base colour: linear RGB in unsigned normalised bytes, red lowest; the highest byte is 255.
    pub tint_unorm8: u32,
}

pub(super) fn largest_size(variety: f32) -> f32 {
    1.0 + SIZE_DEVIATION * variety
}

/// Returns the next random size. The mean of two numbers makes medium sizes more frequent than extreme ones.
pub(super) fn size(variety: f32, random: &mut SplitMix64) -> f32 {
    1.0 + SIZE_DEVIATION * variety * 0.5 * (random.signed_unit() + random.signed_unit())
}

impl Variation {
    /// Returns the next random variation.
    pub fn new(variety: f32, random: &mut SplitMix64) -> Self {
        let size = size(variety, random);
        let brightness = 1.0 - (1.0 - DARKEST) * variety * random.unit();
        let tint = brightness * Vec3::ONE.lerp(hue(random.unit()), SATURATION * variety * random.unit());
        Self { size, tint_unorm8: pack_unorm8(tint) }
    }
}

/// Returns the pure colour with a hue from 0 to 1: red, yellow, green, cyan, blue, magenta, and red again.
fn hue(hue: f32) -> Vec3 {
    let channel = |at: f32| (((hue + at).fract() * 6.0 - 3.0).abs() - 1.0).clamp(0.0, 1.0);
    Vec3::new(channel(0.0), channel(2.0 / 3.0), channel(1.0 / 3.0))
}

fn pack_unorm8(color: Vec3) -> u32 {
    let [red, green, blue] = color.to_array().map(|channel| (channel * 255.0 + 0.5) as u8);
    u32::from_le_bytes([red, green, blue, 255])
}
