//! The orbit camera: its projection, its limits, its moves and its frustum; the direction of the sun.

use glam::{Vec2, Vec3};
use throng::view::{Bounds, Frustum, Limits, OrbitCamera, Ray, SunDirection};

use super::WIDE;

fn looking_down_z() -> OrbitCamera {
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
    assert!((project(Vec3::new(20.0, 10.0, 0.0)).truncate() - Vec2::ONE).length() < 1e-5);
    // near = 0.05: depth 1 on the near plane, 0.05 / 10 at the target, 0 far away.
    assert!((project(Vec3::new(0.0, 0.0, 9.95)).z - 1.0).abs() < 1e-3);
    assert!((project(Vec3::ZERO).z - 0.005).abs() < 1e-6);
    assert!(project(Vec3::new(0.0, 0.0, -1e9)).z.abs() < 1e-9);
}

/// Limits of a crowd 40 metres wide, with characters 2 metres high.
fn in_a_crowd() -> OrbitCamera {
    let (target_min, target_max) = (Vec3::new(-20.0, 0.0, -20.0), Vec3::new(20.0, 2.0, 20.0));
    let limits = Limits { target_min, target_max, min_distance: 0.1, max_distance: 100.0 };
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

fn above_the_ground() -> OrbitCamera {
    let limits = Limits { max_distance: 100.0, ..Limits::default() };
    OrbitCamera { limits, target: Vec3::new(1.0, 5.0, 2.0), distance: 6.0, ..OrbitCamera::default() }
}

/// So does the point that the camera turns around afterwards.
#[test]
fn the_point_under_the_cursor_stays_there() {
    let (aspect, cursor) = (1.5, Vec2::new(0.7, 0.65));
    for (factor, target_x) in [(0.5, 0.0), (0.9, 0.3), (1.3, 0.0)] {
        let mut camera = OrbitCamera { target_x, ..above_the_ground() };
        let eye = camera.position();
        let point = eye + Ray::through(&camera, aspect, cursor).direction * 5.0;
        let assert_seen = |camera: &OrbitCamera| {
            let clip = camera.clip_from_world(aspect).project_point3(point);
            let seen = Vec2::new(0.5 + 0.5 * clip.x, 0.5 - 0.5 * clip.y);
            assert!((seen - cursor).length() < 1e-4, "{seen}");
        };
        camera.zoom_towards(point, factor);
        assert_seen(&camera);
        let closer = (camera.position() - point).length() / (eye - point).length();
        assert!((closer - factor).abs() < 1e-4, "{closer}");
        camera.orbit(0.6, 0.2);
        assert_seen(&camera);
        camera.pan(0.1, 0.0);
        assert_eq!(camera.pivot, None);
    }
}

#[test]
fn the_camera_pans_looks_around_and_flies() {
    // By one: by the height of the image.
    let mut camera = OrbitCamera { target: Vec3::new(0.0, 30.0, 0.0), ..looking_down_z() };
    camera.pan(1.0, -0.5);
    assert!((camera.target - Vec3::new(20.0, 20.0, 0.0)).length() < 1e-4, "{}", camera.target);
    let mut camera = above_the_ground();
    let eye = camera.position();
    camera.look_around(0.3, 0.1);
    assert!((camera.position() - eye).length() < 1e-4, "the eye stays");
    assert!((camera.yaw_radians - OrbitCamera::default().yaw_radians - 0.3).abs() < 1e-6);
    let (eye, forward) = (camera.position(), camera.forward());
    camera.fly(0.0, 0.0, 0.25);
    assert!((camera.position() - eye - forward * 1.5).length() < 1e-4);
    camera.fly(f32::NAN, 0.0, 0.0);
    assert!(camera.position().is_finite());
}

#[test]
fn free_limits_let_the_camera_leave_the_crowd() {
    let limits = Limits { target_min: Vec3::ZERO, target_max: Vec3::ONE, min_distance: 0.1, max_distance: 50.0 };
    let mut camera = OrbitCamera { limits, ..OrbitCamera::default() };
    camera.fly(9.0, 0.0, 0.0);
    assert!(camera.target.x <= 1.0);
    camera.free_limits();
    camera.fly(9.0, 0.0, 0.0);
    assert!(camera.target.x > 20.0 && camera.target.y >= 0.0);
}

#[test]
fn bounds_that_turn_sweep_a_cylinder() {
    let bounds = Bounds { min: Vec3::new(1.0, 0.0, -4.0), max: Vec3::new(7.0, 2.0, 4.0), footprint_radius: 5.0 };
    let swept = bounds.swept_around();
    assert_eq!((swept.min, swept.max), (Vec3::new(-1.0, 0.0, -5.0), Vec3::new(9.0, 2.0, 5.0)));
    // The corners of a box reach farthest, unless the footprint does not fill it.
    assert_eq!(Bounds { footprint_radius: 9.0, ..bounds }.swept_around(), swept);
}

#[test]
fn the_frustum_keeps_what_touches_it_and_drops_what_does_not() {
    let frustum = Frustum::from_clip_from_world(looking_down_z().clip_from_world(1.0));
    assert!(frustum.intersects_sphere(Vec3::ZERO, 0.0));
    assert!(frustum.intersects_sphere(Vec3::new(0.0, 0.0, -1e6), 0.0), "there is no far plane");
    assert!(!frustum.intersects_sphere(Vec3::new(0.0, 0.0, 12.0), 1.0), "behind the eye");
    // The right-hand plane passes (10, 0, 0) at 45 degrees: (12, 0, 0) is 1.4142 outside of it.
    for place in [Vec3::new(12.0, 0.0, 0.0), Vec3::new(0.0, -12.0, 0.0)] {
        assert_eq!([1.415, 1.413].map(|radius| frustum.intersects_sphere(place, radius)), [true, false], "{place}");
    }
}

#[test]
fn the_sun_stands_where_azimuth_and_elevation_say() {
    let sun = |azimuth_degrees, elevation_degrees| SunDirection { azimuth_degrees, elevation_degrees }.to_light();
    assert!((sun(0.0, 45.0) - Vec3::new(0.0, 1.0, 1.0).normalize()).length() < 1e-6);
    assert!((sun(90.0, 45.0) - Vec3::new(1.0, 1.0, 0.0).normalize()).length() < 1e-6);
    assert!((sun(123.0, 90.0) - Vec3::Y).length() < 1e-6);
    assert!(sun(0.0, -30.0).y > 0.0, "the sun never sets");
}
