//! The part of a frame that costs time: joint matrices and morph weights of all visible instances, on all cores.
//!
//! The visible list is cut into blocks of one model, and the blocks are shared out by recursive halving: a task takes
//! a run of blocks, the matching part of the output and a scratch of its own. So no two tasks share memory, nothing is
//! locked and nothing is allocated, and since an instance's matrices depend on nothing but the instance and the time,
//! the bytes are the same however many threads there are.

use std::mem::MaybeUninit;

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use super::{Crowd, Instance};
use crate::animation::{PoseScratch, PoseStreams, evaluate};
use crate::model::Model;
use crate::shader_types::InstanceData;

/// Instances of one block: small enough to share out a hundred characters, large enough for a task to be worth it.
const BLOCK_INSTANCES: usize = 16;
/// Tasks of one update for each thread: a thread that is held up leaves the rest to the others.
const TASKS_PER_THREAD: usize = 4;

/// A run of the visible list, all of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// Index into the models.
    model: u32,
    /// Index of the first instance, in the visible list.
    first: u32,
    /// At most [`BLOCK_INSTANCES`].
    count: u32,
}

impl Block {
    /// How many blocks a crowd can come to: whole ones, and an incomplete one for each model.
    pub(super) fn most(instance_count: usize, model_count: usize) -> usize {
        instance_count / BLOCK_INSTANCES + model_count
    }

    /// Refills `blocks` for a visible list that is grouped by model.
    pub(super) fn cut(visible_counts: &[u32], blocks: &mut Vec<Self>) {
        blocks.clear();
        let mut first = 0;
        for (model, &visible_count) in visible_counts.iter().enumerate() {
            let end = first + visible_count;
            while first < end {
                let count = (end - first).min(BLOCK_INSTANCES as u32);
                blocks.push(Self { model: model as u32, first, count });
                first += count;
            }
        }
    }

    /// How much of the streams this block fills: joint matrices, morph weights.
    fn stream_counts(&self, models: &[Model]) -> (usize, usize) {
        let (count, model) = (self.count as usize, &models[self.model as usize]);
        (count * model.palette.len(), count * model.morph_weight_count())
    }
}

/// What all tasks of an update read.
#[derive(Clone, Copy)]
struct Shared<'a> {
    models: &'a [Model],
    instances: &'a [Instance],
    visible: &'a [u32],
    time_seconds: f64,
    speed: f64,
}

impl Crowd {
    /// Writes joint matrices and morph weights of all visible instances at `time_seconds` of the show, each element of
    /// `out` once.
    /// The first call with a pool of another size allocates; later ones do not.
    ///
    /// Without any allocation at all goes a call from a thread of the pool: see [`thread_pool`].
    ///
    /// # Panics
    /// If `out` has not [`Crowd::visible_joint_count`] joint matrices and [`Crowd::visible_morph_weight_count`] weights.
    pub fn evaluate(&mut self, pool: &ThreadPool, time_seconds: f64, out: PoseStreams<'_>) {
        assert_eq!(out.palette.len(), self.visible_joint_count(), "the palette's length");
        assert_eq!(out.morph_weights.len(), self.visible_morph_weight_count(), "the morph weights' length");
        let threads = pool.current_num_threads();
        let tasks = if threads == 1 { 1 } else { threads * TASKS_PER_THREAD };
        if self.scratches.len() != tasks {
            self.scratches = (0..tasks).map(|_| PoseScratch::for_models(&self.models)).collect();
        }
        let Self { models, instances, visible, blocks, scratches, speed, .. } = self;
        let shared = Shared { models, instances, visible, time_seconds, speed: f64::from(*speed) };
        if threads == 1 {
            share_out(shared, blocks, scratches, out);
        } else {
            pool.install(|| share_out(shared, blocks, scratches, out));
        }
    }

