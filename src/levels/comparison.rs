//! The points of all surfaces that are compared, and the surfaces to which they are compared.
//!
//! In: the triangles of all levels. Out: [`Task`]s, lists of points, each mapped once in the reference pose to the nearest
//! place on the other surface. The points are the vertices in full detail that a level has lost, and points on edges and
//! triangles that the other surface does not have.
//!
//! Of many points, those that matter most are compared, and a few others, evenly spread. A vertex matters by its distance
//! from the surface of the level that lost it, in a few poses, so the tip of a spike is not left out. A point of a level
//! matters by the lost vertices next to its triangle's corners, and by the longest side of its triangle. The corners are on
//! the surface in full detail, so no point is farther from it than that.

use std::collections::HashSet;

use glam::Vec3A;
use rayon::prelude::*;

use super::parts::{Part, parts};
use super::surface::{Box, Lost, Place, Tree, far_vertices};
use super::triangles::Triangles;
use crate::model::Model;

/// The number of points of each kind that are mapped for each level, at least.
const LEAST_OF_LEVEL: usize = 8192;
const LEAST_VERTICES: usize = 4096;
const LEAST_INSIDE: usize = 2048;
/// A surface with at most this many triangles has points inside of all of them.
const FEW_TRIANGLES: usize = 1024;
/// At least one of this many points is compared, however many points there are.
const MOST_STRIDE: usize = 16;
/// One of this many compared points is not chosen for its importance.
const SPREAD: usize = 4;
/// The weight of a triangle's longest side, squared, compared with a lost vertex's squared distance.
const SIDE_SHARE: f32 = 0.01;
/// The number of points of a task.
const POINTS_PER_TASK: usize = 1024;
/// A task with fewer points keeps all.
const FEW_POINTS: usize = 256;
/// The largest number of divisions of a large triangle's side.
const MOST_DIVISIONS: usize = 6;
/// The number of searches for nearest places that a task may do. After that, it takes the upper bounds.
const SEARCHES_PER_TASK: usize = 1 << 16;

/// A point of one surface, and a place on the other.
struct Match {
    point: Place,
    nearest: Place,
}

/// Points of one level, compared with one surface.
pub(super) struct Task {
    /// The index of the level.
    pub level: usize,
    /// The index of the tree of the surface.
    pub target: usize,
    /// The largest squared distance so far.
    pub worst_squared: f32,
    matches: Vec<Match>,
    searches_left: usize,
}

/// Points of one level and the index of the tree to which they are compared.
struct Points {
    level: usize,
    target: usize,
    kind: Kind,
    places: Vec<Place>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// A point on the surface of the level.
    OfLevel,
    /// A vertex in full detail.
    Vertices,
    /// Inside of a triangle in full detail, or on its sides.
    Inside,
}

/// One material in full detail.
struct FullMaterial {
    material: u32,
    parts: Vec<Part>,
    /// The edges, sorted.
    edges: Vec<u64>,
    /// The mean length of the triangles' sides.
    spacing: f32,
}

impl Task {
    /// Returns each point with its place on the other surface.
    pub fn pairs(&self) -> impl Iterator<Item = (Place, Place)> {
        self.matches.iter().map(|matched| (matched.point, matched.nearest))
    }

    /// Compares all points in one pose. `boxes` returns the boxes of `tree` in this pose.
    pub fn compare<'b>(&mut self, posed: &[Vec3A], tree: &Tree, boxes: impl Fn() -> &'b Vec<Box>) {
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
                if let Some((nearest, nearest_squared)) =
                    tree.nearest(boxes(), posed, point, (bound, self.worst_squared))
                {
                    (matched.nearest, squared) = (nearest, nearest_squared);
                }
            }
            self.worst_squared = self.worst_squared.max(squared);
        }
    }
}

