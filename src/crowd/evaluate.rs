//! Evaluation: the joint matrices and morph weights of all visible poses, on all cores.
//!
//! In: the visible poses, a time, and the [`FramePlan`] with the offsets of each pose. Out: the frame's palette, morph
//! weights and instances, each element written once. Recursive halving gives each task consecutive poses, its part of the
//! output, and its own scratch memory. So tasks share no memory, need no locks and do not allocate. A task divides its poses
//! into blocks of one model and clip, or of one model and two clips that blend, in the same levels of detail. A pose's matrices
//! depend only on the instance and the time, so the bytes are the same for any number of threads.

use std::mem::MaybeUninit;
use std::ops::Range;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use super::block::{BLOCK_POSES, Scratch};
use super::plan::FramePlan;
use super::sight::{VisibleInstance, VisiblePose};
use super::{Crowd, Instance};
use crate::animation::PoseStreams;
use crate::shader_types::{InstanceData, PoseRecord};

/// The number of tasks per thread. If one thread is delayed, the others take over its remaining tasks.
const TASKS_PER_THREAD: usize = 4;
/// The number of instances that a task writes: some ten microseconds of work.
const INSTANCES_PER_TASK: usize = 1024;

/// Returns a pool for [`Crowd::evaluate`], by default with one thread per core.
///
/// The calling thread becomes one of the pool's threads, so work that it starts begins in place and allocates no queue
/// entry. A thread can belong to one pool only. If it already belongs to another pool, all threads of this pool are new.
pub fn thread_pool(threads: Option<usize>) -> Result<ThreadPool, ThreadPoolBuildError> {
    let builder = || ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0));
    builder().use_current_thread().build().or_else(|_| builder().build())
}

/// The input of all tasks of an evaluation.
#[derive(Clone, Copy)]
struct Shared<'a> {
    crowd: &'a Crowd,
    records: &'a [PoseRecord],
    time_seconds: f64,
}

/// The rest of the frame's streams, which begins at the data of one pose.
struct Output<'a> {
    streams: PoseStreams<'a>,
    first: PoseRecord,
}

impl<'a> Output<'a> {
    /// Splits off everything before the data of the pose with this record.
    fn split_off_before(&mut self, record: PoseRecord) -> Output<'a> {
        let joints = record.palette_offset - self.first.palette_offset;
        let morph_weights = record.morph_weight_offset - self.first.morph_weight_offset;
        let streams = self.streams.split_off(joints as usize, morph_weights as usize);
        Output { streams, first: std::mem::replace(&mut self.first, record) }
    }
}

impl Crowd {
    /// Writes the joint matrices and morph weights of all visible poses at `time_seconds`, each element of `out` once, at
    /// the offsets of `plan`. The first call with a pool of another size, or after a change of clips, allocates scratch
    /// memory. Later calls from a thread of the pool do not allocate: see [`thread_pool`].
    ///
    /// # Panics
    /// If `plan` was not built from [`Crowd::visible_poses`], or if the lengths of `out` are not the plan's.
    pub fn evaluate(&mut self, pool: &ThreadPool, time_seconds: f64, plan: &FramePlan, out: PoseStreams<'_>) {
        let pose_count = self.visible_poses().len();
        assert_eq!(plan.records.len(), pose_count, "one record for each visible pose");
        assert_eq!(out.palette.len(), plan.joint_count as usize, "the palette's length");
        assert_eq!(out.morph_weights.len(), plan.morph_weight_count as usize, "the number of morph weights");
        let threads = pool.current_num_threads();
        let tasks = if threads == 1 { 1 } else { threads * TASKS_PER_THREAD };
        if self.scratches.len() != tasks {
            self.scratches = (0..tasks).map(|_| Scratch::new(self)).collect();
        }
        let mut scratches = std::mem::take(&mut self.scratches);
        self.crossfade.set_weights(time_seconds);
        let shared = Shared { crowd: self, records: &plan.records, time_seconds };
        let out = Output { streams: out, first: PoseRecord::default() };
        // A second thread is woken only if there is work for two.
        if threads == 1 || pose_count <= BLOCK_POSES {
            divide(shared, 0..pose_count, &mut scratches[..1], out);
        } else {
            pool.install(|| divide(shared, 0..pose_count, &mut scratches, out));
        }
        self.scratches = scratches;
    }

