//! The joints that a level follows. A distant character needs no fingers: they follow the hand.
//!
//! In: the triangles of all levels, their distances from full detail, and moments. Out: for each level, the palette entry that
//! stands in for each entry, and distances that say what this costs. A joint may be left to the next joint above it if that
//! moves the surface little in all moments: on average at most [`MEAN_SHARE`] of the level's mean distance, and nowhere
//! farther than [`LARGEST_SHARE`] of its error. The cheapest joints are left first. Each level starts with the stand-ins of
//! the finer level, so the entries of a coarser level are among those of the finer one, and [`order`](crate::model::order)
//! can number them so that each level needs a prefix.

use std::collections::BTreeMap;

use glam::Vec3;

use super::error::Distances;
use super::moments::{Moment, MomentPoser};
use super::triangles::{Triangles, used_vertices};
use crate::model::Model;
use crate::shader_types::JointMatrix;

/// The share of a level's mean distance by which it may grow.
const MEAN_SHARE: f32 = 0.1;
/// The share of a level's error that a vertex may move by.
const LARGEST_SHARE: f32 = 0.5;
/// The number of vertices that are measured.
const VERTICES: usize = 512;

/// Models with more entries follow all of them, which bounds the time.
const MOST_ENTRIES: usize = 512;

/// A vertex that follows an entry: its weight in the mean, the entry's share of it, and its bind position.
type Follower = (f32, f32, Vec3);

pub(super) type StandIns = Vec<u32>;

/// Returns the stand-ins of each level, finest first. The distances grow by their cost. `extent` is the size of the model.
pub(super) fn stand_ins(
    model: &Model,
    levels: &[Triangles],
    distances: &mut [Distances],
    moments: &[Moment],
    extent: f32,
) -> Vec<StandIns> {
    let mut poser = MomentPoser::new(model);
    let palettes: Vec<Vec<JointMatrix>> = moments.iter().map(|&moment| poser.pose(moment).palette.to_vec()).collect();
    let above = entries_above(model);
    let mut stand_ins: StandIns = (0..model.palette.len() as u32).collect();
    let of_level = |(triangles, distances): (&Triangles, &mut Distances)| {
        let followers = followers(model, triangles);
        let measure = |entry: u32, stand_in: u32| moved(&followers[entry as usize], &palettes, [entry, stand_in]);
        if model.palette.len() <= MOST_ENTRIES {
            let most = (MEAN_SHARE * distances.mean, LARGEST_SHARE * distances.error(extent));
            let (mean, largest) = leave(&above, &mut stand_ins, measure, most);
            distances.mean += mean;
            distances.largest += largest;
        }
        stand_ins.clone()
    };
    levels.iter().zip(distances).map(of_level).collect()
}

