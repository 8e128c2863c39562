//! Sampling of clips, with values computed by hand. Random clips are compared with a second implementation in
//! `properties/sampling.rs`. In the drawings of timelines, `o` is a key, and the numbers below it are its time and its value.

use std::f32::consts::{FRAC_1_SQRT_2, FRAC_PI_2};

use glam::{Quat, Vec3, Vec4};
use throng::animation::{PoseScratch, SampleScratch, pose_model, sample_clip};
use throng::model::{Clip, Interpolation, LocalPose, Model, MorphTrack, NO_PARENT, Skeleton, Track};

use crate::cpu::crowd::{clip_with, track};

use Interpolation::{CubicSpline, Linear, Step};

/// A clip that moves node 0 along x.
fn translation_clip(keys: &[f32], interpolation: Interpolation, x: &[f32]) -> Clip {
    let values = x.iter().map(|&x| Vec3::new(x, 0.0, 0.0)).collect();
    Clip { translations: vec![track(0, interpolation, values)], ..clip_with(keys) }
}

/// Returns the rotation halfway between none and another one, on a spline with flat tangents.
fn halfway_to(end: Vec4) -> Quat {
    let values = vec![Vec4::ZERO, Vec4::W, Vec4::ZERO, Vec4::ZERO, end, Vec4::ZERO];
    sample(&Clip { rotations: vec![track(0, CubicSpline, values)], ..clip_with(&[0.0, 1.0]) }, 0.5).rotations[0]
}

fn sample(clip: &Clip, time_seconds: f64) -> LocalPose {
    let mut pose = LocalPose::identity(1);
    sample_clip(clip, time_seconds, &mut SampleScratch::default(), &mut pose);
    pose
}

fn x_at(clip: &Clip, time_seconds: f64) -> f32 {
    sample(clip, time_seconds).translations[0].x
}

#[test]
fn times_are_compared_in_double_precision() {
    // o-----------o
    // 0 s         0.1 s, which as f32 is 0.100000001490116
    // 1           2
    let clip = translation_clip(&[0.0, 0.1], Step, &[1.0, 2.0]);
    assert_eq!(x_at(&clip, 0.1), 1.0, "0.1 is earlier than the key");
    assert_eq!(x_at(&clip, f64::from(0.1f32)), 2.0);
}

#[test]
fn spline_tangents_are_per_second() {
    // o---------------o
    // 1 s             3 s         values 0 and 8, out-tangent 4 per second, in-tangent -2 per second
    let clip = translation_clip(&[1.0, 3.0], CubicSpline, &[99.0, 0.0, 4.0, -2.0, 8.0, 99.0]);
    // t = 1/2: 1/2·0 + 2·1/8·4 + 1/2·8 - 2·1/8·(-2) = 1 + 4 + 0.5. Without the interval's length of 2 it would be 4.75.
    assert_eq!(x_at(&clip, 2.0), 5.5);
    // t = 1/4: 2·9/64·4 + 10/64·8 - 2·3/64·(-2) = 1.125 + 1.25 + 0.1875
    assert_eq!(x_at(&clip, 1.5), 2.5625);
    assert_eq!((x_at(&clip, 0.0), x_at(&clip, 3.0), x_at(&clip, 4.0)), (0.0, 8.0, 8.0));
}

#[test]
fn spline_rotations_are_normalised_and_never_flipped() {
    // Halfway between 0 and 90 degrees, with flat tangents, the normalised mean is 45 degrees.
    let quarter = Vec4::from(Quat::from_rotation_z(FRAC_PI_2));
    let rotation = halfway_to(quarter);
    assert!((rotation.length() - 1.0).abs() < 1e-6);
    assert!(rotation.dot(Quat::from_rotation_z(45f32.to_radians())) > 1.0 - 1e-6);

    // With the second key's sign flipped, the mean (1 - cos 45°, -sin 45°) / 2 is 225 degrees, along the longer arc.
    let rotation = halfway_to(-quarter);
    let expected = Vec4::new(0.0, 0.0, -FRAC_1_SQRT_2, 1.0 - FRAC_1_SQRT_2).normalize();
    assert!((Vec4::from(rotation) - expected).length() < 1e-6, "{rotation}");

    // Opposite keys cancel out. The result is the identity, not NaN.
    assert_eq!(halfway_to(-Vec4::W), Quat::IDENTITY);
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
fn morph_weights_follow_their_keys_with_all_interpolations() {
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
    // Each key has in-tangents, values and out-tangents, and the interval has two seconds. Halfway, the Hermite factors
    // are 1/2, 1/8, -1/8, 1/2: (0 + 1) / 2 + 2 · (4 - (-2)) / 8 = 2 for the first weight, (3 + 5) / 2 + 0 for the other.
    let spline = [8.0, 8.0, 0.0, 3.0, 4.0, 0.0, -2.0, 0.0, 1.0, 5.0, 8.0, 8.0];
    assert_eq!(weights_at(CubicSpline, &[1.0, 3.0], &spline, 2.0), [9.0, 2.0, 4.0]);
    assert_eq!(weights_at(CubicSpline, &[1.0, 3.0], &spline, 0.5), [9.0, 0.0, 3.0]);
    assert_eq!(weights_at(CubicSpline, &[1.0, 3.0], &spline, 3.5), [9.0, 1.0, 5.0]);
}

#[test]
fn an_animated_ancestor_that_is_no_joint_counts_and_the_rest_pose_returns() {
    let values = vec![Vec3::ZERO, Vec3::new(0.0, 6.0, 0.0)];
    let clip = Clip { translations: vec![track(0, Linear, values)], ..clip_with(&[0.0, 2.0]) };
    let rest = LocalPose { translations: vec![Vec3::X, Vec3::Z], ..LocalPose::identity(2) };
    let skeleton = Skeleton { parents: vec![NO_PARENT, 0], rest, ..Skeleton::default() };
    let model = Model { skeleton, clips: vec![clip], ..Model::default() };
    let mut scratch = PoseScratch::for_model(&model);
    let mut at =
        |clip, time| pose_model(&model, clip, time, &mut scratch).model_from_node[1].transform_point3(Vec3::ZERO);
    assert_eq!(at(model.clips.first(), 1.0), Vec3::new(0.0, 3.0, 1.0));
    assert_eq!(at(None, 1.0), Vec3::new(1.0, 0.0, 1.0), "the scratch must not remember the clip");
}
