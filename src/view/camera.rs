//! The orbit camera: its position, its matrices, and how keyboard, mouse and touchpad move it. However it moves, it has a target in
//! front of the eye, so it can orbit again at any time.
//!
//! Right-handed, +Y up. The projection is reversed-Z with an infinite far plane: depth is 1 on the near plane and 0 at
//! infinity, which spreads the precision of floating-point depth evenly. Clip space is +Y up; the renderer flips
//! Vulkan's viewport with a negative height.
//!
//! Each movement ends inside the camera's [`Limits`], for any argument. So the eye stays above the ground, the
//! target stays in the crowd, the distance has two ends, and the horizon never sinks so far that the ground takes less
//! than a third of the image. [`framing`](super::framing) chooses the first camera and its limits.

use std::f32::consts::TAU;

use glam::{Mat3, Mat4, Vec3, Vec4};

/// Just short of the poles, where "up" has no direction.
const MAX_PITCH_RADIANS: f32 = 1.54;
/// The lowest horizon in the image, as a share of its height from below. It bounds the pitch of a camera that looks up.
const LOWEST_HORIZON: f32 = 0.36;
/// The smallest height of the eye above the ground, as a share of its distance from the target.
const CLEARANCE_SHARE: f32 = 0.02;
/// The distance of a close-up, as a share of the crowd's height. It needs no ground in the image.
const CLOSE_UP_SHARE: f32 = 1.2;
/// The near plane's distance as a share of that of the target: one scale fits a fox in centimetres and a crowd of thousands.
const NEAR_SHARE: f32 = 0.005;

/// The room in which a camera moves. All lengths are in metres, in world space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    pub target_min: Vec3,
    pub target_max: Vec3,
    pub min_distance: f32,
    pub max_distance: f32,
}

impl Default for Limits {
    /// Returns limits that hold any crowd on the ground.
    fn default() -> Self {
        const REACH: f32 = 1e7;
        Self {
            target_min: Vec3::new(-REACH, 0.0, -REACH),
            target_max: Vec3::splat(REACH),
            min_distance: 1e-3,
            max_distance: REACH,
        }
    }
}

/// A camera that looks at a target from a distance; yaw 0 looks along -Z, at the faces of glTF characters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OrbitCamera {
    /// The point that the camera looks at, in world space: in the middle of the image, but for [`Self::target_x`].
    pub target: Vec3,
    /// The distance from the target to the eye.
    pub distance: f32,
    /// The angle around +Y, counterclockwise as seen from above.
    pub yaw_radians: f32,
    /// The angle above the horizon.
    pub pitch_radians: f32,
    /// The angle between the upper and the lower edge of the image.
    pub vertical_fov_radians: f32,
    /// Where the target is in the image: -1 at the left edge, 1 at the right one. Not 0 where something covers one side of the
    /// image. The projection shifts, as that of a lens does, so the camera still turns around its target.
    pub target_x: f32,
    /// The point of the world around which the camera turns. Without one it is the target.
    pub pivot: Option<Vec3>,
    pub limits: Limits,
}

impl Default for OrbitCamera {
    fn default() -> Self {
        Self {
            target: Vec3::new(0.0, 1.0, 0.0),
            distance: 4.0,
            yaw_radians: 0.45,
            pitch_radians: 15f32.to_radians(),
            vertical_fov_radians: 40f32.to_radians(),
            target_x: 0.0,
            pivot: None,
            limits: Limits::default(),
        }
    }
}

impl OrbitCamera {
    /// Turns the camera around its pivot, which stays where it is in the image.
    pub fn orbit(&mut self, yaw_radians: f32, pitch_radians: f32) {
        let pivot = self.pivot.unwrap_or(self.target);
        let (right, up, forward) = self.axes();
        let from_pivot = self.target - pivot;
        let (x, y, z) = (from_pivot.dot(right), from_pivot.dot(up), from_pivot.dot(forward));
        self.yaw_radians += yaw_radians;
        self.pitch_radians += pitch_radians;
        self.settle();
        let (right, up, forward) = self.axes();
        self.target = pivot + right * x + up * y + forward * z;
        self.settle();
    }

    /// Multiplies the distance: below 1 comes closer.
    pub fn zoom(&mut self, factor: f32) {
        self.distance *= factor;
        self.settle();
    }

    /// Moves the target along the line of sight, to a point at `depth` metres in front of the eye. The eye stays where it
    /// is, so the image does not change. Zooming then ends in front of this point. A point outside the limits is ignored.
    pub fn refocus(&mut self, depth: f32) {
        let target = self.position() + self.axes().2 * depth;
        let Limits { target_min, target_max, min_distance, max_distance } = self.limits;
        let is_in_room = target.cmpge(target_min).all() && target.cmple(target_max).all();
        if is_in_room && (min_distance..=max_distance).contains(&depth) {
            (self.target, self.distance) = (target, depth);
        }
    }

    /// Stands at a point and looks in a direction, with a target at `depth` metres. Does not roll, and stays above the ground.
    pub fn stand_at(&mut self, eye: Vec3, forward: Vec3, depth: f32) {
        (self.yaw_radians, self.pitch_radians) = ((-forward.x).atan2(-forward.z), (-forward.y).clamp(-1.0, 1.0).asin());
        self.limits = Limits::default();
        self.look_at(eye + forward * depth, depth);
    }

