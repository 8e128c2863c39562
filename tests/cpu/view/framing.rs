//! The first view of a crowd or a character.

use std::f32::consts::TAU;

use glam::{Vec2, Vec3};
use throng::view::{Bounds, OrbitCamera, Outline};

use super::WIDE;

/// Returns the room of a crowd on a disc, and points around it.
fn disc() -> (Bounds, Vec<Vec3>) {
    let (min, max) = (Vec3::new(-20.0, 0.0, -20.0), Vec3::new(20.0, 1.8, 20.0));
    let rim =
        (0..32).map(|k| 20.1 * Vec2::from_angle(TAU * k as f32 / 32.0).clamp(Vec2::splat(-0.995), Vec2::splat(0.995)));
    let points = rim.flat_map(|at| [0.0, 1.8].map(|height| Vec3::new(at.x, height, at.y)));
    (Bounds { min, max, footprint_radius: 20.0 }, points.collect())
}

fn figure() -> (Bounds, Vec<Vec3>) {
    let (min, max) = (Vec3::new(-0.4, 0.0, -0.3), Vec3::new(0.4, 1.8, 0.3));
    let corner = |k: u32| Vec3::select(glam::BVec3::new(k & 1 == 0, k & 2 == 0, k & 4 == 0), min, max);
    (Bounds { min, max, footprint_radius: 0.5 }, (0..8).map(corner).collect())
}

/// Returns the extent of points in the image, where the image itself reaches from -1 to 1.
fn extent(camera: &OrbitCamera, points: &[Vec3], aspect: f32) -> (Vec3, Vec3) {
    let clip_from_world = camera.clip_from_world(aspect);
    let points = points.iter().map(|&point| clip_from_world.project_point3(point));
    points.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(min, max), point| (min.min(point), max.max(point)))
}

fn framed_extent((room, points): &(Bounds, Vec<Vec3>), aspect: f32) -> (Vec3, Vec3) {
    extent(&OrbitCamera::framing(&Outline::from(*room), aspect), points, aspect)
}

#[test]
fn framing_shows_everything_and_fills_the_image() {
    for (shape, fill) in [(disc(), 0.95), (figure(), 0.88)] {
        for aspect in [WIDE, 1.0, 0.5] {
            let (min, max) = framed_extent(&shape, aspect);
            assert!(min.z > 0.0 && max.z < 1.0, "beyond the near plane: {min} {max}");
            let reach = max.abs().max(min.abs()).truncate().max_element();
            assert!((reach - fill).abs() < 3e-3, "{min} {max}");
            // The middle of the image shows the outline.
            assert!(min.y < 0.0 && max.y > 0.0, "{min} {max}");
        }
    }
}

#[test]
fn a_crowd_stands_on_the_lower_edge_and_a_character_in_the_middle() {
    let (min, max) = framed_extent(&disc(), WIDE);
    assert!(min.y < -0.85 && max.y > 0.1, "{min} {max}");
    let (min, max) = framed_extent(&figure(), WIDE);
    assert!((min.y + max.y).abs() < 1e-3, "{min} {max}");
}

/// Below half of the angle of view, so that there is a horizon.
#[test]
fn a_crowd_has_a_horizon_in_images_of_any_shape() {
    for aspect in [2.4, WIDE, 1.0, 0.5] {
        let camera = OrbitCamera::framing(&Outline::from(disc().0), aspect);
        assert!(camera.pitch_radians < 0.48 * camera.vertical_fov_radians, "{aspect}: {camera:?}");
    }
}

/// A stretched arm is no flat crowd, and no ground is shown below a knee.
#[test]
fn a_part_of_a_body_fills_the_image() {
    let points = vec![Vec3::new(0.2, 1.3, 0.0), Vec3::new(0.9, 1.4, 0.1)];
    let part = Outline::of_part(points.clone()).unwrap();
    let (min, max) = extent(&OrbitCamera::default().framed(&part, WIDE), &points, WIDE);
    let reach = max.abs().max(min.abs()).truncate().max_element();
    assert!((reach - 0.88).abs() < 3e-3 && (min.y + max.y).abs() < 0.2, "{min} {max}");
    assert_eq!(Outline::of_part(Vec::new()), None);
}

/// The ground is too far below a bird in the air, which fills the image alone.
#[test]
fn a_jump_is_framed_with_the_ground_below_it() {
    let (room, _) = figure();
    for (low, high, shows_ground) in [(0.9, 2.5, true), (9.0, 9.5, false)] {
        let outline = Outline::new(vec![Vec3::new(0.0, low, 0.0), Vec3::new(0.2, high, 0.0)], room);
        let (ground, _) = extent(&OrbitCamera::framing(&outline, WIDE), &[Vec3::new(0.1, 0.0, 0.0)], WIDE);
        assert_eq!(ground.y > -1.0, shows_ground, "{ground}");
    }
    assert_eq!(Outline::new(Vec::new(), room), Outline::from(room));
}

#[test]
fn endless_outlines_give_a_finite_camera() {
    let huge = Bounds { min: Vec3::splat(-1e30), max: Vec3::splat(1e30), footprint_radius: 1e30 };
    let point = Bounds { min: Vec3::ZERO, max: Vec3::ZERO, footprint_radius: 0.0 };
    for room in [huge, point] {
        for outline in [Outline::from(room), Outline::new(vec![Vec3::splat(1e38), Vec3::splat(-1e38)], room)] {
            let mut camera = OrbitCamera::framing(&outline, WIDE);
            camera.zoom(0.5);
            camera.pan(1.0, 1.0);
            assert!(camera.clip_from_world(WIDE).is_finite(), "{camera:?}");
        }
    }
}
