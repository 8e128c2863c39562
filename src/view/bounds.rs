//! The extent of a crowd in the world, for framing and for the shadow map.

use std::f32::consts::TAU;

use glam::Vec3;

/// Corners of the polygon that encloses the cylinder.
const RIM_POINTS: usize = 32;

/// The extent of a crowd: an axis-aligned box in the world, intersected with an upright cylinder around its centre. A
/// circular crowd does not reach the corners of its box, so the cylinder makes tighter framing possible.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// The smallest coordinates of the box.
    pub min: Vec3,
    /// The largest coordinates of the box.
    pub max: Vec3,
    /// The radius of the cylinder.
    pub footprint_radius: f32,
}

impl Bounds {
    /// Returns the centre of the box.
    #[must_use]
    pub fn center(&self) -> Vec3 {
        (self.min + self.max) * 0.5
    }

    /// Returns the radius of a sphere around the centre that contains the crowd.
    #[must_use]
    pub fn radius(&self) -> f32 {
        let half = (self.max - self.min) * 0.5;
        half.length().min(self.footprint_radius.hypot(half.y))
    }

    /// Returns the cylinder that these bounds sweep while they turn around the vertical axis through their centre.
    #[must_use]
    pub fn swept_around(&self) -> Self {
        let half = (self.max - self.min) * 0.5;
        let radius = self.footprint_radius.min(half.x.hypot(half.z));
        let reach = Vec3::new(radius, half.y, radius);
        Self { min: self.center() - reach, max: self.center() + reach, footprint_radius: radius }
    }

    /// Returns points, relative to the centre, whose convex hull contains the crowd.
    pub(super) fn hull(&self) -> impl Iterator<Item = Vec3> {
        let half = (self.max - self.min) * 0.5;
        // A polygon around the circle, clipped by the box; and the corners of the box where the circle reaches them.
        let rim_radius = self.footprint_radius / (TAU / (2 * RIM_POINTS) as f32).cos();
        let rim = (0..RIM_POINTS).map(move |k| {
            let (sin, cos) = (TAU * k as f32 / RIM_POINTS as f32).sin_cos();
            Vec3::new((rim_radius * cos).clamp(-half.x, half.x), 0.0, (rim_radius * sin).clamp(-half.z, half.z))
        });
        let corners = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)];
        let has_corners = half.x.hypot(half.z) <= self.footprint_radius * 1.001;
        let corners = corners.into_iter().map(move |(x, z)| Vec3::new(x * half.x, 0.0, z * half.z));
        let outline = rim.chain(corners.filter(move |_| has_corners));
        outline.flat_map(move |point| [point.with_y(-half.y), point.with_y(half.y)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_that_turn_sweep_a_cylinder() {
        let bounds = Bounds { min: Vec3::new(1.0, 0.0, -4.0), max: Vec3::new(7.0, 2.0, 4.0), footprint_radius: 5.0 };
        let swept = bounds.swept_around();
        assert_eq!((swept.min, swept.max), (Vec3::new(-1.0, 0.0, -5.0), Vec3::new(9.0, 2.0, 5.0)));
        assert!(swept.hull().all(|point| (4.99..5.1).contains(&point.with_y(0.0).length())));
        // The corners of a box reach farthest, unless the footprint does not fill it.
        let wide = Bounds { footprint_radius: 9.0, ..bounds };
        assert_eq!(wide.swept_around(), swept);
    }
}
