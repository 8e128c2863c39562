//! Bounding boxes of an animated model, for culling, framing and spacing. In: a model and a clip. Out: one box in model
//! space for the whole clip.
//!
//! A skinned vertex is the weighted mean of the points to which single joint matrices would move it, so it lies in the
//! convex hull of these points. Therefore each palette entry gets the box of the bind positions that it influences. Its
//! joint matrix transforms this box, and the union of all such boxes contains the pose. That costs one box for each
//! joint instead of thousands of vertices. Before that, a box grows by the weighted boxes of its morph deltas.
//!
//! At a sampled time the box is conservative. A rotated box is replaced by the larger axis-aligned one, and a small
//! influence counts fully. Clips are sampled about 30 times a second and, unless there are too many, at all keys, where
//! linear segments end and steps jump. Between samples a joint may swing out, so the box grows by `MARGIN` on each
//! side. That covers a swing of 0.4 radians between two samples, even of a limb as long as the box.

use std::collections::BTreeMap;

use glam::{Affine3A, Vec3, Vec3A};

use crate::animation::{ModelPose, PoseScratch, pose_model};
use crate::model::{Clip, Model};

const SAMPLES_PER_SECOND: f64 = 30.0;
/// The number of samples that any clip may have, however few keys it has.
const FREE_SAMPLES: usize = 256;
/// The number of samples that a clip may have for each of its keys.
const SAMPLES_PER_KEY: usize = 8;
/// The largest number of samples of a clip, times its nodes and joints. It bounds the cost for any file: three minutes
/// for 100 nodes and joints. Longer clips are sampled at longer, even intervals.
const MAX_NODE_SAMPLES: usize = 1 << 19;
/// The growth of an animated box on each side, as a share of its largest extent: room for the motion between samples.
const MARGIN: f32 = 0.02;

/// An axis-aligned box in model space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PosedBounds {
    pub min: Vec3,
    pub max: Vec3,
}

impl PosedBounds {
    /// A box of one metre around the origin: the box of an empty model.
    pub const UNIT: Self = Self { min: Vec3::splat(-0.5), max: Vec3::splat(0.5) };

    pub fn center(&self) -> Vec3 {
        (self.min + self.max) * 0.5
    }

    pub fn radius(&self) -> f32 {
        self.half_extents().length()
    }

    pub fn half_extents(&self) -> Vec3 {
        (self.max - self.min) * 0.5
    }

    pub fn union(&self, other: &Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Returns the axis-aligned box that contains this one after a transform (Arvo, "Transforming Axis-Aligned Bounding
    /// Boxes", Graphics Gems, 1990).
    pub fn transformed(&self, to_from_model: &Affine3A) -> Self {
        let center = to_from_model.transform_point3(self.center());
        let half = Vec3A::from(self.half_extents());
        let m = &to_from_model.matrix3;
        let half = Vec3::from(m.x_axis.abs() * half.x + m.y_axis.abs() * half.y + m.z_axis.abs() * half.z);
        Self { min: center - half, max: center + half }
    }
}

/// Returns the box that contains `model` throughout `clip`, or in its rest pose for `None`. Its centre and radius are
/// always finite: if there is nothing to draw, or if the box overflows, it is [`PosedBounds::UNIT`].
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
    // The centre or the radius of a finite box may overflow, and cameras need finite ones.
    if grown.center().is_finite() && grown.radius().is_finite() { grown } else { PosedBounds::UNIT }
}

/// The vertices that one palette entry influences, in mesh space.
#[derive(Debug, Clone, Default)]
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

/// Returns the box of the drawn vertices that each palette entry influences.
fn joint_boxes(model: &Model) -> Vec<JointBox> {
    let mut boxes = vec![JointBox::default(); model.palette.len()];
    let drawn = model.geometry.drawn_vertex_count();
    for (vertex, &position) in model.geometry.positions[..drawn].iter().enumerate() {
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

/// Returns the times of the clip at which the boxes are evaluated. A rest pose has one.
fn sample_times(model: &Model, clip: Option<&Clip>) -> Vec<f64> {
    let Some(clip) = clip else { return vec![0.0] };
    let mut keys: Vec<f32> = clip.timelines.iter().flatten().copied().collect();
    // Two equal keys make a jump, so the time just before them counts as well.
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
