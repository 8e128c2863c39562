//! The part of the world that the sun's shadow map covers. [`Look`](super::Look) has the direction of the sun, and
//! [`Sky`](super::Sky) its colour.

use glam::{Mat4, Vec3};

use super::bounds::Bounds;
use super::camera::OrbitCamera;

/// The orthographic view from the light that the shadow map shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShadowView {
    /// The matrix from world space to the map: x and y in -1..1, depth in 0..1, greater is nearer to the light.
    pub shadow_from_world: Mat4,
    /// The side of one texel in metres.
    pub texel_metres: f32,
}

impl ShadowView {
    /// Returns a view that covers the crowd or, if the camera is close, the region around its target, where the texels of
    /// the map are then smaller. `to_light` points towards
    /// the sun, and `map_texels` is the side of the map. The view moves in whole texels, so that edges do not
    /// crawl.
    #[must_use]
    pub fn fit(crowd: &Bounds, camera: &OrbitCamera, to_light: Vec3, map_texels: u32) -> Self {
        /// The radius of the region around the target that the camera sees, as a multiple of the camera's distance.
        const NEAR_SHARE: f32 = 1.5;
        let near_radius = camera.distance * NEAR_SHARE;
        let (center, radius) = if near_radius < crowd.radius() {
            (camera.target.clamp(crowd.min, crowd.max), near_radius)
        } else {
            (crowd.center(), crowd.radius())
        };
        /// Shadows fade out near the edge of the map. The crowd should end before.
        const ROOM: f32 = 1.1;
        let radius = ROOM * radius.max(1e-4);
        let texel_metres = 2.0 * radius / map_texels.max(1) as f32;

        let forward = -to_light;
        // Under a sun in the zenith any direction across will do.
        let right = forward.cross(Vec3::Y).try_normalize().unwrap_or(Vec3::X);
        let up = right.cross(forward);
        let snapped = |axis: Vec3| (center.dot(axis) / texel_metres).round() * texel_metres;
        // Depth covers the whole crowd, even if x and y cover a part, and the ground that receives the shadows.
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
    use crate::view::SunDirection;

    fn to_light() -> Vec3 {
        SunDirection::default().to_light()
    }

    fn crowd() -> Bounds {
        Bounds { min: Vec3::new(-20.0, 0.0, -20.0), max: Vec3::new(20.0, 2.0, 20.0), footprint_radius: 20.0 }
    }

    #[test]
    fn the_map_holds_the_whole_crowd() {
        let camera = OrbitCamera::framing(&crowd(), 1.5);
        let view = ShadowView::fit(&crowd(), &camera, to_light(), 2048);
        for (x, y, z) in [(-14.0, 0.0, -14.0), (14.0, 2.0, 14.0), (-14.0, 2.0, 14.0), (0.0, 1.0, 20.0)] {
            let texel = view.shadow_from_world.project_point3(Vec3::new(x, y, z));
            assert!(texel.x.abs() <= 1.0 && texel.y.abs() <= 1.0 && (0.0..=1.0).contains(&texel.z), "{texel}");
        }
    }

    #[test]
    fn nearer_to_the_light_is_greater_and_along_its_ray_nothing_moves() {
        let view = ShadowView::fit(&crowd(), &OrbitCamera::framing(&crowd(), 1.5), to_light(), 2048);
        let low = view.shadow_from_world.project_point3(Vec3::ZERO);
        let high = view.shadow_from_world.project_point3(to_light() * 3.0);
        assert!(high.z > low.z);
        assert!((high - low).truncate().length() < 1e-5);
    }

    #[test]
    fn a_close_camera_gets_smaller_texels() {
        let far = OrbitCamera::framing(&crowd(), 1.5);
        let close = OrbitCamera { distance: 3.0, target: Vec3::new(5.0, 1.0, 5.0), ..far };
        let (far, close) =
            (ShadowView::fit(&crowd(), &far, to_light(), 2048), ShadowView::fit(&crowd(), &close, to_light(), 2048));
        assert!(close.texel_metres < 0.25 * far.texel_metres);
        let texel = close.shadow_from_world.project_point3(Vec3::new(5.0, 1.0, 5.0));
        assert!(texel.truncate().length() < 0.01, "{texel}");
    }
}
