//! Bounding boxes of an animated model, for culling, framing and spacing.
//!
//! Each joint would take a vertex to one point, and the skinned vertex is the weighted mean of these points, so it lies
//! in their convex hull. Therefore each palette entry gets the box of the bind positions that it influences. Its joint
//! matrix transforms the box, and the union of all boxes holds the pose. That costs one box for each joint instead of
//! thousands of vertices. Morph targets widen a joint's box first: by the box of a target's deltas for the vertices of
//! that joint, times the target's weight.
//!
//! At a sampled time the box is conservative: it holds every vertex with room to spare, because a rotated box is
//! replaced by the larger axis-aligned one and a small influence counts fully. Between samples a joint may swing out a
//! little. Clips are sampled at all keys, where lines end and steps jump, and 30 times a second (`sample_times`). The
//! result grows by `MARGIN` of its size, which covers an arc of half a radian between two samples.

use std::collections::BTreeMap;

use glam::{Affine3A, Vec3, Vec3A};

use super::displacement::skinned_positions;
use super::{BindPose, ModelPose, PoseScratch, pose_model};
use crate::model::{Clip, Model};

/// The number of samples per second of a clip.
const SAMPLES_PER_SECOND: f64 = 30.0;
/// The number of samples that any clip may have, however few keys it has.
const FREE_SAMPLES: usize = 256;
/// The number of samples that a clip may have for each of its keys.
const SAMPLES_PER_KEY: usize = 8;
/// The largest number of nodes and joints over all samples of a clip. It bounds the cost for any file: 100 nodes are
/// sampled for three minutes. Longer clips are sampled at even, longer intervals.
const MAX_NODE_SAMPLES: usize = 1 << 19;
/// The growth of an animated box on each side, as a share of its largest extent: room for the motion between samples.
const MARGIN: f32 = 0.02;

/// An axis-aligned box in model space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PosedBounds {
    /// The smallest coordinates.
    pub min: Vec3,
    /// The largest coordinates.
    pub max: Vec3,
}

impl PosedBounds {
    /// A box of one metre around the origin: the box of an empty model.
    pub const UNIT: Self = Self { min: Vec3::splat(-0.5), max: Vec3::splat(0.5) };

    /// Returns the centre of the box.
    #[must_use]
    pub fn center(&self) -> Vec3 {
        (self.min + self.max) * 0.5
    }

    /// Returns the radius of the sphere around the box.
    #[must_use]
    pub fn radius(&self) -> f32 {
        self.half_extents().length()
    }

    /// Returns half of the box's size along each axis.
    #[must_use]
    pub fn half_extents(&self) -> Vec3 {
        (self.max - self.min) * 0.5
    }

    /// Returns the smallest box that holds both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Returns the axis-aligned box around this one after a transform (Arvo, "Transforming Axis-Aligned Bounding
    /// Boxes", Graphics Gems, 1990).
    #[must_use]
    pub fn transformed(&self, to_from_model: &Affine3A) -> Self {
        let center = to_from_model.transform_point3(self.center());
        let half = Vec3A::from(self.half_extents());
        let m = &to_from_model.matrix3;
        let half = Vec3::from(m.x_axis.abs() * half.x + m.y_axis.abs() * half.y + m.z_axis.abs() * half.z);
        Self { min: center - half, max: center + half }
    }
}

/// Returns the box that holds `model` throughout `clip`, or in its rest pose for `None`. If there is nothing to draw,
/// or the box overflows, it is [`PosedBounds::UNIT`]. Its centre and radius are always finite.
#[must_use]
pub fn posed_bounds(model: &Model, clip: Option<&Clip>) -> PosedBounds {
    let joint_boxes = joint_boxes(model);
    let mut scratch = PoseScratch::for_model(model);
    let bounds = sample_times(model, clip)
        .into_iter()
        .filter_map(|time_seconds| {
            let pose = pose_model(model, clip, time_seconds, &mut scratch);
            union_of_joint_boxes(model, pose, &joint_boxes)
        })
        .reduce(|a, b| a.union(&b));
    let Some(bounds) = bounds else { return PosedBounds::UNIT };
    let margin = if clip.is_some() { MARGIN * (bounds.max - bounds.min).max_element() } else { 0.0 };
    let grown = PosedBounds { min: bounds.min - margin, max: bounds.max + margin };
    // A box may be finite while its centre or its radius overflows, which cameras could not use.
    if grown.center().is_finite() && grown.radius().is_finite() { grown } else { PosedBounds::UNIT }
}

