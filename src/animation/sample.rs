//! Step one: clip × time → local pose (glTF 2.0, 3.11 and appendix C).
//!
//! Exporters give most tracks of a clip the same key times, and import merges equal lists of key times into shared
//! timelines. So each timeline is searched once, and the tracks then only load and blend.
//!
//! Times are compared in double precision. A key is an `f32`, and widening it is exact, but narrowing the time could
//! move it past a key. The blend parameter is rounded to single precision last.

use std::ops::{Add, Mul};

use glam::{Quat, Vec3, Vec4};

use crate::model::{Clip, Interpolation, LocalPose, MorphTrack, Track};

/// The position of a time between two keys of one timeline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeyInterval {
    /// The last key that is not later than the time.
    pub(super) key: usize,
    /// The key after it, or the same key if the time is clamped.
    pub(super) next: usize,
    /// The blend parameter: 0 at `key`, 1 at `next`.
    t: f32,
    /// The time between the two keys.
    span_seconds: f32,
}

/// The working memory of [`sample_clip`], owned by the caller: the interval of each timeline of the clip. Its capacity is the
/// number of timelines that it can sample without allocating.
pub type SampleScratch = Vec<KeyInterval>;

/// Overwrites the properties of `pose` that `clip` animates, and leaves all others.
///
/// A track keeps the value of its first key before that key, and of its last key after it (3.11: "clamped").
///
/// # Panics
/// If `pose` has fewer nodes or morph weights than the skeleton of `clip`.
pub fn sample_clip(clip: &Clip, time_seconds: f64, intervals: &mut SampleScratch, pose: &mut LocalPose) {
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
    sample_morph_weights(clip, time_seconds, &mut pose.morph_weights);
}

/// Overwrites the morph weights that `clip` animates, and leaves all others.
///
/// # Panics
/// If `weights` has fewer elements than the skeleton of `clip` has morph weights.
pub fn sample_morph_weights(clip: &Clip, time_seconds: f64, weights: &mut [f32]) {
    for track in &clip.morph_weights {
        let first = track.first_weight as usize;
        let own = &mut weights[first..first + track.weight_count as usize];
        sample_weights(track, find_interval(&clip.timelines[track.timeline as usize], time_seconds), own);
    }
}

/// Finds the interval of a time. `keys` is not empty and never decreases. NaN counts as a time before the first key. Of
/// several keys with the same time, the last one is found, so that the interval's length is not 0.
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
        Interpolation::CubicSpline => sample_spline(values, at),
    }
}

fn sample_weights(track: &MorphTrack, at: KeyInterval, weights: &mut [f32]) {
    let count = weights.len();
    // An element is `count` numbers. Each key has one element; each key of a spline has three.
    let element = |index: usize| &track.values[index * count..(index + 1) * count];
    match track.interpolation {
        Interpolation::Step => weights.copy_from_slice(element(at.key)),
        Interpolation::Linear => {
            for (weight, (from, to)) in weights.iter_mut().zip(element(at.key).iter().zip(element(at.next))) {
                *weight = from * (1.0 - at.t) + to * at.t;
            }
        }
        Interpolation::CubicSpline => {
            let factors = hermite_factors(at);
            let elements = [at.key * 3 + 1, at.key * 3 + 2, at.next * 3, at.next * 3 + 1].map(element);
            for (index, weight) in weights.iter_mut().enumerate() {
                *weight = elements.iter().zip(factors).map(|(element, factor)| element[index] * factor).sum();
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
        // Appendix C.5: blended componentwise without a sign flip, then normalised. A sum of length zero becomes the identity.
        Interpolation::CubicSpline => sample_spline(values, at).normalize_or(Vec4::W),
    };
    Quat::from_vec4(rotation)
}

fn sample_spline<T: Copy + Add<Output = T> + Mul<f32, Output = T>>(values: &[T], at: KeyInterval) -> T {
    let [value, out_tangent, next_in_tangent, next_value] = hermite_factors(at);
    values[at.key * 3 + 1] * value
        + values[at.key * 3 + 2] * out_tangent
        + values[at.next * 3] * next_in_tangent
        + values[at.next * 3 + 1] * next_value
}

/// Returns the factors of a key's value, its out-tangent, the next key's in-tangent and the next key's value (appendix
/// C.5). Tangents are stored per second, so their factors include the length of the interval.
fn hermite_factors(at: KeyInterval) -> [f32; 4] {
    let t = at.t;
    let (t2, t3) = (t * t, t * t * t);
    [
        2.0 * t3 - 3.0 * t2 + 1.0,
        at.span_seconds * (t3 - 2.0 * t2 + t),
        at.span_seconds * (t3 - t2),
        -2.0 * t3 + 3.0 * t2,
    ]
}

/// Interpolates unit quaternions along the shorter great arc (appendix C.4); exact to about 3e-7 radians.
///
/// The normalisation at the end replaces the usual division by the sine of the angle. It also corrects rounding errors
/// of the length.
fn slerp(a: Vec4, b: Vec4, t: f32) -> Vec4 {
    let dot = a.dot(b);
    let (cosine, b) = if dot < 0.0 { (-dot, -b) } else { (dot, b) };
    // Below 0.014 radians the chord differs from the arc by less than the precision of an f32.
    let (from_a, from_b) = if cosine > 0.9999 {
        (1.0 - t, t)
    } else {
        let angle = acos_first_quadrant(cosine);
        (sin_first_quadrant(angle * (1.0 - t)), sin_first_quadrant(angle * t))
    };
    (a * from_a + b * from_b).normalize_or(a)
}

/// Returns the arc cosine for 0 <= x <= 1; error 2e-8 (Abramowitz and Stegun, Handbook of Mathematical Functions, 4.4.46).
///
/// Like the sine below, it is made of sums, products and a square root. So it is fast and, unlike the C library's
/// function, gives the same bits on every platform.
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

/// Returns the sine for 0 <= x <= π/2 by its Taylor series up to x^11; error 6e-8.
fn sin_first_quadrant(x: f32) -> f32 {
    const COEFFICIENTS: [f32; 6] = [-1.0 / 39_916_800.0, 1.0 / 362_880.0, -1.0 / 5_040.0, 1.0 / 120.0, -1.0 / 6.0, 1.0];
    let x2 = x * x;
    x * COEFFICIENTS.iter().fold(0.0, |sum, coefficient| sum * x2 + coefficient)
}
