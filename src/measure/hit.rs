//! The first triangle of a posed model along a ray, exactly, without skinning the whole model.
//!
//! In: a model, its [`JointBoxes`], a pose, and a ray in model space. Out: a distance. All triangles of full detail count, from
//! both sides.
//!
//! A skinned vertex lies in the convex hull of the boxes of its joints, each moved by its joint matrix (see
//! [`bounds`](super::bounds)). So if all boxes of a triangle's joints are on the same side of a plane that contains the ray, the
//! triangle is on that side, too, and is not hit. A few planes around the ray exclude most joints. For each joint there is one
//! bit for each side of each plane, and the bits that all joints of a triangle have in common decide.

use std::f32::consts::PI;

use glam::{Affine3A, DVec3, Vec3};

use super::bounds::{JointBoxes, PosedBounds};
use crate::animation::{ModelPose, Pose, joint_matrices, skinned_position};
use crate::model::{DrawRange, Geometry, Model, Topology};
use crate::shader_types::JointMatrix;

/// The number of planes around a ray.
const PLANES: usize = 8;

/// For each plane a bit for its front and one for its back: set if something is entirely on that side.
type Sides = u16;

/// A ray in model space.
#[derive(Debug, Clone, Copy)]
pub struct ModelRay {
    /// The start.
    pub origin: DVec3,
    /// The direction, of any length. Distances are multiples of it.
    pub direction: DVec3,
}

/// The working memory of [`first_hit`].
#[derive(Debug, Clone, Default)]
pub struct HitScratch {
    palette: Vec<JointMatrix>,
    joint_sides: Vec<Sides>,
    vertex_sides: Vec<Sides>,
    /// The vertices that have been skinned. The others are NaN.
    positions: Vec<Vec3>,
}

/// Returns the distance to the first triangle along a ray, if it is less than `limit`.
///
/// # Panics
/// If `boxes` or `pose` belong to another model.
pub fn first_hit(
    model: &Model,
    boxes: &JointBoxes,
    pose: ModelPose<'_>,
    ray: &ModelRay,
    limit: f64,
    scratch: &mut HitScratch,
) -> Option<f64> {
    let HitScratch { palette, joint_sides, vertex_sides, positions } = scratch;
    palette.clear();
    palette.extend(joint_matrices(&model.palette, pose.model_from_node));
    let planes = Planes::around(ray);
    let mut common = Sides::MAX;
    joint_sides.clear();
    joint_sides.extend(boxes.morphed(pose.morph_weights).zip(&*palette).map(|(bounds, matrix)| {
        let sides = bounds.map_or(Sides::MAX, |bounds| planes.sides(&bounds, &Affine3A::from(*matrix)));
        common &= sides;
        sides
    }));
    if common != 0 {
        return None;
    }
    let geometry = &model.geometry;
    vertex_sides.clear();
    vertex_sides.extend((0..geometry.vertex_count()).map(|vertex| {
        let influences = geometry.influences_of(vertex).iter();
        influences.fold(Sides::MAX, |sides, influence| sides & joint_sides[influence.joint as usize])
    }));
    positions.clear();
    positions.resize(geometry.vertex_count(), Vec3::NAN);
    let pose = Pose { palette, morph_weights: pose.morph_weights };
    let mut nearest = limit;
    for range in geometry.draw_ranges.iter().filter(|range| range.topology == Topology::Triangles) {
        let mut position = |vertex: u32| {
            let position = &mut positions[vertex as usize];
            if position.is_nan() {
                *position = skinned_position(geometry, vertex as usize, pose);
            }
            position.as_dvec3()
        };
        for corners in triangles(geometry, range) {
            if corners.iter().fold(Sides::MAX, |sides, &corner| sides & vertex_sides[corner as usize]) != 0 {
                continue;
            }
            if let Some(distance) = distance_to_triangle(ray, corners.map(&mut position)) {
                nearest = nearest.min(distance);
            }
        }
    }
    (nearest < limit).then_some(nearest)
}

/// Planes that contain a ray.
struct Planes {
    origin: Vec3,
    normals: [Vec3; PLANES],
}

impl Planes {
    fn around(ray: &ModelRay) -> Self {
        let (a, b) = ray.direction.as_vec3().normalize_or(Vec3::Z).any_orthonormal_pair();
        let normal = |plane: usize| {
            let (sin, cos) = (PI * plane as f32 / PLANES as f32).sin_cos();
            a * cos + b * sin
        };
        Self { origin: ray.origin.as_vec3(), normals: std::array::from_fn(normal) }
    }

    /// Returns the sides on which a box is entirely, after a transform to model space.
    fn sides(&self, bounds: &PosedBounds, model_from_mesh: &Affine3A) -> Sides {
        /// Room for rounding errors, as a share of all lengths that take part.
        const MARGIN: f32 = 1e-5;
        let half = bounds.half_extents();
        let axes = model_from_mesh.matrix3;
        let axes = [axes.x_axis * half.x, axes.y_axis * half.y, axes.z_axis * half.z].map(Vec3::from);
        let center = model_from_mesh.transform_point3(bounds.center());
        let margin =
            MARGIN * (center.length() + self.origin.length() + axes.iter().map(|axis| axis.length()).sum::<f32>());
        let mut sides = 0;
        for (plane, normal) in self.normals.iter().enumerate() {
            let height = normal.dot(center - self.origin);
            let reach = axes.iter().map(|axis| normal.dot(*axis).abs()).sum::<f32>() + margin;
            sides |= Sides::from(height > reach) << plane;
            sides |= Sides::from(height < -reach) << (PLANES + plane);
        }
        sides
    }
}

/// Returns the corners of all triangles of a draw range in full detail.
fn triangles(geometry: &Geometry, range: &DrawRange) -> impl Iterator<Item = [u32; 3]> {
    let start = range.first_index as usize;
    let indices = &geometry.indices[start..start + range.index_count as usize];
    indices.chunks_exact(3).map(|corners| [corners[0], corners[1], corners[2]])
}

/// Returns the distance to a triangle along a ray (Möller and Trumbore, "Fast, Minimum Storage Ray/Triangle Intersection",
/// 1997).
fn distance_to_triangle(ray: &ModelRay, [a, b, c]: [DVec3; 3]) -> Option<f64> {
    let (ab, ac) = (b - a, c - a);
    let across = ray.direction.cross(ac);
    let inverse = ab.dot(across).recip();
    let from_a = ray.origin - a;
    let u = from_a.dot(across) * inverse;
    let around = from_a.cross(ab);
    let v = ray.direction.dot(around) * inverse;
    let distance = ac.dot(around) * inverse;
    (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance > 0.0).then_some(distance)
}
