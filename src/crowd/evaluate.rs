//! Evaluation: the joint matrices and morph weights of all visible poses, on all cores.
//!
//! In: the visible poses, a time, and the [`FramePlan`] with the offsets of each pose. Out: the frame's palette, morph
//! weights and instances, each element written once. The poses are divided into blocks of consecutive poses of one model and
//! clip, or of one model and the same clips if they blend. A clip's poses in different levels of detail are in different blocks.
//! Recursive
//! halving gives each task consecutive blocks, its part of the output, and its own scratch memory. So tasks share no
//! memory, need no locks and do not allocate. A pose's matrices depend only on the instance and the time, so the bytes are
//! the same for any number of threads.

use std::mem::MaybeUninit;

use rayon::ThreadPool;

use super::crossfade::{Blend, ShownClips};
use super::plan::FramePlan;
use super::playback::{Evaluation, Repertoire, clip_of, wrap_seconds};
use super::visible::{BLOCK_POSES, Block, VisiblePose};
use super::{Crowd, Instance};
use crate::animation::lanes::{self, LaneScratch, MAX_SOURCES, Processor};
use crate::animation::{PoseScratch, PoseStreams, Source, evaluate, evaluate_blend, evaluate_morph_weights};
use crate::model::Model;
use crate::shader_types::{InstanceData, JointMatrix, PoseRecord};

/// The number of tasks per thread. If one thread is delayed, the others take over its remaining tasks.
const TASKS_PER_THREAD: usize = 4;

/// The scratch memory of one task. The alignment keeps it apart from the cache lines of other tasks, and from the
/// neighbouring lines that the processor prefetches.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Scratch {
    poses: PoseScratch,
    lanes: LaneScratch,
}

impl Scratch {
    /// Allocates room for every clip that is played.
    fn new(models: &[Model], repertoire: &Repertoire, blends: &[Blend]) -> Self {
        let mut lanes = LaneScratch::default();
        repertoire.compiled().for_each(|clip| lanes.fit(clip));
        blends.iter().filter_map(|blend| blend.compiled.as_ref()).for_each(|blend| lanes.fit_blend(blend));
        Self { poses: PoseScratch::for_models(models), lanes }
    }
}

/// The input of all tasks of an evaluation.
#[derive(Clone, Copy)]
struct Shared<'a> {
    models: &'a [Model],
    instances: &'a [Instance],
    poses: &'a [VisiblePose],
    records: &'a [PoseRecord],
    repertoire: &'a Repertoire,
    blends: &'a [Blend],
    shown: ShownClips<'a>,
    processor: Processor,
    /// The time since the start, at the speed of the crowd. `None`: identity matrices are stored, and nothing is evaluated.
    time_seconds: Option<f64>,
}

/// A part of the frame's streams, which begins at the data of one pose.
struct Part<'a> {
    streams: PoseStreams<'a>,
    first: PoseRecord,
}

impl<'a> Part<'a> {
    /// Splits off everything before the data of the pose with this record.
    fn split_off_before(&mut self, record: PoseRecord) -> Part<'a> {
        let joints = record.palette_offset - self.first.palette_offset;
        let morph_weights = record.morph_weight_offset - self.first.morph_weight_offset;
        let streams = self.streams.split_off(joints as usize, morph_weights as usize);
        Part { streams, first: std::mem::replace(&mut self.first, record) }
    }
}

impl Crowd {
    /// Writes the joint matrices and morph weights of all visible poses at `time_seconds`, each element of `out` once, at
    /// the offsets of `plan`. The first call with a pool of another size, or after a change of clips, allocates scratch
    /// memory. Later calls from a thread of the pool do not allocate: see [`thread_pool`](super::thread_pool).
    ///
    /// # Panics
    /// If `plan` was not built from [`Crowd::visible_poses`], or if the lengths of `out` are not the plan's.
    pub fn evaluate(&mut self, pool: &ThreadPool, time_seconds: f64, plan: &FramePlan, out: PoseStreams<'_>) {
        self.fill(pool, Some(time_seconds), plan, out);
    }

