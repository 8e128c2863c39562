//! Sampling of clips where neither the files of `assets/conformance` nor random clips (`properties/sampling.rs`) ask. In the
//! drawings of timelines, `o` is a key, and the numbers below it are its time and its value.

use glam::{Quat, Vec3, Vec4};
use throng::animation::{SampleScratch, sample_clip};
use throng::model::{Clip, Interpolation, LocalPose, MorphTrack, Track};

use crate::cpu::crowd::{clip_with, track};

use Interpolation::{CubicSpline, Linear, Step};

fn sample(clip: &Clip, time_seconds: f64) -> LocalPose {
    let mut pose = LocalPose::identity(1);
    sample_clip(clip, time_seconds, &mut SampleScratch::default(), &mut pose);
    pose
}

#[test]
fn times_are_compared_in_double_precision() {
    // o-----------o
    // 0 s         0.1 s, which as f32 is 0.100000001490116
    // X           Y
    let clip = Clip { translations: vec![track(0, Step, vec![Vec3::X, Vec3::Y])], ..clip_with(&[0.0, 0.1]) };
    assert_eq!(sample(&clip, 0.1).translations, [Vec3::X], "0.1 is earlier than the key");
    assert_eq!(sample(&clip, f64::from(0.1f32)).translations, [Vec3::Y]);
}

#[test]
fn opposite_keys_of_a_spline_cancel_out_and_give_no_rotation() {
    let values = vec![Vec4::ZERO, Vec4::W, Vec4::ZERO, Vec4::ZERO, -Vec4::W, Vec4::ZERO];
    let clip = Clip { rotations: vec![track(0, CubicSpline, values)], ..clip_with(&[0.0, 1.0]) };
    assert_eq!(sample(&clip, 0.5).rotations[0], Quat::IDENTITY);
}

#[test]
fn only_what_is_animated_is_overwritten() {
    // timeline 0: o-------o           timeline 1:     o---o
    //             0 s     1 s                         2 s 3 s
    let clip = Clip {
        duration_seconds: 3.0,
        timelines: vec![vec![0.0, 1.0], vec![2.0, 3.0]],
        translations: vec![track(1, Linear, vec![Vec3::ZERO, Vec3::ONE])],
        scales: vec![Track { node: 0, timeline: 1, interpolation: Linear, values: vec![Vec3::ZERO, Vec3::splat(8.0)] }],
        ..Clip::default()
    };
    let rest = LocalPose {
        translations: vec![Vec3::splat(5.0); 2],
        rotations: vec![Quat::from_rotation_y(1.0); 2],
        scales: vec![Vec3::splat(3.0); 2],
        morph_weights: vec![0.5; 3],
    };
    let mut pose = rest.clone();
    let mut scratch = SampleScratch::with_capacity(2);
    sample_clip(&clip, 0.5, &mut scratch, &mut pose);
    assert_eq!(pose.translations, [Vec3::splat(5.0), Vec3::splat(0.5)]);
    assert_eq!(pose.rotations, rest.rotations);
    assert_eq!(pose.morph_weights, rest.morph_weights);
    assert_eq!(pose.scales, [Vec3::ZERO, Vec3::splat(3.0)], "a late first key holds before its time");
    sample_clip(&clip, 2.25, &mut scratch, &mut pose);
    assert_eq!(pose.translations[1], Vec3::ONE);
    assert_eq!(pose.scales[0], Vec3::splat(2.0));
}

/// Samples the weights of one node, which are weights 1 and 2 of three.
fn weights_at(interpolation: Interpolation, keys: &[f32], values: &[f32], time_seconds: f64) -> [f32; 3] {
    let values = values.to_vec();
    let track = MorphTrack { first_weight: 1, weight_count: 2, timeline: 0, interpolation, values };
    let clip = Clip { morph_weights: vec![track], ..clip_with(keys) };
    let mut pose = LocalPose { morph_weights: vec![9.0; 3], ..LocalPose::identity(1) };
    sample_clip(&clip, time_seconds, &mut SampleScratch::default(), &mut pose);
    pose.morph_weights.try_into().unwrap()
}

#[test]
fn morph_weights_follow_their_keys() {
    // o-------o-------o
    // 1 s     2 s     4 s
    // 0 1     1 0     0.5 -2
    let (keys, values) = ([1.0, 2.0, 4.0], [0.0, 1.0, 1.0, 0.0, 0.5, -2.0]);
    for (time, step, linear) in [
        (0.0, [9.0, 0.0, 1.0], [9.0, 0.0, 1.0]),
        (1.25, [9.0, 0.0, 1.0], [9.0, 0.25, 0.75]),
        (2.0, [9.0, 1.0, 0.0], [9.0, 1.0, 0.0]),
        (3.0, [9.0, 1.0, 0.0], [9.0, 0.75, -1.0]),
        (9.0, [9.0, 0.5, -2.0], [9.0, 0.5, -2.0]),
    ] {
        assert_eq!(weights_at(Step, &keys, &values, time), step, "STEP at {time}");
        assert_eq!(weights_at(Linear, &keys, &values, time), linear, "LINEAR at {time}");
    }
}