    /// Looks at a point from this distance and the present direction, as far as the ground allows.
    pub fn look_at(&mut self, point: Vec3, distance: f32) {
        let Limits { target_min, target_max, min_distance, max_distance } = &mut self.limits;
        (*target_min, *target_max) = (target_min.min(point), target_max.max(point));
        *min_distance = min_distance.min(distance);
        *max_distance = max_distance.max(distance);
        (self.target, self.distance, self.pivot) = (point, distance, None);
        self.settle();
    }

    /// Moves the target with the image; one unit is the image's height at the target. Between the ground and the top of
    /// the crowd the target moves up and down. At either end it moves over the ground instead, away or closer, so that the
    /// ground follows the mouse.
    pub fn pan(&mut self, right: f32, up: f32) {
        /// The smallest sine of the pitch with which the ground is followed. Flatter cameras would race over it.
        const MIN_SINE: f32 = 0.2;
        let (right_world, up_world, _) = self.axes();
        let height = 2.0 * self.distance * (self.vertical_fov_radians * 0.5).tan();
        let wanted = self.target + (right_world * right + up_world * up) * height;
        let excess = wanted.y - wanted.y.clamp(self.limits.target_min.y, self.limits.target_max.y);
        let away = Vec3::Y.cross(right_world);
        let (sin_pitch, cos_pitch) = self.pitch_radians.sin_cos();
        let target = wanted + away * (excess * cos_pitch / sin_pitch.max(MIN_SINE));
        if target.is_finite() {
            (self.target, self.pivot) = (target, None);
        }
        self.settle();
    }

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

    /// Points at a sphere and moves so close that it fills most of an image of width / height `aspect`. The direction stays.
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

    /// Returns the position of the eye in world space.
    pub fn position(&self) -> Vec3 {
        self.target - self.axes().2 * self.distance
    }

    /// Returns the unit vector from the eye to the target.
    pub fn forward(&self) -> Vec3 {
        self.axes().2
    }

    pub fn near(&self) -> f32 {
        self.distance * NEAR_SHARE
    }

    /// Returns the matrix from world to view space, where the eye is at the origin and looks along -Z.
    pub fn view_from_world(&self) -> Mat4 {
        let (right, up, forward) = self.axes();
        let world_from_view = Mat3::from_cols(right, up, -forward);
        Mat4::from_mat3(world_from_view.transpose()) * Mat4::from_translation(-self.position())
    }

    /// Returns the matrix from view to clip space: reversed-Z, infinite far plane, +Y up.
    pub fn clip_from_view(&self, aspect: f32) -> Mat4 {
        let y_scale = 1.0 / (self.vertical_fov_radians * 0.5).tan();
        Mat4::from_cols(
            Vec4::new(y_scale / aspect, 0.0, 0.0, 0.0),
            Vec4::new(0.0, y_scale, 0.0, 0.0),
            Vec4::new(-self.target_x, 0.0, 0.0, -1.0),
            Vec4::new(0.0, 0.0, self.near(), 0.0),
        )
    }

    /// Returns the matrix from world to clip space, for an image of width / height `aspect`.
    pub fn clip_from_world(&self, aspect: f32) -> Mat4 {
        self.clip_from_view(aspect) * self.view_from_world()
    }

    /// Returns the matrix from clip space to the axes of the world around the eye.
    pub fn direction_from_clip(&self, aspect: f32) -> Mat4 {
        let (right, up, forward) = self.axes();
        Mat4::from_mat3(Mat3::from_cols(right, up, -forward)) * self.clip_from_view(aspect).inverse()
    }

    /// Returns the directions right, up and forward in the world. They are orthonormal.
    pub(super) fn axes(&self) -> (Vec3, Vec3, Vec3) {
        let (sin_yaw, cos_yaw) = self.yaw_radians.sin_cos();
        let (sin_pitch, cos_pitch) = self.pitch_radians.sin_cos();
        let forward = -Vec3::new(sin_yaw * cos_pitch, sin_pitch, cos_yaw * cos_pitch);
        let right = Vec3::new(cos_yaw, 0.0, -sin_yaw);
        (right, right.cross(forward), forward)
    }

    /// Brings the camera back inside its limits.
    pub(super) fn settle(&mut self) {
        let finite = |value: f32, otherwise: f32| if value.is_finite() { value } else { otherwise };
        let Limits { target_min, target_max, min_distance, max_distance } = self.limits;
        self.target = self.target.clamp(target_min, target_max);
        self.distance = finite(self.distance, max_distance).clamp(min_distance, max_distance);
        self.yaw_radians = finite(self.yaw_radians, 0.0) % TAU;
        let pitch_radians = finite(self.pitch_radians, 0.0);
        self.pitch_radians = pitch_radians.clamp(self.min_pitch_radians(), MAX_PITCH_RADIANS);
    }

    /// Returns the smallest pitch at which the eye is above the ground, and the horizon not too low in the image.
    fn min_pitch_radians(&self) -> f32 {
        let is_close_up = self.distance < CLOSE_UP_SHARE * self.limits.target_max.y;
        let above_ground = (CLEARANCE_SHARE - self.target.y / self.distance).clamp(-1.0, 1.0).asin();
        let below_horizon = -((1.0 - 2.0 * LOWEST_HORIZON) * (self.vertical_fov_radians * 0.5).tan()).atan();
        if is_close_up { above_ground } else { above_ground.max(below_horizon) }
    }
}
