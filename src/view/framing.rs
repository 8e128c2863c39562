//! Framing: the camera that shows a crowd, or a single character, as large as possible.
//!
//! In: an [`Outline`] and the shape of the image. Out: an [`OrbitCamera`] whose image holds every point of the outline, and
//! whose [`Limits`] keep the outline in sight from then on.
//!
//! A single character is seen from the front, a little from above and from the side, and stands in the middle. A crowd that is
//! much wider than high fills the image from the lower edge upwards. Sky and horizon take the rest, as in a landscape.

use glam::Vec3;

use super::camera::{Limits, OrbitCamera};
use super::regions::Bounds;

/// The share of the image's half width and height that a crowd fills.
const CROWD_FILL: f32 = 0.95;
/// The same for a single character.
const CHARACTER_FILL: f32 = 0.88;
/// The height in the image, as a share of the upper half, that the outline reaches at least.
const MIDDLE_SHARE: f32 = 0.1;
/// The smallest distance from a target, as a share of the crowd's height.
const MIN_DISTANCE_SHARE: f32 = 0.08;
/// The largest distance from a target, as a multiple of the distance that frames the crowd.
const MAX_DISTANCE_FACTOR: f32 = 4.0;

/// The points that a camera frames, in world space.
#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    /// Points whose convex hull holds everything that is to be shown. There is at least one.
    points: Vec<Vec3>,
    /// The room of the crowd throughout its clips, which holds the camera's target.
    pub room: Bounds,
}

impl Outline {
    /// Returns the outline of a crowd in this room, by its vertices at some time. Without vertices it is the whole room.
    /// The ground below a character that jumps belongs to it.
    pub fn new(vertices: Vec<Vec3>, room: Bounds) -> Self {
        let Some(&first) = vertices.first() else { return Self::from(room) };
        let (min, max) = vertices.iter().fold((first, first), |(min, max), &point| (min.min(point), max.max(point)));
        let mut points = vertices;
        if (0.0..max.y - min.y).contains(&min.y) {
            points.push(((min + max) * 0.5).with_y(0.0));
        }
        Self { points, room }
    }

    /// Returns the outline of a crowd at several times.
    pub fn and(mut self, other: Self) -> Self {
        self.points.extend(other.points);
        self
    }

    /// Returns the outline of a part of a body, by its points, if there are any.
    pub fn of_part(points: Vec<Vec3>) -> Option<Self> {
        let (min, max) = (points.iter().copied().reduce(Vec3::min)?, points.iter().copied().reduce(Vec3::max)?);
        // It is no flat crowd, whatever its shape.
        Some(Self { points, room: Bounds { min, max, footprint_radius: 0.0 } })
    }

    /// Returns how much the outline is a flat crowd (1) or a single character (0).
    fn flatness(&self) -> f32 {
        let height = (self.room.max.y - self.room.min.y).max(1e-6);
        ((self.room.footprint_radius / height - 1.5) / 4.0).clamp(0.0, 1.0)
    }

    /// Returns the smallest and the largest value of a function over all points.
    fn range(&self, value: impl Fn(Vec3) -> f32) -> (f32, f32) {
        let values = self.points.iter().map(|&point| value(point));
        values.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    }
}

impl From<Bounds> for Outline {
    fn from(room: Bounds) -> Self {
        Self { points: room.hull().map(|point| room.center() + point).collect(), room }
    }
}

impl OrbitCamera {
    /// Returns a camera that shows all of `outline` as large as possible, in an image of width / height `aspect`.
    pub fn framing(outline: &Outline, aspect: f32) -> Self {
        Self::default().facing(outline, aspect).framed(outline, aspect)
    }

    /// Returns this camera with the direction from which an outline is seen best.
    pub fn facing(self, outline: &Outline, aspect: f32) -> Self {
        let flatness = outline.flatness();
        let pitch_degrees = 12.0 + flatness * (5.0 + 2.0 * narrowness(aspect));
        Self { yaw_radians: 0.45 - 0.2 * flatness, pitch_radians: pitch_degrees.to_radians(), ..self }
    }

