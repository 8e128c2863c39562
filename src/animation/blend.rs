//! One pose of two clips: both are sampled, the local poses are blended, and the next two steps are done once.
//!
//! In: a [`Blend`], which may also be one clip alone. Out: the same as from [`pose_model`](super::pose_model), or joint matrices
//! and morph weights. The crossfade of a crowd is made of this.

use std::mem::MaybeUninit;
use std::ops::{Add, Mul};

use glam::{Quat, Vec4};

use super::{ModelPose, PoseScratch, PoseStreams, model_from_nodes, sample_clip, sample_morph_weights, write_palette};
use crate::model::{Clip, LocalPose, Model};

/// A clip at a time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Source<'c> {
    /// One of the model's clips, or `None` for the rest pose.
    pub clip: Option<&'c Clip>,
    /// The time in the clip, which is clamped to its keys.
    pub time_seconds: f64,
}

/// A clip, or two of them in a crossfade.
#[derive(Debug, Clone, Copy, Default)]
pub struct Blend<'c> {
    /// The clip that is shown alone, or is faded out.
    pub from: Source<'c>,
    /// The clip that is faded in, and its share, 0 to 1.
    pub to: Option<(Source<'c>, f32)>,
}

/// Poses all nodes of `model` by a clip or a blend.
pub fn pose_blend<'s>(model: &Model, blend: &Blend<'_>, scratch: &'s mut PoseScratch) -> ModelPose<'s> {
    scratch.fit(model);
    let PoseScratch { local, second, sample: intervals, model_from_node } = scratch;
    let mut sample = |source: &Source<'_>, pose: &mut LocalPose| {
        // The scratch may hold another instance's pose, and a clip overwrites only what it animates.
        pose.copy_from(&model.skeleton.rest);
        if let Some(clip) = source.clip {
            sample_clip(clip, source.time_seconds, intervals, pose);
        }
    };
    sample(&blend.from, local);
    if let Some((to, weight)) = &blend.to {
        sample(to, second);
        blend_pose(local, second, *weight);
    }
    model.skeleton.apply_held_morphs(&mut local.morph_weights);
    model_from_nodes(&model.skeleton, local, model_from_node);
    ModelPose { model_from_node, morph_weights: &local.morph_weights }
}

/// Evaluates one pose by [`pose_blend`], then writes its joint matrices and morph weights to `out`.
///
/// # Panics
/// If the lengths of `out` are not those of the model's palette and morph weights. A pose without active targets may have no
/// room for weights.
pub fn evaluate_blend(model: &Model, blend: &Blend<'_>, scratch: &mut PoseScratch, out: PoseStreams<'_>) {
    let pose = pose_blend(model, blend, scratch);
    write_palette(&model.palette, pose.model_from_node, out.palette);
    write_morph_weights(pose.morph_weights, out.morph_weights);
}

/// Evaluates only the morph weights of one pose, which [`lanes`](super::lanes) leaves out.
///
/// # Panics
/// If `out` does not have the length of the model's morph weights.
pub fn evaluate_morph_weights(
    model: &Model,
    blend: &Blend<'_>,
    scratch: &mut PoseScratch,
    out: &mut [MaybeUninit<f32>],
) {
    scratch.fit(model);
    let rest = &model.skeleton.rest.morph_weights;
    let (weights, second) = (&mut scratch.local.morph_weights, &mut scratch.second.morph_weights);
    let sample = |source: &Source<'_>, weights: &mut [f32]| {
        weights.copy_from_slice(rest);
        if let Some(clip) = source.clip {
            sample_morph_weights(clip, source.time_seconds, weights);
        }
    };
    sample(&blend.from, weights);
    if let Some((to, weight)) = &blend.to {
        sample(to, second);
        blend_numbers(weights, second, *weight);
    }
    model.skeleton.apply_held_morphs(weights);
    write_morph_weights(weights, out);
}

/// Writes the morph weights of a pose, unless there is no room for them, because no target is active.
fn write_morph_weights(weights: &[f32], out: &mut [MaybeUninit<f32>]) {
    if out.is_empty() {
        return;
    }
    assert_eq!(out.len(), weights.len(), "room for the morph weights");
    for (element, &weight) in out.iter_mut().zip(weights) {
        element.write(weight);
    }
}

/// Blends `other` into `pose`, property by property, before any matrix is made. Translations, scales and morph weights are
/// interpolated linearly, and rotations along the shorter arc.
fn blend_pose(pose: &mut LocalPose, other: &LocalPose, weight: f32) {
    blend_numbers(&mut pose.translations, &other.translations, weight);
    for (own, &other) in pose.rotations.iter_mut().zip(&other.rotations) {
        *own = nlerp(*own, other, weight);
    }
    blend_numbers(&mut pose.scales, &other.scales, weight);
    blend_numbers(&mut pose.morph_weights, &other.morph_weights, weight);
}

fn blend_numbers<T: Copy + Add<Output = T> + Mul<f32, Output = T>>(own: &mut [T], other: &[T], weight: f32) {
    for (own, &other) in own.iter_mut().zip(other) {
        *own = *own * (1.0 - weight) + other * weight;
    }
}

/// Interpolates unit quaternions along the shorter arc. The sum is at least 0.7 long, because its parts are at most a right
/// angle apart.
fn nlerp(a: Quat, b: Quat, weight: f32) -> Quat {
    let (a, b) = (Vec4::from(a), Vec4::from(b));
    Quat::from_vec4((a * (1.0 - weight) + b * weight.copysign(a.dot(b))).normalize_or(a))
}
