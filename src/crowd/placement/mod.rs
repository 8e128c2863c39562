//! The places of the instances. Each layout lists its places from the centre outwards, so that the first ones of a large
//! crowd are those of a small crowd, as far as the layout allows.
//!
//! In: a number of instances, their spacing and random numbers. Out: [`Placement`]s around the origin, with y = 0 and a
//! scale of 1. A single instance is exactly at the origin and faces +Z, as glTF characters do. A million places take
//! O(n log n) time.

mod grid;
mod place;
pub(super) mod ring;
mod scatter;

use std::f32::consts::TAU;

use super::random::SplitMix64;

pub(super) use place::{Placement, turned};

/// The way in which instances are placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// A hexagonal lattice with some jitter, which fills a disc. All instances face about the same way.
    #[default]
    Grid,
    /// Concentric rings. Instances face along their ring.
    Ring,
    /// Random places, none of them close to another. Instances face anywhere.
    Scatter,
}

/// Returns `count` placements, from the centre outwards.
pub(super) fn placements(layout: Layout, count: u32, spacing_metres: f32, random: &mut SplitMix64) -> Vec<Placement> {
    if count == 1 {
        return vec![Placement::ORIGIN];
    }
    let count = count as usize;
    match layout {
        Layout::Grid => grid::placements(count, spacing_metres, random),
        Layout::Ring => ring::placements(count, spacing_metres, random),
        Layout::Scatter => {
            let points = scatter::disc(count, random);
            let distance_metres = scatter::DISTANCE * spacing_metres;
            points.into_iter().map(|point| Placement::new(point * distance_metres, random.unit() * TAU)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_begins_at_the_origin_and_keeps_its_distance() {
        for (layout, least) in [(Layout::Grid, 0.7), (Layout::Ring, 0.999), (Layout::Scatter, scatter::DISTANCE)] {
            for count in [0, 1, 2, 7, 300, 2000] {
                let placements = placements(layout, count, 2.0, &mut SplitMix64::new(3, 0));
                assert_eq!(placements.len(), count as usize);
                let farthest = placements.iter().map(|placement| placement.position.length()).fold(0.0, f32::max);
                // As dense as the lattice, whose radius is 0.525 √n spacings, or a little less.
                assert!(farthest <= 2.0 * (0.65 * (count as f32).sqrt() + 1.0), "{layout:?} {count}: {farthest}");
                let mut nearest = f32::INFINITY;
                for (k, a) in placements.iter().enumerate() {
                    assert!((a.heading.length() - 1.0).abs() < 1e-6 && a.position.y == 0.0 && a.scale == 1.0);
                    for b in &placements[..k] {
                        nearest = nearest.min(a.position.distance(b.position));
                    }
                }
                assert!(nearest >= 2.0 * least - 1e-5, "{layout:?} {count}: {nearest}");
            }
            assert_eq!(placements(layout, 1, 2.0, &mut SplitMix64::new(3, 0)), [Placement::ORIGIN]);
        }
    }
}
