//! From local pose to model pose: parents before children, fixed matrices, and ancestors that are not joints.

use std::f32::consts::FRAC_PI_2;

use glam::{Affine3A, Quat, Vec3};
use throng::animation::{PoseScratch, model_from_nodes, pose_model};
use throng::model::{Clip, Interpolation, LocalPose, Model, NO_PARENT, Skeleton, Track};

fn skeleton(parents: &[u32]) -> Skeleton {
    Skeleton {
        parents: parents.to_vec(),
        rest: LocalPose::identity(parents.len()),
        names: (0..parents.len()).map(|node| format!("node {node}")).collect(),
        source_nodes: (0..parents.len() as u32).collect(),
        in_scene: vec![true; parents.len()],
        ..Skeleton::default()
    }
}

fn pose(skeleton: &Skeleton, local: &LocalPose) -> Vec<Affine3A> {
    let mut model_from_node = vec![Affine3A::IDENTITY; skeleton.len()];
    model_from_nodes(skeleton, local, &mut model_from_node);
    model_from_node
}

fn assert_close(actual: Vec3, expected: Vec3) {
    assert!((actual - expected).length() < 1e-5, "{actual} instead of {expected}");
}

#[test]
fn children_follow_their_parents_in_order() {
    // 0 ─ 1 ─ 3        2 is a second root
    let skeleton = skeleton(&[NO_PARENT, 0, NO_PARENT, 1]);
    let mut local = LocalPose::identity(4);
    local.translations = vec![Vec3::X, Vec3::new(2.0, 0.0, 0.0), Vec3::new(0.0, 0.0, 7.0), Vec3::new(3.0, 0.0, 0.0)];
    local.rotations[0] = Quat::from_rotation_z(FRAC_PI_2);
    local.scales[1] = Vec3::splat(2.0);
    let model_from_node = pose(&skeleton, &local);
    // Node 0 rotates x to y, and node 1 scales by 2, so node 3 is at (1, 2 + 2·3, 0).
    assert_close(model_from_node[1].transform_point3(Vec3::ZERO), Vec3::new(1.0, 2.0, 0.0));
    assert_close(model_from_node[3].transform_point3(Vec3::ZERO), Vec3::new(1.0, 8.0, 0.0));
    assert_close(model_from_node[2].transform_point3(Vec3::ZERO), Vec3::new(0.0, 0.0, 7.0));
}

#[test]
fn negative_scales_mirror_and_zero_scales_collapse() {
    let skeleton = skeleton(&[NO_PARENT, 0]);
    let mut local = LocalPose::identity(2);
    local.scales[0] = Vec3::new(-1.0, 1.0, 0.0);
    local.translations[1] = Vec3::new(2.0, 3.0, 4.0);
    let model_from_node = pose(&skeleton, &local);
    assert_close(model_from_node[1].transform_point3(Vec3::ZERO), Vec3::new(-2.0, 3.0, 0.0));
    assert!(model_from_node.iter().all(|matrix| matrix.is_finite()));
}

#[test]
fn an_animated_ancestor_that_is_no_joint_counts_and_the_rest_pose_returns() {
    let values = vec![Vec3::ZERO, Vec3::new(0.0, 6.0, 0.0)];
    let track = Track { node: 0, timeline: 0, interpolation: Interpolation::Linear, values };
    let clip =
        Clip { duration_seconds: 2.0, timelines: vec![vec![0.0, 2.0]], translations: vec![track], ..Clip::default() };
    let mut model = Model { skeleton: skeleton(&[NO_PARENT, 0]), clips: vec![clip], ..Model::default() };
    model.skeleton.rest.translations = vec![Vec3::X, Vec3::Z];
    let mut scratch = PoseScratch::for_model(&model);
    let mut at =
        |clip, time| pose_model(&model, clip, time, &mut scratch).model_from_node[1].transform_point3(Vec3::ZERO);
    assert_eq!(at(model.clips.first(), 1.0), Vec3::new(0.0, 3.0, 1.0));
    assert_eq!(at(None, 1.0), Vec3::new(1.0, 0.0, 1.0), "the scratch must not remember the clip");
}
