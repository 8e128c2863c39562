//! The sun and the background.

use glam::Vec3;
use throng::view::{Background, Look, SunDirection};

#[test]
fn the_sun_stands_where_azimuth_and_elevation_say() {
    let sun = |azimuth_degrees, elevation_degrees| SunDirection { azimuth_degrees, elevation_degrees }.to_light();
    assert!((sun(0.0, 45.0) - Vec3::new(0.0, 1.0, 1.0).normalize()).length() < 1e-6);
    assert!((sun(90.0, 45.0) - Vec3::new(1.0, 1.0, 0.0).normalize()).length() < 1e-6);
    assert!((sun(123.0, 90.0) - Vec3::Y).length() < 1e-6);
    assert!(sun(0.0, -30.0).y > 0.0, "the sun never sets");
}