    /// Stores identity matrices and zero weights in the same memory and on the same threads as [`Crowd::evaluate`], so its
    /// time is the part of evaluation that memory alone takes. All characters are in their bind pose.
    ///
    /// # Panics
    /// The same as [`Crowd::evaluate`].
    pub fn store_only(&mut self, pool: &ThreadPool, plan: &FramePlan, out: PoseStreams<'_>) {
        self.fill(pool, None, plan, out);
    }

    /// Returns how far clips have advanced since the start at `time_seconds`.
    pub(super) fn clip_seconds(&self, time_seconds: f64) -> f64 {
        time_seconds * f64::from(self.speed)
    }

    fn fill(&mut self, pool: &ThreadPool, time_seconds: Option<f64>, plan: &FramePlan, out: PoseStreams<'_>) {
        assert_eq!(plan.records.len(), self.visible.poses.len(), "one record for each visible pose");
        assert_eq!(out.palette.len(), plan.joint_count as usize, "the palette's length");
        assert_eq!(out.morph_weights.len(), plan.morph_weight_count as usize, "the number of morph weights");
        let threads = pool.current_num_threads();
        let tasks = if threads == 1 { 1 } else { threads * TASKS_PER_THREAD };
        if self.scratches.len() != tasks {
            let blends = &self.crossfades.blends;
            self.scratches = (0..tasks).map(|_| Scratch::new(&self.models, &self.repertoire, blends)).collect();
        }
        let mut scratches = std::mem::take(&mut self.scratches);
        let weights = self.crossfades.fades.weights(time_seconds.unwrap_or(0.0));
        self.crossfades.blends.iter_mut().for_each(|blend| blend.set_weights(&weights));
        let shared = Shared {
            models: &self.models,
            instances: &self.instances,
            poses: &self.visible.poses,
            records: &plan.records,
            repertoire: &self.repertoire,
            blends: &self.crossfades.blends,
            shown: self.shown_clips(time_seconds.unwrap_or(0.0)),
            processor: self.processor,
            time_seconds: time_seconds.map(|seconds| self.clip_seconds(seconds)),
        };
        let blocks = &self.visible.blocks;
        let out = Part { streams: out, first: PoseRecord::default() };
        // A second thread is woken only if there is work for two.
        if threads == 1 || blocks.len() <= 1 {
            divide(shared, blocks, &mut scratches[..1], out);
        } else {
            pool.install(|| divide(shared, blocks, &mut scratches, out));
        }
        self.scratches = scratches;
    }

    /// Writes one element for each visible instance, in the order of the plan's [`InstanceRange`](super::InstanceRange)s.
    ///
    /// # Panics
    /// If `out` does not have one element for each visible instance.
    pub fn write_instances(&self, out: &mut [MaybeUninit<InstanceData>]) {
        let visible = &self.visible;
        assert_eq!(out.len(), visible.seen.len() + visible.shadow_only.len(), "one element for each visible instance");
        for (element, visible) in out.iter_mut().zip(visible.seen.iter().chain(&visible.shadow_only)) {
            let Instance { placement, ring, tint_unorm8, pose, .. } = self.instances[visible.instance as usize];
            let world_from_model = placement.turned(self.rings[ring as usize].turn).rows();
            let numbers = [visible.instance, pose];
            element.write(InstanceData { world_from_model, pose: visible.pose, tint_unorm8, numbers });
        }
    }
}

/// Halves blocks, scratches and output until one scratch or one block is left.
fn divide(shared: Shared<'_>, blocks: &[Block], scratches: &mut [Scratch], mut out: Part<'_>) {
    if scratches.len() == 1 || blocks.len() <= 1 {
        if let Some(scratch) = scratches.first_mut() {
            evaluate_blocks(shared, blocks, scratch, out);
        }
        return;
    }
    let (blocks_a, blocks_b) = blocks.split_at(blocks.len() / 2);
    let (scratches_a, scratches_b) = scratches.split_at_mut(scratches.len() / 2);
    let out_a = out.split_off_before(shared.records[blocks_b[0].first as usize]);
    rayon::join(|| divide(shared, blocks_a, scratches_a, out_a), || divide(shared, blocks_b, scratches_b, out));
}