/// Returns the surfaces of all levels by material, and the points that are compared with them.
pub(super) fn tasks(
    model: &Model,
    full_triangles: &Triangles,
    levels: &[Triangles],
    poses: &[&[Vec3A]],
) -> (Vec<Tree>, Vec<Task>) {
    let reference = poses[0];
    let full = full_triangles.by_material(&model.geometry);
    let mut trees: Vec<Tree> = full.values().map(|triangles| Tree::new(triangles.clone(), reference)).collect();
    let full: Vec<FullMaterial> = full
        .into_iter()
        .map(|(material, triangles)| FullMaterial {
            material,
            spacing: spacing(&triangles, reference),
            edges: edges(&triangles),
            parts: parts(&triangles, reference),
        })
        .collect();
    let losses = losses(full_triangles, levels, poses);
    let of_levels: Vec<(Vec<Tree>, Vec<Points>)> = levels
        .par_iter()
        .enumerate()
        .map(|(level, triangles)| points_of_level(model, &full, &losses, (level, triangles), reference))
        .collect();
    let mut lists = Vec::new();
    for (own_trees, own_lists) in of_levels {
        let first = trees.len();
        trees.extend(own_trees);
        lists.extend(own_lists.into_iter().map(|list| {
            let target = if list.kind == Kind::OfLevel { list.target } else { first + list.target };
            Points { target, ..list }
        }));
    }
    let boxes: Vec<Vec<Box>> = trees.par_iter().map(|tree| tree.boxes(reference)).collect();
    let tasks = lists.par_iter().flat_map(|list| {
        list.places.par_chunks(POINTS_PER_TASK).map(|places| Task {
            level: list.level,
            target: list.target,
            worst_squared: 0.0,
            matches: matches(places, &trees[list.target], &boxes[list.target], poses),
            searches_left: SEARCHES_PER_TASK,
        })
    });
    let tasks = tasks.collect();
    (trees, tasks)
}

/// Returns the trees of a level, and all points that concern it. The targets of points in full detail are indices of these
/// trees; the targets of the level's own points are indices of the materials in full detail.
fn points_of_level(
    model: &Model,
    full: &[FullMaterial],
    losses: &[f32],
    (level, triangles): (usize, &Triangles),
    reference: &[Vec3A],
) -> (Vec<Tree>, Vec<Points>) {
    let mut by_material = triangles.by_material(&model.geometry);
    let (mut trees, mut lists) = (Vec::new(), Vec::new());
    let full_count: usize = full.iter().flat_map(|material| &material.parts).map(|part| part.triangles.len()).sum();
    let mut is_in_level = vec![false; reference.len()];
    triangles.indices.iter().for_each(|&vertex| is_in_level[vertex as usize] = true);
    let own_edges = edges(triangles.indices.as_chunks().0);
    // Where a corner is lost, the distance of the corner says enough, unless triangles are large.
    let has_inside = |corners: &[u32; 3]| {
        full_count <= FEW_TRIANGLES || corners.iter().filter(|&&corner| is_in_level[corner as usize]).count() > 1
    };
    let mut is_kept = vec![false; reference.len()];
    // Points of parts that the level has lost.
    let mut lost: Vec<Place> = Vec::new();
    for (target, material) in full.iter().enumerate() {
        let own = by_material.remove(&material.material).unwrap_or_default();
        own.as_flattened().iter().for_each(|&vertex| is_kept[vertex as usize] = true);
        let mut seen = HashSet::new();
        let inside =
            |&corners: &[u32; 3]| points_inside(corners, &material.edges, &mut seen, material.spacing, reference);
        let places = own.iter().flat_map(inside).collect();
        lists.push(Points { level, target, kind: Kind::OfLevel, places });
        let (mut removed, mut removed_inside) = (Vec::new(), Vec::new());
        for part in &material.parts {
            let mut seen = HashSet::new();
            let inside =
                |&corners: &[u32; 3]| points_inside(corners, &own_edges, &mut seen, material.spacing, reference);
            let inside = part.triangles.iter().filter(|corners| has_inside(corners)).flat_map(inside);
            let removed_vertices = part.vertices.iter().copied().filter(|&vertex| !is_kept[vertex as usize]);
            let vertices = removed_vertices.map(Place::of_vertex);
            if part.vertices.iter().any(|&vertex| is_kept[vertex as usize]) {
                removed.extend(vertices);
                removed_inside.extend(inside);
            } else {
                let places: Vec<Place> = vertices.collect();
                lost.extend_from_slice(&places);
                lists.push(Points { level, target: trees.len(), kind: Kind::Vertices, places });
                trees.push(Tree::new(vec![[middle(&part.vertices, reference); 3]], reference));
            }
        }
        own.as_flattened().iter().for_each(|&vertex| is_kept[vertex as usize] = false);
        if !own.is_empty() {
            lists.push(Points { level, target: trees.len(), kind: Kind::Vertices, places: removed });
            lists.push(Points { level, target: trees.len(), kind: Kind::Inside, places: removed_inside });
            trees.push(Tree::new(own, reference));
        }
    }
    if !lost.is_empty() {
        lists.push(Points { level, target: trees.len(), kind: Kind::Vertices, places: lost });
        trees.push(Tree::new(triangles.indices.as_chunks().0.to_vec(), reference));
    }
    let loss = |vertex: u32| losses[vertex as usize];
    let largest =
        |corners: [u32; 3], by_vertex: &dyn Fn(u32) -> f32| corners.map(by_vertex).into_iter().fold(0.0, f32::max);
    // The largest loss next to each vertex.
    let mut near = vec![0.0f32; reference.len()];
    for &corners in full.iter().flat_map(|material| &material.parts).flat_map(|part| &part.triangles) {
        let lost = corners.map(|vertex| if is_in_level[vertex as usize] { 0.0 } else { loss(vertex) });
        let largest = lost.into_iter().fold(0.0, f32::max);
        corners.iter().for_each(|&corner| near[corner as usize] = near[corner as usize].max(largest));
    }
    let of_triangle = |place: &Place| {
        let side = longest_side(place.corners, reference);
        largest(place.corners, &|vertex| near[vertex as usize]) + SIDE_SHARE * side * side
    };
    thin(&mut lists, Kind::OfLevel, LEAST_OF_LEVEL, of_triangle);
    thin(&mut lists, Kind::Vertices, LEAST_VERTICES, |place| largest(place.corners, &loss));
    thin(&mut lists, Kind::Inside, LEAST_INSIDE, |place| longest_side(place.corners, reference));
    (trees, lists)
}

