//! From a clip and a time to the joint matrices and morph weights of one pose, in three steps, one file each:
//!
//! ```text
//! Clip × time ─sample─▶ LocalPose ─┬─pose─▶ model_from_node ─palette─▶ JointMatrix
//!                                  └───────────────────────────────────▶ morph weights
//! ```
//!
//! The steps are free functions over slices, and the caller owns the memory. A [`PoseScratch`] holds the intermediate
//! results and is reused from pose to pose, so a steady frame allocates nothing. The output is usually memory mapped
//! from the GPU, so its type is `&mut [MaybeUninit<_>]`: safe code can write it but cannot read it back by mistake.
//!
//! Read these three steps first; they are the reference for everything else. Crowds take a faster path: [`lanes`] does
//! all three steps for eight poses at once, which is 3 to 5 times as fast. It leaves clips that do not fit its tables
//! to [`evaluate_blend`].
//!
//! [`mod@blend`] makes one pose of two clips. [`skin`] is the CPU twin of `skin.comp` and its test oracle; both read a
//! [`BindPose`]. [`stage`] stops the calculation at an earlier factor, to show it. [`winding`] finds the surfaces that a clip
//! mirrors.
//!
//! All functions rely on the invariants of [`Model`] (parents before children, indices in range, numbers finite) and do
//! not check them again. A slice of the wrong length is the caller's mistake, and the function panics.

pub mod blend;
pub mod lanes;
pub mod palette;
pub mod pose;
pub mod sample;
pub mod skin;
mod skin_dual;
pub mod stage;
pub mod winding;

use std::mem::MaybeUninit;

use glam::Affine3A;

use crate::model::{Clip, LocalPose, Model};
use crate::shader_types::JointMatrix;

pub use blend::{Blend, Source, evaluate_blend, evaluate_morph_weights, pose_blend};
pub use palette::{joint_matrices, write_palette};
pub use pose::model_from_nodes;
pub use sample::{SampleScratch, sample_clip, sample_morph_weights};
pub use skin::{BindPose, Pose, blended_matrix, skin_vertex, skin_vertices, skinned_position, skinned_positions};
pub use stage::{Stage, apply_bind_pose};
pub use winding::mirrored_by_clips;

/// The intermediate results of the three steps, for one pose at a time. The next call overwrites them.
#[derive(Debug, Clone, Default)]
pub struct PoseScratch {
    local: LocalPose,
    /// The local pose of the second clip of a blend.
    second: LocalPose,
    model_from_node: Vec<Affine3A>,
    sample: SampleScratch,
}

impl PoseScratch {
    /// Returns scratch memory large enough to evaluate any of `models` without allocating.
    pub fn for_models(models: &[Model]) -> Self {
        let node_count = models.iter().map(|model| model.skeleton.len()).max().unwrap_or(0);
        let timeline_counts = models.iter().flat_map(|model| &model.clips).map(|clip| clip.timelines.len());
        let weight_count = models.iter().map(Model::morph_weight_count).max().unwrap_or(0);
        let local = LocalPose { morph_weights: vec![0.0; weight_count], ..LocalPose::identity(node_count) };
        Self {
            second: local.clone(),
            local,
            model_from_node: vec![Affine3A::IDENTITY; node_count],
            sample: SampleScratch::with_capacity(timeline_counts.max().unwrap_or(0)),
        }
    }

    /// Returns scratch memory for one model.
    pub fn for_model(model: &Model) -> Self {
        Self::for_models(std::slice::from_ref(model))
    }

    /// Resizes the arrays to `model`'s skeleton. This allocates only if the scratch was made for smaller models.
    fn fit(&mut self, model: &Model) {
        let node_count = model.skeleton.len();
        for pose in [&mut self.local, &mut self.second] {
            pose.translations.resize(node_count, glam::Vec3::ZERO);
            pose.rotations.resize(node_count, glam::Quat::IDENTITY);
            pose.scales.resize(node_count, glam::Vec3::ONE);
            pose.morph_weights.resize(model.morph_weight_count(), 0.0);
        }
        self.model_from_node.resize(node_count, Affine3A::IDENTITY);
    }
}

/// The node matrices and morph weights of one pose, borrowed from the scratch that holds them.
#[derive(Debug, Clone, Copy)]
pub struct ModelPose<'s> {
    /// The matrix of each node of the skeleton.
    pub model_from_node: &'s [Affine3A],
    /// The morph weights, in the order of [`LocalPose::morph_weights`].
    pub morph_weights: &'s [f32],
}

/// The kind of memory that a palette is written to. It decides in which order [`lanes`] writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryKind {
    /// The CPU caches it: ordinary memory, or mapped memory of a Vulkan type with `HOST_CACHED`.
    Cached,
    /// The CPU does not cache it and only gathers neighbouring stores: `HOST_VISIBLE` without `HOST_CACHED`.
    WriteCombined,
}

/// The memory that poses are streamed to, one pose after the other. Each element is written exactly once.
pub struct PoseStreams<'o> {
    /// The joint matrices: one for each palette entry of each pose.
    pub palette: &'o mut [MaybeUninit<JointMatrix>],
    /// The morph weights of each pose that has active targets.
    pub morph_weights: &'o mut [MaybeUninit<f32>],
    /// The kind of memory behind `palette`.
    pub memory: MemoryKind,
}

impl<'o> PoseStreams<'o> {
    /// Removes the first elements of both slices and returns them.
    ///
    /// # Panics
    /// If a slice is shorter than that.
    pub fn split_off(&mut self, joint_count: usize, morph_weight_count: usize) -> PoseStreams<'o> {
        let (palette, rest) = std::mem::take(&mut self.palette).split_at_mut(joint_count);
        self.palette = rest;
        let (morph_weights, rest) = std::mem::take(&mut self.morph_weights).split_at_mut(morph_weight_count);
        self.morph_weights = rest;
        PoseStreams { palette, morph_weights, memory: self.memory }
    }
}

/// Poses all nodes of `model`.
///
/// `clip` is one of the model's clips, or `None` for the rest pose. `time_seconds` is clamped to each timeline's keys;
/// it does not wrap around.
pub fn pose_model<'s>(
    model: &Model,
    clip: Option<&Clip>,
    time_seconds: f64,
    scratch: &'s mut PoseScratch,
) -> ModelPose<'s> {
    scratch.fit(model);
    let PoseScratch { local, sample, model_from_node, .. } = scratch;
    // The scratch may hold another instance's pose, and a clip overwrites only what it animates.
    local.copy_from(&model.skeleton.rest);
    if let Some(clip) = clip {
        sample_clip(clip, time_seconds, sample, local);
    }
    model.skeleton.apply_held_morphs(&mut local.morph_weights);
    model_from_nodes(&model.skeleton, local, model_from_node);
    ModelPose { model_from_node, morph_weights: &local.morph_weights }
}
