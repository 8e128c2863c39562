//! Regions of the world: the bounds of a crowd, the frustum that culls, and the ray that picks.

use std::f32::consts::TAU;

use glam::{Mat4, Vec2, Vec3, Vec4, Vec4Swizzles};

use super::camera::OrbitCamera;

/// Corners of the polygon that encloses the cylinder.
const RIM_POINTS: usize = 32;

/// The extent of a crowd: an axis-aligned box in the world, intersected with an upright cylinder around its centre. A
/// circular crowd does not reach the corners of its box, so the cylinder makes tighter framing possible.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    pub min: Vec3,
    pub max: Vec3,
    pub footprint_radius: f32,
}

impl Bounds {
    pub fn center(&self) -> Vec3 {
        (self.min + self.max) * 0.5
    }

    /// Returns the radius of a sphere around the centre that contains the crowd.
    pub fn radius(&self) -> f32 {
        let half = (self.max - self.min) * 0.5;
        half.length().min(self.footprint_radius.hypot(half.y))
    }

    /// Returns the cylinder that these bounds sweep while they turn around the vertical axis through their centre.
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

/// The region that a camera sees: four side planes and the near plane. There is no far plane. All tests are conservative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frustum {
    /// The four side planes, one in each row, so that a point is tested against all at once.
    sides: Mat4,
    near: Vec4,
}

impl Frustum {
    /// Returns the frustum of a matrix. The planes are sums and differences of its rows (Gribb and Hartmann, "Fast Extraction
    /// of Viewing Frustum Planes from the World-View-Projection Matrix", 2001). With reversed Z the near plane is z = w.
    pub fn from_clip_from_world(clip_from_world: Mat4) -> Self {
        let rows = clip_from_world.transpose();
        let (x, y, z, w) = (rows.x_axis, rows.y_axis, rows.z_axis, rows.w_axis);
        Self::new([w + x, w - x, w + y, w - y, w - z].map(|plane| plane / plane.xyz().length()))
    }

    fn new([a, b, c, d, near]: [Vec4; 5]) -> Self {
        Self { sides: Mat4::from_cols(a, b, c, d).transpose(), near }
    }

    /// Returns the planes as unit normals that point inwards. A point is inside where `normal · point + w >= 0`.
    pub(super) fn planes(&self) -> [Vec4; 5] {
        let Mat4 { x_axis, y_axis, z_axis, w_axis } = self.sides.transpose();
        [x_axis, y_axis, z_axis, w_axis, self.near]
    }

    /// Returns false if the whole sphere lies behind one plane. The test is conservative: a sphere near an edge may pass
    /// although it is outside.
    pub fn intersects_sphere(&self, center: Vec3, radius: f32) -> bool {
        // Rounding errors grow with the distance from the origin. A sphere that only just touches must pass.
        let least = -(radius + 1e-5 * (center.abs().max_element() + radius));
        let is_inside = (self.sides * center.extend(1.0)).cmpge(Vec4::splat(least)).all();
        is_inside && self.near.xyz().dot(center) + self.near.w >= least
    }

    /// Returns the region of everything that may shade a point of this region at the height `floor` or above. `to_light` is
    /// the unit vector towards the light, which is above the horizon.
    ///
    /// A ray of light that enters a plane on its way down is inside if its end on the floor is. So such a plane tilts around
    /// its line on the floor until it is parallel to the light. The other planes stay: the ray leaves them on its way down.
    pub fn with_casters(&self, to_light: Vec3, floor: f32) -> Self {
        // The normal of a level plane vanishes. A greater length only lets more spheres pass.
        const LEAST_LENGTH: f32 = 0.05;
        Self::new(self.planes().map(|plane| {
            let tilt = (-plane.xyz().dot(to_light) / to_light.y).max(0.0);
            let plane = plane + Vec4::new(0.0, tilt, 0.0, -tilt * floor);
            plane / plane.xyz().length().max(LEAST_LENGTH)
        }))
    }
}

/// A ray in world space, such as the line of sight through a pixel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ray {
    /// The start, in metres.
    pub origin: Vec3,
    /// A unit vector.
    pub direction: Vec3,
}

impl Ray {
    /// Returns the ray from the eye of a camera through a point of an image of width / height `aspect`. The point (0, 0) is the
    /// upper left corner of the image, and (1, 1) the lower right one. The centre of a pixel is half a pixel from its corner.
    pub fn through(camera: &OrbitCamera, aspect: f32, point: Vec2) -> Self {
        let (right, up, forward) = camera.axes();
        let half_height = (camera.vertical_fov_radians * 0.5).tan();
        let (x, y) = (2.0 * point.x - 1.0 - camera.target_x, 1.0 - 2.0 * point.y);
        let direction = forward + right * (x * half_height * aspect) + up * (y * half_height);
        Self { origin: camera.position(), direction: direction.normalize() }
    }
}
