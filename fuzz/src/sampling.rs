//! Target `sampling`: clips with any timelines, interpolations and values, at any time.
//!
//! The bytes choose the clip. Import would refuse some of these clips (a spline tangent next to 1e30, keys at one
//! time), but sampling must accept them. If the numbers are moderate, the result is compared with [`super::reference`].

use arbitrary::{Result, Unstructured};
use glam::{Affine3A, Quat, Vec3, Vec4};
use throng::animation::{SampleScratch, sample_clip};
use throng::model::{Clip, Interpolation, LocalPose, Model, MorphTrack, NO_PARENT, PaletteLayout, Skeleton, Track};

use super::lanes::check_lanes;
use super::reference::{rotation_at, vector_at, vector_tolerance};

const NODE_COUNT: u32 = 4;
/// The number of morph weights of the one animated mesh node.
const WEIGHT_COUNT: u32 = 3;
/// The weight of another node, which no track may change.
const OTHER_WEIGHT: f32 = 5.0;
const MAX_TIMELINES: usize = 3;
const MAX_KEYS: usize = 8;
/// The rounding error of the length of a normalised `f32` quaternion.
const UNIT_TOLERANCE: f32 = 1e-5;
/// The tolerance of a rotation compared with the reference, between linear keys. Splines add the rounding of tangents,
/// see below.
const LINEAR_TOLERANCE_RADIANS: f64 = 1e-6;
/// The tolerance of lanes compared with the plain functions, relative to the largest number, because splines of vectors
/// cancel.
const LANES_TOLERANCE: f32 = 1e-4;

/// Samples one clip at several times. Returns the number of tracks, which is zero for useless bytes.
///
/// # Panics
/// Panics if a result contradicts the keys.
pub fn run(data: &[u8]) -> usize {
    let mut bytes = Unstructured::new(data);
    let Ok((clip, moderate)) = take_clip(&mut bytes, NODE_COUNT) else { return 0 };
    let mut scratch = SampleScratch::default();
    let mut times_seconds = Vec::new();
    for _ in 0..4 {
        let Ok(time_seconds) = take_time(&mut bytes, &clip) else { break };
        check_at(&clip, time_seconds, moderate, &mut scratch);
        times_seconds.push(time_seconds);
    }
    check_in_lanes(&clip, &times_seconds, moderate);
    clip.node_tracks().count() + clip.morph_weights.len()
}

/// Checks the lanes with a clip on nodes without parents, all of which are joints.
fn check_in_lanes(clip: &Clip, times_seconds: &[f64], moderate: bool) {
    let count = NODE_COUNT as usize;
    let model = Model {
        skeleton: Skeleton {
            parents: vec![NO_PARENT; count],
            rest: LocalPose { morph_weights: vec![0.0; WEIGHT_COUNT as usize + 2], ..LocalPose::identity(count) },
            ..Skeleton::default()
        },
        palette: PaletteLayout {
            nodes: (0..NODE_COUNT).collect(),
            joint_from_mesh: vec![Affine3A::IDENTITY; count],
            is_joint: vec![false; count],
        },
        ..Model::default()
    };
    let is_stable = clip.rotations.iter().all(is_stable);
    check_lanes(&model, Some(clip), times_seconds, 1.0, (moderate && is_stable).then_some(LANES_TOLERANCE));
}

/// Returns whether rounding never decides the direction of a rotation. A spline may pass near length zero, and there are two
/// shortest ways between keys that are half a turn apart.
fn is_stable(track: &Track<Vec4>) -> bool {
    match track.interpolation {
        Interpolation::Step => true,
        Interpolation::Linear => track.values.windows(2).all(|keys| keys[0].dot(keys[1]).abs() > 1e-6),
        Interpolation::CubicSpline => false,
    }
}

/// Returns a clip of a skeleton, and whether its numbers are moderate. It may animate weights 1 to 3.
pub fn take_clip(bytes: &mut Unstructured, node_count: u32) -> Result<(Clip, bool)> {
    let moderate = bytes.ratio(3, 4)?;
    let mut clip = Clip::default();
    for _ in 0..bytes.int_in_range(1..=MAX_TIMELINES)? {
        let seconds = take_timeline(bytes, moderate)?;
        clip.duration_seconds = clip.duration_seconds.max(seconds[seconds.len() - 1]);
        clip.timelines.push(seconds);
    }
    for node in 0..node_count {
        let [translated, rotated, scaled, ..] = bytes.arbitrary::<[bool; 4]>()?;
        if translated {
            let track = take_track(bytes, node, &clip, |bytes, _| take_vector(bytes, moderate))?;
            clip.translations.push(track);
        }
        if rotated {
            let track = take_track(bytes, node, &clip, |bytes, is_tangent| take_rotation(bytes, is_tangent, moderate))?;
            clip.rotations.push(track);
        }
        if scaled {
            let track = take_track(bytes, node, &clip, |bytes, _| take_vector(bytes, moderate))?;
            clip.scales.push(track);
        }
    }
    if bytes.ratio(1, 2)? {
        // A vector of three represents three weights.
        let track = take_track(bytes, 0, &clip, |bytes, _| take_vector(bytes, moderate))?;
        let Track { timeline, interpolation, values, .. } = track;
        let values = values.iter().flat_map(|value| value.to_array()).collect();
        clip.morph_weights.push(MorphTrack {
            first_weight: 1,
            weight_count: WEIGHT_COUNT,
            timeline,
            interpolation,
            values,
        });
    }
    Ok((clip, moderate))
}

