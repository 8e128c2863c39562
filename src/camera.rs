//! The camera: where it stands, what it sees, and how it frames a crowd by itself.
//!
//! Right-handed, +Y up. The projection is reversed-Z with an infinite far plane: depth is 1 on the near plane and 0 at
//! infinity, which spreads the precision of floating-point depth evenly. Clip space is +Y up; the renderer flips
//! Vulkan's viewport by a negative height. An [`OrbitCamera`] always stays usable, whatever the mouse does: its setters
//! clamp.

use std::f32::consts::TAU;

use glam::{Mat4, Vec3, Vec4, Vec4Swizzles};

/// Just short of the poles, where "up" would turn over.
const MAX_PITCH_RADIANS: f32 = 1.54;
const MIN_DISTANCE: f32 = 1e-3;
const MAX_DISTANCE: f32 = 1e7;
/// The near plane's distance as a share of the camera's distance from its target: one scale fits a fox in centimetres
/// and a crowd of thousands.
const NEAR_SHARE: f32 = 0.005;
/// Share of the image's half width and height that framing fills.
const FRAMING_FILL: f32 = 0.94;
/// Points on the rim of what is framed.
const RIM_POINTS: usize = 32;

/// What the camera may have to show: an axis-aligned box in the world and the upright cylinder that, intersected with
/// it, holds everything. A round crowd does not reach its box's corners, and a tight view should know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Smallest coordinates.
    pub min: Vec3,
    /// Largest coordinates.
    pub max: Vec3,
    /// Largest horizontal distance of anything from the vertical line through the centre.
    pub footprint_radius: f32,
}

impl Bounds {
    /// The middle of the box.
    #[must_use]
    pub fn center(&self) -> Vec3 {
        (self.min + self.max) * 0.5
    }

    /// Radius of a sphere round the centre that holds everything.
    #[must_use]
    pub fn radius(&self) -> f32 {
        let half = (self.max - self.min) * 0.5;
        half.length().min(self.footprint_radius.hypot(half.y))
    }

    /// Points whose convex hull holds everything, relative to the centre.
    fn hull(&self) -> impl Iterator<Item = Vec3> {
        let half = (self.max - self.min) * 0.5;
        // A polygon round the circle, cut by the box; and the box's corners where the circle reaches them.
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

/// A camera that looks at a target from a distance; yaw 0 looks along -Z, at the faces of glTF characters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OrbitCamera {
    /// What stays in the middle of the image, world space.
    pub target: Vec3,
    /// From the target to the eye.
    pub distance: f32,
    /// Round +Y, counterclockwise from above.
    pub yaw_radians: f32,
    /// Above the horizon.
    pub pitch_radians: f32,
    /// Angle between the upper and the lower edge of the image.
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
    /// A camera that shows all of `bounds` as large as it goes, for an image of width / height `aspect`.
    ///
    /// A single character is seen from the front, a little from above and from the side; the flatter and wider the
    /// crowd, the higher the camera stands, as for a photograph of a landscape.
    #[must_use]
    pub fn framing(bounds: &Bounds, aspect: f32) -> Self {
        let height = (bounds.max.y - bounds.min.y).max(1e-6);
        let flatness = ((bounds.footprint_radius / height - 1.5) / 6.0).clamp(0.0, 1.0);
        let mut camera = Self {
            target: bounds.center(),
            yaw_radians: 0.45 - 0.2 * flatness,
            pitch_radians: (15.0 + 8.0 * flatness).to_radians(),
            ..Self::default()
        };
        camera.fit(bounds, aspect);
        camera
    }

    /// Moves target and distance, not the direction, such that every point of the hull is in view.
    ///
    /// With the eye at distance D, a point at (x, y) across and z along the view is inside where
    /// |x - offset| <= (D + z) * slope. The smallest D and its offset follow from the extremes of x ± z * slope.
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
        // One axis decides the distance; along the other there is room to spare, which is shared out evenly.
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

    /// Turns round the target.
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

    /// The eye, world space.
    #[must_use]
    pub fn position(&self) -> Vec3 {
        self.target - self.axes().2 * self.distance
    }

    /// Distance of the near plane from the eye.
    #[must_use]
    pub fn near(&self) -> f32 {
        self.distance * NEAR_SHARE
    }

    /// World to view space: the eye at the origin, looking along -Z.
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

    /// View to clip space: reversed-Z, infinite far plane, +Y up.
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

    /// World to clip space for an image of width / height `aspect`.
    #[must_use]
    pub fn clip_from_world(&self, aspect: f32) -> Mat4 {
        self.clip_from_view(aspect) * self.view_from_world()
    }

    /// Right, up and forward in the world; orthonormal.
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

/// The region that a camera sees: four side planes and the near plane; there is no far plane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frustum {
    /// Unit normals pointing inwards; a point is inside where `normal · point + w >= 0`.
    planes: [Vec4; 5],
}

impl Frustum {
    /// The planes are sums and differences of the matrix's rows (Gribb and Hartmann, "Fast Extraction of Viewing
    /// Frustum Planes from the World-View-Projection Matrix", 2001). Reversed-Z: the near plane is z = w.
    #[must_use]
    pub fn from_clip_from_world(clip_from_world: Mat4) -> Self {
        let rows = clip_from_world.transpose();
        let (x, y, z, w) = (rows.x_axis, rows.y_axis, rows.z_axis, rows.w_axis);
        let planes = [w + x, w - x, w + y, w - y, w - z];
        Self { planes: planes.map(|plane| plane / plane.xyz().length()) }
    }

    /// False only where the sphere is certainly outside: it lies wholly behind one plane. A sphere near an edge may be
    /// outside and still pass.
    #[must_use]
    pub fn intersects_sphere(&self, center: Vec3, radius: f32) -> bool {
        // Rounding grows with the distance from the origin; a sphere that only just touches must pass.
        let slack = 1e-5 * (center.abs().max_element() + radius);
        self.planes.iter().all(|plane| plane.xyz().dot(center) + plane.w >= -(radius + slack))
    }

    /// The same for a sphere swept from `center` by `sweep`: what a character and its shadow may cover.
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
        // 90 degrees: at the target, 10 away, the image's upper edge is 10 up; twice that to the right for aspect 2.
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
            // One of the two directions is filled to 94 %, and neither is overstepped.
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

    #[test]
    fn the_frustum_keeps_what_touches_it_and_drops_what_does_not() {
        let frustum = Frustum::from_clip_from_world(looking_down_z().clip_from_world(1.0));
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
