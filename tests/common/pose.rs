//! One pose of a model, by the plain functions.

use glam::{Affine3A, Vec3};
use throng::animation::{PoseScratch, joint_matrices, pose_model, skinned_positions};
use throng::model::{Clip, Model};
use throng::shader_types::JointMatrix;

/// Returns the matrices of all nodes, and the morph weights.
pub fn posed(model: &Model, clip: Option<&Clip>, time_seconds: f64) -> (Vec<Affine3A>, Vec<f32>) {
    let mut scratch = PoseScratch::for_model(model);
    let pose = pose_model(model, clip, time_seconds, &mut scratch);
    (pose.model_from_node.to_vec(), pose.morph_weights.to_vec())
}

pub fn palette(model: &Model, clip: Option<&Clip>, time_seconds: f64) -> Vec<JointMatrix> {
    joint_matrices(&model.palette, &posed(model, clip, time_seconds).0).collect()
}

/// Returns the positions of all vertices that are drawn, in model space.
pub fn skinned(model: &Model, clip: Option<&Clip>, time_seconds: f64) -> Vec<Vec3> {
    let (mut scratch, mut positions) = (PoseScratch::for_model(model), Vec::new());
    skinned_positions(model, pose_model(model, clip, time_seconds, &mut scratch), &mut positions);
    positions
}
