//! Flying, zooming and turning around the point under the cursor.

use glam::{Vec2, Vec3};
use throng::view::{Limits, OrbitCamera, Ray};

fn camera() -> OrbitCamera {
    let limits = Limits { max_distance: 100.0, ..Limits::default() };
    OrbitCamera { limits, target: Vec3::new(1.0, 5.0, 2.0), distance: 6.0, ..OrbitCamera::default() }
}

#[test]
fn the_point_under_the_cursor_stays_there() {
    let aspect = 1.5;
    let cursor = Vec2::new(0.7, 0.65);
    for (factor, target_x) in [(0.5, 0.0), (0.9, 0.3), (1.3, 0.0)] {
        let mut camera = OrbitCamera { target_x, ..camera() };
        let point = camera.position() + Ray::through(&camera, aspect, cursor).direction * 5.0;
        let eye = camera.position();
        camera.zoom_towards(point, factor);
        let clip = camera.clip_from_world(aspect).project_point3(point);
        let seen = Vec2::new(0.5 + 0.5 * clip.x, 0.5 - 0.5 * clip.y);
        assert!((seen - cursor).length() < 1e-4, "{seen}");
        let closer = (camera.position() - point).length() / (eye - point).length();
        assert!((closer - factor).abs() < 1e-4, "{closer}");
    }
}

#[test]
fn the_camera_turns_around_the_point_that_it_came_closer_to() {
    let aspect = 1.5;
    let cursor = Vec2::new(0.7, 0.45);
    let mut camera = camera();
    let point = camera.position() + Ray::through(&camera, aspect, cursor).direction * 5.0;
    camera.zoom_towards(point, 0.5);
    camera.orbit(0.6, 0.2);
    let clip = camera.clip_from_world(aspect).project_point3(point);
    let seen = Vec2::new(0.5 + 0.5 * clip.x, 0.5 - 0.5 * clip.y);
    assert!((seen - cursor).length() < 1e-4, "{seen}");
    camera.pan(0.1, 0.0);
    assert_eq!(camera.pivot, None);
}

#[test]
fn looking_around_leaves_the_eye_in_place() {
    let mut camera = camera();
    let eye = camera.position();
    camera.look_around(0.3, 0.1);
    assert!((camera.position() - eye).length() < 1e-4);
    assert!((camera.yaw_radians - OrbitCamera::default().yaw_radians - 0.3).abs() < 1e-6);
}

#[test]
fn flying_moves_the_eye_forward() {
    let mut camera = camera();
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
