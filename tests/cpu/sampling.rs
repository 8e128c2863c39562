//! Sampling, where neither the files of `assets/conformance` nor the clips of the fuzz target `sampling` ask.

use glam::{Quat, Vec3, Vec4};
use throng::animation::{SampleScratch, sample_clip};
use throng::model::{Clip, Interpolation, LocalPose};

use crate::cpu::crowd::{clip_with, track};

fn sample(clip: &Clip, time_seconds: f64) -> (Vec3, Quat) {
    let mut pose = LocalPose::identity(1);
    sample_clip(clip, time_seconds, &mut SampleScratch::default(), &mut pose);
    (pose.translations[0], pose.rotations[0])
}

#[test]
fn times_are_compared_in_double_precision() {
    // o-----------o
    // 0 s         0.1 s, which as f32 is 0.100000001490116
    // X           Y
    let translations = vec![track(0, Interpolation::Step, vec![Vec3::X, Vec3::Y])];
    let clip = Clip { translations, ..clip_with(&[0.0, 0.1]) };
    assert_eq!(sample(&clip, 0.1).0, Vec3::X, "0.1 is earlier than the key");
    assert_eq!(sample(&clip, f64::from(0.1f32)).0, Vec3::Y);
}

#[test]
fn opposite_keys_of_a_spline_cancel_out_and_give_no_rotation() {
    let values = vec![Vec4::ZERO, Vec4::W, Vec4::ZERO, Vec4::ZERO, -Vec4::W, Vec4::ZERO];
    let clip = Clip { rotations: vec![track(0, Interpolation::CubicSpline, values)], ..clip_with(&[0.0, 1.0]) };
    assert_eq!(sample(&clip, 0.5).1, Quat::IDENTITY);
}
