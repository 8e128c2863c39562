//! Sampling of clips of one node on random timelines.

use glam::{DQuat, Quat, Vec3, Vec4};
use proptest::prelude::*;
use throng::animation::{SampleScratch, sample_clip};
use throng::model::{Clip, Interpolation, LocalPose, Track};

use Interpolation::{CubicSpline, Linear, Step};

use crate::common::reference::{rotation_at, vector_at, vector_tolerance};

/// The rounding error of blended unit quaternions.
const ANGLE_TOLERANCE: f64 = 1e-6;

/// Key times that increase by at least a hundredth of a second.
fn timeline() -> impl Strategy<Value = Vec<f32>> {
    (0.0_f32..1.0, prop::collection::vec(0.01_f32..2.0, 0..8)).prop_map(|(first, gaps)| {
        let mut seconds = vec![first];
        for gap in gaps {
            seconds.push(seconds[seconds.len() - 1] + gap);
        }
        seconds
    })
}

fn interpolation() -> impl Strategy<Value = Interpolation> {
    prop_oneof![Just(Step), Just(Linear), Just(CubicSpline)]
}

fn vector() -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(-10.0_f32..10.0).prop_map(Vec3::from)
}

/// A random unit quaternion, often close to the opposite of another one.
fn unit() -> impl Strategy<Value = Vec4> {
    let anything = prop::array::uniform4(-1.0_f32..1.0).prop_map(|q| Vec4::from(q).normalize_or(Vec4::W));
    let near_an_axis = (prop::array::uniform4(-1e-3_f32..1e-3), any::<bool>())
        .prop_map(|(q, flip)| (Vec4::from(q) + Vec4::W).normalize() * if flip { -1.0 } else { 1.0 });
    prop_oneof![3 => anything, 1 => near_an_axis]
}

fn values_per_key(interpolation: Interpolation) -> usize {
    if interpolation == CubicSpline { 3 } else { 1 }
}

/// A timeline with a translation and a rotation on it, for node 0.
fn clip() -> impl Strategy<Value = Clip> {
    (timeline(), interpolation()).prop_flat_map(|(seconds, interpolation)| {
        let count = values_per_key(interpolation) * seconds.len();
        let rotations = prop::collection::vec(unit(), count);
        (Just(seconds), Just(interpolation), prop::collection::vec(vector(), count), rotations).prop_map(
            |(seconds, interpolation, translations, rotations)| Clip {
                duration_seconds: seconds[seconds.len() - 1],
                timelines: vec![seconds],
                translations: vec![Track { node: 0, timeline: 0, interpolation, values: translations }],
                rotations: vec![Track { node: 0, timeline: 0, interpolation, values: rotations }],
                ..Clip::default()
            },
        )
    })
}

fn sample(clip: &Clip, time_seconds: f64) -> (Vec3, Quat) {
    let mut pose = LocalPose::identity(1);
    sample_clip(clip, time_seconds, &mut SampleScratch::default(), &mut pose);
    (pose.translations[0], pose.rotations[0])
}

fn key_value<T: Copy>(track: &Track<T>, key: usize) -> T {
    if track.interpolation == CubicSpline { track.values[3 * key + 1] } else { track.values[key] }
}

/// Returns the angle between two unit quaternions in four dimensions, by its tangent, which is exact for small angles.
fn angle(a: DQuat, b: DQuat) -> f64 {
    2.0 * (a - b).length().atan2((a + b).length())
}

