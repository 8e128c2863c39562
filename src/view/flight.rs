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

#[cfg(test)]
mod tests {
    use glam::Vec2;

    use super::*;
    use crate::view::Ray;
    use crate::view::camera::Limits;

    fn camera() -> OrbitCamera {
        let limits = Limits { max_distance: 100.0, ..Limits::default() };
        OrbitCamera { limits, target: Vec3::new(1.0, 5.0, 2.0), distance: 6.0, ..OrbitCamera::default() }
    }

    #[test]
    fn the_point_under_the_cursor_stays_there() {
        let aspect = 1.5;
        let cursor = Vec2::new(0.7, 0.65);
        for (factor, target_x) in [(0.5, 0.0), (0.9, 0.3), (1.3, 0.0)] {
            let mut camera = OrbitCamera { target_x, ..camera() };
            let point = camera.position() + Ray::through(&camera, aspect, cursor).direction * 5.0;
            let eye = camera.position();
            camera.zoom_towards(point, factor);
            let clip = camera.clip_from_world(aspect).project_point3(point);
            let seen = Vec2::new(0.5 + 0.5 * clip.x, 0.5 - 0.5 * clip.y);
            assert!((seen - cursor).length() < 1e-4, "{seen}");
            let closer = (camera.position() - point).length() / (eye - point).length();
            assert!((closer - factor).abs() < 1e-4, "{closer}");
        }
    }

    #[test]
    fn the_camera_turns_around_the_point_that_it_came_closer_to() {
        let aspect = 1.5;
        let cursor = Vec2::new(0.7, 0.45);
        let mut camera = camera();
        let point = camera.position() + Ray::through(&camera, aspect, cursor).direction * 5.0;
        camera.zoom_towards(point, 0.5);
        camera.orbit(0.6, 0.2);
        let clip = camera.clip_from_world(aspect).project_point3(point);
        let seen = Vec2::new(0.5 + 0.5 * clip.x, 0.5 - 0.5 * clip.y);
        assert!((seen - cursor).length() < 1e-4, "{seen}");
        camera.pan(0.1, 0.0);
        assert_eq!(camera.pivot, None);
    }

    #[test]
    fn looking_around_leaves_the_eye_in_place() {
        let mut camera = camera();
        let eye = camera.position();
        camera.look_around(0.3, 0.1);
        assert!((camera.position() - eye).length() < 1e-4);
        assert!((camera.yaw_radians - OrbitCamera::default().yaw_radians - 0.3).abs() < 1e-6);
    }

    #[test]
    fn flying_moves_the_eye_forward() {
        let mut camera = camera();
        let (eye, forward) = (camera.position(), camera.forward());
        camera.fly(0.0, 0.0, 0.25);
        assert!((camera.position() - eye - forward * 1.5).length() < 1e-4);
        camera.fly(f32::NAN, 0.0, 0.0);
        assert!(camera.position().is_finite());
    }

    #[test]
    fn free_limits_let_the_camera_leave_the_crowd() {
        let limits = Limits { target_min: Vec3::ZERO, target_max: Vec3::ONE, min_distance: 0.1, max_distance: 50.0 };
        let mut camera = OrbitCamera { limits, ..OrbitCamera::default() };
        camera.fly(9.0, 0.0, 0.0);
        assert!(camera.target.x <= 1.0);
        camera.free_limits();
        camera.fly(9.0, 0.0, 0.0);
        assert!(camera.target.x > 20.0 && camera.target.y >= 0.0);
    }
}
