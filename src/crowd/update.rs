//! The part of a frame that costs time: joint matrices and morph weights of all visible poses, on all cores.
//!
//! The poses are cut into blocks of one model and clip, and the blocks are shared out by recursive halving: a task takes
//! a run of blocks, the matching part of the output and a scratch of its own. So no two tasks share memory, nothing is
//! locked and nothing is allocated, and since a pose's matrices depend on nothing but the instance and the time, the
//! bytes are the same however many threads there are.

use std::mem::MaybeUninit;

use rayon::ThreadPool;

use super::playback::{Evaluation, Repertoire, clip_of};
use super::{Crowd, Instance};
use crate::animation::lanes::{self, GROUP_INSTANCES, LaneScratch, Processor};
use crate::animation::{PoseScratch, PoseStreams, evaluate, evaluate_morph_weights};
use crate::model::Model;
use crate::shader_types::{InstanceData, JointMatrix};

/// Poses of one block: small enough to share out a hundred characters, large enough for a task to be worth it, and whole
/// groups of lanes.
const BLOCK_POSES: usize = 2 * GROUP_INSTANCES;
/// Tasks of one update for each thread: a thread that is held up leaves the rest to the others.
const TASKS_PER_THREAD: usize = 4;

/// A run of the visible poses, all of one model and clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// Index into the models.
    model: u32,
    /// Index into the model's clips; `None` is the rest pose.
    clip: Option<u32>,
    /// The first one.
    first: u32,
    /// At most [`BLOCK_POSES`].
    count: u32,
}

impl Block {
    /// How many blocks a crowd can come to: whole ones, and an incomplete one for each clip of each model.
    pub(super) fn most(pose_count: usize, clip_count: usize) -> usize {
        pose_count / BLOCK_POSES + clip_count.min(pose_count)
    }

    /// Refills `blocks` for visible poses, which are grouped by model and clip.
    pub(super) fn cut(poses: &[u32], instances: &[Instance], blocks: &mut Vec<Self>) {
        blocks.clear();
        for (pose, &index) in poses.iter().enumerate() {
            let Instance { model, clip, .. } = instances[index as usize];
            match blocks.last_mut() {
                Some(last) if (last.model, last.clip) == (model, clip) && last.count < BLOCK_POSES as u32 => {
                    last.count += 1;
                }
                _ => blocks.push(Self { model, clip, first: pose as u32, count: 1 }),
            }
        }
    }

    /// How much of the streams this block fills: joint matrices, morph weights.
    fn stream_counts(&self, models: &[Model]) -> (usize, usize) {
        let (count, model) = (self.count as usize, &models[self.model as usize]);
        (count * model.palette.len(), count * model.morph_weight_count())
    }
}

/// What one task works with, and nobody else has in the same cache line, nor in the one that is fetched along with it.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Scratch {
    poses: PoseScratch,
    lanes: LaneScratch,
}

impl Scratch {
    /// With room for everything that is played.
    fn new(models: &[Model], repertoire: &Repertoire) -> Self {
        let mut lanes = LaneScratch::default();
        repertoire.compiled().for_each(|clip| lanes.fit(clip));
        Self { poses: PoseScratch::for_models(models), lanes }
    }
}

/// What all tasks of an update read.
#[derive(Clone, Copy)]
struct Shared<'a> {
    models: &'a [Model],
    instances: &'a [Instance],
    poses: &'a [u32],
    repertoire: &'a Repertoire,
    processor: Processor,
    /// Of the show, at the speed of the crowd; `None`: nothing is evaluated, only stored.
    time_seconds: Option<f64>,
}

impl Crowd {
    /// Writes joint matrices and morph weights of all visible poses at `time_seconds` of the show, each element of `out`
    /// once. The first call with a pool of another size, or after another clip was chosen, allocates; later ones do not.
    ///
    /// Without any allocation at all goes a call from a thread of the pool: see [`thread_pool`](super::thread_pool).
    ///
    /// # Panics
    /// If `out` has not [`Crowd::visible_joint_count`] joint matrices and [`Crowd::visible_morph_weight_count`] weights.
    pub fn evaluate(&mut self, pool: &ThreadPool, time_seconds: f64, out: PoseStreams<'_>) {
        self.fill(pool, Some(time_seconds), out);
    }

    /// Stores as many joint matrices and morph weights as [`Crowd::evaluate`] would, shared out among the same threads, and
    /// does nothing else: what memory alone takes of its time. All characters stand as they were bound.
    ///
    /// # Panics
    /// As [`Crowd::evaluate`].
    pub fn store_only(&mut self, pool: &ThreadPool, out: PoseStreams<'_>) {
        self.fill(pool, None, out);
    }

    fn fill(&mut self, pool: &ThreadPool, time_seconds: Option<f64>, out: PoseStreams<'_>) {
        assert_eq!(out.palette.len(), self.visible_joint_count(), "the palette's length");
        assert_eq!(out.morph_weights.len(), self.visible_morph_weight_count(), "the morph weights' length");
        let threads = pool.current_num_threads();
        let tasks = if threads == 1 { 1 } else { threads * TASKS_PER_THREAD };
        if self.scratches.len() != tasks {
            self.scratches = (0..tasks).map(|_| Scratch::new(&self.models, &self.repertoire)).collect();
        }
        let Self { models, instances, visible, repertoire, processor, scratches, speed, .. } = self;
        let shared = Shared {
            models,
            instances,
            poses: &visible.poses,
            repertoire,
            processor: *processor,
            time_seconds: time_seconds.map(|seconds| seconds * f64::from(*speed)),
        };
        if threads == 1 {
            share_out(shared, &visible.blocks, scratches, out);
        } else {
            pool.install(|| share_out(shared, &visible.blocks, scratches, out));
        }
    }

