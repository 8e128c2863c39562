//! The positions of vertices in one pose, on the CPU: for measures that a box is too coarse for.
//!
//! They have the same bits as those of [`skin_vertex`](super::skin_vertex), which also packs normals.

use glam::{Vec3, Vec4};

use super::{ModelPose, Pose, joint_matrices};
use crate::model::{Geometry, Model};
use crate::shader_types::JointMatrix;

/// Overwrites `out` with the positions of all shown vertices of `model` ([`placements`](crate::model::placements)), in model
/// space.
///
/// # Panics
/// If `pose` belongs to another model.
pub fn skinned_positions(model: &Model, pose: ModelPose<'_>, out: &mut Vec<Vec3>) {
    let palette: Vec<JointMatrix> = joint_matrices(&model.palette, pose.model_from_node).collect();
    let pose = Pose { palette: &palette, morph_weights: pose.morph_weights };
    out.clear();
    out.reserve(model.geometry.shown_vertex_count());
    let shown = model.geometry.shown_vertices();
    out.extend(shown.map(|(vertex, placement)| skinned_position(&model.geometry, vertex, pose.placed(placement))));
}

/// Returns the position of one vertex in model space.
///
/// # Panics
/// If `vertex` is out of range, or if `pose` belongs to another model.
#[inline]
#[must_use]
pub fn skinned_position(geometry: &Geometry, vertex: usize, pose: Pose<'_>) -> Vec3 {
    let mut position = geometry.positions[vertex];
    for delta in geometry.morph_deltas_of(vertex) {
        position += pose.morph_weights[delta.weight_index as usize] * delta.position;
    }
    blended_matrix(geometry, vertex, pose).transform_point(position)
}

/// Returns the weighted sum of the joint matrices that influence a vertex (glTF 2.0, 3.7.3.3).
///
/// # Panics
/// If `vertex` is out of range, or if `pose` belongs to another model.
#[inline]
#[must_use]
pub fn blended_matrix(geometry: &Geometry, vertex: usize, pose: Pose<'_>) -> JointMatrix {
    let mut blended = [Vec4::ZERO; 3];
    for influence in geometry.influences_of(vertex) {
        for (sum, row) in blended.iter_mut().zip(pose.palette[influence.joint as usize].rows) {
            *sum += influence.weight * Vec4::from(row);
        }
    }
    JointMatrix { rows: blended.map(|row| row.to_array()) }
}
