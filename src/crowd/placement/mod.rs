//! The places of the instances. Each layout lists its places from the centre outwards, so that the first ones of a large
//! crowd are those of a small crowd, as far as the layout allows.
//!
//! In: a number of instances, their spacing and random numbers. Out: [`Placement`]s around the origin, with y = 0 and a
//! scale of 1. A single instance is exactly at the origin and faces +Z, as glTF characters do. A million places take
//! O(n log n) time.

mod grid;
pub(super) mod ring;
mod scatter;

use std::f32::consts::TAU;

use glam::{Affine3A, Mat3A, Vec2, Vec3};

use super::random::SplitMix64;
use crate::shader_types::JointMatrix;

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

/// The placement of one instance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Placement {
    /// The position of the model's origin in the world.
    pub position: Vec3,
    /// The cosine and the sine of the rotation about +Y. An instance without rotation faces +Z.
    pub heading: Vec2,
    /// The uniform scale.
    pub scale: f32,
}

impl Placement {
    /// The placement at the origin, with the scale and the heading of the file.
    pub const ORIGIN: Self = Self { position: Vec3::ZERO, heading: Vec2::X, scale: 1.0 };

    fn new(position: Vec2, yaw_radians: f32) -> Self {
        Self { position: Vec3::new(position.x, 0.0, position.y), heading: heading(yaw_radians), scale: 1.0 }
    }

    /// Returns the placement after a turn about the world's Y axis.
    #[inline]
    pub fn turned(self, turn: Vec2) -> Self {
        let (position, heading) = (turned(self.position, turn), self.heading);
        let heading = Vec2::new(heading.x * turn.x - heading.y * turn.y, heading.x * turn.y + heading.y * turn.x);
        Self { position, heading, ..self }
    }

    /// Returns the rows of the matrix.
    #[inline]
    pub fn rows(&self) -> JointMatrix {
        let Self { position, heading, scale } = *self;
        let (cos, sin) = (heading.x * scale, heading.y * scale);
        JointMatrix { rows: [[cos, 0.0, sin, position.x], [0.0, scale, 0.0, position.y], [-sin, 0.0, cos, position.z]] }
    }

    /// Returns the matrix.
    pub fn world_from_model(&self) -> Affine3A {
        let Self { position, heading, scale } = *self;
        let (cos, sin) = (heading.x * scale, heading.y * scale);
        let columns = [Vec3::new(cos, 0.0, -sin), Vec3::new(0.0, scale, 0.0), Vec3::new(sin, 0.0, cos)];
        let [x, y, z] = columns.map(Into::into);
        Affine3A { matrix3: Mat3A::from_cols(x, y, z), translation: position.into() }
    }
}

/// Returns the cosine and the sine of a rotation about +Y.
pub(super) fn heading(yaw_radians: f32) -> Vec2 {
    let (sin, cos) = yaw_radians.sin_cos();
    Vec2::new(cos, sin)
}

/// Turns a point about the Y axis, by a cosine and a sine.
#[inline]
pub(super) fn turned(point: Vec3, turn: Vec2) -> Vec3 {
    Vec3::new(point.x * turn.x + point.z * turn.y, point.y, point.z * turn.x - point.x * turn.y)
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
    fn rows_matrix_and_turns_agree() {
        let placement = Placement { position: Vec3::new(3.0, 0.5, -2.0), heading: heading(0.4), scale: 1.3 };
        let expected = Affine3A::from_scale_rotation_translation(
            Vec3::splat(1.3),
            glam::Quat::from_rotation_y(0.4),
            Vec3::new(3.0, 0.5, -2.0),
        );
        assert!(placement.world_from_model().abs_diff_eq(expected, 1e-6), "{placement:?}");
        assert_eq!(Affine3A::from(placement.rows()), placement.world_from_model());
        let turned = Affine3A::from_rotation_y(0.7) * expected;
        assert!(placement.turned(heading(0.7)).world_from_model().abs_diff_eq(turned, 1e-6), "{placement:?}");
        // Instances that stand are turned by nothing, and must not move at all.
        assert_eq!(placement.turned(Vec2::X), placement);
    }

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
