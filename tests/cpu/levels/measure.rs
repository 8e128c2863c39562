//! The distances between two surfaces in one pose, by brute force and in double precision: the oracle of stated errors.

use std::collections::{BTreeSet, HashMap, HashSet};

use glam::{Affine3A, DMat4, DVec3, Mat4};
use throng::model::{Clip, Geometry, Influence, Model};

use crate::common::pose::posed;

pub type Surface = Vec<[DVec3; 3]>;

pub fn positions(model: &Model, clip: Option<&Clip>, time_seconds: f64) -> Vec<DVec3> {
    level_positions(model, 0, clip, time_seconds)
}

pub fn matrices(model: &Model, clip: Option<&Clip>, time_seconds: f64) -> Vec<DMat4> {
    joint_matrices(model, &posed(model, clip, time_seconds).0)
}

fn joint_matrices(model: &Model, model_from_node: &[Affine3A]) -> Vec<DMat4> {
    let entries = model.palette.nodes.iter().zip(&model.palette.joint_from_mesh);
    let matrix = |(&node, joint_from_mesh): (&u32, &Affine3A)| {
        Mat4::from(model_from_node[node as usize]).as_dmat4() * Mat4::from(*joint_from_mesh).as_dmat4()
    };
    entries.map(matrix).collect()
}

/// Returns the positions of the vertices of a level in one pose; 0 is full detail.
pub fn level_positions(model: &Model, level: usize, clip: Option<&Clip>, time_seconds: f64) -> Vec<DVec3> {
    let (model_from_node, morph_weights) = posed(model, clip, time_seconds);
    let matrices = joint_matrices(model, &model_from_node);
    let matrix_of = |joint: u32| matrices[joint as usize];
    let geometry = &model.geometry;
    let (vertex_count, own) = geometry.levels().nth(level).expect("the level exists");
    let (starts, influences) = own.unwrap_or((&geometry.influence_starts, &geometry.influences));
    let position = |vertex: usize| {
        let own = &influences[starts[vertex] as usize..starts[vertex + 1] as usize];
        skinned(geometry, vertex, own, matrix_of, &morph_weights)
    };
    (0..vertex_count as usize).map(position).collect()
}

/// Returns where a vertex is after the morph targets, with these weights, and the joints, with these matrices.
pub fn skinned(
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

/// A surface, and the triangle of it that was nearest to the newest point. Neighbouring points are near the same triangle.
struct Nearest<'s> {
    /// Neighbours in the list, which are near each other, with the centre and the radius of a sphere around them.
    groups: Vec<(&'s [[DVec3; 3]], DVec3, f64)>,
    newest: [DVec3; 3],
}

impl<'s> Nearest<'s> {
    const GROUP: usize = 3;

    fn new(surface: &'s Surface) -> Self {
        let group = |triangles: &'s [[DVec3; 3]]| {
            let corners = triangles.as_flattened();
            let centre = corners.iter().sum::<DVec3>() / corners.len() as f64;
            (triangles, centre, corners.iter().map(|corner| corner.distance(centre)).fold(0.0, f64::max))
        };
        Self { groups: surface.chunks(Self::GROUP).map(group).collect(), newest: surface[0] }
    }

    fn distance(&mut self, point: DVec3) -> f64 {
        let mut least = distance(point, &self.newest);
        for (triangles, centre, radius) in &self.groups {
            if point.distance_squared(*centre) < (least + radius) * (least + radius) {
                for triangle in *triangles {
                    let own = distance(point, triangle);
                    if own < least {
                        (least, self.newest) = (own, *triangle);
                    }
                }
            }
        }
        least
    }
}

/// Returns the mean distance from `from` to `to` over the area, at the centres of `divisions` × `divisions` parts of each.
fn mean_distance(from: &Surface, to: &Surface, divisions: usize) -> f64 {
    let mut nearest = Nearest::new(to);
    let (mut sum, mut whole) = (0.0, 0.0);
    for &[a, b, c] in from {
        let mut own_sum = 0.0;
        // Parts that point up, and those that point down.
        for (third, rows) in [(1.0, divisions), (2.0, divisions - 1)] {
            for (i, j) in (0..rows).flat_map(|i| (0..rows - i).map(move |j| (i, j))) {
                let share = |step: usize| (step as f64 + third / 3.0) / divisions as f64;
                own_sum += nearest.distance(a + share(i) * (b - a) + share(j) * (c - a));
            }
        }
        let area = (b - a).cross(c - a).length();
        (sum, whole) = (sum + area * own_sum / (divisions * divisions) as f64, whole + area);
    }
    sum / whole
}

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