/// Returns key times: sorted, finite, never negative. Keys may coincide, or have any distance that `f32` can represent.
fn take_timeline(bytes: &mut Unstructured, moderate: bool) -> Result<Vec<f32>> {
    let mut seconds = vec![if bytes.ratio(1, 2)? { 0.0 } else { take_share(bytes)? * 10.0 }];
    for _ in 1..bytes.int_in_range(1..=MAX_KEYS)? {
        let last = seconds[seconds.len() - 1];
        let next = match bytes.int_in_range(0..=5)? {
            0 => last,
            1 => last.next_up(),
            2 if !moderate => last + take_share(bytes)? * 1e38,
            3 => last + take_share(bytes)? * 1e-30,
            _ => last + take_share(bytes)? * 10.0,
        };
        seconds.push(next.min(f32::MAX));
    }
    Ok(seconds)
}

fn take_track<T>(
    bytes: &mut Unstructured,
    node: u32,
    clip: &Clip,
    mut take_value: impl FnMut(&mut Unstructured, bool) -> Result<T>,
) -> Result<Track<T>> {
    let timeline = bytes.int_in_range(0..=clip.timelines.len() - 1)?;
    let interpolation = *bytes.choose(&[Interpolation::Linear, Interpolation::CubicSpline, Interpolation::Step])?;
    let values_per_key = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
    let count = values_per_key * clip.timelines[timeline].len();
    let values = (0..count).map(|index| take_value(bytes, values_per_key == 3 && index % 3 != 1));
    Ok(Track { node, timeline: timeline as u32, interpolation, values: values.collect::<Result<_>>()? })
}

/// Returns a number from 0 to 1.
pub fn take_share(bytes: &mut Unstructured) -> Result<f32> {
    Ok(f32::from(bytes.arbitrary::<u16>()?) / 65_535.0)
}

/// Returns a finite number.
pub fn take_number(bytes: &mut Unstructured, moderate: bool) -> Result<f32> {
    if moderate {
        return Ok(20.0 * take_share(bytes)? - 10.0);
    }
    let number: f32 = bytes.arbitrary()?;
    Ok(if number.is_finite() { number } else { f32::MAX })
}

/// Returns a vector of finite numbers.
pub fn take_vector(bytes: &mut Unstructured, moderate: bool) -> Result<Vec3> {
    Ok(Vec3::new(take_number(bytes, moderate)?, take_number(bytes, moderate)?, take_number(bytes, moderate)?))
}

/// Returns a unit quaternion, or any four numbers for a tangent. There are few numbers, so opposite and equal keys are
/// frequent.
fn take_rotation(bytes: &mut Unstructured, is_tangent: bool, moderate: bool) -> Result<Vec4> {
    if is_tangent {
        return Ok(take_vector(bytes, moderate)?.extend(take_number(bytes, moderate)?));
    }
    let components: [i8; 4] = bytes.arbitrary()?;
    Ok(Vec4::from(components.map(f32::from)).normalize_or(Vec4::W))
}

fn take_time(bytes: &mut Unstructured, clip: &Clip) -> Result<f64> {
    Ok(match bytes.int_in_range(0..=7)? {
        0 => f64::from_bits(bytes.arbitrary()?),
        1 => *bytes.choose(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, f64::MAX, 1e-320])?,
        2 => {
            let timeline = bytes.int_in_range(0..=clip.timelines.len() - 1)?;
            f64::from(*bytes.choose(&clip.timelines[timeline])?)
        }
        _ => f64::from(clip.duration_seconds) * f64::from(take_share(bytes)?),
    })
}