    /// Writes one element for each visible instance: those that the camera may see, as [`Crowd::seen_starts`] groups
    /// them, then those of which it may see only the shadow, as [`Crowd::shadow_starts`] does.
    ///
    /// `skinned_vertex_offset` gets the model and the pose's rank among the visible ones of its model.
    ///
    /// # Panics
    /// If `out` is not as long as there are visible instances.
    pub fn write_instances(
        &self,
        out: &mut [MaybeUninit<InstanceData>],
        skinned_vertex_offset: impl Fn(usize, u32) -> u32,
    ) {
        let visible = &self.visible;
        assert_eq!(out.len(), visible.seen.len() + visible.shadows_only.len(), "one element for each visible instance");
        let (seen, shadows_only) = out.split_at_mut(visible.seen.len());
        let mut seen = seen.iter_mut().zip(&visible.seen).peekable();
        let mut shadows_only = shadows_only.iter_mut().zip(&visible.shadows_only).peekable();
        let counts = visible.pose_counts.iter().enumerate();
        let ranks = counts.flat_map(|(model, &count)| (0..count).map(move |rank| (model, rank)));
        let (mut palette_offset, mut morph_weight_offset) = (0, 0);
        for (&pose, (model, rank)) in visible.poses.iter().zip(ranks) {
            let pose = self.instances[pose as usize].pose;
            let skinned_vertex_offset = skinned_vertex_offset(model, rank);
            let shows_pose = |index: u32| self.instances[index as usize].pose == pose;
            let write = |element: &mut MaybeUninit<InstanceData>, index: u32| {
                element.write(InstanceData {
                    world_from_model: self.instances[index as usize].world_from_model.into(),
                    palette_offset,
                    skinned_vertex_offset,
                    morph_weight_offset,
                    padding: 0,
                });
            };
            while let Some((element, &index)) = seen.next_if(|(_, index)| shows_pose(**index)) {
                write(element, index);
            }
            while let Some((element, &index)) = shadows_only.next_if(|(_, index)| shows_pose(**index)) {
                write(element, index);
            }
            // `Crowd::new` has made sure that all offsets fit.
            palette_offset += self.models[model].palette.len() as u32;
            morph_weight_offset += self.models[model].morph_weight_count() as u32;
        }
    }
}

/// Halves blocks, scratches and output alike until one scratch, or one block, is left.
fn share_out(shared: Shared<'_>, blocks: &[Block], scratches: &mut [Scratch], mut out: PoseStreams<'_>) {
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

fn evaluate_blocks(shared: Shared<'_>, blocks: &[Block], scratch: &mut Scratch, mut out: PoseStreams<'_>) {
    for block in blocks {
        let (joints, weights) = block.stream_counts(shared.models);
        let mut own = out.split_off(joints, weights);
        let Some(show_seconds) = shared.time_seconds else {
            own.palette.fill(MaybeUninit::new(JointMatrix::IDENTITY));
            own.morph_weights.fill(MaybeUninit::new(0.0));
            continue;
        };
        let model = &shared.models[block.model as usize];
        let clip = clip_of(model, block.clip);
        let duration_seconds = clip.map_or(0.0, |clip| f64::from(clip.duration_seconds));
        let poses = &shared.poses[block.first as usize..(block.first + block.count) as usize];
        let mut times_seconds = [0.0; BLOCK_POSES];
        for (time_seconds, &index) in times_seconds.iter_mut().zip(poses) {
            let start_seconds = shared.instances[index as usize].start_seconds;
            *time_seconds = wrap_seconds(start_seconds + show_seconds, duration_seconds);
        }
        let times_seconds = &times_seconds[..poses.len()];
        match shared.repertoire.evaluation(block.model as usize, block.clip) {
            Evaluation::Lanes(compiled) => {
                lanes::evaluate(shared.processor, compiled, times_seconds, &mut scratch.lanes, own.palette);
                if weights > 0 {
                    let own = own.morph_weights.chunks_exact_mut(model.morph_weight_count());
                    for (&time_seconds, own) in times_seconds.iter().zip(own) {
                        evaluate_morph_weights(model, clip, time_seconds, &mut scratch.poses, own);
                    }
                }
            }
            Evaluation::OneByOne => {
                for &time_seconds in times_seconds {
                    let own = own.split_off(model.palette.len(), model.morph_weight_count());
                    evaluate(model, clip, time_seconds, &mut scratch.poses, own);
                }
            }
        }
    }
}

/// Brings a time into the clip, which repeats: a time from 0 to `duration_seconds`, both included, stays what it is, so
/// that the last key can be asked for. Without a duration, or for a time that is not finite, 0.
#[must_use]
pub fn wrap_seconds(time_seconds: f64, duration_seconds: f64) -> f64 {
    // Far enough for hours, and near enough for the product below to lose nothing that a clip can show.
    const MAX_LAPS: f64 = 65_536.0;
    if (0.0..=duration_seconds).contains(&time_seconds) {
        return time_seconds;
    }
    let laps = time_seconds / duration_seconds;
    if duration_seconds > 0.0 && laps.abs() < MAX_LAPS {
        // The remainder, without the dozens of steps that the exact one takes.
        let rest = time_seconds - (laps as i32) as f64 * duration_seconds;
        let rest = if rest < 0.0 { rest + duration_seconds } else { rest };
        if rest < duration_seconds { rest } else { 0.0 }
    } else if duration_seconds > 0.0 && time_seconds.is_finite() {
        time_seconds.rem_euclid(duration_seconds)
    } else {
        0.0
    }
}
