//! The check of lanes, which both targets that evaluate clips share: for any clip, they must write the results of the
//! plain functions.

use std::mem::MaybeUninit;

use throng::animation::lanes::{self, LaneClip, LaneScratch, Processor};
use throng::animation::{MemoryKind, PoseScratch, PoseStreams, evaluate};
use throng::model::{Clip, Model};
use throng::shader_types::JointMatrix;

/// Evaluates a clip at some times on both kinds of processors, if lanes support it. `tolerance` is relative to the
/// largest number, or `None` if numbers are so large that the result is undefined.
///
/// # Panics
/// Panics if lanes write other results than the plain functions.
pub fn check_lanes(model: &Model, clip: Option<&Clip>, times_seconds: &[f64], tolerance: Option<f32>) {
    let Some(compiled) = LaneClip::compile(model, clip) else { return };
    let joints = model.palette.len();
    let mut expected = room(joints * times_seconds.len());
    let mut weights = vec![MaybeUninit::uninit(); model.morph_weight_count()];
    let mut scratch = PoseScratch::for_model(model);
    for (&time_seconds, palette) in times_seconds.iter().zip(expected.chunks_mut(joints.max(1))) {
        let streams = PoseStreams { palette, morph_weights: &mut weights, memory: MemoryKind::Cached };
        evaluate(model, clip, time_seconds, &mut scratch, streams);
    }
    let expected = numbers(&expected);
    let largest = expected.iter().fold(1.0f32, |largest, number| largest.max(number.abs()));
    for (processor, memory) in [
        (Processor::detect(), MemoryKind::Cached),
        (Processor::detect(), MemoryKind::WriteCombined),
        (Processor::Portable, MemoryKind::Cached),
    ] {
        let mut found = room(joints * times_seconds.len());
        lanes::evaluate(processor, &compiled, times_seconds, &mut LaneScratch::default(), memory, &mut found);
        let Some(tolerance) = tolerance else { continue };
        for (found, expected) in numbers(&found).iter().zip(&expected) {
            let off = (found - expected).abs();
            assert!(off <= tolerance * largest, "{processor:?}: {found} instead of {expected} in {clip:?}");
        }
    }
}

fn room(joints: usize) -> Vec<MaybeUninit<JointMatrix>> {
    vec![MaybeUninit::new(JointMatrix { rows: [[f32::NAN; 4]; 3] }); joints]
}

fn numbers(palette: &[MaybeUninit<JointMatrix>]) -> Vec<f32> {
    // SAFETY: every element was initialised on creation.
    palette.iter().flat_map(|element| unsafe { element.assume_init() }.rows).flatten().collect()
}
