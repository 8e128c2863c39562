//! From a clip and a time to the joint matrices and morph weights of one instance, in three steps, one file each:
//!
//! ```text
//! Clip × time ─sample─▶ LocalPose ─┬─pose─▶ model_from_node ─palette─▶ JointMatrix  (each written once)
//!                                  └───────────────────────────────────▶ morph weights
//! ```
//!
//! The steps are free functions over slices. Whoever calls them owns the memory: a [`PoseScratch`] holds what lies
//! between the steps and is reused from instance to instance, so that a steady frame allocates nothing. The output is
//! usually write-combined memory mapped from the GPU, hence `&mut [MaybeUninit<_>]`: it can be written, but safe code
//! cannot read it back by mistake.
//!
//! That is the way to read first, and what everything else is tested with. Crowds take another: [`lanes`] does all three
//! steps for eight instances at once, in a third to an eighth of the time, and leaves to [`evaluate`] what it cannot take.
//!
//! Beside the way to the GPU stand [`skin`], the CPU twin of `skin.comp` and its test oracle; [`bounds`], the boxes that
//! culling and the camera need; and [`displacement`], what sharing poses costs in looks.
//!
//! Every function relies on the invariants of [`Model`] (parents before children, indices in range, numbers finite)
//! and checks none of them again; slices whose lengths do not fit are the caller's mistake and panic.

pub mod bounds;
pub mod displacement;
pub mod lanes;
pub mod palette;
pub mod pose;
pub mod sample;
pub mod skin;

use std::mem::MaybeUninit;

use glam::Affine3A;

use crate::model::{Clip, LocalPose, Model};
use crate::shader_types::JointMatrix;

pub use bounds::{PosedBounds, ground_height, posed_bounds};
pub use displacement::worst_displacement;
pub use palette::{joint_matrices, write_palette};
pub use pose::model_from_nodes;
pub use sample::{SampleScratch, sample_clip, sample_morph_weights};
pub use skin::{BindPose, BindTangents, InstancePose, skin_tangent, skin_vertex, skin_vertices};

/// What lies between the steps, for one instance at a time. Holds no result that outlives the next call.
#[derive(Debug, Clone, Default)]
pub struct PoseScratch {
    local: LocalPose,
    model_from_node: Vec<Affine3A>,
    sample: SampleScratch,
}

impl PoseScratch {
    /// Scratch for any of `models`: evaluating one of them never allocates.
    #[must_use]
    pub fn for_models(models: &[Model]) -> Self {
        let node_count = models.iter().map(|model| model.skeleton.len()).max().unwrap_or(0);
        let timeline_counts = models.iter().flat_map(|model| &model.clips).map(|clip| clip.timelines.len());
        let weight_count = models.iter().map(Model::morph_weight_count).max().unwrap_or(0);
        Self {
            local: LocalPose { morph_weights: vec![0.0; weight_count], ..LocalPose::identity(node_count) },
            model_from_node: vec![Affine3A::IDENTITY; node_count],
            sample: SampleScratch::with_capacity(timeline_counts.max().unwrap_or(0)),
        }
    }

    /// Scratch for one model.
    #[must_use]
    pub fn for_model(model: &Model) -> Self {
        Self::for_models(std::slice::from_ref(model))
    }

    /// Gives the arrays the length of `model`'s skeleton, within their capacity if `model` was among those that the
    /// scratch was made for.
    fn fit(&mut self, model: &Model) {
        let node_count = model.skeleton.len();
        self.local.translations.resize(node_count, glam::Vec3::ZERO);
        self.local.rotations.resize(node_count, glam::Quat::IDENTITY);
        self.local.scales.resize(node_count, glam::Vec3::ONE);
        self.local.morph_weights.resize(model.morph_weight_count(), 0.0);
        self.model_from_node.resize(node_count, Affine3A::IDENTITY);
    }
}

/// One instance at one moment, in the scratch that it was worked out in.
#[derive(Debug, Clone, Copy)]
pub struct ModelPose<'s> {
    /// One matrix for each node of the skeleton.
    pub model_from_node: &'s [Affine3A],
    /// As [`LocalPose::morph_weights`].
    pub morph_weights: &'s [f32],
}

/// Memory for what instances stream to the GPU, lent for writing; each element is written once. Instance by instance, or
/// eight of them side by side.
pub struct PoseStreams<'o> {
    /// As many as the models' palettes have entries.
    pub palette: &'o mut [MaybeUninit<JointMatrix>],
    /// As many as the models' skeletons have morph weights.
    pub morph_weights: &'o mut [MaybeUninit<f32>],
}

impl<'o> PoseStreams<'o> {
    /// Takes the first elements of both off, and leaves the rest.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn split_off(&mut self, joint_count: usize, morph_weight_count: usize) -> PoseStreams<'o> {
        let (palette, rest) = std::mem::take(&mut self.palette).split_at_mut(joint_count);
        self.palette = rest;
        let (morph_weights, rest) = std::mem::take(&mut self.morph_weights).split_at_mut(morph_weight_count);
        self.morph_weights = rest;
        PoseStreams { palette, morph_weights }
    }
}

/// Poses all nodes of `model`.
///
/// `clip` is one of the model's, or `None` for the rest pose. `time_seconds` is clamped to each timeline's keys, never
/// wrapped.
pub fn pose_model<'s>(
    model: &Model,
    clip: Option<&Clip>,
    time_seconds: f64,
    scratch: &'s mut PoseScratch,
) -> ModelPose<'s> {
    scratch.fit(model);
    // The scratch may hold another instance's pose, and a clip overwrites only what it animates.
    scratch.local.copy_from(&model.skeleton.rest);
    if let Some(clip) = clip {
        sample_clip(clip, time_seconds, &mut scratch.sample, &mut scratch.local);
    }
    model_from_nodes(&model.skeleton, &scratch.local, &mut scratch.model_from_node);
    ModelPose { model_from_node: &scratch.model_from_node, morph_weights: &scratch.local.morph_weights }
}

/// Evaluates one instance: [`pose_model`], then its joint matrices and morph weights into `out`.
///
/// # Panics
/// If `out` is not as long as the model's palette and its morph weights.
pub fn evaluate(
    model: &Model,
    clip: Option<&Clip>,
    time_seconds: f64,
    scratch: &mut PoseScratch,
    out: PoseStreams<'_>,
) {
    let pose = pose_model(model, clip, time_seconds, scratch);
    write_palette(&model.palette, pose.model_from_node, out.palette);
    write_morph_weights(pose.morph_weights, out.morph_weights);
}

/// Evaluates the morph weights of one instance, and nothing else: what [`lanes`] leave out.
///
/// # Panics
/// If `out` is not as long as the model's morph weights.
pub fn evaluate_morph_weights(
    model: &Model,
    clip: Option<&Clip>,
    time_seconds: f64,
    scratch: &mut PoseScratch,
    out: &mut [MaybeUninit<f32>],
) {
    scratch.fit(model);
    let weights = &mut scratch.local.morph_weights;
    weights.copy_from_slice(&model.skeleton.rest.morph_weights);
    if let Some(clip) = clip {
        sample_morph_weights(clip, time_seconds, weights);
    }
    write_morph_weights(weights, out);
}

fn write_morph_weights(weights: &[f32], out: &mut [MaybeUninit<f32>]) {
    assert_eq!(out.len(), weights.len(), "room for the morph weights");
    for (element, &weight) in out.iter_mut().zip(weights) {
        element.write(weight);
    }
}
