//! The error of each level: the largest distance between its surface and that in full detail, in any pose.
//!
//! In: the triangles of all levels, and moments. Out: a distance in model units for each level. Both directions count:
//! from points in full detail to the level's surface, and from points of the level to the surface in full detail. Each
//! material is compared with itself, so that its borders count. A material that a level has lost is a single point there.
//!
//! The points are the vertices in full detail, the centroids of all triangles, and a grid on large triangles. Each is
//! mapped once, in the reference pose, to the nearest place on the other surface. A place moves with its triangle, so in
//! any pose the distance between both is an upper bound of the distance that counts. Only where the bound exceeds the
//! largest distance so far does a search for the nearest place pay, and the point is then mapped to that place.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use glam::Vec3A;
use rayon::prelude::*;

use super::moments::{Moment, Poser};
use super::surface::{Box, Place, Tree};
use super::triangles::{Triangles, used_vertices};
use crate::animation::skinned_position;
use crate::model::Model;

/// The room for moments that were not evaluated and for points that were not compared.
const MARGIN: f32 = 1.05;
/// The number of points that one task compares in each moment.
const POINTS_PER_TASK: usize = 2048;
/// The largest number of divisions of a large triangle's side.
const MOST_DIVISIONS: usize = 8;
/// The number of searches for nearest places that a task may do. After that, it takes the upper bounds.
const SEARCHES_PER_TASK: usize = 1 << 16;

/// A point of one surface, and a place on the other.
struct Match {
    point: Place,
    nearest: Place,
}

/// Points of one level and one material, compared in one direction.
struct Task {
    level: usize,
    /// The index of the surface to which the points are compared.
    target: usize,
    matches: Vec<Match>,
    worst_squared: f32,
    searches_left: usize,
}

/// Returns the positions of all vertices in a moment.
pub(super) fn positions(model: &Model, poser: &mut Poser<'_>, moment: Moment) -> Vec<Vec3A> {
    let pose = poser.pose(moment);
    let vertices = (0..model.geometry.vertex_count()).into_par_iter().with_min_len(1024);
    vertices.map(|vertex| skinned_position(&model.geometry, vertex, pose).into()).collect()
}

/// Returns the error of each level. `reference` has the positions in the reference pose.
pub(super) fn errors(
    model: &Model,
    full: &Triangles,
    levels: &[Triangles],
    reference: &[Vec3A],
    moments: &[Moment],
) -> Vec<f32> {
    let (trees, mut tasks) = tasks(model, full, levels, reference);
    let mut poser = Poser::new(model);
    let mut worst_squared = vec![0.0f32; levels.len()];
    for &moment in moments {
        let posed = positions(model, &mut poser, moment);
        let boxes: Vec<OnceLock<Vec<Box>>> = trees.iter().map(|_| OnceLock::new()).collect();
        tasks.par_iter_mut().for_each(|task| {
            task.worst_squared = worst_squared[task.level];
            let (tree, boxes) = (&trees[task.target], &boxes[task.target]);
            task.compare(&posed, tree, || boxes.get_or_init(|| tree.boxes(&posed)));
        });
        for task in &tasks {
            worst_squared[task.level] = worst_squared[task.level].max(task.worst_squared);
        }
    }
    let mut least = 0.0f32;
    let ascending = worst_squared.into_iter().map(|squared| {
        least = least.max(MARGIN * squared.sqrt());
        least
    });
    ascending.collect()
}

impl Task {
    /// Compares all points in one pose.
    fn compare<'b>(&mut self, posed: &[Vec3A], tree: &Tree, boxes: impl Fn() -> &'b Vec<Box>) {
        for matched in &mut self.matches {
            let point = matched.point.position(posed);
            let bound = matched.nearest.position(posed).distance_squared(point);
            // A pose that overflows is never drawn, and a NaN is not larger than anything.
            if !(bound > self.worst_squared && bound < f32::INFINITY) {
                continue;
            }
            let mut squared = bound;
            if self.searches_left > 0 {
                self.searches_left -= 1;
                if let Some((nearest, nearest_squared)) = tree.nearest(boxes(), posed, point, bound) {
                    (matched.nearest, squared) = (nearest, nearest_squared);
                }
            }
            self.worst_squared = self.worst_squared.max(squared);
        }
    }
}

