//! Points of all levels and of full detail, mapped to the other surface.
//!
//! In: the points of `comparison_points`. Out: [`Task`]s, lists of points, each mapped once in the reference pose to the
//! nearest place on the other surface or to one that is near enough.

use glam::Vec3A;
use rayon::prelude::*;

use super::comparison_points::{FullSurface, LevelSurface, PointKind, Points};
use super::surface::{NodeBox, Place, Tree, nearest_place};

/// One of this many points is kept, however near its place is.
const SPREAD: usize = 4;
/// The number of points of a task.
const POINTS_PER_TASK: usize = 1024;
/// A task with fewer points keeps all.
const FEW_POINTS: usize = 256;
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

/// The points of all levels, and the surfaces to which they are compared.
pub(super) struct Comparison {
    pub trees: Vec<Tree>,
    pub tasks: Vec<Task>,
    /// For each level, the largest squared distance between a vertex that it is the first to lose and its surface, in the
    /// reference pose. The level's error is at least this distance, so nearer points need no search.
    pub known_squared: Vec<f32>,
}

impl Task {
    /// Returns each point with its place on the other surface.
    pub fn pairs(&self) -> impl Iterator<Item = (Place, Place)> {
        self.matches.iter().map(|matched| (matched.point, matched.nearest))
    }

    /// Compares all points in one pose. `boxes` returns the boxes of `tree` in this pose.
    pub fn compare<'b>(&mut self, posed: &[Vec3A], tree: &Tree, boxes: impl Fn() -> &'b Vec<NodeBox>) {
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

impl Comparison {
    /// Chooses and maps the points of all levels. `poses` has the positions in the poses that tell which points matter, the
    /// reference pose first.
    pub fn new(full: FullSurface<'_>, levels: Vec<LevelSurface>, poses: &[&[Vec3A]]) -> Self {
        let losses = losses(&levels, poses);
        let known_squared: Vec<f32> = levels.iter().map(farthest_squared).collect();
        let of_levels: Vec<(Vec<Tree>, Vec<Points>)> = levels
            .into_par_iter()
            .map(|mut level| {
                level.thin(&full, &losses);
                (level.trees, level.lists)
            })
            .collect();
        let mut boxes = full.boxes;
        let mut trees = full.trees;
        let mut lists = Vec::new();
        for (level, (own_trees, own_lists)) in of_levels.into_iter().enumerate() {
            let first = trees.len();
            trees.extend(own_trees);
            lists.extend(own_lists.into_iter().map(|list| {
                let target = if list.kind == PointKind::OfLevel { list.target } else { first + list.target };
                (level, Points { target, ..list })
            }));
        }
        boxes.par_extend(trees[boxes.len()..].par_iter().map(|tree| tree.boxes(poses[0])));
        let tasks = lists.par_iter().flat_map(|(level, list)| {
            list.places.par_chunks(POINTS_PER_TASK).map(|places| Task {
                level: *level,
                target: list.target,
                worst_squared: 0.0,
                matches: matches(places, (&trees[list.target], &boxes[list.target]), poses, known_squared[*level]),
                searches_left: SEARCHES_PER_TASK,
            })
        });
        let tasks = tasks.collect();
        Self { trees, tasks, known_squared }
    }
}

/// Returns the largest squared distance between a vertex that the level is the first to lose and its surface, in the reference
/// pose.
fn farthest_squared(level: &LevelSurface) -> f32 {
    level.lost.iter().map(|lost| lost.squared).filter(|squared| squared.is_finite()).fold(0.0, f32::max)
}

/// Returns for each vertex its distance from the surface of the first level without it, squared.
fn losses(levels: &[LevelSurface], poses: &[&[Vec3A]]) -> Vec<f32> {
    let mut losses = vec![0.0; poses[0].len()];
    for lost in levels.iter().flat_map(|level| &level.lost) {
        losses[lost.vertex as usize] = largest_squared(poses, &Place::of_vertex(lost.vertex), &lost.nearest);
    }
    losses
}

/// Returns the largest distance in some poses between a point and the place to which it is mapped, squared.
pub(super) fn largest_squared(poses: &[&[Vec3A]], point: &Place, nearest: &Place) -> f32 {
    let squared = poses.iter().map(|positions| point.position(positions).distance_squared(nearest.position(positions)));
    squared.filter(|squared| squared.is_finite()).fold(0.0, f32::max)
}

/// Maps points to places of a surface that are the nearest in the reference pose, or no farther away than a point before or
/// than `known_squared`. Of many points, the farthest quarter and a quarter of the others are kept for the other poses.
fn matches(points: &[Place], (tree, boxes): (&Tree, &[NodeBox]), poses: &[&[Vec3A]], known_squared: f32) -> Vec<Match> {
    let reference = poses[0];
    let Some(mut nearest) = tree.any_place() else { return Vec::new() };
    let mut worst_squared = known_squared;
    let matched = |&point: &Place| {
        let position = point.position(reference);
        // Neighbouring points are near the same triangle, so the search rules out almost everything at once.
        let mut squared;
        (nearest, squared) = nearest_place(reference, position, nearest.corners);
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