    /// Returns how far clips have advanced since the start at `time_seconds`.
    pub(super) fn clip_seconds(&self, time_seconds: f64) -> f64 {
        time_seconds * f64::from(self.speed)
    }

    /// Writes one element for each visible instance, in the order of the plan's [`InstanceRange`](super::InstanceRange)s.
    ///
    /// # Panics
    /// If `out` does not have one element for each visible instance.
    pub fn write_instances(&self, pool: &ThreadPool, out: &mut [MaybeUninit<InstanceData>]) {
        let instances = &self.visible.lists.instances;
        assert_eq!(out.len(), instances.len(), "one element for each visible instance");
        let write = |(instances, out): (&[VisibleInstance], &mut [MaybeUninit<_>])| {
            instances.iter().zip(out).for_each(|(instance, out)| _ = out.write(self.instance_data(instance)));
        };
        if instances.len() <= INSTANCES_PER_TASK {
            return write((instances, out));
        }
        let chunks = instances.par_chunks(INSTANCES_PER_TASK).zip(out.par_chunks_mut(INSTANCES_PER_TASK));
        pool.install(|| chunks.for_each(write));
    }

    #[inline]
    fn instance_data(&self, &VisibleInstance { instance: index, pose: record }: &VisibleInstance) -> InstanceData {
        let Instance { placement, route, tint_unorm8, pose, rank, .. } = self.instances[index as usize];
        let world_from_model = self.routes[route as usize].placed(placement).rows();
        InstanceData { world_from_model, pose: record, tint_unorm8, numbers: [rank, pose] }
    }

    /// Iterates over the visible instances, in the order of [`Self::write_instances`].
    pub fn visible_instances(&self) -> impl Iterator<Item = InstanceData> {
        self.visible.lists.instances.iter().map(|instance| self.instance_data(instance))
    }
}

/// Halves poses, scratches and output until one scratch or one block is left.
fn divide(shared: Shared<'_>, poses: Range<usize>, scratches: &mut [Scratch], mut out: Output<'_>) {
    if let [scratch] = scratches {
        return evaluate_poses(shared, poses, scratch, out);
    }
    let middle = poses.start + (poses.len() / 2).next_multiple_of(BLOCK_POSES);
    if middle >= poses.end {
        return divide(shared, poses, &mut scratches[..1], out);
    }
    let (scratches_a, scratches_b) = scratches.split_at_mut(scratches.len() / 2);
    let out_a = out.split_off_before(shared.records[middle]);
    let (a, b) = (poses.start..middle, middle..poses.end);
    rayon::join(|| divide(shared, a, scratches_a, out_a), || divide(shared, b, scratches_b, out));
}

fn evaluate_poses(shared: Shared<'_>, poses: Range<usize>, scratch: &mut Scratch, mut out: Output<'_>) {
    let visible = &shared.crowd.visible;
    let clips = |pose: &VisiblePose| visible.runs[pose.run as usize].clips;
    let is_alike = |a: &VisiblePose, b: &VisiblePose| a.levels == b.levels && (a.run == b.run || clips(a) == clips(b));
    let mut next = poses.start;
    for block in visible.lists.poses[poses.clone()].chunk_by(is_alike).flat_map(|alike| alike.chunks(BLOCK_POSES)) {
        next += block.len();
        let own = match poses.contains(&next) {
            true => out.split_off_before(shared.records[next]).streams,
            false => out.streams.split_off(out.streams.palette.len(), out.streams.morph_weights.len()),
        };
        shared.crowd.evaluate_block(clips(&block[0]), block, shared.time_seconds, scratch, own);
    }
}
