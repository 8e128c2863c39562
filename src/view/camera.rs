//! The orbit camera: its position, its matrices, and how it frames a crowd.
//!
//! Right-handed, +Y up. The projection is reversed-Z with an infinite far plane: depth is 1 on the near plane and 0 at
//! infinity, which spreads the precision of floating-point depth evenly. Clip space is +Y up; the renderer flips
//! Vulkan's viewport with a negative height. Every setter of [`OrbitCamera`] clamps, so no input makes it unusable.

use std::f32::consts::TAU;

use glam::{Mat4, Vec3, Vec4};

use super::bounds::Bounds;

/// Just short of the poles, where "up" has no direction.
const MAX_PITCH_RADIANS: f32 = 1.54;
const MIN_DISTANCE: f32 = 1e-3;
const MAX_DISTANCE: f32 = 1e7;
/// The near plane's distance as a share of the camera's distance from its target: one scale fits a fox in centimetres
/// and a crowd of thousands.
const NEAR_SHARE: f32 = 0.005;
/// Share of the image's half width and height that framing fills.
const FRAMING_FILL: f32 = 0.94;

/// A camera that looks at a target from a distance; yaw 0 looks along -Z, at the faces of glTF characters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OrbitCamera {
    /// The point in the middle of the image, in world space.
    pub target: Vec3,
    /// The distance from the target to the eye.
    pub distance: f32,
    /// The angle around +Y, counterclockwise as seen from above.
    pub yaw_radians: f32,
    /// The angle above the horizon.
    pub pitch_radians: f32,
    /// The angle between the upper and the lower edge of the image.
    pub vertical_fov_radians: f32,
}

impl Default for OrbitCamera {
    fn default() -> Self {
        Self {
            target: Vec3::new(0.0, 1.0, 0.0),
            distance: 4.0,
            yaw_radians: 0.45,
            pitch_radians: 15f32.to_radians(),
            vertical_fov_radians: 40f32.to_radians(),
        }
    }
}

impl OrbitCamera {
    /// Returns a camera that shows all of `bounds` as large as possible, in an image of width / height `aspect`.
    ///
    /// A single character is seen from the front, a little from above and from the side; the flatter and wider the
    /// crowd, the higher the camera stands, as for a photograph of a landscape.
    #[must_use]
    pub fn framing(bounds: &Bounds, aspect: f32) -> Self {
        let height = (bounds.max.y - bounds.min.y).max(1e-6);
        let flatness = ((bounds.footprint_radius / height - 1.5) / 6.0).clamp(0.0, 1.0);
        Self::framing_from(bounds, aspect, 0.45 - 0.2 * flatness, (15.0 + 8.0 * flatness).to_radians())
    }

    /// Like [`Self::framing`], from a given direction.
    #[must_use]
    pub fn framing_from(bounds: &Bounds, aspect: f32, yaw_radians: f32, pitch_radians: f32) -> Self {
        let mut camera = Self { target: bounds.center(), yaw_radians, pitch_radians, ..Self::default() };
        camera.fit(bounds, aspect);
        camera
    }