/// Leaves the cheapest entries to those above them, one after the other. Returns the mean and the largest distance by which
/// that moves vertices, at most `most`.
fn leave(
    above: &[Option<u32>],
    stand_ins: &mut StandIns,
    measure: impl Fn(u32, u32) -> (f32, f32),
    (most_mean, most_anywhere): (f32, f32),
) -> (f32, f32) {
    // The entries for which each one stands in, itself among them.
    let mut groups = BTreeMap::<u32, Vec<u32>>::new();
    for (entry, &stand_in) in (0..).zip(stand_ins.iter()) {
        groups.entry(stand_in).or_default().push(entry);
    }
    let cost = |group: &[u32], stand_in: u32| {
        let costs = group.iter().map(|&entry| measure(entry, stand_in));
        costs.fold((0.0, 0.0f32), |(mean, largest), (own, own_largest)| (mean + own, largest.max(own_largest)))
    };
    let mut costs: BTreeMap<u32, (f32, f32)> = groups.iter().map(|(&own, group)| (own, cost(group, own))).collect();
    let mut next: BTreeMap<u32, (f32, f32)> = BTreeMap::new();
    loop {
        let mut cheapest: Option<(f32, u32, u32)> = None;
        let total = costs.values().fold((0.0, 0.0f32), |(sum, most), &(mean, largest)| (sum + mean, most.max(largest)));
        for (&own, group) in &groups {
            let Some(stand_in) = above[own as usize].map(|entry| stand_ins[entry as usize]) else { continue };
            let (mean, largest) = *next.entry(own).or_insert_with(|| cost(group, stand_in));
            let added = mean - costs[&own].0;
            let is_allowed = total.0 + added <= most_mean && largest <= most_anywhere;
            if is_allowed && cheapest.is_none_or(|(least, ..)| added < least) {
                cheapest = Some((added, own, stand_in));
            }
        }
        let Some((_, own, stand_in)) = cheapest else { return total };
        let (group, cost) = (groups.remove(&own).unwrap_or_default(), next[&own]);
        costs.remove(&own);
        // What is left to another entry than before costs something else, and so does a larger group.
        let stand_in_above = |other: u32| above[other as usize].map(|entry| stand_ins[entry as usize]);
        next.retain(|&other, _| other != stand_in && stand_in_above(other) != Some(own));
        group.iter().for_each(|&entry| stand_ins[entry as usize] = stand_in);
        groups.entry(stand_in).or_default().extend(group);
        let of_stand_in = costs.entry(stand_in).or_default();
        *of_stand_in = (of_stand_in.0 + cost.0, of_stand_in.1.max(cost.1));
    }
}

/// Returns the joint above each joint: the first palette entry of the next joint of a skin among the node's ancestors.
fn entries_above(model: &Model) -> Vec<Option<u32>> {
    let palette = &model.palette;
    let mut entry_of_node = vec![None; model.skeleton.len()];
    for entry in palette.joints() {
        let own = &mut entry_of_node[palette.nodes[entry as usize] as usize];
        *own = own.or(Some(entry));
    }
    let above = model.skeleton.nearest_above(&entry_of_node);
    let of_entry = |(&node, &is_joint): (&u32, &bool)| above[node as usize].filter(|_| is_joint);
    palette.nodes.iter().zip(&palette.is_joint).map(of_entry).collect()
}

/// Returns the vertices of a level that follow each palette entry. Their weights are shares of the area.
fn followers(model: &Model, triangles: &Triangles) -> Vec<Vec<Follower>> {
    let geometry = &model.geometry;
    let mut areas = vec![0.0f32; geometry.vertex_count()];
    for corners in triangles.0.iter().flatten() {
        let [a, b, c] = corners.map(|corner| geometry.positions[corner as usize]);
        let area = (b - a).cross(c - a).length();
        corners.iter().for_each(|&corner| areas[corner as usize] += area);
    }
    let used = used_vertices(triangles.0.iter().flatten());
    let measured = || used.iter().step_by(used.len().div_ceil(VERTICES).max(1)).map(|&vertex| vertex as usize);
    let whole: f32 = measured().map(|vertex| areas[vertex]).sum();
    let mut followers = vec![Vec::new(); model.palette.len()];
    for vertex in measured() {
        let weight = if whole > 0.0 { areas[vertex] / whole } else { 0.0 };
        for influence in geometry.influences_of(vertex) {
            followers[influence.joint as usize].push((weight, influence.weight, geometry.positions[vertex]));
        }
    }
    followers
}

/// Returns by how much vertices move if they follow another entry: the mean over all poses, and the largest distance.
fn moved(followers: &[Follower], palettes: &[Vec<JointMatrix>], entries: [u32; 2]) -> (f32, f32) {
    if entries[0] == entries[1] {
        return (0.0, 0.0);
    }
    let (mut sum, mut largest) = (0.0, 0.0f32);
    for palette in palettes {
        let [own, other] = entries.map(|entry| &palette[entry as usize]);
        for &(weight, share, position) in followers {
            let distance = share * own.transform_point(position).distance(other.transform_point(position));
            // A pose that overflows is never drawn.
            if distance.is_finite() {
                sum += weight * distance;
                largest = largest.max(distance);
            }
        }
    }
    (sum / palettes.len().max(1) as f32, largest)
}