/// Leaves points of a kind out, if there are many: keeps the most important ones, and a few others evenly.
fn thin(lists: &mut [Points], kind: Kind, least_points: usize, importance: impl Fn(&Place) -> f32) {
    let mut all: Vec<f32> =
        lists.iter().filter(|list| list.kind == kind).flat_map(|list| &list.places).map(&importance).collect();
    let most = least_points.max(all.len() / MOST_STRIDE);
    if all.len() <= most {
        return;
    }
    let important = most - most / SPREAD;
    let (_, &mut least, _) = all.select_nth_unstable_by(important, |a, b| b.total_cmp(a));
    let stride = (all.len() - important).div_ceil(most / SPREAD);
    for list in lists.iter_mut().filter(|list| list.kind == kind) {
        let mut index = 0;
        list.places.retain(|place| {
            index += 1;
            importance(place) > least || (index - 1) % stride == 0
        });
    }
}

/// Returns the largest distance in some poses between a point and the place to which it is mapped, squared.
pub(super) fn largest_squared(poses: &[&[Vec3A]], point: &Place, nearest: &Place) -> f32 {
    let squared = poses.iter().map(|positions| point.position(positions).distance_squared(nearest.position(positions)));
    squared.filter(|squared| squared.is_finite()).fold(0.0, f32::max)
}

/// Returns for each vertex its distance from the surface of the first level without it, squared.
fn losses(full: &Triangles, levels: &[Triangles], poses: &[&[Vec3A]]) -> Vec<f32> {
    let finer = std::iter::once(full).chain(levels);
    let steps: Vec<Vec<Lost>> = finer
        .zip(levels)
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|(finer, level)| far_vertices(poses[0], finer, level))
        .collect();
    let mut losses = vec![0.0; poses[0].len()];
    for lost in steps.into_iter().flatten() {
        losses[lost.vertex as usize] = largest_squared(poses, &Place::of_vertex(lost.vertex), &lost.nearest);
    }
    losses
}