/// Returns the height, in model space, of the ground that `model` stands on while it plays `clip`, or in its rest pose
/// for `None`: the lowest skinned vertex at a few times. Unlike the box of [`posed_bounds`] it has no margin, so that
/// feet touch the ground. It is 0 if there is nothing to draw.
#[must_use]
pub fn ground_height(model: &Model, clip: Option<&Clip>) -> f32 {
    const SAMPLES: u32 = 8;
    let bind_pose = BindPose::new(&model.geometry);
    let mut scratch = PoseScratch::for_model(model);
    let samples = if clip.is_some() { SAMPLES } else { 1 };
    let duration_seconds = clip.map_or(0.0, |clip| f64::from(clip.duration_seconds));
    let mut lowest = f32::INFINITY;
    let mut positions = Vec::new();
    for sample in 0..samples {
        let time_seconds = duration_seconds * f64::from(sample) / f64::from(samples);
        skinned_positions(model, &bind_pose, pose_model(model, clip, time_seconds, &mut scratch), &mut positions);
        lowest = positions.iter().map(|position| position.y).fold(lowest, f32::min);
    }
    if lowest.is_finite() { lowest } else { 0.0 }
}

/// The vertices that one palette entry influences, in mesh space.
#[derive(Clone, Default)]
struct JointBox {
    /// The box of their bind positions, if there are any.
    bind: Option<PosedBounds>,
    vertex_count: usize,
    /// For each morph target, by its weight index: the box and the number of its deltas for these vertices.
    deltas: BTreeMap<u32, (PosedBounds, usize)>,
}

impl JointBox {
    /// Returns the box with the morph targets applied, if the joint influences any vertex.
    fn morphed(&self, morph_weights: &[f32]) -> Option<PosedBounds> {
        let deltas = self.deltas.iter().filter(|(target, _)| morph_weights[**target as usize] != 0.0);
        let grow = |sum: PosedBounds, (&target, &(delta, count)): (&u32, &(PosedBounds, usize))| {
            let weight = morph_weights[target as usize];
            let (a, b) = (delta.min * weight, delta.max * weight);
            // Vertices without a delta do not move.
            let stay = if count < self.vertex_count { Vec3::ZERO } else { a };
            PosedBounds { min: sum.min + a.min(b).min(stay), max: sum.max + a.max(b).max(stay) }
        };
        self.bind.map(|bind| deltas.fold(bind, grow))
    }
}

/// Returns the box of each palette entry.
fn joint_boxes(model: &Model) -> Vec<JointBox> {
    let mut boxes = vec![JointBox::default(); model.palette.len()];
    for (vertex, &position) in model.geometry.positions.iter().enumerate() {
        for influence in model.geometry.influences_of(vertex) {
            let joint_box = &mut boxes[influence.joint as usize];
            joint_box.vertex_count += 1;
            let point = PosedBounds { min: position, max: position };
            joint_box.bind = Some(joint_box.bind.map_or(point, |bind| bind.union(&point)));
            for delta in model.geometry.morph_deltas_of(vertex) {
                let point = PosedBounds { min: delta.position, max: delta.position };
                let (all, count) = joint_box.deltas.entry(delta.weight_index).or_insert((point, 0));
                *all = all.union(&point);
                *count += 1;
            }
        }
    }
    boxes
}

fn union_of_joint_boxes(model: &Model, pose: ModelPose<'_>, joint_boxes: &[JointBox]) -> Option<PosedBounds> {
    let layout = &model.palette;
    let boxes = layout.nodes.iter().zip(&layout.joint_from_mesh).zip(joint_boxes);
    boxes
        .filter_map(|((&node, joint_from_mesh), joint_box)| {
            let model_from_mesh = pose.model_from_node[node as usize] * *joint_from_mesh;
            joint_box.morphed(pose.morph_weights).map(|morphed| morphed.transformed(&model_from_mesh))
        })
        .reduce(|a, b| a.union(&b))
}

/// Returns the times of the clip at which the boxes are evaluated: one for a rest pose or a clip without length.
fn sample_times(model: &Model, clip: Option<&Clip>) -> Vec<f64> {
    let Some(clip) = clip else { return vec![0.0] };
    let mut keys: Vec<f32> = clip.timelines.iter().flatten().copied().collect();
    // A time with two keys is a jump, so the time just before it counts as well.
    let jumps = clip.timelines.iter().flat_map(|times| times.windows(2));
    keys.extend(jumps.filter(|pair| pair[0] == pair[1] && pair[0] > 0.0).map(|pair| pair[0].next_down()));
    keys.sort_unstable_by(f32::total_cmp);
    keys.dedup();
    let most = (MAX_NODE_SAMPLES / (model.skeleton.len() + model.palette.len()).max(1)).max(FREE_SAMPLES);
    let duration_seconds = f64::from(clip.duration_seconds);
    let intervals = ((duration_seconds * SAMPLES_PER_SECOND).ceil() as usize)
        .min(FREE_SAMPLES.max(SAMPLES_PER_KEY * keys.len()))
        .min(most)
        .saturating_sub(1);
    let even = (0..=intervals).map(|k| duration_seconds * (k as f64 / intervals.max(1) as f64));
    let keyed = if keys.len() + intervals < most { &keys[..] } else { &[] };
    even.chain(keyed.iter().map(|&seconds| f64::from(seconds))).collect()
}
