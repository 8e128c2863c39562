//! Root motion: clips that carry the body away, kept in place.
//!
//! In: a model with its clips. Out: the same clips without the straight part of the body's way over the ground, which is in
//! [`Clip::drift`], so that whoever draws the body can move it by that. The rest of the way stays, and heights do.
//!
//! The body is what moves with one node: the highest one that a clip can move. Of several such nodes, that of the most palette
//! entries counts, and those that go the same way go with it. Parts of which none is more than a half are no body. The place of
//! the body is the mean of its palette's nodes.
//!
//! | the way | the clip's drift |
//! |---|---|
//! | none, a step to the side, there and back, a circle | none |
//! | ends [`LEAST_DRIFT`] heights or more away, in a pose like the first one | from the first place to the last |
//! | ends more than a height away, in any pose | the same |
//! | ends nearer, in another pose (a fall) | none |
//!
//! What remains of a way with turns or jumps is around the line. If the middle of that is more than a height beside the rest
//! pose, the clip was made elsewhere, and it is moved to the rest pose.
//!
//! The line is subtracted from the keys of the node, in double precision. That is exact between them, for straight lines as for
//! splines. A step becomes two keys at the same time.

use std::collections::BTreeMap;

use glam::{Affine3A, DVec3, Vec2, Vec3, Vec3Swizzles};

use crate::animation::{PoseScratch, pose_model};
use crate::measure::rest_height;
use crate::model::{Clip, Interpolation, Model, Track};

/// The smallest drift, in heights of the body. A shorter way is that of a pose.
const LEAST_DRIFT: f64 = 0.1;
/// The largest mean distance of the nodes between the first and the last pose that are alike, in heights of the body.
const MOST_CHANGE: f64 = 0.08;
/// The largest difference between the ways of two nodes that go together, in heights of the body.
const MOST_APART: f64 = 0.5;
/// The number of steps into which a clip is divided to find its middle.
const STEPS: usize = 16;
/// The largest number of places of nodes that are looked at. The clips of hostile files that are left stay as they are.
const MOST_PLACES: usize = 1 << 24;

pub fn keep_in_place(model: &mut Model) {
    let Some(height) = rest_height(model).map(f64::from) else { return };
    let bodies = bodies(model);
    let places = |pose: &[Affine3A]| pose.iter().map(|node| Vec3::from(node.translation).as_dvec3()).collect();
    let matrices = model.skeleton.rest_matrices();
    let rest: Vec<DVec3> = places(&matrices);
    let mut scratch = PoseScratch::for_model(model);
    let mut clips = std::mem::take(&mut model.clips);
    let most = MOST_PLACES / ((STEPS + 1) * rest.len().max(1));
    for clip in clips.iter_mut().filter(|clip| clip.duration_seconds > 0.0).take(most) {
        let at = |step: usize| f64::from(clip.duration_seconds) * step as f64 / STEPS as f64;
        let mut pose = |step| places(pose_model(model, Some(clip), at(step), &mut scratch).model_from_node);
        let poses: Vec<Vec<DVec3>> = (0..=STEPS).map(&mut pose).collect();
        let way = |(&top, nodes): (&u32, &Vec<usize>)| (top, nodes.len(), Movement::of(nodes, &rest, &poses));
        let ways: Vec<(u32, usize, Movement)> = bodies.iter().map(way).collect();
        let Some((.., body)) = ways.iter().max_by_key(|(_, count, _)| *count) else { continue };
        let (start, drift) = body.line(height);
        if (start, drift) == (DVec3::ZERO, DVec3::ZERO) || !drift.as_vec3().is_finite() {
            continue;
        }
        let goes_along = |(.., way): &&(u32, usize, Movement)| way.distance(body) <= MOST_APART * height;
        if 2 * ways.iter().filter(goes_along).map(|(_, count, _)| count).sum::<usize>() <= model.palette.len() {
            continue;
        }
        let mut moves = false;
        for (top, ..) in ways.iter().filter(goes_along) {
            // Only nodes with a matrix, which never move, are above this one.
            let above = model.skeleton.parent(*top as usize).map_or(Affine3A::IDENTITY, |parent| matrices[parent]);
            let parent_from_model = above.as_daffine3().matrix3.inverse();
            let rest = model.skeleton.rest.translations[*top as usize];
            moves |= subtract(parent_from_model * start, parent_from_model * drift, clip, *top, rest);
        }
        clip.drift = if moves { drift.xz().as_vec2() } else { Vec2::ZERO };
    }
    model.clips = clips;
}

/// Returns the nodes of the palette below each highest node that a clip can move.
fn bodies(model: &Model) -> BTreeMap<u32, Vec<usize>> {
    let skeleton = &model.skeleton;
    let mut tops: Vec<Option<u32>> = Vec::with_capacity(skeleton.len());
    for node in 0..skeleton.len() {
        let above = skeleton.parent(node).and_then(|parent| tops[parent]);
        tops.push(above.or_else(|| Some(node as u32).filter(|&node| skeleton.is_free(node))));
    }
    let mut bodies = BTreeMap::<u32, Vec<usize>>::new();
    for node in model.palette.nodes.iter().map(|&node| node as usize) {
        if let Some(top) = tops[node] {
            bodies.entry(top).or_default().push(node);
        }
    }
    bodies
}

