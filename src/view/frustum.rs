//! The view frustum, and conservative tests of spheres against it.

use glam::{Mat4, Vec3, Vec4, Vec4Swizzles};

/// The region that a camera sees: four side planes and the near plane. There is no far plane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frustum {
    /// Unit normals that point inwards. A point is inside where `normal · point + w >= 0`.
    planes: [Vec4; 5],
}

impl Frustum {
    /// Returns the frustum of a matrix. The planes are sums and differences of its rows (Gribb and Hartmann, "Fast
    /// Extraction of Viewing Frustum Planes from the World-View-Projection Matrix", 2001). With reversed Z the near plane
    /// is z = w.
    #[must_use]
    pub fn from_clip_from_world(clip_from_world: Mat4) -> Self {
        let rows = clip_from_world.transpose();
        let (x, y, z, w) = (rows.x_axis, rows.y_axis, rows.z_axis, rows.w_axis);
        let planes = [w + x, w - x, w + y, w - y, w - z];
        Self { planes: planes.map(|plane| plane / plane.xyz().length()) }
    }

    /// Returns the four side planes and the near plane.
    pub(super) fn planes(&self) -> &[Vec4] {
        &self.planes
    }

    /// Returns false if the whole sphere lies behind one plane. The test is conservative: a sphere near an edge may pass
    /// although it is outside.
    #[must_use]
    pub fn intersects_sphere(&self, center: Vec3, radius: f32) -> bool {
        // Rounding errors grow with the distance from the origin. A sphere that only just touches must pass.
        let slack = 1e-5 * (center.abs().max_element() + radius);
        self.planes.iter().all(|plane| plane.xyz().dot(center) + plane.w >= -(radius + slack))
    }

    /// Like [`Self::intersects_sphere`], for a sphere swept from `center` by `sweep`: a character and its shadow.
    #[must_use]
    pub fn intersects_swept_sphere(&self, center: Vec3, sweep: Vec3, radius: f32) -> bool {
        let slack = 1e-5 * (center.abs().max_element() + sweep.abs().max_element() + radius);
        self.planes.iter().all(|plane| {
            let at_start = plane.xyz().dot(center) + plane.w;
            at_start.max(at_start + plane.xyz().dot(sweep)) >= -(radius + slack)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::OrbitCamera;

    #[test]
    fn the_frustum_keeps_what_touches_it_and_drops_what_does_not() {
        let frustum = {
            let camera = OrbitCamera {
                target: Vec3::ZERO,
                distance: 10.0,
                yaw_radians: 0.0,
                pitch_radians: 0.0,
                vertical_fov_radians: 90f32.to_radians(),
                ..OrbitCamera::default()
            };
            Frustum::from_clip_from_world(camera.clip_from_world(1.0))
        };
        assert!(frustum.intersects_sphere(Vec3::ZERO, 0.0));
        assert!(frustum.intersects_sphere(Vec3::new(0.0, 0.0, -1e6), 0.0), "there is no far plane");
        assert!(!frustum.intersects_sphere(Vec3::new(0.0, 0.0, 12.0), 1.0), "behind the eye");
        // The right-hand plane passes (10, 0, 0) at 45 degrees: (12, 0, 0) is 1.4142 outside of it.
        assert!(frustum.intersects_sphere(Vec3::new(12.0, 0.0, 0.0), 1.415));
        assert!(!frustum.intersects_sphere(Vec3::new(12.0, 0.0, 0.0), 1.413));
        assert!(frustum.intersects_sphere(Vec3::new(0.0, -12.0, 0.0), 1.415));
        assert!(!frustum.intersects_sphere(Vec3::new(0.0, -12.0, 0.0), 1.413));
    }
}
