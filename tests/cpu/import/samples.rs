//! Tests of real models.

use glam::DVec3;

use crate::common::assets::sample;
use crate::cpu::levels::measure::{box_of, positions};

/// The numbers of nodes, joints of the first skin, clips, vertices in the file and after welding, and triangles.
fn figures(path: &str) -> [usize; 6] {
    let model = sample(path);
    let geometry = &model.geometry;
    [
        model.skeleton.len(),
        model.skins.first().map_or(0, |skin| skin.joints.len()),
        model.clips.len(),
        geometry.source_primitives.iter().map(|primitive| primitive.vertices.len()).sum(),
        geometry.vertex_count(),
        geometry.triangle_count(),
    ]
}

#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn known_models_have_their_known_contents() {
    assert_eq!(figures("Fox/Fox.glb"), [26, 24, 3, 1728, 434, 576]);
    assert_eq!(figures("CesiumMan/CesiumMan.glb"), [22, 19, 1, 3273, 3273, 4672]);
    assert_eq!(figures("RiggedFigure/RiggedFigure.glb"), [22, 19, 1, 370, 365, 256]);
    assert_eq!(figures("SimpleSkin/SimpleSkin.gltf"), [3, 2, 1, 10, 10, 8]);
    assert_eq!(figures("KayKit_Knight/Knight.glb"), [57, 41, 76, 7024, 7024, 6952]);
    assert_eq!(figures("RobotExpressive_raylib/robot.glb"), [58, 43, 14, 7218, 7214, 3238]);
    assert_eq!(figures("Mannequiny/mannequiny.glb"), [48, 45, 10, 12_597, 10_995, 13_832]);
    assert_eq!(figures("derived/Fox-gltfpack-quantized.glb"), [27, 24, 3, 434, 434, 576]);
    let fox = sample("Fox/Fox.glb");
    let clips = fox.clips.iter().map(|clip| (clip.name.as_deref(), clip.duration_seconds, clip.timelines.len()));
    let expected = [(Some("Survey"), 3.416_666_7, 1), (Some("Walk"), 0.708_333_3, 1), (Some("Run"), 1.158_333_3, 1)];
    assert_eq!(clips.collect::<Vec<_>>(), expected);
    assert_eq!((fox.images[0].width, fox.images[0].height), (1024, 1024));
    assert!(fox.geometry.draw_ranges[0].flat_shaded);
    assert!(fox.warnings.is_empty(), "{:?}", fox.warnings);
}

/// The largest distance between the clouds of two poses, as a share of the extent. Tools have rounded positions to 14 bits
/// along the longest edge, weights to 8 bits, and the rotations of resampled clips to 16 bits.
const TOLERANCE: f64 = 4e-3;

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
        let (low, high) = box_of(&a);
        worst = worst.max(farthest(&a, &b).max(farthest(&b, &a)) / (high - low).max_element());
    }
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
