//! Real models compared with versions that public tools have quantised, compressed, reordered and welded. Vertices no longer
//! correspond one to one, so each pose is compared as a cloud of points, in both directions: every vertex of one has a vertex
//! of the other nearby.

use glam::DVec3;

use crate::common::assets::sample;
use crate::cpu::levels::measure::positions;

/// The largest distance between the clouds, as a share of the extent. The tools round positions to 14 bits along the longest
/// edge, weights to 8 bits, and the rotations of resampled clips to 16 bits.
const TOLERANCE: f64 = 4e-3;

/// Returns the largest distance from a point of `from` to the nearest of `to`.
fn farthest(from: &[DVec3], to: &[DVec3]) -> f64 {
    from.iter().map(|a| to.iter().map(|b| a.distance(*b)).fold(f64::INFINITY, f64::min)).fold(0.0, f64::max)
}

/// Compares `changed` with `original` in the rest pose and in every clip at the times that `times_of` returns.
fn compare(original: &str, changed: &str, times_of: impl Fn(f32) -> Vec<f64>) {
    let (original, changed) = (sample(original), sample(&format!("derived/{changed}")));
    assert_eq!(original.clips.len(), changed.clips.len());
    let mut poses = vec![(None, None, 0.0)];
    for (a, b) in original.clips.iter().zip(&changed.clips) {
        poses.extend(times_of(a.duration_seconds).into_iter().map(|time| (Some(a), Some(b), time)));
    }
    let mut worst = 0.0f64;
    for (a, b, time) in poses {
        let (a, b) = (positions(&original, a, time), positions(&changed, b, time));
        let (low, high) = a.iter().fold((DVec3::MAX, DVec3::MIN), |(low, high), &p| (low.min(p), high.max(p)));
        worst = worst.max(farthest(&a, &b).max(farthest(&b, &a)) / (high - low).max_element());
    }
    println!("{}: {worst:e}", changed.name);
    assert!(worst <= TOLERANCE, "{}: {worst} of the extent", changed.name);
}

#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn quantised_and_compressed_models_keep_their_poses() {
    // Animations are unchanged in these files.
    let anywhere = |duration: f32| [0.0, 0.1, 0.37, 0.5, 0.9, 1.0].map(|share| share * f64::from(duration)).to_vec();
    for name in ["Fox", "RiggedFigure"] {
        for change in ["quantized", "meshopt", "draco"] {
            compare(&format!("{name}/{name}.glb"), &format!("{name}-{change}.glb"), anywhere);
        }
    }
    // The animations of these files are resampled 30 times a second, so they agree at the new keys alone.
    let frames =
        |duration: f32| (0..=(duration * 30.0) as u32).step_by(5).map(|frame| f64::from(frame) / 30.0).collect();
    for changed in ["Fox-gltfpack-quantized.glb", "Fox-gltfpack-c.glb"] {
        compare("Fox/Fox.glb", changed, frames);
    }
}
