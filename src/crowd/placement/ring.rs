//! Concentric rings around the origin, as far apart as neighbours on a ring.

use std::f32::consts::{FRAC_PI_2, TAU};

use glam::Vec2;

use super::place::Placement;
use crate::crowd::random::SplitMix64;

/// Returns one place in the centre, and rings around it, which are full except for the last.
pub(super) fn placements(count: usize, spacing_metres: f32, random: &mut SplitMix64) -> Vec<Placement> {
    let mut placements = Vec::with_capacity(count);
    placements.extend((count > 0).then_some(Placement::ORIGIN));
    for ring in 1.. {
        let left = count - placements.len();
        if left == 0 {
            break;
        }
        let radius = ring as f32 * spacing_metres;
        let on_ring = left.min(capacity(radius, spacing_metres));
        placements.extend(evenly(on_ring, radius, random.unit() * TAU, FRAC_PI_2));
    }
    placements
}

/// Returns the largest number of points on a circle whose neighbours are at least `spacing` apart in a straight line.
pub(in crate::crowd) fn capacity(radius: f32, spacing: f32) -> usize {
    let half_angle = (f64::from(spacing) / (2.0 * f64::from(radius))).min(1.0).asin();
    // Six neighbours fit exactly around a point, if rounding does not prevent it.
    ((std::f64::consts::PI / half_angle + 1e-6) as usize).max(1)
}

/// Returns `count` placements that are evenly spread on a circle, from `first_radians` on. `yaw_radians` is between the
/// direction from the centre and the instance's own; a quarter turn faces along the circle.
pub(in crate::crowd) fn evenly(
    count: usize,
    radius: f32,
    first_radians: f32,
    yaw_radians: f32,
) -> impl Iterator<Item = Placement> {
    (0..count).map(move |index| {
        let around = first_radians + TAU * (index as f32 / count as f32);
        let (sin, cos) = around.sin_cos();
        Placement::new(radius * Vec2::new(sin, cos), around + yaw_radians)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_are_full_and_neighbours_keep_their_distance() {
        assert_eq!([1.0, 2.0, 3.0].map(|radius| capacity(radius, 1.0)), [6, 12, 18]);
        assert_eq!([0.0, 0.4, 0.5].map(|radius| capacity(radius, 1.0)), [2, 2, 2]);
        let placements = placements(1000, 2.0, &mut SplitMix64::new(1, 0));
        let radii: Vec<f32> = placements.iter().map(|placement| placement.position.length() / 2.0).collect();
        assert!(radii.iter().all(|radius| (radius - radius.round()).abs() < 1e-5), "{radii:?}");
        assert!(radii.is_sorted_by(|a, b| a.round() <= b.round()));
        // The disc of a hexagonal lattice with as many points has a radius of 16.6 spacings.
        assert!(radii[999] < 18.5, "{}", radii[999]);
    }

    #[test]
    fn instances_face_along_their_ring() {
        for placement in evenly(7, 3.0, 0.3, FRAC_PI_2) {
            let forward = placement.world_from_model().transform_vector3(glam::Vec3::Z);
            assert!(forward.dot(placement.position).abs() < 1e-5);
            // Seen from above, all of them go the same way round.
            assert!(placement.position.cross(forward).y > 0.0);
        }
    }
}