proptest! {
    #![proptest_config(super::config())]

    #[test]
    fn keys_are_met_and_hold_outside(clip in clip(), beyond in 0.0_f64..1e6) {
        let seconds = clip.timelines[0].clone();
        let last = seconds.len() - 1;
        let at_keys = seconds.iter().enumerate().map(|(key, &time)| (key, f64::from(time)));
        let outside = [(0, f64::from(seconds[0]) - beyond), (last, f64::from(seconds[last]) + beyond), (0, f64::NAN)];
        for (key, time) in at_keys.chain(outside) {
            let (translation, rotation) = sample(&clip, time);
            prop_assert_eq!(translation, key_value(&clip.translations[0], key), "key {} at {}", key, time);
            let off = (Vec4::from(rotation) - key_value(&clip.rotations[0], key)).length();
            prop_assert!(off < 1e-6, "key {key} at {time}: the rotation is off by {off}");
        }
    }

    #[test]
    fn steps_hold_until_the_next_key(clip in clip(), share in 0.0_f64..1.0) {
        let mut clip = clip;
        let keys: Vec<Vec3> = (0..clip.timelines[0].len()).map(|key| key_value(&clip.translations[0], key)).collect();
        clip.translations[0] = Track { interpolation: Step, values: keys.clone(), ..clip.translations[0].clone() };
        for (key, pair) in clip.timelines[0].windows(2).enumerate() {
            let (start, end) = (f64::from(pair[0]), f64::from(pair[1]));
            // Rounding may move the sum to the next key.
            let time = (start + share * (end - start)).min(end.next_down());
            prop_assert_eq!(sample(&clip, time).0, keys[key]);
        }
    }

    #[test]
    fn linear_goes_straight_and_along_the_arc(
        ends in (vector(), vector()), turns in (unit(), unit()), span in 0.01_f32..5.0, share in 0.0_f64..1.0,
    ) {
        let track = |values| Track { node: 0, timeline: 0, interpolation: Linear, values };
        let clip = Clip {
            timelines: vec![vec![0.0, span]],
            translations: vec![track(vec![ends.0, ends.1])],
            rotations: vec![Track { node: 0, timeline: 0, interpolation: Linear, values: vec![turns.0, turns.1] }],
            ..Clip::default()
        };
        let (translation, rotation) = sample(&clip, share * f64::from(span));
        let detour = (translation - ends.0).length() + (ends.1 - translation).length() - (ends.1 - ends.0).length();
        prop_assert!(detour.abs() < 1e-5, "the way is longer by {detour}");

        let (a, mut b) = (Quat::from_vec4(turns.0).as_dquat().normalize(), Quat::from_vec4(turns.1).as_dquat().normalize());
        // At a half turn both arcs are equally short.
        prop_assume!(a.dot(b).abs() > 1e-6);
        if a.dot(b) < 0.0 {
            b = -b;
        }
        let sampled = rotation.as_dquat().normalize();
        let (whole, from_a, to_b) = (angle(a, b), angle(a, sampled), angle(sampled, b));
        prop_assert!((from_a + to_b - whole).abs() < ANGLE_TOLERANCE, "{from_a} + {to_b} instead of {whole}");
        prop_assert!((from_a - share * whole).abs() < ANGLE_TOLERANCE, "{from_a} instead of {share} of {whole}");
    }

    #[test]
    fn splines_with_flat_tangents_stay_between_their_keys(clip in clip(), share in 0.0_f64..1.0) {
        let mut clip = clip;
        let keys: Vec<Vec3> = (0..clip.timelines[0].len()).map(|key| key_value(&clip.translations[0], key)).collect();
        let values = keys.iter().flat_map(|&key| [Vec3::ZERO, key, Vec3::ZERO]).collect();
        clip.translations[0] = Track { interpolation: CubicSpline, values, ..clip.translations[0].clone() };
        for (times, keys) in clip.timelines[0].windows(2).zip(keys.windows(2)) {
            let time = f64::from(times[0]) + share * f64::from(times[1] - times[0]);
            let sampled = sample(&clip, time).0;
            let (low, high) = (keys[0].min(keys[1]) - 1e-5, keys[0].max(keys[1]) + 1e-5);
            prop_assert!(sampled.cmpge(low).all() && sampled.cmple(high).all(), "{sampled} between {low} and {high}");
        }
    }

    #[test]
    fn the_order_of_times_does_not_matter(clip in clip(), times in prop::collection::vec(-1.0_f64..20.0, 1..12)) {
        let mut scratch = SampleScratch::default();
        let mut pose = LocalPose::identity(1);
        for &time in times.iter().chain(times.iter().rev()) {
            sample_clip(&clip, time, &mut scratch, &mut pose);
            let (translation, rotation) = sample(&clip, time);
            prop_assert_eq!(pose.translations[0].to_array().map(f32::to_bits), translation.to_array().map(f32::to_bits));
            prop_assert_eq!(pose.rotations[0].to_array().map(f32::to_bits), rotation.to_array().map(f32::to_bits));
        }
    }

    #[test]
    fn shared_timelines_are_as_good_as_own_ones(clip in clip(), time in -1.0_f64..20.0) {
        let mut own = clip.clone();
        own.timelines.push(own.timelines[0].clone());
        own.rotations[0].timeline = 1;
        let (shared, own) = (sample(&clip, time), sample(&own, time));
        prop_assert_eq!(shared.0.to_array().map(f32::to_bits), own.0.to_array().map(f32::to_bits));
        prop_assert_eq!(shared.1.to_array().map(f32::to_bits), own.1.to_array().map(f32::to_bits));
    }

    #[test]
    fn double_precision_agrees(clip in clip(), share in -0.1_f64..1.1) {
        let seconds = &clip.timelines[0];
        let time = f64::from(seconds[0]) + share * f64::from(clip.duration_seconds - seconds[0]);
        let (translation, rotation) = sample(&clip, time);
        let track = &clip.translations[0];
        let off = (translation.as_dvec3() - vector_at(track, seconds, time)).abs().max_element();
        prop_assert!(off <= vector_tolerance(track, seconds), "off by {off}");

        let track = &clip.rotations[0];
        let (expected, well_defined) = rotation_at(track, seconds, time);
        prop_assume!(well_defined);
        // A spline's sum may have a tenth of the length of its terms, which doubles the rounding error.
        let tolerance = if track.interpolation == CubicSpline { 4e-5 } else { 1e-6 };
        let error_radians = 2.0 * (rotation.as_dquat().normalize() - expected).length();
        prop_assert!(error_radians < tolerance, "{:?}: off by {error_radians} rad", track.interpolation);
    }
}
