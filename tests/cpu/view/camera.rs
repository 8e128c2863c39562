//! The orbit camera: its projection, its limits and its moves.

use glam::Vec3;
use throng::view::{Limits, OrbitCamera};

use super::WIDE;

pub fn looking_down_z() -> OrbitCamera {
    OrbitCamera {
        target: Vec3::ZERO,
        distance: 10.0,
        yaw_radians: 0.0,
        pitch_radians: 0.0,
        vertical_fov_radians: 90f32.to_radians(),
        ..OrbitCamera::default()
    }
}

#[test]
fn the_projection_is_reversed_infinite_and_upright() {
    let camera = looking_down_z();
    assert_eq!(camera.position(), Vec3::new(0.0, 0.0, 10.0));
    let project = |point: Vec3| camera.clip_from_world(2.0).project_point3(point);
    // At 90 degrees and distance 10, the upper edge is 10 above the target; with aspect 2 the right edge is at 20.
    assert!((project(Vec3::new(20.0, 10.0, 0.0)).truncate() - glam::Vec2::ONE).length() < 1e-5);
    // near = 0.05: depth 1 on the near plane, 0.05 / 10 at the target, 0 far away.
    assert!((project(Vec3::new(0.0, 0.0, 9.95)).z - 1.0).abs() < 1e-3);
    assert!((project(Vec3::ZERO).z - 0.005).abs() < 1e-6);
    assert!(project(Vec3::new(0.0, 0.0, -1e9)).z.abs() < 1e-9);
}

/// Limits of a crowd 40 metres wide, with characters 2 metres high.
fn in_a_crowd() -> OrbitCamera {
    let limits = Limits {
        target_min: Vec3::new(-20.0, 0.0, -20.0),
        target_max: Vec3::new(20.0, 2.0, 20.0),
        min_distance: 0.1,
        max_distance: 100.0,
    };
    OrbitCamera { limits, ..OrbitCamera::default() }
}

#[test]
fn no_input_makes_the_camera_unusable() {
    for start in [OrbitCamera::default(), in_a_crowd()] {
        let mut camera = start;
        camera.orbit(1e9, 100.0);
        assert!((1.5..1.57).contains(&camera.pitch_radians), "{}", camera.pitch_radians);
        camera.zoom(0.0);
        assert_eq!(camera.distance, start.limits.min_distance);
        camera.zoom(f32::INFINITY);
        assert_eq!(camera.distance, start.limits.max_distance);
        camera.orbit(f32::NAN, f32::NAN);
        camera.pan(f32::NAN, 0.0);
        camera.pan(1e30, -1e30);
        camera.refocus(f32::NAN);
        camera.refocus(-1.0);
        assert!(camera.clip_from_world(WIDE).is_finite());
        assert!(camera.target.cmpge(start.limits.target_min).all());
        assert!(camera.target.cmple(start.limits.target_max).all());
    }
}

#[test]
fn panning_by_one_moves_by_the_images_height() {
    let mut camera = OrbitCamera { target: Vec3::new(0.0, 30.0, 0.0), ..looking_down_z() };
    camera.pan(1.0, -0.5);
    assert!((camera.target - Vec3::new(20.0, 20.0, 0.0)).length() < 1e-4, "{}", camera.target);
}

#[test]
fn above_the_crowd_panning_follows_the_ground() {
    let start = OrbitCamera { yaw_radians: 0.0, pitch_radians: 0.6, distance: 8.0, ..in_a_crowd() };
    let at_top = OrbitCamera { target: Vec3::new(0.0, 2.0, 0.0), ..start };
    let mut camera = at_top;
    camera.pan(0.0, 0.25);
    assert!(camera.target.y == 2.0 && camera.target.z < -1.0, "{}", camera.target);
    // The point that was at the top of the crowd, a quarter above the middle of the image, is now in the middle.
    let moved = at_top.clip_from_world(WIDE).project_point3(camera.target);
    assert!(moved.x.abs() < 1e-4 && (0.3..0.5).contains(&moved.y), "{moved}");
    for _ in 0..100 {
        camera.pan(0.0, 1.0);
    }
    assert_eq!((camera.target.y, camera.target.z), (2.0, -20.0));
}
