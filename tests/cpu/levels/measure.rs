//! The distance between two surfaces in one pose, by brute force and in double precision: the oracle of stated errors.

use glam::{Affine3A, DMat4, DVec3, Mat4};
use throng::animation::{PoseScratch, pose_model};
use throng::model::{Clip, Geometry, Model};

/// The corners of triangles.
pub type Surface = Vec<[DVec3; 3]>;

/// Returns the positions of all vertices in one pose.
pub fn positions(model: &Model, clip: Option<&Clip>, time_seconds: f64) -> Vec<DVec3> {
    let mut scratch = PoseScratch::for_model(model);
    let pose = pose_model(model, clip, time_seconds, &mut scratch);
    let entries = model.palette.nodes.iter().zip(&model.palette.joint_from_mesh);
    let matrix = |(&node, joint_from_mesh): (&u32, &Affine3A)| {
        Mat4::from(pose.model_from_node[node as usize]).as_dmat4() * Mat4::from(*joint_from_mesh).as_dmat4()
    };
    let matrices: Vec<DMat4> = entries.map(matrix).collect();
    let matrix_of = |joint: u32| matrices[joint as usize];
    let vertices = 0..model.geometry.vertex_count();
    vertices.map(|vertex| skinned(&model.geometry, vertex, matrix_of, pose.morph_weights)).collect()
}

/// Returns where a vertex is after the morph targets, with these weights, and the joints, with these matrices.
pub fn skinned(geometry: &Geometry, vertex: usize, matrix_of: impl Fn(u32) -> DMat4, weights: &[f32]) -> DVec3 {
    let deltas = geometry.morph_deltas_of(vertex).iter();
    let morphs = deltas.map(|delta| f64::from(weights[delta.weight_index as usize]) * delta.position.as_dvec3());
    let position = geometry.positions[vertex].as_dvec3() + morphs.sum::<DVec3>();
    let influences = geometry.influences_of(vertex).iter();
    influences
        .map(|influence| f64::from(influence.weight) * matrix_of(influence.joint).transform_point3(position))
        .sum()
}

/// Returns the corners of the triangles of a level; 0 is full detail.
pub fn corners(geometry: &Geometry, level: usize) -> Vec<[u32; 3]> {
    let mut all = Vec::new();
    for (index, range) in geometry.draw_ranges.iter().enumerate() {
        if range.topology != throng::model::Topology::Triangles {
            continue;
        }
        let indices = match level.checked_sub(1) {
            None => &geometry.indices[range.first_index as usize..][..range.index_count as usize],
            Some(coarser) => {
                let level = &geometry.coarser_levels[coarser];
                &level.indices[level.ranges[index].start as usize..level.ranges[index].end as usize]
            }
        };
        all.extend_from_slice(indices.as_chunks::<3>().0);
    }
    all
}

/// Returns the largest distance from points on `from` to `to`, at `divisions` of each triangle's sides.
pub fn one_sided(from: &Surface, to: &Surface, divisions: usize, least: f64) -> f64 {
    let sphere = |corners: &[DVec3; 3]| {
        let centre = (corners[0] + corners[1] + corners[2]) / 3.0;
        (centre, corners.iter().map(|corner| corner.distance(centre)).fold(0.0, f64::max))
    };
    let spheres: Vec<(DVec3, f64)> = to.iter().map(sphere).collect();
    let mut worst = least;
    let mut hint = 0;
    for corners in from {
        for i in 0..=divisions {
            for j in 0..=divisions - i {
                let weights = [i, j, divisions - i - j].map(|part| part as f64 / divisions as f64);
                let point = weights[0] * corners[0] + weights[1] * corners[1] + weights[2] * corners[2];
                let mut nearest = distance(point, &to[hint]);
                for (index, (triangle, (centre, radius))) in to.iter().zip(&spheres).enumerate() {
                    if nearest <= worst {
                        break;
                    }
                    if point.distance(*centre) - radius < nearest {
                        let own = distance(point, triangle);
                        if own < nearest {
                            (nearest, hint) = (own, index);
                        }
                    }
                }
                worst = worst.max(nearest);
            }
        }
    }
    worst
}

/// Returns the distance between a point and a triangle.
fn distance(point: DVec3, [a, b, c]: &[DVec3; 3]) -> f64 {
    let (ab, ac) = (*b - *a, *c - *a);
    let normal = ab.cross(ac);
    let to_side = |from: DVec3, along: DVec3| {
        let share = if along.length_squared() > 0.0 {
            ((point - from).dot(along) / along.length_squared()).clamp(0.0, 1.0)
        } else {
            0.0
        };
        point.distance(from + share * along)
    };
    let is_inside =
        [(*a, ab), (*b, *c - *b), (*c, -ac)].iter().all(|&(from, along)| normal.dot(along.cross(point - from)) >= 0.0);
    if is_inside && normal.length_squared() > 0.0 {
        return ((point - *a).dot(normal) / normal.length()).abs();
    }
    to_side(*a, ab).min(to_side(*b, *c - *b)).min(to_side(*a, ac))
}

/// Returns the largest distance between full detail and a level in one pose, but at least `least`.
pub fn distance_of_level(model: &Model, level: usize, positions: &[DVec3], least: f64) -> f64 {
    let surface = |level| -> Surface {
        let corners = corners(&model.geometry, level);
        corners.into_iter().map(|corners| corners.map(|corner| positions[corner as usize])).collect()
    };
    let (full, coarse) = (surface(0), surface(level));
    let worst = one_sided(&full, &coarse, 2, least);
    // A coarse triangle is as large as many full ones.
    let ratio = (full.len() as f64 / coarse.len() as f64).sqrt();
    one_sided(&coarse, &full, (2.0 * ratio).ceil() as usize, worst)
}
