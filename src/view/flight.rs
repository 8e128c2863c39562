//! Free movements of the camera: flying, looking around, and coming closer to any point of the image.
//!
//! In: steps of the keyboard, the mouse or a touchpad. Out: a moved [`OrbitCamera`], inside its limits. The camera still has
//! a target, in front of the eye, so it can orbit again at any time.

use glam::Vec3;

use super::camera::OrbitCamera;

impl OrbitCamera {
    /// Widens the limits, so that the camera may leave the crowd and look away from it. Framing sets them again.
    pub fn free_limits(&mut self) {
        let reach = self.limits.max_distance;
        self.limits.target_min = self.limits.target_min.min(Vec3::new(-reach, 0.0, -reach));
        self.limits.target_max = self.limits.target_max.max(Vec3::splat(reach));
    }

    /// Moves eye and target along the directions of the image. One unit is the distance of the target.
    pub fn fly(&mut self, right: f32, up: f32, forward: f32) {
        let (right_world, up_world, forward_world) = self.axes();
        let step = (right_world * right + up_world * up + forward_world * forward) * self.distance;
        if step.is_finite() {
            self.target += step;
            self.pivot = None;
        }
        self.settle();
    }

    /// Turns the camera around its eye.
    pub fn look_around(&mut self, yaw_radians: f32, pitch_radians: f32) {
        let eye = self.position();
        self.pivot = None;
        self.orbit(yaw_radians, pitch_radians);
        self.target = eye + self.forward() * self.distance;
        self.settle();
    }

    /// Points the camera at a sphere and moves it so close that the sphere fills most of an image of width / height `aspect`.
    /// The direction stays.
    pub fn focus_on(&mut self, center: Vec3, radius: f32, aspect: f32) {
        const MARGIN: f32 = 1.1;
        let up = (self.vertical_fov_radians * 0.5).tan();
        let narrowest = (up * aspect.min(1.0)).atan();
        let distance = MARGIN * radius / narrowest.sin();
        if center.is_finite() && distance.is_finite() {
            (self.target, self.distance, self.pivot) = (center, distance, None);
        }
        self.settle();
    }

    /// Multiplies the distance from a point in the world, which stays where it is in the image and becomes the pivot. Below 1
    /// comes closer.
    pub fn zoom_towards(&mut self, point: Vec3, factor: f32) {
        self.refocus((point - self.position()).dot(self.forward()));
        let distance = (self.distance * factor).clamp(self.limits.min_distance, self.limits.max_distance);
        let factor = distance / self.distance;
        let target = point + (self.target - point) * factor;
        if target.is_finite() {
            (self.target, self.distance, self.pivot) = (target, distance, Some(point));
        }
        self.settle();
    }
}
