//! The positions of all vertices in one pose, on the CPU: for measures that a box is too coarse for.

use glam::Vec3;

use super::{BindPose, ModelPose, Pose, joint_matrices, skin_vertex};
use crate::model::Model;
use crate::shader_types::JointMatrix;

/// Overwrites `out` with the positions of all vertices of `model`, in model space. `bind_pose` is the model's own.
///
/// # Panics
/// If `bind_pose` or `pose` belongs to another model.
pub fn skinned_positions(model: &Model, bind_pose: &BindPose, pose: ModelPose<'_>, out: &mut Vec<Vec3>) {
    let palette: Vec<JointMatrix> = joint_matrices(&model.palette, pose.model_from_node).collect();
    let pose = Pose { palette: &palette, morph_weights: pose.morph_weights };
    let vertices = 0..bind_pose.bind_vertices.len();
    out.clear();
    out.extend(vertices.map(|vertex| Vec3::from(skin_vertex(bind_pose, vertex, pose, false).0.position)));
}
