//! One pose of a model, by the plain functions.

use glam::{Affine3A, Vec3};
use throng::animation::{PoseScratch, joint_matrices, pose_model, skinned_positions};
use throng::model::{Clip, Model, PaletteLayout};
use throng::shader_types::JointMatrix;

/// Returns the matrices of all nodes, and the morph weights.
pub fn posed(model: &Model, clip: Option<&Clip>, time_seconds: f64) -> (Vec<Affine3A>, Vec<f32>) {
    let mut scratch = PoseScratch::for_model(model);
    let pose = pose_model(model, clip, time_seconds, &mut scratch);
    (pose.model_from_node.to_vec(), pose.morph_weights.to_vec())
}

pub fn layout(entries: impl IntoIterator<Item = (u32, Affine3A)>, is_joint: bool) -> PaletteLayout {
    let (nodes, joint_from_mesh): (Vec<u32>, _) = entries.into_iter().unzip();
    PaletteLayout { is_joint: vec![is_joint; nodes.len()], nodes, joint_from_mesh }
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