/// Returns the surfaces of all levels by material, and the points that are compared with them.
fn tasks(model: &Model, full: &Triangles, levels: &[Triangles], reference: &[Vec3A]) -> (Vec<Tree>, Vec<Task>) {
    let full = full.by_material(&model.geometry);
    let mut trees: Vec<Tree> = full.values().map(|triangles| Tree::new(triangles.clone(), reference)).collect();
    // The level, the target and the points of each list of points.
    let mut lists: Vec<(usize, usize, Vec<Place>)> = Vec::new();
    for (level, triangles) in levels.iter().enumerate() {
        let mut triangles: BTreeMap<u32, Vec<[u32; 3]>> = triangles.by_material(&model.geometry);
        for (full_tree, (material, full)) in full.iter().enumerate() {
            let used = used_vertices(full);
            let own = triangles.remove(material).unwrap_or_default();
            let kept = used_vertices(&own);
            let lost = used.iter().filter(|&vertex| kept.binary_search(vertex).is_err());
            let corner = |&vertex: &u32| Place { corners: [vertex; 3], weights: [1.0, 0.0, 0.0] };
            lists.push((
                level,
                trees.len(),
                lost.map(corner).chain(full.iter().map(|&corners| centroid(corners))).collect(),
            ));
            let spacing = spacing(full, reference);
            let grid = own.iter().flat_map(|&corners| grid(corners, spacing, reference)).collect();
            lists.push((level, full_tree, grid));
            trees.push(if own.is_empty() {
                Tree::new(vec![[middle(&used, reference); 3]], reference)
            } else {
                Tree::new(own, reference)
            });
        }
    }
    let boxes: Vec<Vec<Box>> = trees.par_iter().map(|tree| tree.boxes(reference)).collect();
    let chunks = lists.par_iter().flat_map(|(level, target, points)| {
        points.par_chunks(POINTS_PER_TASK).map(|points| {
            let (tree, boxes) = (&trees[*target], &boxes[*target]);
            let matches = matches(points, tree, boxes, reference);
            Task { level: *level, target: *target, matches, worst_squared: 0.0, searches_left: SEARCHES_PER_TASK }
        })
    });
    let tasks = chunks.collect();
    (trees, tasks)
}

/// Maps points to the nearest places of a surface in the reference pose.
fn matches(points: &[Place], tree: &Tree, boxes: &[Box], reference: &[Vec3A]) -> Vec<Match> {
    let Some(mut nearest) = tree.any_place() else { return Vec::new() };
    let matched = |&point: &Place| {
        let position = point.position(reference);
        // Neighbouring points are near the same place, so the search rules out almost everything at once.
        let bound = nearest.position(reference).distance_squared(position);
        if let Some((place, _)) = tree.nearest(boxes, reference, position, bound) {
            nearest = place;
        }
        Match { point, nearest }
    };
    points.iter().map(matched).collect()
}

fn centroid(corners: [u32; 3]) -> Place {
    Place { corners, weights: [1.0 / 3.0; 3] }
}

/// Returns a grid of points on a triangle about as dense as `spacing`, without its corners.
fn grid(corners: [u32; 3], spacing: f32, reference: &[Vec3A]) -> Vec<Place> {
    let [a, b, c] = corners.map(|corner| reference[corner as usize]);
    let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
    let divisions = ((longest / spacing).ceil() as usize).clamp(1, MOST_DIVISIONS);
    let mut points = vec![centroid(corners)];
    for i in 0..=divisions {
        for j in 0..=divisions - i {
            let k = divisions - i - j;
            if i.max(j).max(k) < divisions {
                let weights = [i, j, k].map(|part| part as f32 / divisions as f32);
                points.push(Place { corners, weights });
            }
        }
    }
    points
}

/// Returns the mean length of the triangles' sides.
fn spacing(triangles: &[[u32; 3]], reference: &[Vec3A]) -> f32 {
    let side = |a: u32, b: u32| f64::from(reference[a as usize].distance(reference[b as usize]));
    let sum: f64 = triangles.iter().map(|&[a, b, c]| side(a, b) + side(b, c) + side(c, a)).sum();
    (sum / (3 * triangles.len()).max(1) as f64) as f32
}

/// Returns the vertex nearest to the centre of the box around vertices.
fn middle(vertices: &[u32], reference: &[Vec3A]) -> u32 {
    let at = |vertex: &u32| reference[*vertex as usize];
    let (min, max) =
        vertices.iter().map(at).fold((Vec3A::INFINITY, Vec3A::NEG_INFINITY), |(min, max), p| (min.min(p), max.max(p)));
    let centre = 0.5 * (min + max);
    let squared = |vertex: &&u32| at(vertex).distance_squared(centre);
    vertices.iter().min_by(|a, b| squared(a).total_cmp(&squared(b))).copied().unwrap_or_default()
}