pub fn box_of(positions: &[DVec3]) -> (DVec3, DVec3) {
    let limits = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    positions.iter().fold(limits, |(min, max), &position| (min.min(position), max.max(position)))
}

/// The points of the surface in the rest pose: for each vertex, the first one with the same bind position that is within a
/// hundred-thousandth of the extent. Influences in another order may round to another position.
pub fn points(model: &Model) -> Vec<u32> {
    let rest = positions(model, None, 0.0);
    let (min, max) = box_of(&rest);
    let near = 1e-5 * (max - min).max_element();
    let mut points_at = HashMap::<[u32; 3], Vec<u32>>::new();
    let point = |(vertex, &position): (usize, &DVec3)| {
        let bind = (model.geometry.positions[vertex] + 0.0).to_array().map(f32::to_bits);
        let points = points_at.entry(bind).or_default();
        let same = points.iter().find(|&&point| rest[point as usize].distance(position) <= near).copied();
        same.unwrap_or_else(|| {
            points.push(vertex as u32);
            vertex as u32
        })
    };
    rest.iter().enumerate().map(point).collect()
}

/// Returns a number for each vertex, the same for all vertices of a connected part. Vertices at one point are connected.
fn parts(model: &Model) -> Vec<usize> {
    fn root(part: &[usize], mut vertex: usize) -> usize {
        while part[vertex] != vertex {
            vertex = part[vertex];
        }
        vertex
    }
    let mut part: Vec<usize> = points(model).into_iter().map(|point| point as usize).collect();
    for [a, b, c] in corners(&model.geometry, 0) {
        for [a, b] in [[a, b], [b, c]].map(|side| side.map(|vertex| root(&part, vertex as usize))) {
            part[a.max(b)] = a.min(b);
        }
    }
    (0..part.len()).map(|vertex| root(&part, vertex)).collect()
}

/// Returns the mean distance between full detail and a level in one pose, and the largest distance from a vertex to the
/// level. A part that the level has lost counts with half of its largest side.
pub fn distances_of_level(model: &Model, level: usize, clip: Option<&Clip>, time_seconds: f64) -> (f64, f64) {
    let (full_corners, level_corners) = (corners(&model.geometry, 0), corners(&model.geometry, level));
    let parts = parts(model);
    let kept: HashSet<usize> = level_corners.as_flattened().iter().map(|&vertex| parts[vertex as usize]).collect();
    let posed = positions(model, clip, time_seconds);
    let level_posed = level_positions(model, level, clip, time_seconds);
    let is_kept = |vertex: u32| kept.contains(&parts[vertex as usize]);
    let full_of = |[a, b, c]: [u32; 3]| is_kept(a).then(|| [a, b, c].map(|vertex| posed[vertex as usize]));
    let full: Surface = full_corners.iter().copied().filter_map(full_of).collect();
    let coarse: Surface =
        level_corners.into_iter().map(|corners| corners.map(|corner| level_posed[corner as usize])).collect();
    let mut to_level = Nearest::new(&coarse);
    let (mut largest, mut lost) = (0.0f64, HashMap::new());
    for vertex in BTreeSet::from_iter(full_corners.into_iter().flatten()) {
        let own = posed[vertex as usize];
        if is_kept(vertex) {
            largest = largest.max(to_level.distance(own));
        } else {
            let (min, max) = lost.entry(parts[vertex as usize]).or_insert((own, own));
            (*min, *max) = (min.min(own), max.max(own));
        }
    }
    let half_side = |(min, max): &(DVec3, DVec3)| 0.5 * (*max - *min).max_element();
    // A coarse triangle is as large as many full ones.
    let divisions = (full.len() as f64 / coarse.len() as f64).sqrt().ceil() as usize;
    let mean = 0.5 * (mean_distance(&full, &coarse, 1) + mean_distance(&coarse, &full, divisions));
    (mean, lost.values().map(half_side).fold(largest, f64::max))
}
