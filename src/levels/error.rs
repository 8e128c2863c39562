//! The error of each level: the largest distance between its surface and that in full detail, in any pose.
//!
//! In: the surfaces of all levels, and moments. Out: a distance in model units for each level. Both directions count:
//! from points in full detail to the level's surface, and from points of the level to the surface in full detail. Each
//! material is compared with itself, so that its borders count. A connected part that a level has lost counts with its
//! radius, as if the level had a single point there, and with its distance from the rest.
//!
//! Points are mapped once, in the reference pose, to the nearest place on the other surface or to one that is near enough
//! ([`Comparison`]). A place moves with its triangle, so in any pose the distance between both is an upper bound of the distance
//! that counts. Only where the bound exceeds the largest distance so far does a search for a nearer place pay, and the point
//! is then mapped to that place.
//!
//! A distance says nothing about normals, texture coordinates and colours. An error is also at least the mean change of these
//! over the surface (`appearance`), multiplied by a share of the extent. So the smaller a character is in the picture, the more
//! its appearance may change.
//!
//! A distance changes most between a point and a place that follow different joints. For each such pair of joints, the pair
//! with the largest distance is a probe. Probes are few, so they are evaluated in all candidates. For each level, moments are
//! added one after the other, each so that the largest distances of its probes grow most. The moments in which the probes are
//! farthest would be neighbours, and say less.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use glam::Vec3A;
use rayon::prelude::*;

use super::comparison::{Comparison, Task, largest_squared};
use super::comparison_points::{FullSurface, LevelSurface};
use super::extremes::{Probe, distances, enlarge, few, growing};
use super::moments::{Moment, MomentPoser};
use super::simplify::Reference;
use super::surface::{NodeBox, Place};
use crate::model::Model;

/// The room for moments that were not evaluated and for points that were not compared.
const MARGIN: f32 = 1.1;

/// The number of poses, with the reference pose, that tell which points matter.
const MAPPED_POSES: usize = 4;
/// The largest number of probes of a level.
const MOST_PROBES: usize = 24;
/// The number of moments that are added for each level.
const MOMENTS_PER_LEVEL: usize = 2;
/// The distance that counts as much as a change of the whole appearance, as a share of the extent. With this number, characters
/// that may be off by one pixel differ little from full detail in the mean FLIP of the picture. A stricter law costs more than it
/// gains.
const APPEARANCE_SHARE: f32 = 0.5;

/// A level that is compared with full detail.
pub(super) struct Level {
    pub surface: LevelSurface,
    /// The mean change of its appearance.
    pub change: f32,
}

/// Returns the error of each level. The distances are measured in all `moments`, in the `extremes` for which the levels were
/// made, and in the worst ones of `candidates`.
pub(super) fn errors(
    model: &Model,
    reference: &Reference,
    full: FullSurface<'_>,
    levels: Vec<Level>,
    [moments, extremes, candidates]: [&[Moment]; 3],
) -> Vec<f32> {
    let mut poser = MomentPoser::new(model);
    let posed: Vec<Vec<Vec3A>> =
        extremes.iter().take(MAPPED_POSES - 1).map(|&moment| poser.positions(moment)).collect();
    let mut poses: Vec<&[Vec3A]> = reference.poses().collect();
    poses.splice(1..1, posed.iter().map(Vec::as_slice));
    poses.truncate(MAPPED_POSES);
    let (surfaces, changes): (Vec<LevelSurface>, Vec<f32>) =
        levels.into_iter().map(|level| (level.surface, level.change)).unzip();
    let Comparison { trees, mut tasks, known_squared: mut worst_squared } = Comparison::new(full, surfaces, &poses);
    let known: Vec<Moment> = moments.iter().chain(extremes).copied().collect();
    let extreme = extreme_moments(model, &tasks, changes.len(), &poses, (&known, candidates));
    for &moment in known.iter().chain(&extreme) {
        let posed = poser.positions(moment);
        let boxes: Vec<OnceLock<Vec<NodeBox>>> = trees.iter().map(|_| OnceLock::new()).collect();
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
    let ascending = worst_squared.into_iter().zip(changes).map(|(squared, change)| {
        least = least.max(MARGIN * squared.sqrt()).max(APPEARANCE_SHARE * reference.extent * change);
        least
    });
    ascending.collect()
}

/// Returns moments in which the probes of each level are farther from their places than in the moments that are `known`.
fn extreme_moments(
    model: &Model,
    tasks: &[Task],
    level_count: usize,
    poses: &[&[Vec3A]],
    (known, candidates): (&[Moment], &[Moment]),
) -> Vec<Moment> {
    let joint = |place: &Place| {
        let influences = model.geometry.influences_of(place.corners[0] as usize);
        influences.first().map_or(0, |influence| influence.joint)
    };
    // The probes of all levels, one level after the other.
    let mut probes: Vec<Probe> = Vec::new();
    let mut ranges = Vec::new();
    for level in 0..level_count {
        let mut farthest = BTreeMap::<(u32, u32), (f32, Probe)>::new();
        for (point, nearest) in tasks.iter().filter(|task| task.level == level).flat_map(Task::pairs) {
            let joints = (joint(&point), joint(&nearest));
            let squared = largest_squared(poses, &point, &nearest);
            if joints.0 != joints.1 && farthest.get(&joints).is_none_or(|(least, _)| squared > *least) {
                farthest.insert(joints, (squared, [point, nearest]));
            }
        }
        let mut own: Vec<(f32, Probe)> = farthest.into_values().collect();
        own.sort_by(|a, b| b.0.total_cmp(&a.0));
        let first = probes.len();
        probes.extend(own.into_iter().take(MOST_PROBES).map(|(_, probe)| probe));
        ranges.push(first..probes.len());
    }
    let mut largest = vec![0.0; probes.len()];
    distances(model, &probes, known).iter().for_each(|own| enlarge(&mut largest, own));
    let candidates = few(candidates);
    let distances = distances(model, &probes, &candidates);
    let chosen = ranges.into_iter().flat_map(|own| growing(&distances, own, &mut largest, MOMENTS_PER_LEVEL));
    chosen.map(|index| candidates[index]).collect()
}
