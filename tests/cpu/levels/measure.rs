//! The distances between two surfaces in one pose, by brute force and in double precision: the oracle of stated errors.

use std::collections::{HashMap, HashSet};

use glam::{Affine3A, DMat4, DVec3, Mat4};
use throng::animation::{PoseScratch, pose_model};
use throng::model::{Clip, Geometry, Influence, Model};

/// The corners of triangles.
pub type Surface = Vec<[DVec3; 3]>;

/// Returns the positions of all vertices in one pose.
pub fn positions(model: &Model, clip: Option<&Clip>, time_seconds: f64) -> Vec<DVec3> {
    level_positions(model, 0, clip, time_seconds)
}

/// Returns the positions of the vertices of a level in one pose; 0 is full detail.
pub fn level_positions(model: &Model, level: usize, clip: Option<&Clip>, time_seconds: f64) -> Vec<DVec3> {
    let mut scratch = PoseScratch::for_model(model);
    let pose = pose_model(model, clip, time_seconds, &mut scratch);
    let entries = model.palette.nodes.iter().zip(&model.palette.joint_from_mesh);
    let matrix = |(&node, joint_from_mesh): (&u32, &Affine3A)| {
        Mat4::from(pose.model_from_node[node as usize]).as_dmat4() * Mat4::from(*joint_from_mesh).as_dmat4()
    };
    let matrices: Vec<DMat4> = entries.map(matrix).collect();
    let matrix_of = |joint: u32| matrices[joint as usize];
    let geometry = &model.geometry;
    let (vertex_count, own) = geometry.levels().nth(level).expect("the level exists");
    let (starts, influences) = own.unwrap_or((&geometry.influence_starts, &geometry.influences));
    let position = |vertex: usize| {
        let own = &influences[starts[vertex] as usize..starts[vertex + 1] as usize];
        skinned_by(geometry, vertex, own, matrix_of, pose.morph_weights)
    };
    (0..vertex_count as usize).map(position).collect()
}

/// Returns where a vertex is after the morph targets, with these weights, and the joints, with these matrices.
pub fn skinned(geometry: &Geometry, vertex: usize, matrix_of: impl Fn(u32) -> DMat4, weights: &[f32]) -> DVec3 {
    skinned_by(geometry, vertex, geometry.influences_of(vertex), matrix_of, weights)
}

