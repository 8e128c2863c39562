//! The poses in which levels are compared with full detail.
//!
//! In: a model. Out: moments, the rest pose first. There may be thousands of keys, and neighbouring ones are alike, so only
//! poses that differ are kept: farthest-point sampling, in which each next moment is the one that differs most from all
//! moments before. Two poses differ by the distances between pairs of vertices. These do not change when the whole
//! character moves or turns, which causes no error.

use glam::Vec3A;
use rayon::prelude::*;

use crate::animation::{Pose, PoseScratch, joint_matrices, pose_model, skinned_position};
use crate::model::{Clip, Model};
use crate::shader_types::JointMatrix;

/// The largest number of moments to choose from.
const MOST_CANDIDATES: usize = 1024;
/// The largest number of morph targets whose ends are moments.
const MOST_MORPH_ENDS: usize = 64;
/// The largest number of candidates times nodes and joints, which bounds the time.
const CANDIDATE_WORK: usize = 1 << 17;
/// The largest number of keys of a clip that are sorted.
const MOST_KEYS: usize = 1 << 16;
/// The largest number of joints, and of morph targets, that each have a vertex in the description of a pose.
const MOST_FEATURES: usize = 48;
/// The number of other vertices in the description of a pose.
const SPREAD: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Moment {
    Rest,
    /// The rest pose with a weight of 1 for the morph target with this index.
    MorphEnd(usize),
    Clip {
        clip: usize,
        time_seconds: f64,
    },
}

/// Memory for the evaluation of one moment at a time.
pub(super) struct MomentPoser<'m> {
    model: &'m Model,
    scratch: PoseScratch,
    palette: Vec<JointMatrix>,
    morph_weights: Vec<f32>,
}

impl<'m> MomentPoser<'m> {
    pub fn new(model: &'m Model) -> Self {
        let scratch = PoseScratch::for_model(model);
        Self { model, scratch, palette: Vec::new(), morph_weights: Vec::new() }
    }

    pub fn pose(&mut self, moment: Moment) -> Pose<'_> {
        let (clip, time_seconds) = match moment {
            Moment::Clip { clip, time_seconds } => (self.model.clips.get(clip), time_seconds),
            Moment::Rest | Moment::MorphEnd(_) => (None, 0.0),
        };
        let pose = pose_model(self.model, clip, time_seconds, &mut self.scratch);
        self.palette.clear();
        self.palette.extend(joint_matrices(&self.model.palette, pose.model_from_node));
        self.morph_weights.clear();
        self.morph_weights.extend_from_slice(pose.morph_weights);
        if let Moment::MorphEnd(weight_index) = moment
            && let Some(weight) = self.morph_weights.get_mut(weight_index)
        {
            *weight = 1.0;
        }
        Pose { palette: &self.palette, morph_weights: &self.morph_weights, ..Pose::default() }
    }

    /// Returns the positions of all vertices that are drawn in a moment.
    pub fn positions(&mut self, moment: Moment) -> Vec<Vec3A> {
        let geometry = &self.model.geometry;
        let pose = self.pose(moment);
        let vertices = (0..geometry.drawn_vertex_count()).into_par_iter().with_min_len(1024);
        vertices.map(|vertex| skinned_position(geometry, vertex, pose).into()).collect()
    }
}

/// Returns at most `most` candidates that differ most, the rest pose first. `used` are the surface's vertices, at least one.
pub(super) fn different(model: &Model, candidates: &[Moment], used: &[u32], most: usize) -> Vec<Moment> {
    let pairs = pairs(model, used);
    let descriptors: Vec<Vec<f32>> = candidates
        .par_iter()
        .map_init(
            || MomentPoser::new(model),
            |poser, &moment| {
                let pose = poser.pose(moment);
                let position = |vertex: u32| skinned_position(&model.geometry, vertex as usize, pose);
                pairs.iter().map(|&[a, b]| position(a).distance(position(b))).collect()
            },
        )
        .collect();
    let mut chosen = vec![Moment::Rest];
    let mut newest = 0;
    let mut nearest = vec![f32::INFINITY; candidates.len()];
    while chosen.len() < most {
        let mut farthest = (0.0, None);
        for (index, (nearest, descriptor)) in nearest.iter_mut().zip(&descriptors).enumerate() {
            let difference = descriptor.iter().zip(&descriptors[newest]).map(|(a, b)| (a - b) * (a - b)).sum::<f32>();
            *nearest = nearest.min(difference);
            // Poses that overflow are never drawn. A NaN is not larger than anything.
            if *nearest > farthest.0 && *nearest < f32::INFINITY {
                farthest = (*nearest, Some(index));
            }
        }
        let Some(index) = farthest.1 else { break };
        chosen.push(candidates[index]);
        newest = index;
    }
    chosen
}