    /// Moves target and distance, but not the direction, so that every point of the hull is in view.
    ///
    /// With the eye at distance D, a point at (x, y) across and z along the view is inside where
    /// |x - offset| <= (D + z) * slope. The extremes of x ± z * slope give the smallest D and its offset.
    fn fit(&mut self, bounds: &Bounds, aspect: f32) {
        let (right, up, forward) = self.axes();
        let slope_y = (self.vertical_fov_radians * 0.5).tan() * FRAMING_FILL;
        let slope_x = slope_y * aspect.clamp(0.01, 100.0);
        let fit_axis = |axis: Vec3, slope: f32| {
            let (low, high) = bounds.hull().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), point| {
                let (across, along) = (point.dot(axis), point.dot(forward));
                (low.min(across + along * slope), high.max(across - along * slope))
            });
            ((high - low) / (2.0 * slope), (high + low) * 0.5)
        };
        let (distance_x, offset_x) = fit_axis(right, slope_x);
        let (distance_y, offset_y) = fit_axis(up, slope_y);
        let nearest = bounds.hull().map(|point| point.dot(forward)).fold(0.0, f32::min);
        // The last bound keeps the nearest point beyond the near plane.
        self.distance = distance_x.max(distance_y).max(-nearest / (1.0 - 2.0 * NEAR_SHARE));
        let distance = self.distance;
        // One axis decides the distance. The other has room to spare, which is divided evenly.
        let centered = |axis: Vec3, mut offset: f32| {
            for _ in 0..8 {
                let (low, high) = bounds.hull().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), point| {
                    let slope = (point.dot(axis) - offset) / (distance + point.dot(forward));
                    (low.min(slope), high.max(slope))
                });
                offset += (low + high) * 0.5 * distance;
            }
            offset
        };
        self.target = bounds.center() + right * centered(right, offset_x) + up * centered(up, offset_y);
        self.clamp();
    }

    /// Turns the camera around its target.
    pub fn orbit(&mut self, yaw_radians: f32, pitch_radians: f32) {
        self.yaw_radians += yaw_radians;
        self.pitch_radians += pitch_radians;
        self.clamp();
    }

    /// Multiplies the distance: below 1 comes closer.
    pub fn zoom(&mut self, factor: f32) {
        self.distance *= factor;
        self.clamp();
    }

    /// Moves the target across the image; one unit is the image's height at the target.
    pub fn pan(&mut self, right: f32, up: f32) {
        let (right_world, up_world, _) = self.axes();
        let height = 2.0 * self.distance * (self.vertical_fov_radians * 0.5).tan();
        let target = self.target + (right_world * right + up_world * up) * height;
        if target.is_finite() {
            self.target = target;
        }
    }

    /// Returns the position of the eye in world space.
    #[must_use]
    pub fn position(&self) -> Vec3 {
        self.target - self.axes().2 * self.distance
    }

    /// Returns the unit vector from the eye to the target.
    #[must_use]
    pub fn forward(&self) -> Vec3 {
        self.axes().2
    }

    /// Returns the distance of the near plane from the eye.
    #[must_use]
    pub fn near(&self) -> f32 {
        self.distance * NEAR_SHARE
    }

    /// Returns the matrix from world to view space, where the eye is at the origin and looks along -Z.
    #[must_use]
    pub fn view_from_world(&self) -> Mat4 {
        let (right, up, forward) = self.axes();
        let eye = self.position();
        Mat4::from_cols(
            Vec4::new(right.x, up.x, -forward.x, 0.0),
            Vec4::new(right.y, up.y, -forward.y, 0.0),
            Vec4::new(right.z, up.z, -forward.z, 0.0),
            Vec4::new(-right.dot(eye), -up.dot(eye), forward.dot(eye), 1.0),
        )
    }

    /// Returns the matrix from view to clip space: reversed-Z, infinite far plane, +Y up.
    #[must_use]
    pub fn clip_from_view(&self, aspect: f32) -> Mat4 {
        let y_scale = 1.0 / (self.vertical_fov_radians * 0.5).tan();
        Mat4::from_cols(
            Vec4::new(y_scale / aspect, 0.0, 0.0, 0.0),
            Vec4::new(0.0, y_scale, 0.0, 0.0),
            Vec4::new(0.0, 0.0, 0.0, -1.0),
            Vec4::new(0.0, 0.0, self.near(), 0.0),
        )
    }

    /// Returns the matrix from world to clip space, for an image of width / height `aspect`.
    #[must_use]
    pub fn clip_from_world(&self, aspect: f32) -> Mat4 {
        self.clip_from_view(aspect) * self.view_from_world()
    }

    /// Returns the directions right, up and forward in the world. They are orthonormal.
    fn axes(&self) -> (Vec3, Vec3, Vec3) {
        let (sin_yaw, cos_yaw) = self.yaw_radians.sin_cos();
        let (sin_pitch, cos_pitch) = self.pitch_radians.sin_cos();
        let forward = -Vec3::new(sin_yaw * cos_pitch, sin_pitch, cos_yaw * cos_pitch);
        let right = Vec3::new(cos_yaw, 0.0, -sin_yaw);
        (right, right.cross(forward), forward)
    }

    fn clamp(&mut self) {
        let finite = |value: f32, otherwise: f32| if value.is_finite() { value } else { otherwise };
        self.yaw_radians = finite(self.yaw_radians, 0.0) % TAU;
        self.pitch_radians = finite(self.pitch_radians, 0.0).clamp(-MAX_PITCH_RADIANS, MAX_PITCH_RADIANS);
        self.distance = finite(self.distance, MAX_DISTANCE).clamp(MIN_DISTANCE, MAX_DISTANCE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: f32 = 16.0 / 9.0;

    fn looking_down_z() -> OrbitCamera {
        OrbitCamera {
            target: Vec3::ZERO,
            distance: 10.0,
            yaw_radians: 0.0,
            pitch_radians: 0.0,
            vertical_fov_radians: 90f32.to_radians(),
        }
    }

    #[test]
    fn the_projection_is_reversed_infinite_and_upright() {
        let camera = looking_down_z();
        assert_eq!(camera.position(), Vec3::new(0.0, 0.0, 10.0));
        let project = |point: Vec3| camera.clip_from_world(2.0).project_point3(point);
        // At 90 degrees and distance 10, the upper edge is 10 above the target; with aspect 2 the right edge is at 20.
        assert!((project(Vec3::new(20.0, 10.0, 0.0)).truncate() - glam::Vec2::ONE).length() < 1e-5);
        // near = 0.05: depth 1 on the near plane, 0.05 / 10 at the target, 0 far away.
        assert!((project(Vec3::new(0.0, 0.0, 9.95)).z - 1.0).abs() < 1e-3);
        assert!((project(Vec3::ZERO).z - 0.005).abs() < 1e-6);
        assert!(project(Vec3::new(0.0, 0.0, -1e9)).z.abs() < 1e-9);
    }

    #[test]
    fn the_view_is_a_rotation_that_looks_at_the_target() {
        let camera = OrbitCamera { yaw_radians: 0.7, pitch_radians: 0.4, ..OrbitCamera::default() };
        let target = camera.view_from_world().transform_point3(camera.target);
        assert!((target - Vec3::new(0.0, 0.0, -camera.distance)).length() < 1e-5, "{target}");
        assert!((camera.view_from_world().determinant() - 1.0).abs() < 1e-5);
        assert!(camera.position().y > camera.target.y);
    }

    #[test]
    fn framing_shows_everything_and_fills_the_image() {
        let disc =
            Bounds { min: Vec3::new(-20.0, 0.0, -20.0), max: Vec3::new(20.0, 1.8, 20.0), footprint_radius: 20.0 };
        let figure = Bounds { min: Vec3::new(-0.4, 0.0, -0.3), max: Vec3::new(0.4, 1.8, 0.3), footprint_radius: 0.5 };
        for (bounds, aspect) in [(disc, WIDE), (disc, 0.5), (figure, WIDE), (figure, 0.5)] {
            let camera = OrbitCamera::framing(&bounds, aspect);
            let clip_from_world = camera.clip_from_world(aspect);
            let extent = bounds.hull().map(|p| clip_from_world.project_point3(bounds.center() + p)).fold(
                Vec3::ZERO,
                |extent, p| {
                    assert!(p.z > 0.0 && p.z < 1.0, "beyond the near plane: {p}");
                    extent.max(p.abs())
                },
            );
            // One of the two directions is filled to 94 %, and the other to less.
            assert!((extent.truncate().max_element() - FRAMING_FILL).abs() < 1e-3, "{extent}");
        }
        let crowd_camera = OrbitCamera::framing(&disc, WIDE);
        assert!((crowd_camera.pitch_radians.to_degrees() - 23.0).abs() < 0.01);
        let figure_camera = OrbitCamera::framing(&figure, WIDE);
        assert!((figure_camera.pitch_radians.to_degrees() - 15.0).abs() < 0.01);
    }

    #[test]
    fn no_input_makes_the_camera_unusable() {
        let mut camera = OrbitCamera::default();
        camera.orbit(1e9, 100.0);
        assert_eq!(camera.pitch_radians, MAX_PITCH_RADIANS);
        camera.zoom(0.0);
        assert_eq!(camera.distance, MIN_DISTANCE);
        camera.zoom(f32::INFINITY);
        assert_eq!(camera.distance, MAX_DISTANCE);
        camera.orbit(f32::NAN, f32::NAN);
        camera.pan(f32::NAN, 0.0);
        assert!(camera.clip_from_world(WIDE).is_finite());
    }

    #[test]
    fn panning_by_one_moves_by_the_images_height() {
        let mut camera = looking_down_z();
        camera.pan(1.0, -0.5);
        assert!((camera.target - Vec3::new(20.0, -10.0, 0.0)).length() < 1e-4, "{}", camera.target);
    }
}
