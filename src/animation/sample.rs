//! Step one: clip × time → local pose (glTF 2.0, 3.11 and appendix C).
//!
//! Exporters give most tracks of a clip the same key times, and import merges equal ones into shared timelines. So the
//! keys are searched once per timeline; the tracks then only fetch and blend.
//!
//! Times are compared in double precision: a key is an `f32`, and widening it is exact, while narrowing the time could
//! step over a key. The blend parameter is rounded to single precision last.

use glam::{Quat, Vec3, Vec4};

use crate::model::{Clip, Interpolation, LocalPose, MorphTrack, Track};

/// Where a time lies among the keys of one timeline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct KeyInterval {
    /// Last key that is not later than the time.
    pub(super) key: usize,
    /// The key after it; the same key where the time is clamped.
    pub(super) next: usize,
    /// From 0 at `key` towards 1 at `next`.
    t: f32,
    /// Time between the two keys.
    span_seconds: f32,
}

/// Caller-owned memory of [`sample_clip`].
#[derive(Debug, Clone, Default)]
pub struct SampleScratch {
    /// One for each timeline of the clip being sampled.
    intervals: Vec<KeyInterval>,
}

impl SampleScratch {
    /// Scratch with which clips of up to `timeline_count` timelines are sampled without allocating.
    #[must_use]
    pub fn with_capacity(timeline_count: usize) -> Self {
        Self { intervals: Vec::with_capacity(timeline_count) }
    }
}

/// Overwrites what `clip` animates in `pose`, and nothing else.
///
/// Before its first and after its last key a track holds that key's value (3.11: "clamped"); a single key is constant.
///
/// # Panics
/// If `pose` has fewer nodes or morph weights than the skeleton that `clip` was imported for.
pub fn sample_clip(clip: &Clip, time_seconds: f64, scratch: &mut SampleScratch, pose: &mut LocalPose) {
    let intervals = &mut scratch.intervals;
    intervals.clear();
    intervals.extend(clip.timelines.iter().map(|keys| find_interval(keys, time_seconds)));

    for track in &clip.translations {
        pose.translations[track.node as usize] = sample_vector(track, intervals[track.timeline as usize]);
    }
    for track in &clip.rotations {
        pose.rotations[track.node as usize] = sample_rotation(track, intervals[track.timeline as usize]);
    }
    for track in &clip.scales {
        pose.scales[track.node as usize] = sample_vector(track, intervals[track.timeline as usize]);
    }
    for track in &clip.morph_weights {
        let first = track.first_weight as usize;
        let weights = &mut pose.morph_weights[first..first + track.weight_count as usize];
        sample_weights(track, intervals[track.timeline as usize], weights);
    }
}

/// Overwrites the morph weights that `clip` animates, and nothing else.
///
/// # Panics
/// If there are fewer `weights` than the skeleton has that `clip` was imported for.
pub fn sample_morph_weights(clip: &Clip, time_seconds: f64, weights: &mut [f32]) {
    for track in &clip.morph_weights {
        let first = track.first_weight as usize;
        let own = &mut weights[first..first + track.weight_count as usize];
        sample_weights(track, find_interval(&clip.timelines[track.timeline as usize], time_seconds), own);
    }
}

/// `keys` is not empty and never decreases. A time that is not a number counts as before the first key. Of keys with
/// the same time the last one is found, so that the interval has a length.
pub(super) fn find_interval(keys: &[f32], time_seconds: f64) -> KeyInterval {
    let later = keys.partition_point(|&key| f64::from(key) <= time_seconds);
    let key = later.saturating_sub(1);
    if later == 0 || later == keys.len() {
        return KeyInterval { key, next: key, t: 0.0, span_seconds: 0.0 };
    }
    let (start, end) = (f64::from(keys[key]), f64::from(keys[later]));
    let span = end - start;
    KeyInterval { key, next: later, t: ((time_seconds - start) / span) as f32, span_seconds: span as f32 }
}

fn sample_vector(track: &Track<Vec3>, at: KeyInterval) -> Vec3 {
    let values = track.values.as_slice();
    match track.interpolation {
        Interpolation::Step => values[at.key],
        Interpolation::Linear => values[at.key] * (1.0 - at.t) + values[at.next] * at.t,
        Interpolation::CubicSpline => {
            let [value, out_tangent, next_in_tangent, next_value] = hermite_weights(at);
            values[at.key * 3 + 1] * value
                + values[at.key * 3 + 2] * out_tangent
                + values[at.next * 3] * next_in_tangent
                + values[at.next * 3 + 1] * next_value
        }
    }
}

