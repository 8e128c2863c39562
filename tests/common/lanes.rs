//! The check of lanes, which tests and both fuzz targets that evaluate clips share: for any clip, lanes write what the plain
//! functions write, with the same bits on both processors and in both kinds of memory.

use std::mem::MaybeUninit;

use throng::animation::lanes::{self, LaneClip, LaneScratch, LaneSource, Processor};
use throng::animation::{Blend, MemoryKind, PoseScratch, PoseStreams, Source, evaluate_blend};
use throng::model::{Clip, Model};
use throng::shader_types::JointMatrix;

pub fn room(joints: usize) -> Vec<MaybeUninit<JointMatrix>> {
    vec![MaybeUninit::new(JointMatrix { rows: [[f32::NAN; 4]; 3] }); joints]
}

/// Returns what was written to [`room`], or to another list that was made of values.
pub fn written<T: Copy>(out: &[MaybeUninit<T>]) -> Vec<T> {
    // SAFETY: every element was initialised on creation.
    out.iter().map(|element| unsafe { element.assume_init() }).collect()
}

pub fn numbers(palette: &[MaybeUninit<JointMatrix>]) -> Vec<f32> {
    written(palette).into_iter().flat_map(|matrix| matrix.rows).flatten().collect()
}

fn same((a, b): (&f32, &f32)) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// Evaluates a clip in lanes. Both kinds of memory must receive the same bytes.
pub fn in_lanes(processor: Processor, clip: &LaneClip, model: &Model, times_seconds: &[f64]) -> Vec<f32> {
    let [cached, combined] = [MemoryKind::Cached, MemoryKind::WriteCombined].map(|memory| {
        let (mut scratch, mut out) = (LaneScratch::default(), room(times_seconds.len() * model.palette.len()));
        lanes::evaluate(processor, LaneSource { clip, times_seconds }, None, &mut scratch, memory, &mut out);
        numbers(&out)
    });
    assert!(cached.iter().zip(&combined).all(same), "{}: the kinds of memory differ", model.name);
    cached
}

/// Evaluates a clip at some times on both processors, if lanes support it. `tolerance` is relative to the largest number, which
/// is at least `least_scale`. It is `None` if numbers are so large that the result is undefined. Returns the largest relative
/// difference, or `None` if lanes do not support the clip.
///
/// # Panics
/// Panics if lanes write other results than the plain functions.
pub fn check_lanes(
    model: &Model,
    clip: Option<&Clip>,
    times_seconds: &[f64],
    least_scale: f32,
    tolerance: Option<f32>,
) -> Option<f32> {
    let compiled = LaneClip::compile(model, clip)?;
    let joints = model.palette.len();
    let mut expected = room(joints * times_seconds.len());
    let mut weights = vec![MaybeUninit::uninit(); model.morph_weight_count()];
    let mut scratch = PoseScratch::for_model(model);
    for (&time_seconds, palette) in times_seconds.iter().zip(expected.chunks_mut(joints.max(1))) {
        let streams = PoseStreams { palette, morph_weights: &mut weights, memory: MemoryKind::Cached };
        evaluate_blend(model, &Blend { from: Source { clip, time_seconds }, to: None }, &mut scratch, streams);
    }
    let expected = numbers(&expected);
    let scale = expected.iter().fold(least_scale, |largest, number| largest.max(number.abs()));
    let [found, portable] = [Processor::detect(), Processor::PORTABLE]
        .map(|processor| in_lanes(processor, &compiled, model, times_seconds));
    assert!(found.iter().zip(&portable).all(same), "{}: the processors differ in {clip:?}", model.name);
    let Some(tolerance) = tolerance else { return Some(0.0) };
    let mut worst = 0.0f32;
    for (found, expected) in found.iter().zip(&expected) {
        // `f32::max` would ignore NaN.
        let off = (found - expected).abs() / scale;
        assert!(off <= tolerance, "{}: {found} instead of {expected} in {clip:?}", model.name);
        worst = worst.max(off);
    }
    Some(worst)
}
