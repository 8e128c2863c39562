//! The points of all surfaces that are compared, and the surfaces to which they are compared.
//!
//! In: the triangles of all levels. Out: [`Task`]s, lists of points, each mapped once in the reference pose to the nearest
//! place on the other surface. The points are the vertices in full detail that a level has lost, the centroids of
//! triangles, and a grid on large triangles.
//!
//! Of many points, those that matter most are compared, and a few others, evenly spread. A vertex matters by its distance
//! from the surface of the level that lost it, so the tip of a spike is not left out. A point of a level matters by the lost
//! vertices next to its triangle's corners, and by the longest side of its triangle. The corners are on the surface in full
//! detail, so no point is farther from it than that.

use glam::Vec3A;
use rayon::prelude::*;

use super::parts::{Part, parts};
use super::surface::{Box, Place, Tree, far_vertices};
use super::triangles::Triangles;
use crate::model::Model;

/// The number of points that are mapped for each level, at least: of the level, and in full detail.
const LEAST_POINTS: [usize; 2] = [8192, 4096];
/// Of more points, at least one of this many is compared.
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
const MOST_DIVISIONS: usize = 8;
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
    /// Whether they belong to the surface in full detail.
    of_full: bool,
    places: Vec<Place>,
}

/// One material in full detail.
struct FullMaterial {
    material: u32,
    parts: Vec<Part>,
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
                if let Some((nearest, nearest_squared)) = tree.nearest(boxes(), posed, point, bound) {
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
    reference: &[Vec3A],
) -> (Vec<Tree>, Vec<Task>) {
    let full = full_triangles.by_material(&model.geometry);
    let mut trees: Vec<Tree> = full.values().map(|triangles| Tree::new(triangles.clone(), reference)).collect();
    let full: Vec<FullMaterial> = full
        .into_iter()
        .map(|(material, triangles)| FullMaterial {
            material,
            spacing: spacing(&triangles, reference),
            parts: parts(&triangles, reference),
        })
        .collect();
    let losses = losses(full_triangles, levels, reference);
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
            let target = if list.of_full { first + list.target } else { list.target };
            Points { target, ..list }
        }));
    }
    let boxes: Vec<Vec<Box>> = trees.par_iter().map(|tree| tree.boxes(reference)).collect();
    let tasks = lists.par_iter().flat_map(|list| {
        list.places.par_chunks(POINTS_PER_TASK).map(|places| Task {
            level: list.level,
            target: list.target,
            worst_squared: 0.0,
            matches: matches(places, &trees[list.target], &boxes[list.target], reference),
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
    let centroid_count = if full_count <= LEAST_POINTS[1] { full_count } else { 0 };
    let mut is_in_level = vec![false; reference.len()];
    triangles.indices.iter().for_each(|&vertex| is_in_level[vertex as usize] = true);
    let mut is_kept = vec![false; reference.len()];
    // Points of parts that the level has lost.
    let mut lost: Vec<Place> = Vec::new();
    for (target, material) in full.iter().enumerate() {
        let own = by_material.remove(&material.material).unwrap_or_default();
        own.as_flattened().iter().for_each(|&vertex| is_kept[vertex as usize] = true);
        let places = own.iter().flat_map(|&corners| grid(corners, material.spacing, reference)).collect();
        lists.push(Points { level, target, of_full: false, places });
        let mut removed = Vec::new();
        for part in &material.parts {
            let centroids = part.triangles.iter().take(centroid_count).map(|&corners| centroid(corners));
            let vertices =
                part.vertices.iter().filter(|&&vertex| !is_kept[vertex as usize]).map(|&vertex| corner(vertex));
            let places = vertices.chain(centroids);
            if part.vertices.iter().any(|&vertex| is_kept[vertex as usize]) {
                removed.extend(places);
            } else {
                let places: Vec<Place> = places.collect();
                lost.extend_from_slice(&places);
                lists.push(Points { level, target: trees.len(), of_full: true, places });
                trees.push(Tree::new(vec![[middle(&part.vertices, reference); 3]], reference));
            }
        }
        own.as_flattened().iter().for_each(|&vertex| is_kept[vertex as usize] = false);
        if !own.is_empty() {
            lists.push(Points { level, target: trees.len(), of_full: true, places: removed });
            trees.push(Tree::new(own, reference));
        }
    }
    if !lost.is_empty() {
        lists.push(Points { level, target: trees.len(), of_full: true, places: lost });
        trees.push(Tree::new(triangles.indices.as_chunks().0.to_vec(), reference));
    }
    let places = |of_full: bool, lists: &mut Vec<Points>| -> Vec<Vec<Place>> {
        let own = lists.iter_mut().filter(|list| list.of_full == of_full);
        own.map(|list| std::mem::take(&mut list.places)).collect()
    };
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
    let mut of_full =
        thin(places(true, &mut lists), LEAST_POINTS[1], |place| largest(place.corners, &loss)).into_iter();
    let mut of_level = thin(places(false, &mut lists), LEAST_POINTS[0], of_triangle).into_iter();
    for list in &mut lists {
        list.places = if list.of_full { of_full.next() } else { of_level.next() }.unwrap_or_default();
    }
    (trees, lists)
}

/// Leaves points out, if there are many: keeps the most important ones, and a few others evenly.
fn thin(mut lists: Vec<Vec<Place>>, least_points: usize, importance: impl Fn(&Place) -> f32) -> Vec<Vec<Place>> {
    let mut all: Vec<f32> = lists.iter().flatten().map(&importance).collect();
    let most = least_points.max(all.len() / MOST_STRIDE);
    if all.len() <= most {
        return lists;
    }
    let important = most - most / SPREAD;
    let (_, &mut least, _) = all.select_nth_unstable_by(important, |a, b| b.total_cmp(a));
    let stride = (all.len() - important).div_ceil(most / SPREAD);
    for list in &mut lists {
        let mut index = 0;
        list.retain(|place| {
            index += 1;
            importance(place) > least || (index - 1) % stride == 0
        });
    }
    lists
}

/// Returns for each vertex its distance from the surface of the first level without it, squared.
fn losses(full: &Triangles, levels: &[Triangles], reference: &[Vec3A]) -> Vec<f32> {
    let finer = std::iter::once(full).chain(levels);
    let steps: Vec<Vec<(f32, u32)>> = finer
        .zip(levels)
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|(finer, level)| far_vertices(reference, finer, level))
        .collect();
    let mut losses = vec![0.0; reference.len()];
    for (squared, vertex) in steps.into_iter().flatten() {
        losses[vertex as usize] = squared;
    }
    losses
}

/// Maps points to the nearest places of a surface in the reference pose. Of many points, the farthest quarter and a quarter
/// of the others are kept for the other poses.
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
    let all: Vec<Match> = points.iter().map(matched).collect();
    if all.len() <= FEW_POINTS {
        return all;
    }
    let squared =
        |matched: &Match| matched.point.position(reference).distance_squared(matched.nearest.position(reference));
    let mut distances: Vec<f32> = all.iter().map(squared).collect();
    let (_, &mut least, _) = distances.select_nth_unstable_by(points.len() / SPREAD, |a, b| b.total_cmp(a));
    let is_kept = |(index, matched): &(usize, Match)| index % SPREAD == 0 || squared(matched) > least;
    all.into_iter().enumerate().filter(is_kept).map(|(_, matched)| matched).collect()
}

fn corner(vertex: u32) -> Place {
    Place { corners: [vertex; 3], weights: [1.0, 0.0, 0.0] }
}

fn centroid(corners: [u32; 3]) -> Place {
    Place { corners, weights: [1.0 / 3.0; 3] }
}

/// Returns a grid of points on a triangle about as dense as `spacing`, without its corners.
fn grid(corners: [u32; 3], spacing: f32, reference: &[Vec3A]) -> Vec<Place> {
    let divisions = ((longest_side(corners, reference) / spacing).ceil() as usize).clamp(1, MOST_DIVISIONS);
    let mut points = vec![centroid(corners)];
    // A triangle that is not large has the midpoints of its sides.
    let divisions = divisions.max(2);
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