fn skinned_by(
    geometry: &Geometry,
    vertex: usize,
    influences: &[Influence],
    matrix_of: impl Fn(u32) -> DMat4,
    weights: &[f32],
) -> DVec3 {
    let deltas = geometry.morph_deltas_of(vertex).iter();
    let morphs = deltas.map(|delta| f64::from(weights[delta.weight_index as usize]) * delta.position.as_dvec3());
    let position = geometry.positions[vertex].as_dvec3() + morphs.sum::<DVec3>();
    influences
        .iter()
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

/// Returns the mean and the largest distance from `from` to `to`. The mean is over the area, at the centres of the parts of a
/// triangle whose sides are divided by `divisions`; the largest distance is that of a corner.
fn one_sided(from: &Surface, to: &Surface, divisions: usize) -> (f64, f64) {
    let sphere = |corners: &[DVec3; 3]| {
        let centre = (corners[0] + corners[1] + corners[2]) / 3.0;
        (centre, corners.iter().map(|corner| corner.distance(centre)).fold(0.0, f64::max))
    };
    let spheres: Vec<(DVec3, f64)> = to.iter().map(sphere).collect();
    let mut hint = 0;
    let mut nearest = |point: DVec3| {
        let mut least = distance(point, &to[hint]);
        for (index, (triangle, (centre, radius))) in to.iter().zip(&spheres).enumerate() {
            if point.distance(*centre) - radius < least {
                let own = distance(point, triangle);
                if own < least {
                    (least, hint) = (own, index);
                }
            }
        }
        least
    };
    let (mut largest, mut sum, mut whole) = (0.0f64, 0.0, 0.0);
    for corners in from {
        let [a, b, c] = *corners;
        largest = corners.iter().map(|&corner| nearest(corner)).fold(largest, f64::max);
        let mut own_sum = 0.0;
        // Parts that point up, and those that point down.
        for (third, rows) in [(1.0, divisions), (2.0, divisions - 1)] {
            for (i, j) in (0..rows).flat_map(|i| (0..rows - i).map(move |j| (i, j))) {
                let share = |step: usize| (step as f64 + third / 3.0) / divisions as f64;
                own_sum += nearest(a + share(i) * (b - a) + share(j) * (c - a));
            }
        }
        let area = (b - a).cross(c - a).length();
        (sum, whole) = (sum + area * own_sum / (divisions * divisions) as f64, whole + area);
    }
    (sum / whole, largest)
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

/// Returns a number for each vertex that is the same for all vertices of a connected part. Vertices at the same position are
/// connected.
fn parts(model: &Model) -> Vec<usize> {
    let rest = positions(model, None, 0.0);
    let mut part: Vec<usize> = (0..rest.len()).collect();
    fn root(part: &[usize], mut vertex: usize) -> usize {
        while part[vertex] != vertex {
            vertex = part[vertex];
        }
        vertex
    }
    let mut first_at = HashMap::new();
    let at = |vertex: usize| rest[vertex].as_vec3().to_array().map(|number| (number + 0.0).to_bits());
    let same: Vec<[usize; 2]> = (0..rest.len()).map(|v| [v, *first_at.entry(at(v)).or_insert(v)]).collect();
    let sides = corners(&model.geometry, 0).into_iter().flat_map(|[a, b, c]| [[a, b], [b, c]]);
    for [a, b] in same.into_iter().chain(sides.map(|side| side.map(|vertex| vertex as usize))) {
        let (a, b) = (root(&part, a), root(&part, b));
        part[a.max(b)] = a.min(b);
    }
    (0..rest.len()).map(|vertex| root(&part, vertex)).collect()
}

/// Returns the mean distance between full detail and a level in one pose, and the largest distance from a vertex to the
/// level. A part that the level has lost counts with half of its largest side.
pub fn distances_of_level(model: &Model, level: usize, clip: Option<&Clip>, time_seconds: f64) -> (f64, f64) {
    let (full_corners, level_corners) = (corners(&model.geometry, 0), corners(&model.geometry, level));
    let parts = parts(model);
    let kept: HashSet<usize> = level_corners.as_flattened().iter().map(|&vertex| parts[vertex as usize]).collect();
    let posed = positions(model, clip, time_seconds);
    let level_posed = level_positions(model, level, clip, time_seconds);
    let mut lost = HashMap::new();
    let (mut full, mut coarse) = (Surface::new(), Surface::new());
    for triangle in full_corners {
        let own = triangle.map(|vertex| posed[vertex as usize]);
        let part = parts[triangle[0] as usize];
        if kept.contains(&part) {
            full.push(own);
        } else {
            let limits = lost.entry(part).or_insert((own[0], own[0]));
            *limits = own.iter().fold(*limits, |(min, max), &p| (min.min(p), max.max(p)));
        }
    }
    coarse.extend(level_corners.into_iter().map(|corners| corners.map(|corner| level_posed[corner as usize])));
    // A coarse triangle is as large as many full ones.
    let ratio = (full.len() as f64 / coarse.len() as f64).sqrt();
    let ((to_level, largest), (to_full, _)) =
        (one_sided(&full, &coarse, 2), one_sided(&coarse, &full, (2.0 * ratio).ceil() as usize));
    let half_side = |(min, max): &(DVec3, DVec3)| 0.5 * (*max - *min).max_element();
    (0.5 * (to_level + to_full), lost.values().map(half_side).fold(largest, f64::max))
}