fn check_at(clip: &Clip, time_seconds: f64, moderate: bool, scratch: &mut SampleScratch) {
    let rest = LocalPose {
        translations: vec![Vec3::splat(7.0); NODE_COUNT as usize],
        rotations: vec![Quat::from_xyzw(0.0, 0.6, 0.0, 0.8); NODE_COUNT as usize],
        scales: vec![Vec3::splat(3.0); NODE_COUNT as usize],
        morph_weights: vec![OTHER_WEIGHT; WEIGHT_COUNT as usize + 2],
    };
    let mut pose = rest.clone();
    sample_clip(clip, time_seconds, scratch, &mut pose);
    check_morph_weights(clip, time_seconds, &pose.morph_weights, moderate);
    for node in 0..NODE_COUNT {
        let index = node as usize;
        let check = |tracks: &[Track<Vec3>], sampled: Vec3, rest: Vec3| match tracks.iter().find(|t| t.node == node) {
            Some(track) => check_vector(track, clip, time_seconds, sampled, moderate),
            None => assert_eq!(sampled, rest, "node {node} is not animated"),
        };
        check(&clip.translations, pose.translations[index], rest.translations[index]);
        check(&clip.scales, pose.scales[index], rest.scales[index]);
        match clip.rotations.iter().find(|track| track.node == node) {
            Some(track) => check_rotation(track, clip, time_seconds, pose.rotations[index], moderate),
            None => assert_eq!(pose.rotations[index], rest.rotations[index], "node {node} is not animated"),
        }
    }
}

/// Checks morph weights as the vectors of three from which they were made.
fn check_morph_weights(clip: &Clip, time_seconds: f64, sampled: &[f32], moderate: bool) {
    let &[before, x, y, z, after] = sampled else { panic!("{} morph weights", sampled.len()) };
    assert_eq!([before, after], [OTHER_WEIGHT; 2], "another node's weights");
    match clip.morph_weights.first() {
        Some(MorphTrack { timeline, interpolation, values, .. }) => {
            let values = values.chunks(3).map(Vec3::from_slice).collect();
            let track = Track { node: 0, timeline: *timeline, interpolation: *interpolation, values };
            check_vector(&track, clip, time_seconds, Vec3::new(x, y, z), moderate);
        }
        None => assert_eq!([x, y, z], [OTHER_WEIGHT; 3]),
    }
}

fn check_vector(track: &Track<Vec3>, clip: &Clip, time_seconds: f64, sampled: Vec3, moderate: bool) {
    let seconds = &clip.timelines[track.timeline as usize];
    if let Some(key) = clamped_key(seconds, time_seconds) {
        assert_eq!(sampled, key_value(track, key), "{track:?} at {time_seconds}: clamped to key {key}");
    }
    if track.interpolation == Interpolation::Step {
        assert!(track.values.contains(&sampled), "{sampled} is no key of {track:?}");
    }
    if moderate {
        let expected = vector_at(track, seconds, time_seconds);
        let error = (sampled.as_dvec3() - expected).abs().max_element();
        let tolerance = vector_tolerance(track, seconds);
        assert!(error <= tolerance, "{track:?} with {seconds:?} at {time_seconds}: {sampled}, expected {expected}");
    }
}

fn check_rotation(track: &Track<Vec4>, clip: &Clip, time_seconds: f64, sampled: Quat, moderate: bool) {
    let seconds = &clip.timelines[track.timeline as usize];
    let length = sampled.length();
    assert!((length - 1.0).abs() < UNIT_TOLERANCE, "{track:?} with {seconds:?} at {time_seconds}: length {length}");
    if let Some(key) = clamped_key(seconds, time_seconds) {
        let off = (Vec4::from(sampled) - key_value(track, key)).length();
        assert!(off < 1e-6, "{track:?} at {time_seconds}: off key {key} by {off}");
    }
    let (expected, well_defined) = rotation_at(track, seconds, time_seconds);
    if moderate && well_defined {
        let tolerance_radians = match track.interpolation {
            // Tangents of 10 per second over up to 70 seconds may cancel to a length of 0.1.
            Interpolation::CubicSpline => 1e-2,
            _ => LINEAR_TOLERANCE_RADIANS,
        };
        let error_radians = 2.0 * (sampled.as_dquat().normalize() - expected).length();
        assert!(error_radians < tolerance_radians, "{track:?} with {seconds:?} at {time_seconds}: {error_radians} rad");
    }
}

/// Returns the key that holds outside the timeline and at its ends.
fn clamped_key(seconds: &[f32], time_seconds: f64) -> Option<usize> {
    if time_seconds.is_nan() || time_seconds < f64::from(seconds[0]) {
        return Some(0);
    }
    (time_seconds >= f64::from(seconds[seconds.len() - 1])).then_some(seconds.len() - 1)
}

fn key_value<T: Copy>(track: &Track<T>, key: usize) -> T {
    if track.interpolation == Interpolation::CubicSpline { track.values[3 * key + 1] } else { track.values[key] }
}