/// Returns the rest pose, the ends of the morph targets, and times of all clips.
pub(super) fn candidates(model: &Model) -> Vec<Moment> {
    let mut candidates = vec![Moment::Rest];
    let weight_count = model.morph_weight_count();
    let ends = (0..weight_count).step_by(weight_count.div_ceil(MOST_MORPH_ENDS).max(1));
    candidates.extend(ends.map(Moment::MorphEnd));
    let work = (model.skeleton.len() + model.palette.len()).max(1);
    let most = (CANDIDATE_WORK / work).clamp(32, MOST_CANDIDATES);
    let clip_step = model.clips.len().div_ceil(most / 2).max(1);
    let per_clip = (most * clip_step / model.clips.len().max(1)).max(2);
    for (clip, animation) in model.clips.iter().enumerate().step_by(clip_step) {
        let times = times(animation, per_clip);
        candidates.extend(times.into_iter().map(|time_seconds| Moment::Clip { clip, time_seconds }));
    }
    candidates
}

/// Returns at most `most` times of a clip: keys, if there are not too many, and even ones.
fn times(clip: &Clip, most: usize) -> Vec<f64> {
    let mut keys: Vec<f32> = Vec::new();
    if clip.timelines.iter().map(Vec::len).sum::<usize>() <= MOST_KEYS {
        keys.extend(clip.timelines.iter().flatten());
        keys.sort_unstable_by(f32::total_cmp);
        keys.dedup();
    }
    let key_count = keys.len().min(most / 2);
    let even_count = most - key_count;
    let duration_seconds = f64::from(clip.duration_seconds);
    let even = (0..even_count).map(|k| duration_seconds * (k as f64 / (even_count - 1).max(1) as f64));
    let spread = |k: usize| k * (keys.len() - 1) / (key_count - 1).max(1);
    (0..key_count).map(|k| f64::from(keys[spread(k)])).chain(even).collect()
}

/// Returns pairs of vertices whose distances describe a pose. For each joint and each morph target, unless there are too
/// many, one vertex is that which it moves most. A few others are spread over the surface.
fn pairs(model: &Model, used: &[u32]) -> Vec<[u32; 2]> {
    let geometry = &model.geometry;
    let mut of_joint = vec![(0.0, 0); model.palette.len()];
    let mut of_target = vec![(0.0, 0); model.morph_weight_count()];
    for &vertex in used {
        for influence in geometry.influences_of(vertex as usize) {
            take_larger(&mut of_joint[influence.joint as usize], (influence.weight, vertex));
        }
        for delta in geometry.morph_deltas_of(vertex as usize) {
            take_larger(&mut of_target[delta.weight_index as usize], (delta.position.length_squared(), vertex));
        }
    }
    let mut vertices = Vec::new();
    for list in [of_joint, of_target] {
        let moved: Vec<u32> = list.into_iter().filter(|(most, _)| *most > 0.0).map(|(_, vertex)| vertex).collect();
        vertices.extend(moved.iter().step_by(moved.len().div_ceil(MOST_FEATURES).max(1)));
    }
    // A linear congruential generator (Knuth, MMIX).
    let mut state = 1u64;
    let spread = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        used[(state >> 33) as usize % used.len()]
    });
    vertices.extend(spread.take(SPREAD));
    let next = vertices.iter().cycle().skip(1);
    vertices.iter().zip(next).map(|(&a, &b)| [a, b]).collect()
}

fn take_larger(largest: &mut (f32, u32), other: (f32, u32)) {
    if other.0 > largest.0 {
        *largest = other;
    }
}