fn sample_weights(track: &MorphTrack, at: KeyInterval, weights: &mut [f32]) {
    let count = weights.len();
    // `rank` counts runs of `count` numbers: one for each key, or three for each key of a spline.
    let run = |rank: usize| &track.values[rank * count..(rank + 1) * count];
    match track.interpolation {
        Interpolation::Step => weights.copy_from_slice(run(at.key)),
        Interpolation::Linear => {
            for (weight, (from, to)) in weights.iter_mut().zip(run(at.key).iter().zip(run(at.next))) {
                *weight = from * (1.0 - at.t) + to * at.t;
            }
        }
        Interpolation::CubicSpline => {
            let factors = hermite_weights(at);
            let runs = [run(at.key * 3 + 1), run(at.key * 3 + 2), run(at.next * 3), run(at.next * 3 + 1)];
            for (index, weight) in weights.iter_mut().enumerate() {
                *weight = runs.iter().zip(factors).map(|(run, factor)| run[index] * factor).sum();
            }
        }
    }
}

fn sample_rotation(track: &Track<Vec4>, at: KeyInterval) -> Quat {
    let values = track.values.as_slice();
    let rotation = match track.interpolation {
        Interpolation::Step => values[at.key],
        Interpolation::Linear if at.key == at.next => values[at.key],
        Interpolation::Linear => slerp(values[at.key], values[at.next], at.t),
        Interpolation::CubicSpline => {
            // Appendix C.5: componentwise as the file has them, no sign flip, normalised after. A sum of length zero
            // is no rotation.
            let [value, out_tangent, next_in_tangent, next_value] = hermite_weights(at);
            (values[at.key * 3 + 1] * value
                + values[at.key * 3 + 2] * out_tangent
                + values[at.next * 3] * next_in_tangent
                + values[at.next * 3 + 1] * next_value)
                .normalize_or(Vec4::W)
        }
    };
    Quat::from_vec4(rotation)
}

/// Weights of: a key's value, its out-tangent, the next key's in-tangent, the next key's value (appendix C.5). The
/// tangents' weights hold the length of the interval: tangents are stored per second.
fn hermite_weights(at: KeyInterval) -> [f32; 4] {
    let t = at.t;
    let (t2, t3) = (t * t, t * t * t);
    [
        2.0 * t3 - 3.0 * t2 + 1.0,
        at.span_seconds * (t3 - 2.0 * t2 + t),
        at.span_seconds * (t3 - t2),
        -2.0 * t3 + 3.0 * t2,
    ]
}

/// Spherical linear interpolation of unit quaternions by the short way (appendix C.4); exact to about 3e-7 radians.
///
/// The usual division by the sine of the angle is left to the normalisation at the end, which also takes away what
/// rounding does to the length.
fn slerp(a: Vec4, b: Vec4, t: f32) -> Vec4 {
    let dot = a.dot(b);
    let (cosine, b) = if dot < 0.0 { (-dot, -b) } else { (dot, b) };
    // Below 0.014 radians the chord strays from the arc by less than an f32 can tell.
    let (from_a, from_b) = if cosine > 0.9999 {
        (1.0 - t, t)
    } else {
        let angle = acos_first_quadrant(cosine);
        (sin_first_quadrant(angle * (1.0 - t)), sin_first_quadrant(angle * t))
    };
    (a * from_a + b * from_b).normalize_or(a)
}

/// Arc cosine for 0 <= x <= 1: Abramowitz and Stegun, Handbook of Mathematical Functions, 4.4.46; error 2e-8.
///
/// Like the sine below, it is sums and products only, unlike the C library's functions: fast, and the same bits on
/// every platform.
fn acos_first_quadrant(x: f32) -> f32 {
    const COEFFICIENTS: [f32; 8] = [
        -0.001_262_491_1,
        0.006_670_09,
        -0.017_088_126,
        0.030_891_88,
        -0.050_174_305,
        0.088_978_99,
        -0.214_598_8,
        std::f32::consts::FRAC_PI_2,
    ];
    (1.0 - x).max(0.0).sqrt() * COEFFICIENTS.iter().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

/// Sine for 0 <= x <= π/2 by its Taylor series up to x^11; error 6e-8.
fn sin_first_quadrant(x: f32) -> f32 {
    const COEFFICIENTS: [f32; 6] = [-1.0 / 39_916_800.0, 1.0 / 362_880.0, -1.0 / 5_040.0, 1.0 / 120.0, -1.0 / 6.0, 1.0];
    let x2 = x * x;
    x * COEFFICIENTS.iter().fold(0.0, |sum, coefficient| sum * x2 + coefficient)
}
