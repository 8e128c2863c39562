//! A second implementation of sampling: slow, simple, in double precision, straight from glTF 2.0, 3.11 and appendix C.
//!
//! The fuzz target `sampling` and property tests use it. It shares no code with `throng::animation::sample`.

use glam::{DQuat, DVec3, DVec4};
use throng::model::{Interpolation, Track};

/// The keys before and after a time, and its position between them. Before the first key, after the last one, and if
/// the time is not a number, both keys are the same.
struct KeySpan {
    key: usize,
    next: usize,
    t: f64,
    span_seconds: f64,
}

fn key_span(seconds: &[f32], time_seconds: f64) -> KeySpan {
    let clamped = |key| KeySpan { key, next: key, t: 0.0, span_seconds: 0.0 };
    if time_seconds.is_nan() || time_seconds < f64::from(seconds[0]) {
        return clamped(0);
    }
    for next in 1..seconds.len() {
        let (start, end) = (f64::from(seconds[next - 1]), f64::from(seconds[next]));
        if time_seconds >= start && time_seconds < end {
            let span_seconds = end - start;
            return KeySpan { key: next - 1, next, t: (time_seconds - start) / span_seconds, span_seconds };
        }
    }
    clamped(seconds.len() - 1)
}

/// Samples a translation or scale.
pub fn vector_at(track: &Track<glam::Vec3>, seconds: &[f32], time_seconds: f64) -> DVec3 {
    let at = key_span(seconds, time_seconds);
    match track.interpolation {
        Interpolation::Step => track.values[at.key].as_dvec3(),
        Interpolation::Linear => track.values[at.key].as_dvec3().lerp(track.values[at.next].as_dvec3(), at.t),
        Interpolation::CubicSpline => hermite(track, &at, |vector| vector.as_dvec3().extend(0.0)).truncate(),
    }
}

/// Samples a rotation, and returns whether it is well defined. It is not half way between two rotations that are a half
/// turn apart, where rounding decides the direction, and not where a spline passes near zero.
pub fn rotation_at(track: &Track<glam::Vec4>, seconds: &[f32], time_seconds: f64) -> (DQuat, bool) {
    let at = key_span(seconds, time_seconds);
    let key = |key: usize| DQuat::from_vec4(track.values[key].as_dvec4()).normalize();
    match track.interpolation {
        Interpolation::Step => (key(at.key), true),
        Interpolation::Linear => {
            let (a, mut b) = (key(at.key), key(at.next));
            let cosine = a.dot(b);
            if cosine < 0.0 {
                b = -b;
            }
            // The angle comes from its tangent, because the arc cosine is inaccurate near zero.
            let angle = 2.0 * (a - b).length().atan2((a + b).length());
            let mixed = if angle < 1e-9 {
                a.lerp(b, at.t)
            } else {
                a * ((1.0 - at.t) * angle).sin() + b * (at.t * angle).sin()
            };
            (mixed.normalize(), cosine.abs() > 1e-6)
        }
        Interpolation::CubicSpline => {
            let sum = hermite(track, &at, |rotation| rotation.as_dvec4());
            (DQuat::from_vec4(sum.normalize_or(DVec4::W)), sum.length() > 0.1)
        }
    }
}

/// Computes a cubic spline (appendix C.5).
fn hermite<T: Copy>(track: &Track<T>, at: &KeySpan, widen: fn(T) -> DVec4) -> DVec4 {
    let element = |key: usize, part: usize| widen(track.values[3 * key + part]);
    if at.key == at.next {
        return element(at.key, 1);
    }
    let t = at.t;
    let (t2, t3) = (t * t, t * t * t);
    element(at.key, 1) * (2.0 * t3 - 3.0 * t2 + 1.0)
        + element(at.key, 2) * (at.span_seconds * (t3 - 2.0 * t2 + t))
        + element(at.next, 1) * (3.0 * t2 - 2.0 * t3)
        + element(at.next, 0) * (at.span_seconds * (t3 - t2))
}

/// Returns the error of single precision for a vector of this track, by the rounding of each term and of the time.
pub fn vector_tolerance(track: &Track<glam::Vec3>, seconds: &[f32]) -> f64 {
    let longest = seconds.windows(2).map(|pair| f64::from(pair[1]) - f64::from(pair[0])).fold(0.0, f64::max);
    let largest = track.values.iter().map(|value| value.as_dvec3().abs().max_element()).fold(0.0, f64::max);
    let per_key = if track.interpolation == Interpolation::CubicSpline { 1.0 + longest } else { 1.0 };
    1e-6 * per_key * largest
}