/// Maps points to places of a surface that are the nearest in the reference pose, or no farther away than a point before. Of many
/// points, the farthest quarter and a quarter of the others are kept for the other poses.
fn matches(points: &[Place], tree: &Tree, boxes: &[Box], poses: &[&[Vec3A]]) -> Vec<Match> {
    let reference = poses[0];
    let Some(mut nearest) = tree.any_place() else { return Vec::new() };
    let mut worst_squared = 0.0f32;
    let matched = |&point: &Place| {
        let position = point.position(reference);
        // Neighbouring points are near the same place, so the search rules out almost everything at once.
        let mut squared = nearest.position(reference).distance_squared(position);
        // A place that is no farther than the farthest so far is near enough. Where the point matters in another pose, it is
        // mapped again.
        if squared > worst_squared
            && let Some(found) = tree.nearest(boxes, reference, position, (squared, worst_squared))
        {
            (nearest, squared) = found;
        }
        worst_squared = worst_squared.max(squared);
        Match { point, nearest }
    };
    let all: Vec<Match> = points.iter().map(matched).collect();
    if all.len() <= FEW_POINTS {
        return all;
    }
    let distances: Vec<f32> =
        all.iter().map(|matched| largest_squared(poses, &matched.point, &matched.nearest)).collect();
    let mut sorted = distances.clone();
    let (_, &mut least, _) = sorted.select_nth_unstable_by(points.len() / SPREAD, |a, b| b.total_cmp(a));
    let is_kept = |(index, _): &(usize, Match)| index % SPREAD == 0 || distances[*index] > least;
    all.into_iter().enumerate().filter(is_kept).map(|(_, matched)| matched).collect()
}

fn centroid(corners: [u32; 3]) -> Place {
    Place { corners, weights: [1.0 / 3.0; 3] }
}

/// Returns the edges of triangles, sorted.
fn edges(triangles: &[[u32; 3]]) -> Vec<u64> {
    let mut edges: Vec<u64> = triangles.iter().flat_map(|&corners| sides(corners)).collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Returns the side of a triangle opposite to each corner, as a number.
fn sides([a, b, c]: [u32; 3]) -> [u64; 3] {
    [[b, c], [c, a], [a, b]].map(|[a, b]| u64::from(a.min(b)) << 32 | u64::from(a.max(b)))
}

/// Returns a grid of points on a triangle about as dense as `spacing`, without its corners. Sides that are `known` to be edges
/// of the other surface, or were `seen` before, have none.
fn points_inside(
    corners: [u32; 3],
    known: &[u64],
    seen: &mut HashSet<u64>,
    spacing: f32,
    reference: &[Vec3A],
) -> Vec<Place> {
    let is_new = sides(corners).map(|side| known.binary_search(&side).is_err());
    if is_new == [false; 3] {
        return Vec::new();
    }
    let mut has_points = is_new;
    for (has_points, side) in has_points.iter_mut().zip(sides(corners)) {
        *has_points = *has_points && seen.insert(side);
    }
    let mut points = vec![centroid(corners)];
    let divisions = ((longest_side(corners, reference) / spacing).ceil() as usize).clamp(1, MOST_DIVISIONS);
    // A triangle that is not large has the midpoints of its sides.
    let divisions = divisions.max(2);
    for i in 0..=divisions {
        for j in 0..=divisions - i {
            let parts = [i, j, divisions - i - j];
            let is_on_side = |k: usize| parts[k] == 0;
            let is_left_out = |k: usize| is_on_side(k) && !has_points[k];
            if parts.iter().all(|&part| part < divisions) && !(0..3).any(is_left_out) {
                points.push(Place { corners, weights: parts.map(|part| part as f32 / divisions as f32) });
            }
        }
    }
    points
}

fn longest_side(corners: [u32; 3], reference: &[Vec3A]) -> f32 {
    let [a, b, c] = corners.map(|corner| reference[corner as usize]);
    a.distance(b).max(b.distance(c)).max(c.distance(a))
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
    let limits = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
    let (min, max) = vertices.iter().map(at).fold(limits, |(min, max), p| (min.min(p), max.max(p)));
    let centre = 0.5 * (min + max);
    let squared = |vertex: &&u32| at(vertex).distance_squared(centre);
    vertices.iter().min_by(|a, b| squared(a).total_cmp(&squared(b))).copied().unwrap_or_default()
}
