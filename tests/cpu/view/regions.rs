//! Bounds that turn, and the frustum.

use glam::Vec3;
use throng::view::{Bounds, Frustum};

use super::camera::looking_down_z;

#[test]
fn bounds_that_turn_sweep_a_cylinder() {
    let bounds = Bounds { min: Vec3::new(1.0, 0.0, -4.0), max: Vec3::new(7.0, 2.0, 4.0), footprint_radius: 5.0 };
    let swept = bounds.swept_around();
    assert_eq!((swept.min, swept.max), (Vec3::new(-1.0, 0.0, -5.0), Vec3::new(9.0, 2.0, 5.0)));
    // The corners of a box reach farthest, unless the footprint does not fill it.
    let wide = Bounds { footprint_radius: 9.0, ..bounds };
    assert_eq!(wide.swept_around(), swept);
}

#[test]
fn the_frustum_keeps_what_touches_it_and_drops_what_does_not() {
    let frustum = Frustum::from_clip_from_world(looking_down_z().clip_from_world(1.0));
    assert!(frustum.intersects_sphere(Vec3::ZERO, 0.0));
    assert!(frustum.intersects_sphere(Vec3::new(0.0, 0.0, -1e6), 0.0), "there is no far plane");
    assert!(!frustum.intersects_sphere(Vec3::new(0.0, 0.0, 12.0), 1.0), "behind the eye");
    // The right-hand plane passes (10, 0, 0) at 45 degrees: (12, 0, 0) is 1.4142 outside of it.
    assert!(frustum.intersects_sphere(Vec3::new(12.0, 0.0, 0.0), 1.415));
    assert!(!frustum.intersects_sphere(Vec3::new(12.0, 0.0, 0.0), 1.413));
    assert!(frustum.intersects_sphere(Vec3::new(0.0, -12.0, 0.0), 1.415));
    assert!(!frustum.intersects_sphere(Vec3::new(0.0, -12.0, 0.0), 1.413));
}