/// How a body moves over the ground throughout a clip.
struct Movement {
    /// From the first place to the last.
    drift: DVec3,
    /// From the rest pose to the mean of all places.
    middle: DVec3,
    /// The mean distance of the nodes between the first and the last pose, without the drift.
    change: f64,
}

impl Movement {
    fn of(nodes: &[usize], rest: &[DVec3], poses: &[Vec<DVec3>]) -> Self {
        let count = nodes.len() as f64;
        let mean = |pose: &[DVec3]| nodes.iter().map(|&node| pose[node]).sum::<DVec3>().with_y(0.0) / count;
        let (first, last) = (&poses[0], &poses[poses.len() - 1]);
        let drift = mean(last) - mean(first);
        let middle = poses.iter().map(|pose| mean(pose)).sum::<DVec3>() / poses.len() as f64 - mean(rest);
        let change = nodes.iter().map(|&node| (last[node] - drift).distance(first[node])).sum::<f64>() / count;
        Self { drift, middle, change }
    }

    fn distance(&self, other: &Self) -> f64 {
        self.drift.distance(other.drift).max(self.middle.distance(other.middle))
    }

    /// Returns the line that the body leaves: where it starts, and how far it goes.
    fn line(&self, height: f64) -> (DVec3, DVec3) {
        let length = self.drift.length();
        let drifts = length > height || length >= LEAST_DRIFT * height && self.change <= MOST_CHANGE * height;
        let drift = if drifts { self.drift } else { DVec3::ZERO };
        // What is around the line has its middle here.
        let middle = self.middle - 0.5 * drift;
        (if middle.length() > height { middle } else { DVec3::ZERO }, drift)
    }
}

/// Subtracts a line, in the space of its parent, from the translation of a node. Returns whether the numbers allow it.
fn subtract(start: DVec3, drift: DVec3, clip: &mut Clip, node: u32, rest: Vec3) -> bool {
    let slope = drift / f64::from(clip.duration_seconds);
    let known = clip.translations.iter().position(|track| track.node == node);
    let old = known.map(|index| &clip.translations[index]);
    let interpolation = old.map_or(Interpolation::Linear, |track| track.interpolation);
    let is_spline = interpolation == Interpolation::CubicSpline;
    // The keys: in-tangent, value and out-tangent.
    let still = |value: Vec3| [Vec3::ZERO, value, Vec3::ZERO];
    let mut keys: Vec<(f32, [Vec3; 3])> = Vec::new();
    for track in old.iter() {
        let values = track.values.chunks_exact(if is_spline { 3 } else { 1 });
        for (&time, values) in clip.timelines[track.timeline as usize].iter().zip(values) {
            if let (Some(&(_, before)), Interpolation::Step) = (keys.last(), interpolation) {
                keys.push((time, before));
            }
            keys.push((time, <[Vec3; 3]>::try_from(values).unwrap_or_else(|_| still(values[0]))));
        }
    }
    // Before the first key and after the last one the value stays.
    let value_of = |key: Option<&(f32, [Vec3; 3])>| key.map_or((0.0, rest), |&(time, [_, value, _])| (time, value));
    let ((first, at_first), (last, at_last)) = (value_of(keys.first()), value_of(keys.last()));
    if first > 0.0 || keys.is_empty() {
        keys.iter_mut().take(1).for_each(|(_, key)| key[0] = Vec3::ZERO);
        keys.insert(0, (0.0, still(at_first)));
    }
    if last < clip.duration_seconds {
        keys.iter_mut().next_back().into_iter().for_each(|(_, key)| key[2] = Vec3::ZERO);
        keys.push((clip.duration_seconds, still(at_last)));
    }
    let moved = |value: Vec3, by: DVec3| (value.as_dvec3() - by).as_vec3();
    let mut values = Vec::with_capacity(keys.len());
    for &(time, [before, value, after]) in &keys {
        let value = moved(value, start + slope * f64::from(time));
        let all = [moved(before, slope), value, moved(after, slope)];
        values.extend_from_slice(if is_spline { &all } else { &all[1..2] });
    }
    // A parent without an inverse, or numbers that overflow.
    if !values.iter().all(|value| value.is_finite()) {
        return false;
    }
    let interpolation = if is_spline { Interpolation::CubicSpline } else { Interpolation::Linear };
    let timeline = clip.timelines.len() as u32;
    clip.timelines.push(keys.iter().map(|(time, _)| *time).collect());
    let new = Track { node, timeline, interpolation, values };
    match known {
        Some(index) => clip.translations[index] = new,
        None => clip.translations.push(new),
    }
    true
}