    /// Writes one element for each visible instance: grouped by model as in [`Crowd::visible_counts`], in the order
    /// of their joint matrices.
    ///
    /// `skinned_vertex_offset` gets the model and the instance's rank among the visible ones of its model.
    ///
    /// # Panics
    /// If `out` is not as long as there are visible instances.
    pub fn write_instances(
        &self,
        out: &mut [MaybeUninit<InstanceData>],
        skinned_vertex_offset: impl Fn(usize, u32) -> u32,
    ) {
        assert_eq!(out.len(), self.visible.len(), "one element for each visible instance");
        let ranks =
            self.visible_counts.iter().enumerate().flat_map(|(model, &count)| (0..count).map(move |k| (model, k)));
        let (mut palette_offset, mut morph_weight_offset) = (0, 0);
        for ((element, &index), (model, rank)) in out.iter_mut().zip(&self.visible).zip(ranks) {
            element.write(InstanceData {
                world_from_model: self.instances[index as usize].world_from_model.into(),
                palette_offset,
                skinned_vertex_offset: skinned_vertex_offset(model, rank),
                morph_weight_offset,
                padding: 0,
            });
            // `Crowd::new` has made sure that all offsets fit.
            palette_offset += self.models[model].palette.len() as u32;
            morph_weight_offset += self.models[model].morph_weight_count() as u32;
        }
    }
}

/// Halves blocks, scratches and output alike until one scratch, or one block, is left.
fn share_out(shared: Shared<'_>, blocks: &[Block], scratches: &mut [PoseScratch], mut out: PoseStreams<'_>) {
    if scratches.len() == 1 || blocks.len() <= 1 {
        if let Some(scratch) = scratches.first_mut() {
            evaluate_blocks(shared, blocks, scratch, out);
        }
        return;
    }
    let (blocks_a, blocks_b) = blocks.split_at(blocks.len() / 2);
    let (scratches_a, scratches_b) = scratches.split_at_mut(scratches.len() / 2);
    let counts_a = blocks_a.iter().map(|block| block.stream_counts(shared.models));
    let (joints_a, weights_a) = counts_a.fold((0, 0), |sum, counts| (sum.0 + counts.0, sum.1 + counts.1));
    let out_a = out.split_off(joints_a, weights_a);
    rayon::join(|| share_out(shared, blocks_a, scratches_a, out_a), || share_out(shared, blocks_b, scratches_b, out));
}

fn evaluate_blocks(shared: Shared<'_>, blocks: &[Block], scratch: &mut PoseScratch, mut out: PoseStreams<'_>) {
    for block in blocks {
        let model = &shared.models[block.model as usize];
        let visible = &shared.visible[block.first as usize..(block.first + block.count) as usize];
        for &index in visible {
            let instance = &shared.instances[index as usize];
            let clip = instance.clip.map(|clip| &model.clips[clip as usize]);
            let duration_seconds = clip.map_or(0.0, |clip| f64::from(clip.duration_seconds));
            let phase_seconds = f64::from(instance.phase) * duration_seconds;
            let clip_seconds = wrap_seconds(phase_seconds + shared.time_seconds * shared.speed, duration_seconds);
            let own = out.split_off(model.palette.len(), model.morph_weight_count());
            evaluate(model, clip, clip_seconds, scratch, own);
        }
    }
}

/// Brings a time into the clip, which repeats: a time from 0 to `duration_seconds`, both included, stays what it is, so
/// that the last key can be asked for. Without a duration, or for a time that is not finite, 0.
#[must_use]
pub fn wrap_seconds(time_seconds: f64, duration_seconds: f64) -> f64 {
    if (0.0..=duration_seconds).contains(&time_seconds) {
        time_seconds
    } else if duration_seconds > 0.0 && time_seconds.is_finite() {
        time_seconds.rem_euclid(duration_seconds)
    } else {
        0.0
    }
}

/// A pool for [`Crowd::evaluate`]; by default as many threads as the machine has.
///
/// The calling thread becomes one of the pool's, so that work started from it begins in place and allocates no queue
/// entry. A thread can belong to one pool only, for good: where it already belongs to another, all threads are new.
///
/// # Errors
/// Where the threads cannot be started.
pub fn thread_pool(threads: Option<usize>) -> Result<ThreadPool, ThreadPoolBuildError> {
    let builder = || ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0));
    builder().use_current_thread().build().or_else(|_| builder().build())
}