    /// Returns this camera where it shows all of `outline` as large as possible. Its direction stays, if the limits allow.
    pub fn framed(self, outline: &Outline, aspect: f32) -> Self {
        let mut camera = Self { target: outline.room.center(), ..self };
        // If the first round ends below the ground, the camera is lifted and the second round fits it again.
        for _ in 0..2 {
            camera.limits = Limits::default();
            camera.settle();
            camera.fit(outline, aspect);
            camera.settle();
            camera.limit(outline);
            camera.settle();
        }
        camera
    }

    /// Moves target and distance, but not the direction, so that every point is in view.
    ///
    /// With the eye at distance D, a point at (x, y) across and z along the view is inside where
    /// |x - offset| <= (D + z) * slope. The extremes of x ± z * slope give the smallest D and its offset.
    fn fit(&mut self, outline: &Outline, aspect: f32) {
        let flatness = outline.flatness();
        let fill = CHARACTER_FILL + (CROWD_FILL - CHARACTER_FILL) * flatness;
        // The share of the free height that is left below: less for a crowd in a wide image.
        let below = 0.5 - 0.4 * flatness * (1.0 - narrowness(aspect));
        let (right, up, forward) = self.axes();
        let slope_y = (self.vertical_fov_radians * 0.5).tan() * fill;
        let slope_x = slope_y * aspect.clamp(0.01, 100.0);
        let center = outline.room.center();
        let along = |point: Vec3| (point - center).dot(forward);
        let (nearest, farthest) = outline.range(along);
        let fit_axis = |axis: Vec3, slope: f32| {
            let (low, _) = outline.range(|point| (point - center).dot(axis) + along(point) * slope);
            let (_, high) = outline.range(|point| (point - center).dot(axis) - along(point) * slope);
            ((high - low) / (2.0 * slope), (high + low) * 0.5)
        };
        let (distance_x, offset_x) = fit_axis(right, slope_x);
        let (distance_y, offset_y) = fit_axis(up, slope_y);
        // The last bound keeps the nearest point beyond the near plane.
        let distance = distance_x.max(distance_y).max(-1.02 * nearest).max(1e-6);
        // One axis decides the distance. The other has room to spare, of which the share `low_share` comes first. The
        // nearest points move fastest in the image, so their distance limits each step.
        let placed = |axis: Vec3, mut offset: f32, slope: f32, low_share: f32| {
            for _ in 0..24 {
                let (low, high) =
                    outline.range(|point| ((point - center).dot(axis) - offset) / (distance + along(point)));
                let error = low * (1.0 - low_share) + high * low_share + slope * (1.0 - 2.0 * low_share);
                // The middle of the image shows the outline in any case.
                offset += error.min(high - MIDDLE_SHARE * slope) * (distance + nearest);
            }
            offset
        };
        let target = center + right * placed(right, offset_x, slope_x, 0.5) + up * placed(up, offset_y, slope_y, below);
        if !(target.is_finite() && distance.is_finite()) {
            return;
        }
        (self.target, self.distance) = (target, distance);
        // The target moves along the line of sight if it is above or below the crowd: to the middle of the crowd's height.
        let is_in_crowd = (0.0..=outline.room.max.y).contains(&self.target.y);
        let to_middle = (center.y - self.position().y) / forward.y;
        let depth = if is_in_crowd || to_middle.is_nan() { distance } else { to_middle };
        let depth = depth.clamp(distance + nearest, distance + farthest);
        (self.target, self.distance) = (self.position() + forward * depth, depth);
    }

    /// Sets the limits for an outline that the camera frames now.
    fn limit(&mut self, outline: &Outline) {
        let Bounds { min, max, .. } = outline.room;
        let size = (max.y - min.y).max(0.01 * outline.room.radius());
        let above_ground = self.target.with_y(self.target.y.max(0.0));
        self.limits = Limits {
            target_min: min.with_y(0.0).min(above_ground),
            target_max: max.with_y(max.y.max(0.0)).max(above_ground),
            min_distance: (MIN_DISTANCE_SHARE * size).min(self.distance),
            max_distance: MAX_DISTANCE_FACTOR * self.distance,
        };
    }
}

/// Returns how narrow an image is: 0 for a wide one, towards 1 for a portrait.
fn narrowness(aspect: f32) -> f32 {
    1.0 - (aspect / 1.6).clamp(0.0, 1.0)
}
