//! Blending: several clips, each at its own time → one local pose. A crossfade blends two clips.
//!
//! In: the local poses of the sources, and the weight of each. Out: their blend, property by property, before any matrix is
//! made. Translations, scales and morph weights are interpolated linearly. Rotations take the shorter arc: the quaternions are
//! added with their weights and normalised (nlerp).
//!
//! Sources form a chain. Each one is blended into the result of all sources before it, by its own weight. So if a clip
//! changes during a crossfade, the new source has the weight 0 at first, and the pose does not jump.

use glam::{Quat, Vec4};

use crate::model::{Clip, LocalPose};

/// A clip at a time: one source of a blend.
#[derive(Debug, Clone, Copy, Default)]
pub struct Source<'c> {
    /// One of the model's clips, or `None` for the rest pose.
    pub clip: Option<&'c Clip>,
    /// The time in the clip, which is clamped to its keys.
    pub time_seconds: f64,
    /// The share of this source, 0 to 1. All sources before it have the rest. The first source has no use for it.
    pub weight: f32,
}

/// Blends `source` into `pose`.
///
/// # Panics
/// If the poses differ in their numbers of nodes.
pub fn blend_pose(pose: &mut LocalPose, source: &LocalPose, weight: f32) {
    assert_eq!(pose.len(), source.len(), "poses of one skeleton");
    let kept = 1.0 - weight;
    for (own, &other) in pose.translations.iter_mut().zip(&source.translations) {
        *own = *own * kept + other * weight;
    }
    for (own, &other) in pose.rotations.iter_mut().zip(&source.rotations) {
        *own = nlerp(*own, other, weight);
    }
    for (own, &other) in pose.scales.iter_mut().zip(&source.scales) {
        *own = *own * kept + other * weight;
    }
    blend_weights(&mut pose.morph_weights, &source.morph_weights, weight);
}

/// Blends the morph weights `source` into `weights`.
pub fn blend_weights(weights: &mut [f32], source: &[f32], weight: f32) {
    for (own, &other) in weights.iter_mut().zip(source) {
        *own = *own * (1.0 - weight) + other * weight;
    }
}

/// Interpolates unit quaternions along the shorter arc. The sum is at least 0.7 long, because its parts are at most a right
/// angle apart.
fn nlerp(a: Quat, b: Quat, weight: f32) -> Quat {
    let (a, b) = (Vec4::from(a), Vec4::from(b));
    Quat::from_vec4((a * (1.0 - weight) + b * weight.copysign(a.dot(b))).normalize_or(a))
}
