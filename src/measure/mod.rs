//! Measures of a model: what a crowd needs to know about a character before it draws it.
//!
//! In: a [`Model`], usually a [`Clip`], sometimes a pose. Out: a few numbers in model space, computed on the CPU from the posed
//! vertices, or from boxes around them. Nothing here runs in a steady frame.
//!
//! * [`bounds`]: a box that contains the model throughout a clip, for culling, framing and spacing;
//! * [`floor`]: the height that belongs on the ground, and the point of a body that stands at its place;
//! * [`rest_box`]: the exact box of the rest pose, and [`rest_height`]: the height of a character;
//! * [`gait`]: the velocity that the feet of a clip imply;
//! * [`first_hit`]: the first triangle along a ray;
//! * [`worst_displacement`]: the visible error when instances share poses.

#![forbid(unsafe_code)]

pub mod bounds;
pub mod floor;
pub mod gait;

use glam::{DVec3, Vec3};

use crate::animation::{PoseScratch, pose_model, skinned_positions};
use crate::model::{Clip, Geometry, Model, Topology};

pub use bounds::{PosedBounds, posed_bounds};
pub use floor::{floor_height, standing_point};
pub use gait::{Gait, gait_of};

/// The largest number of times of the clip that are sampled.
const MAX_SAMPLES: usize = 256;
/// The largest number of vertices, over all samples. Each is skinned twice. [`MIN_SAMPLES`] takes precedence.
const MAX_VERTICES: usize = 4_000_000;
/// The number of samples that even the largest models get.
const MIN_SAMPLES: usize = 8;

/// Returns the largest distance, in model space, that a vertex of `model` moves in `shift_seconds`, for sample times
/// spread evenly over `clip`.
pub fn worst_displacement(model: &Model, clip: &Clip, shift_seconds: f64) -> f32 {
    let duration_seconds = f64::from(clip.duration_seconds);
    let vertex_count = model.geometry.vertex_count().max(1);
    let samples = (MAX_VERTICES / vertex_count).clamp(MIN_SAMPLES, MAX_SAMPLES);
    let mut scratch = PoseScratch::for_model(model);
    let mut positions_at = |time_seconds: f64, out: &mut Vec<Vec3>| {
        skinned_positions(model, pose_model(model, Some(clip), time_seconds, &mut scratch), out);
    };
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut worst_squared = 0.0f32;
    for sample in 0..samples {
        // Times never wrap around, because a clip may jump where it starts again.
        let share = sample as f64 / (samples - 1) as f64;
        let time_seconds = (duration_seconds - shift_seconds).max(0.0) * share;
        positions_at(time_seconds, &mut before);
        positions_at(time_seconds + shift_seconds, &mut after);
        for (before, after) in before.iter().zip(&after) {
            worst_squared = worst_squared.max(before.distance_squared(*after));
        }
    }
    worst_squared.sqrt()
}

fn rest_positions(model: &Model) -> Vec<Vec3> {
    let mut positions = Vec::new();
    skinned_positions(model, pose_model(model, None, 0.0, &mut PoseScratch::for_model(model)), &mut positions);
    positions
}

/// Returns the lowest and the highest height.
fn extent(positions: &[Vec3]) -> (f32, f32) {
    let heights = positions.iter().map(|position| position.y);
    heights.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)))
}

/// Returns the box around some points. `None` if there are none, or if one is not finite.
fn box_around<'p>(positions: impl IntoIterator<Item = &'p Vec3>) -> Option<PosedBounds> {
    let mut all = positions.into_iter().map(|&position| PosedBounds { min: position, max: position });
    let first = all.next()?;
    // A NaN does not become the smallest or the largest coordinate.
    let all = all.try_fold(first, |all, one| one.min.is_finite().then(|| all.union(&one)))?;
    (first.min.is_finite() && (all.max - all.min).is_finite()).then_some(all)
}

/// Returns the exact box of the rest pose in model space. `None` if it is empty or endless.
pub fn rest_box(model: &Model) -> Option<PosedBounds> {
    box_around(&rest_positions(model))
}

/// Returns the height of the rest pose in model space. `None` if it is empty, flat or endless.
pub fn rest_height(model: &Model) -> Option<f32> {
    rest_box(model).map(|bounds| bounds.max.y - bounds.min.y).filter(|height| *height > 0.0)
}

/// Returns the triangles in full detail, counterclockwise as seen from outside. `positions` are those of all vertices
/// ([`skinned_positions`]).
pub fn posed_triangles<'a>(geometry: &'a Geometry, positions: &'a [Vec3]) -> impl Iterator<Item = [Vec3; 3]> + 'a {
    let ranges = geometry.draw_ranges.iter().filter(|range| range.topology == Topology::Triangles);
    ranges.flat_map(move |range| {
        geometry.indices_of(range).as_chunks::<3>().0.iter().map(move |corners| {
            let [a, b, c] = corners.map(|corner| positions[corner as usize]);
            if range.mirrored { [a, c, b] } else { [a, b, c] }
        })
    })
}

/// Returns the distance to the first triangle along a ray, from either side, in lengths of `direction` (Möller and Trumbore,
/// "Fast, Minimum Storage Ray/Triangle Intersection", 1997).
pub fn first_hit(triangles: impl Iterator<Item = [Vec3; 3]>, origin: DVec3, direction: DVec3) -> Option<f64> {
    let distance = |corners: [Vec3; 3]| {
        let [a, b, c] = corners.map(|corner| corner.as_dvec3());
        let (ab, ac) = (b - a, c - a);
        let across = direction.cross(ac);
        let inverse = ab.dot(across).recip();
        let from_a = origin - a;
        let u = from_a.dot(across) * inverse;
        let around = from_a.cross(ab);
        let v = direction.dot(around) * inverse;
        let distance = ac.dot(around) * inverse;
        (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance > 0.0).then_some(distance)
    };
    triangles.filter_map(distance).min_by(f64::total_cmp)
}
