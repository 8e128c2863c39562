//! The light: where it stands, and which part of the world its shadow map covers.

use glam::{Mat4, Vec3};

use crate::camera::{Bounds, OrbitCamera};

/// Linear RGB of a low, warm sun.
pub const COLOR: Vec3 = Vec3::new(3.3, 3.05, 2.65);

/// Unit vector from a surface towards the light: high, from the left and a little in front of the crowd, as seen by
/// the first camera.
#[must_use]
pub fn to_light() -> Vec3 {
    Vec3::new(-0.55, 1.0, 0.5).normalize()
}

/// An orthographic view from the light.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShadowView {
    /// World to the map: x and y in -1..1, depth in 0..1, nearer to the light is greater.
    pub shadow_from_world: Mat4,
    /// One texel in metres.
    pub texel_metres: f32,
}

impl ShadowView {
    /// Covers the crowd or, where the camera has come close, the part round its target: a map of fixed size then has
    /// texels as small as what is looked at deserves. `map_texels` is the length of its side. Moves in whole texels, so that edges do not crawl.
    #[must_use]
    pub fn fit(crowd: &Bounds, camera: &OrbitCamera, map_texels: u32) -> Self {
        /// What the camera sees lies within about this many times its distance round the target.
        const NEAR_SHARE: f32 = 1.5;
        let near_radius = camera.distance * NEAR_SHARE;
        let (center, radius) = if near_radius < crowd.radius() {
            (camera.target.clamp(crowd.min, crowd.max), near_radius)
        } else {
            (crowd.center(), crowd.radius())
        };
        /// Shadows fade out near the map's edge; the crowd should end before.
        const ROOM: f32 = 1.1;
        let radius = ROOM * radius.max(1e-4);
        let texel_metres = 2.0 * radius / map_texels.max(1) as f32;

        let forward = -to_light();
        let right = forward.cross(Vec3::Y).normalize();
        let up = right.cross(forward);
        let snapped = |axis: Vec3| (center.dot(axis) / texel_metres).round() * texel_metres;
        // Depth covers the whole crowd, whatever part of it x and y cover, and the ground that its shadows fall on.
        let reach = 3.0 * (crowd.radius().max(radius) + center.distance(crowd.center()));
        let row = |axis: Vec3, offset: f32, scale: f32| (axis * scale).extend(-offset * scale);
        let depth = (-forward / (2.0 * reach)).extend(0.5 + center.dot(forward) / (2.0 * reach));
        let rows = Mat4::from_cols(
            row(right, snapped(right), 1.0 / radius),
            row(up, snapped(up), 1.0 / radius),
            depth,
            glam::Vec4::W,
        );
        Self { shadow_from_world: rows.transpose(), texel_metres }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crowd() -> Bounds {
        Bounds { min: Vec3::new(-20.0, 0.0, -20.0), max: Vec3::new(20.0, 2.0, 20.0), footprint_radius: 20.0 }
    }

    #[test]
    fn the_map_holds_the_whole_crowd() {
        let camera = OrbitCamera::framing(&crowd(), 1.5);
        let view = ShadowView::fit(&crowd(), &camera, 2048);
        for (x, y, z) in [(-14.0, 0.0, -14.0), (14.0, 2.0, 14.0), (-14.0, 2.0, 14.0), (0.0, 1.0, 20.0)] {
            let place = view.shadow_from_world.project_point3(Vec3::new(x, y, z));
            assert!(place.x.abs() <= 1.0 && place.y.abs() <= 1.0 && (0.0..=1.0).contains(&place.z), "{place}");
        }
    }

    #[test]
    fn nearer_to_the_light_is_greater_and_along_its_ray_nothing_moves() {
        let view = ShadowView::fit(&crowd(), &OrbitCamera::framing(&crowd(), 1.5), 2048);
        let low = view.shadow_from_world.project_point3(Vec3::ZERO);
        let high = view.shadow_from_world.project_point3(to_light() * 3.0);
        assert!(high.z > low.z);
        assert!((high - low).truncate().length() < 1e-5);
    }

    #[test]
    fn a_close_camera_gets_smaller_texels() {
        let far = OrbitCamera::framing(&crowd(), 1.5);
        let close = OrbitCamera { distance: 3.0, target: Vec3::new(5.0, 1.0, 5.0), ..far };
        let (far, close) = (ShadowView::fit(&crowd(), &far, 2048), ShadowView::fit(&crowd(), &close, 2048));
        assert!(close.texel_metres < 0.25 * far.texel_metres);
        let place = close.shadow_from_world.project_point3(Vec3::new(5.0, 1.0, 5.0));
        assert!(place.truncate().length() < 0.01, "{place}");
    }
}
