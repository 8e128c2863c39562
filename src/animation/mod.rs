//! From a clip and a time to the joint matrices of one instance, in three steps, one file each:
//!
//! ```text
//! Clip × time ─sample─▶ LocalPose ─pose─▶ model_from_node ─palette─▶ JointMatrix (written once, in order)
//! ```
//!
//! The steps are free functions over slices. Whoever calls them owns the memory: a [`PoseScratch`] holds what lies
//! between the steps and is reused from instance to instance, so that a steady frame allocates nothing. The output is
//! usually write-combined memory mapped from the GPU, hence `&mut [MaybeUninit<_>]`: it can be written, but safe code
//! cannot read it back by mistake.
//!
//! Beside the way to the GPU stand [`skin`], the CPU twin of `skin.comp` and its test oracle, and [`bounds`], the boxes
//! that culling and the camera need.
//!
//! Every function relies on the invariants of [`Model`] (parents before children, indices in range, numbers finite)
//! and checks none of them again; slices whose lengths do not fit are the caller's mistake and panic.

pub mod bounds;
pub mod palette;
pub mod pose;
pub mod sample;
pub mod skin;

use std::mem::MaybeUninit;

use glam::Affine3A;

use crate::model::{Clip, LocalPose, Model};
use crate::shader_types::JointMatrix;

pub use bounds::{PosedBounds, ground_height, posed_bounds};
pub use palette::{joint_matrices, write_palette};
pub use pose::model_from_nodes;
pub use sample::{SampleScratch, sample_clip};
pub use skin::{skin_vertex, skin_vertices};

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
        Self {
            local: LocalPose::identity(node_count),
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
        self.model_from_node.resize(node_count, Affine3A::IDENTITY);
    }
}

/// Poses all nodes of `model` and returns `model_from_node`, one matrix for each node of the skeleton.
///
/// `clip` is one of the model's, or `None` for the rest pose. `time_seconds` is clamped to each timeline's keys, never
/// wrapped.
pub fn pose_nodes<'s>(
    model: &Model,
    clip: Option<&Clip>,
    time_seconds: f64,
    scratch: &'s mut PoseScratch,
) -> &'s [Affine3A] {
    scratch.fit(model);
    // The scratch may hold another instance's pose, and a clip overwrites only what it animates.
    scratch.local.copy_from(&model.skeleton.rest);
    if let Some(clip) = clip {
        sample_clip(clip, time_seconds, &mut scratch.sample, &mut scratch.local);
    }
    model_from_nodes(&model.skeleton, &scratch.local, &mut scratch.model_from_node);
    &scratch.model_from_node
}

/// Evaluates one instance: [`pose_nodes`], then its joint matrices into `out`, each written once, in order.
///
/// # Panics
/// If `out` is not as long as the model's palette.
pub fn evaluate(
    model: &Model,
    clip: Option<&Clip>,
    time_seconds: f64,
    scratch: &mut PoseScratch,
    out: &mut [MaybeUninit<JointMatrix>],
) {
    let model_from_node = pose_nodes(model, clip, time_seconds, scratch);
    write_palette(&model.palette, model_from_node, out);
}
