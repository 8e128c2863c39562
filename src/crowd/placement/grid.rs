//! A hexagonal lattice that fills a disc around the origin, with some jitter, so that the crowd looks natural but ordered.

use glam::Vec2;

use super::place::Placement;
use crate::crowd::random::SplitMix64;

/// The largest displacement along an axis, as a share of the spacing.
const JITTER: f32 = 0.1;
/// The largest angle from +Z, the direction that glTF characters face.
const MAX_YAW_RADIANS: f32 = 0.5;

pub(super) fn placements(count: usize, spacing_metres: f32, random: &mut SplitMix64) -> Vec<Placement> {
    let lattice = hexagonal_disc(count);
    // The outermost ring may be incomplete, which would move the crowd's centre to one side.
    let center = lattice.iter().sum::<Vec2>() / lattice.len().max(1) as f32;
    let placement = |point: Vec2| {
        let jitter = Vec2::new(random.signed_unit(), random.signed_unit()) * JITTER;
        Placement::new((point - center + jitter) * spacing_metres, random.signed_unit() * MAX_YAW_RADIANS)
    };
    lattice.into_iter().map(placement).collect()
}

/// Returns the `count` points of the hexagonal lattice with unit spacing that are closest to the origin.
///
/// Lattice coordinates (i, j) stand for i·(1, 0) + j·(1/2, √3/2). The squared distance i² + ij + j² is an integer, so
/// the order does not depend on rounding. Ties are ordered by row, middle rows first, then from left to right.
fn hexagonal_disc(count: usize) -> Vec<Vec2> {
    const ROW_DISTANCE: f32 = 0.866_025_4;
    // A disc of radius r holds about π r² / (√3/2) points. The searched rhombus must contain the disc, so i and j go up to
    // 2/√3 times the radius.
    let radius = (count as f64 * 0.866_025_4 / std::f64::consts::PI).sqrt() + 2.0;
    let reach = (radius * 1.154_700_6).ceil() as i64;
    let radius_squared = (radius * radius).ceil() as i64;
    let mut points: Vec<(i64, i64, i64)> = Vec::new();
    for j in -reach..=reach {
        for i in -reach..=reach {
            let distance_squared = i * i + i * j + j * j;
            if distance_squared <= radius_squared {
                points.push((distance_squared, j, i));
            }
        }
    }
    points.sort_unstable_by_key(|&(distance_squared, j, i)| (distance_squared, j.abs(), j, i));
    points.truncate(count);
    points.into_iter().map(|(_, j, i)| Vec2::new(i as f32 + 0.5 * j as f32, j as f32 * ROW_DISTANCE)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_disc_is_round_and_evenly_filled() {
        for count in [2, 3, 7, 19, 100, 1000, 5000] {
            let points = hexagonal_disc(count);
            assert_eq!(points.len(), count);
            let farthest = points.iter().map(|p| p.length()).fold(0.0, f32::max);
            // The area per point is √3/2, which gives the radius of the disc. At most one more ring is begun.
            let expected = (count as f32 * 0.866 / std::f32::consts::PI).sqrt();
            assert!((farthest - expected).abs() < 1.0, "{count}: {farthest} instead of {expected}");
        }
        // One point in the centre and six around it.
        assert!(hexagonal_disc(7)[1..].iter().all(|p| (p.length() - 1.0).abs() < 1e-6));
    }
}