fn evaluate_blocks(shared: Shared<'_>, blocks: &[Block], scratch: &mut Scratch, mut out: Part<'_>) {
    for (index, block) in blocks.iter().enumerate() {
        let mut own = match blocks.get(index + 1) {
            Some(next) => out.split_off_before(shared.records[next.first as usize]).streams,
            None => PoseStreams {
                palette: &mut *out.streams.palette,
                morph_weights: &mut *out.streams.morph_weights,
                memory: out.streams.memory,
            },
        };
        let Some(crowd_seconds) = shared.time_seconds else {
            own.palette.fill(MaybeUninit::new(JointMatrix::IDENTITY));
            own.morph_weights.fill(MaybeUninit::new(0.0));
            continue;
        };
        if let Some(blend) = block.blend {
            evaluate_blended(shared, block, &shared.blends[blend as usize], scratch, own);
            continue;
        }
        let model = &shared.models[block.model as usize];
        let clip = clip_of(model, block.clip);
        let duration_seconds = clip.map_or(0.0, |clip| f64::from(clip.duration_seconds));
        let poses = &shared.poses[block.first as usize..(block.first + block.count) as usize];
        let mut times_seconds = [0.0; BLOCK_POSES];
        for (time_seconds, pose) in times_seconds.iter_mut().zip(poses) {
            let start_seconds = shared.instances[pose.instance as usize].start_seconds;
            *time_seconds = wrap_seconds(start_seconds + crowd_seconds, duration_seconds);
        }
        let times_seconds = &times_seconds[..poses.len()];
        match shared.repertoire.evaluation(block.model as usize, block.clip) {
            Evaluation::Lanes(compiled) => {
                let (lanes, memory) = (&mut scratch.lanes, own.memory);
                lanes::evaluate(shared.processor, compiled, times_seconds, lanes, memory, own.palette);
                if !own.morph_weights.is_empty() {
                    let own = own.morph_weights.chunks_exact_mut(model.morph_weight_count());
                    for (&time_seconds, own) in times_seconds.iter().zip(own) {
                        let source = Source { clip, time_seconds, weight: 1.0 };
                        evaluate_morph_weights(model, &[source], &mut scratch.poses, own);
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

/// Evaluates a block of poses that blend the same clips.
fn evaluate_blended(shared: Shared<'_>, block: &Block, blend: &Blend, scratch: &mut Scratch, mut out: PoseStreams<'_>) {
    let model = &shared.models[block.model as usize];
    let poses = &shared.poses[block.first as usize..(block.first + block.count) as usize];
    let sources_of = |pose: &VisiblePose| shared.shown.sources(&shared.instances[pose.instance as usize]);
    let mut times_seconds = [[0.0; BLOCK_POSES]; MAX_SOURCES];
    for (index, pose) in poses.iter().enumerate() {
        for (times_seconds, source) in times_seconds.iter_mut().zip(sources_of(pose).iter()) {
            times_seconds[index] = source.time_seconds;
        }
    }
    let sources = blend.lane_sources(shared.repertoire, &times_seconds, poses.len());
    let (Some(compiled), Some((sources, count))) = (&blend.compiled, sources) else {
        for pose in poses {
            let own = out.split_off(model.palette.len(), model.morph_weight_count());
            evaluate_blend(model, &sources_of(pose), &mut scratch.poses, own);
        }
        return;
    };
    let (lanes, memory) = (&mut scratch.lanes, out.memory);
    lanes::evaluate_blend(shared.processor, compiled, &sources[..count], lanes, memory, out.palette);
    if !out.morph_weights.is_empty() {
        for (pose, own) in poses.iter().zip(out.morph_weights.chunks_exact_mut(model.morph_weight_count())) {
            evaluate_morph_weights(model, &sources_of(pose), &mut scratch.poses, own);
        }
    }
}
