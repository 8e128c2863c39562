//! How far a moment's difference puts vertices off: what sharing poses costs in looks.

use glam::{Vec3, Vec4};

use super::{ModelPose, PoseScratch, joint_matrices, pose_model};
use crate::model::{Clip, Model};

/// Moments of the clip that are looked at, at most.
const MAX_MOMENTS: usize = 256;
/// Vertices that are skinned at most, of all moments together; at the fewest moments more.
const MAX_VERTICES: usize = 4_000_000;
/// Looked at even for the largest models.
const MIN_MOMENTS: usize = 8;

/// The largest distance, in model space, between where a vertex of `model` is at a moment of `clip` and where it is
/// `shift_seconds` later, over moments spread over the clip.
#[must_use]
pub fn worst_displacement(model: &Model, clip: &Clip, shift_seconds: f64) -> f32 {
    let duration_seconds = f64::from(clip.duration_seconds);
    let vertex_count = model.geometry.vertex_count().max(1);
    let moments = (MAX_VERTICES / vertex_count).clamp(MIN_MOMENTS, MAX_MOMENTS);
    let mut scratch = PoseScratch::for_model(model);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut worst_squared = 0.0f32;
    for moment in 0..moments {
        // Where the clip starts again nothing is compared: there it may jump.
        let share = moment as f64 / (moments - 1) as f64;
        let time_seconds = (duration_seconds - shift_seconds).max(0.0) * share;
        skinned_positions(model, pose_model(model, Some(clip), time_seconds, &mut scratch), &mut before);
        skinned_positions(model, pose_model(model, Some(clip), time_seconds + shift_seconds, &mut scratch), &mut after);
        for (before, after) in before.iter().zip(&after) {
            worst_squared = worst_squared.max(before.distance_squared(*after));
        }
    }
    worst_squared.sqrt()
}

/// Overwrites `out` with the positions of all vertices, in model space.
pub(super) fn skinned_positions(model: &Model, pose: ModelPose<'_>, out: &mut Vec<Vec3>) {
    let geometry = &model.geometry;
    let palette: Vec<_> =
        joint_matrices(&model.palette, pose.model_from_node).map(|joint| joint.rows.map(Vec4::from)).collect();
    out.clear();
    out.extend(geometry.positions.iter().enumerate().map(|(vertex, &position)| {
        let deltas = geometry.morph_deltas_of(vertex).iter();
        let morphed =
            deltas.map(|delta| delta.position * pose.morph_weights[delta.weight_index as usize]).sum::<Vec3>();
        let position = (position + morphed).extend(1.0);
        let influences = geometry.influences_of(vertex).iter();
        let skinned = influences.map(|influence| {
            let [x, y, z] = palette[influence.joint as usize];
            Vec3::new(x.dot(position), y.dot(position), z.dot(position)) * influence.weight
        });
        skinned.sum::<Vec3>()
    }));
}
