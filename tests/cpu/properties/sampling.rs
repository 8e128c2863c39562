//! Sampling of clips of one node on random timelines. The files of `assets/conformance` test each rule, and the corpus of the
//! fuzz target `sampling` tests morph weights and clips of several nodes.

use glam::{DMat3, DQuat, DVec3, Quat, Vec3, Vec4};
use proptest::prelude::*;
use throng::animation::lanes::{LaneClip, Processor};
use throng::animation::{SampleScratch, sample_clip};
use throng::model::{Clip, Interpolation, LocalPose};

use super::lanes::{any_unit, interpolation, one_node, timeline, vector};
use crate::common::lanes;
use crate::common::reference::{rotation_at, vector_at, vector_tolerance};
use crate::cpu::crowd::{clip_with, track};

/// A random unit quaternion, often close to the opposite of another one.
fn unit() -> impl Strategy<Value = Vec4> {
    let near_an_axis = (prop::array::uniform4(-2e-2_f32..2e-2), any::<bool>())
        .prop_map(|(q, flip)| (Vec4::from(q) + Vec4::W).normalize() * if flip { -1.0 } else { 1.0 });
    prop_oneof![3 => any_unit(), 1 => near_an_axis]
}

/// A timeline with a translation and a rotation on it, for node 0.
fn clip() -> impl Strategy<Value = Clip> {
    (timeline(), interpolation()).prop_flat_map(|(seconds, interpolation)| {
        let count = seconds.len() * if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        let rotations = prop::collection::vec(unit(), count);
        (Just(seconds), Just(interpolation), prop::collection::vec(vector(10.0), count), rotations).prop_map(
            |(seconds, interpolation, translations, rotations)| Clip {
                translations: vec![track(0, interpolation, translations)],
                rotations: vec![track(0, interpolation, rotations)],
                ..clip_with(&seconds)
            },
        )
    })
}

fn sample(clip: &Clip, time_seconds: f64) -> (Vec3, Quat) {
    let mut pose = LocalPose::identity(1);
    sample_clip(clip, time_seconds, &mut SampleScratch::default(), &mut pose);
    (pose.translations[0], pose.rotations[0])
}

/// Evaluates a clip of one node in lanes.
fn in_lanes(clip: &Clip, processor: Processor, time_seconds: f64) -> (DVec3, DQuat) {
    let model = one_node(clip.clone());
    let compiled = LaneClip::compile(&model, model.clips.first()).expect("a small clip");
    let rows: Vec<f64> =
        lanes::in_lanes(processor, &compiled, &model, &[time_seconds]).into_iter().map(f64::from).collect();
    let columns = [0, 4, 8, 1, 5, 9, 2, 6, 10].map(|k| rows[k]);
    (DVec3::new(rows[3], rows[7], rows[11]), DQuat::from_mat3(&DMat3::from_cols_array(&columns)))
}

fn bits((translation, rotation): (Vec3, Quat)) -> ([u32; 3], [u32; 4]) {
    (translation.to_array().map(f32::to_bits), rotation.to_array().map(f32::to_bits))
}

proptest! {
    #![proptest_config(super::config())]

    #[test]
    fn the_order_of_times_and_shared_timelines_change_nothing(
        clip in clip(),
        times in prop::collection::vec(-1.0_f64..20.0, 1..12),
    ) {
        let mut own = clip.clone();
        own.timelines.push(own.timelines[0].clone());
        own.rotations[0].timeline = 1;
        let (mut scratch, mut pose) = (SampleScratch::default(), LocalPose::identity(1));
        for &time in times.iter().chain(times.iter().rev()) {
            sample_clip(&own, time, &mut scratch, &mut pose);
            prop_assert_eq!(bits((pose.translations[0], pose.rotations[0])), bits(sample(&clip, time)));
        }
    }

    #[test]
    fn double_precision_agrees(clip in clip(), shares in prop::collection::vec(-0.1_f64..1.1, 1..4)) {
        let seconds = &clip.timelines[0];
        let (first, last) = (f64::from(seconds[0]), f64::from(clip.duration_seconds));
        let keys = seconds.iter().map(|&key| f64::from(key));
        let times = shares.into_iter().map(|share| first + share * (last - first));
        for time in times.chain(keys).chain([first - 1e6, last + 1e6, f64::NAN]) {
            let (expected_translation, tolerance) =
                (vector_at(&clip.translations[0], seconds, time), vector_tolerance(&clip.translations[0], seconds));
            let (expected_rotation, well_defined) = rotation_at(&clip.rotations[0], seconds, time);
            // A spline's sum may have a tenth of the length of its terms, which doubles the rounding error.
            let tolerance_radians = if clip.rotations[0].interpolation == Interpolation::CubicSpline { 4e-5 } else { 1e-6 };
            let (translation, rotation) = sample(&clip, time);
            let plain = (translation.as_dvec3(), rotation.as_dquat());
            let [simd, portable] = [Processor::detect(), Processor::PORTABLE].map(|kind| in_lanes(&clip, kind, time));
            for (what, (translation, rotation)) in [("plain", plain), ("lanes", simd), ("portable lanes", portable)] {
                let off = (translation - expected_translation).abs().max_element();
                prop_assert!(off <= tolerance, "{what} at {time}: off by {off}");
                let found = rotation.normalize();
                // A matrix does not tell a quaternion from its opposite.
                let found = if what != "plain" && found.dot(expected_rotation) < 0.0 { -found } else { found };
                let off_radians = 2.0 * (found - expected_rotation).length();
                prop_assert!(!well_defined || off_radians < tolerance_radians, "{what} at {time}: {off_radians} rad");
            }
        }
    }
}

// The rest is what random clips miss.

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
