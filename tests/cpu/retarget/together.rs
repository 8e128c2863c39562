//! Clips together.

use throng::animation::{PoseScratch, pose_model};
use throng::crowd::wrap_seconds;
use throng::model::{Clip, Interpolation, LocalPose, Model, import};
use throng::retarget::together::{are_parts, join};

use crate::common::assets::wild_path;
use crate::common::lanes::check_lanes;

/// Returns the matrices of all nodes, and the morph weights.
fn pose(model: &Model, clip: &Clip, seconds: f64) -> (Vec<glam::Affine3A>, Vec<f32>) {
    let mut scratch = PoseScratch::for_model(model);
    let pose = pose_model(model, Some(clip), seconds, &mut scratch);
    (pose.model_from_node.to_vec(), pose.morph_weights.to_vec())
}

#[test]
#[cfg_attr(not(wild_models), ignore = "set THRONG_WILD_MODELS to the folder of models with faults")]
fn a_clip_for_each_object_moves_all_objects() {
    let model = import::load(&wild_path("w18_a_clip_for_each_object.gltf")).unwrap();
    assert!(are_parts(&model.clips));
    let (joined, replaced) = join(&model, &[0, 1, 2], "together");
    assert_eq!(replaced, 0);
    for step in 0..=10 {
        let seconds = f64::from(joined.duration_seconds) * f64::from(step) / 10.0;
        let (all, _) = pose(&model, &joined, seconds);
        for clip in &model.clips {
            let (one, _) = pose(&model, clip, wrap_seconds(seconds, f64::from(clip.duration_seconds)));
            for track in &clip.rotations {
                assert!(all[track.node as usize].abs_diff_eq(one[track.node as usize], 1e-5), "{seconds}");
            }
        }
    }
}
