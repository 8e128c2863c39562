//! Bounds: of a clip, and of the whole crowd.

use std::path::Path;

use bytemuck::Zeroable;
use throng::animation::{BindPose, Pose, skin_vertices};
use throng::measure::posed_bounds;
use throng::model::import;
use throng::shader_types::SkinnedVertex;
use throng::view::{Detail, Frustum, OrbitCamera, Outline};

use super::*;

#[test]
fn posed_bounds_hold_every_vertex_between_the_samples_too() {
    let model = chain("A.glb", 6, 2.0, &["Idle", "Walk", "Turn"]);
    for clip in &model.clips {
        let bounds = posed_bounds(&model, Some(clip));
        let mut scratch = PoseScratch::for_model(&model);
        for k in 0..=1500 {
            let nodes = pose_model(&model, Some(clip), f64::from(k) / 1000.0, &mut scratch).model_from_node;
            for (joint, &position) in joint_matrices(&model.palette, nodes).zip(&model.geometry.positions) {
                let point = joint.transform_point(position);
                assert!(point.cmpge(bounds.min).all() && point.cmple(bounds.max).all(), "{point} at {k} ms");
            }
        }
        assert!(bounds.radius() < 2.0, "far too loose: {bounds:?}");
    }
    let rest = posed_bounds(&model, None);
    assert!((rest.max - Vec3::new(0.2, 2.0, 0.0)).length() < 1e-5, "{rest:?}");
    let empty = posed_bounds(&Model::default(), None);
    assert_eq!((empty.center(), empty.half_extents()), (Vec3::ZERO, Vec3::splat(0.5)));
}

/// Bounds include a leap that falls between the even samples of a long clip: one held for a millisecond, and one up to
/// a time that has two keys.
#[test]
fn posed_bounds_hold_what_a_long_clip_does_for_a_moment() {
    let leap = Vec3::new(0.0, 9.0, 0.0);
    let held = (Interpolation::Step, vec![0.0, 29.31, 29.311, 600.0], vec![Vec3::ZERO, leap, Vec3::ZERO, Vec3::ZERO]);
    let left = (Interpolation::Linear, vec![0.0, 29.31, 29.31, 600.0], vec![Vec3::ZERO, leap, Vec3::ZERO, Vec3::ZERO]);
    for (interpolation, times, values) in [held, left] {
        let mut model = chain("A.glb", 2, 1.0, &["Leap"]);
        let clip = &mut model.clips[0];
        (clip.duration_seconds, clip.timelines) = (600.0, vec![times, clip.timelines[0].clone()]);
        clip.rotations.clear();
        clip.morph_weights.clear();
        clip.translations = vec![Track { node: 0, timeline: 0, interpolation, values }];
        let bounds = posed_bounds(&model, model.clips.first());
        assert!(bounds.max.y > 9.9 && bounds.max.y < 11.0, "{interpolation:?}: {bounds:?}");
    }
}

/// Found by fuzzing: each corner was finite, but their distance was not.
#[test]
fn bounds_beyond_all_numbers_are_given_up() {
    for size in [1e30, 3e38] {
        let mut model = chain("A.glb", 2, 2.0, &["Walk"]);
        model.skeleton.rest.translations = vec![Vec3::splat(-size), Vec3::splat(size)];
        for clip in [None, model.clips.first()] {
            let bounds = posed_bounds(&model, clip);
            assert_eq!((bounds.center(), bounds.half_extents()), (Vec3::ZERO, Vec3::splat(0.5)), "{size}");
        }
    }
}

#[test]
fn posed_bounds_hold_what_morph_targets_do() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/jelly.gltf");
    let model = import::load(&path).unwrap();
    let bind_pose = BindPose::new(&model.geometry);
    let mut skinned = vec![SkinnedVertex::zeroed(); bind_pose.bind_vertices.len()];
    let mut scratch = PoseScratch::for_model(&model);
    for clip in &model.clips {
        let bounds = posed_bounds(&model, Some(clip));
        let mut highest = 0.0f32;
        for k in 0..=2000 {
            let pose = pose_model(&model, Some(clip), f64::from(k) / 1000.0, &mut scratch);
            let palette: Vec<JointMatrix> = joint_matrices(&model.palette, pose.model_from_node).collect();
            skin_vertices(&bind_pose, Pose { palette: &palette, morph_weights: pose.morph_weights }, &mut skinned);
            for vertex in &skinned {
                let point = Vec3::from(vertex.position);
                assert!(point.cmpge(bounds.min).all() && point.cmple(bounds.max).all(), "{point} at {k} ms");
                highest = highest.max(point.y);
            }
        }
        // The bounds are a box around boxes, so they are looser than the vertices, but not much.
        assert!(highest > 1.0 && bounds.max.y < 1.25 * highest, "{:?}: {highest} in {bounds:?}", clip.name);
    }
}

#[test]
fn the_crowds_bounds_hold_all_of_it() {
    let crowd = Crowd::new(mixed(), &settings(200)).unwrap();
    let bounds = crowd.bounds();
    for position in positions(&crowd) {
        assert!(position.cmpge(bounds.min - 1.0).all() && position.cmple(bounds.max + 1.0).all());
        let offset = position - bounds.center();
        assert!(offset.x.hypot(offset.z) <= bounds.footprint_radius);
    }
    // Each model stands on its lowest vertex, which is one joint above its origin.
    let mut heights: Vec<f32> = positions(&crowd).iter().map(|position| position.y).collect();
    heights.dedup();
    for (height, step) in heights.iter().zip([1.8 / 5.0, 1.2 / 3.0, 1.5 / 7.0]) {
        assert!((height + step).abs() < 1e-5, "{heights:?}");
    }
    // The framing camera sees the whole crowd.
    let mut crowd = crowd;
    let camera = OrbitCamera::framing(&Outline::from(bounds), 16.0 / 9.0);
    crowd.cull(Some(&Frustum::from_clip_from_world(camera.clip_from_world(16.0 / 9.0))), None, &Detail::FULL);
    assert_eq!(crowd.visible_counts().iter().sum::<u32>(), 200);
}
