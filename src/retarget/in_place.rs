//! Root motion: clips that carry the body away, kept in place.
//!
//! In: a model with its clips. Out: the same clips without the straight part of the body's way over the ground, which is in
//! [`Clip::drift`], so that whoever draws the body can move it by that. The rest of the way stays, and heights do.
//!
//! The body is what moves with one node: the highest one that a clip can move. Of several such nodes, that of the most palette
//! entries counts, and those that go the same way go with it. The place of the body is the mean of its palette's nodes.
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

use glam::{DVec3, Vec2, Vec3};

use crate::animation::{PoseScratch, pose_model};
use crate::measure::rest_height;
use crate::model::{Clip, Interpolation, Model, Skeleton, Track};

/// The smallest drift, in heights of the body. A shorter way is that of a pose.
const LEAST_DRIFT: f64 = 0.1;
/// The largest mean distance of the nodes between the first and the last pose that are alike, in heights of the body.
const MOST_CHANGE: f64 = 0.08;
/// The number of steps into which a clip is divided to find its middle.
const STEPS: u32 = 16;

/// Keeps the body in place in all clips.
pub fn keep_in_place(model: &mut Model) {
    let Some(height) = rest_height(model).map(f64::from) else { return };
    let bodies = bodies(model);
    let mut scratch = PoseScratch::for_model(model);
    let mut clips = std::mem::take(&mut model.clips);
    for clip in clips.iter_mut().filter(|clip| clip.duration_seconds > 0.0) {
        let way = |(&top, nodes): (&u32, &Vec<usize>)| (top, nodes.len(), Way::of(model, clip, nodes, &mut scratch));
        let ways: Vec<(u32, usize, Way)> = bodies.iter().map(way).collect();
        let Some((.., body)) = ways.iter().max_by_key(|(_, count, _)| *count) else { continue };
        let line = body.line(height);
        if line != Line::default() {
            clip.drift = Vec2::new(line.drift.x as f32, line.drift.z as f32);
            for (top, ..) in ways.iter().filter(|(.., way)| way.drift.distance(body.drift) <= LEAST_DRIFT * height) {
                subtract(line, clip, &model.skeleton, *top);
            }
        }
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

/// The way of a body over the ground throughout a clip.
struct Way {
    /// From the first place to the last.
    drift: DVec3,
    /// From the rest pose to the mean of all places.
    middle: DVec3,
    /// The mean distance of the nodes between the first and the last pose, without the drift.
    change: f64,
}

/// A line over the ground in model space, along which a clip goes.
#[derive(Clone, Copy, Default, PartialEq)]
struct Line {
    start: DVec3,
    drift: DVec3,
}

impl Way {
    fn of(model: &Model, clip: &Clip, nodes: &[usize], scratch: &mut PoseScratch) -> Self {
        let mut places = |clip: Option<&Clip>, seconds: f64| -> Vec<DVec3> {
            let pose = pose_model(model, clip, seconds, scratch).model_from_node;
            nodes.iter().map(|&node| Vec3::from(pose[node].translation).as_dvec3()).collect()
        };
        let mean = |places: &[DVec3]| places.iter().sum::<DVec3>().with_y(0.0) / places.len() as f64;
        let rest = mean(&places(None, 0.0));
        let share = f64::from(clip.duration_seconds) / f64::from(STEPS);
        let poses: Vec<Vec<DVec3>> = (0..=STEPS).map(|step| places(Some(clip), share * f64::from(step))).collect();
        let (first, last) = (&poses[0], &poses[STEPS as usize]);
        let drift = mean(last) - mean(first);
        let middle = poses.iter().map(|pose| mean(pose)).sum::<DVec3>() / poses.len() as f64 - rest;
        let change = first.iter().zip(last).map(|(a, b)| (*b - drift).distance(*a)).sum::<f64>() / nodes.len() as f64;
        Self { drift, middle, change }
    }

    /// Returns the line that the body leaves.
    fn line(&self, height: f64) -> Line {
        let length = self.drift.length();
        let drifts = length > height || length >= LEAST_DRIFT * height && self.change <= MOST_CHANGE * height;
        let drift = if drifts { self.drift } else { DVec3::ZERO };
        // What is around the line has its middle here.
        let middle = self.middle - 0.5 * drift;
        Line { start: if middle.length() > height { middle } else { DVec3::ZERO }, drift }
    }
}

/// Subtracts a line from the translation of a node.
fn subtract(line: Line, clip: &mut Clip, skeleton: &Skeleton, node: u32) {
    // Only nodes with a matrix, which never move, are above this one.
    let above = skeleton.parent(node as usize).map(|parent| skeleton.rest_matrices()[parent].as_daffine3());
    let parent_from_model = above.unwrap_or_default().matrix3.inverse();
    let duration = f64::from(clip.duration_seconds);
    let (start, slope) = (parent_from_model * line.start, parent_from_model * line.drift / duration);
    if !(start.is_finite() && slope.is_finite()) {
        return;
    }
    // The keys: in-tangent, value and out-tangent.
    let still = |value: Vec3| [Vec3::ZERO, value, Vec3::ZERO];
    let mut keys: Vec<(f32, [Vec3; 3])> = Vec::new();
    let known = clip.translations.iter().position(|track| track.node == node);
    let old = known.map(|index| clip.translations.swap_remove(index));
    let interpolation = old.as_ref().map_or(Interpolation::Linear, |track| track.interpolation);
    let is_spline = interpolation == Interpolation::CubicSpline;
    if let Some(track) = &old {
        let values = track.values.chunks_exact(if is_spline { 3 } else { 1 });
        for (&time, values) in clip.timelines[track.timeline as usize].iter().zip(values) {
            let before = keys.last().filter(|_| interpolation == Interpolation::Step);
            keys.extend(before.map(|&(_, before)| (time, before)));
            keys.push((
                time,
                if let &[before, value, after] = values { [before, value, after] } else { still(values[0]) },
            ));
        }
    }
    // Before the first key and after the last one the value stays.
    let rest = skeleton.rest.translations[node as usize];
    let [first, last] =
        [keys.first(), keys.last()].map(|key| key.map_or((0.0, rest), |&(time, [_, value, _])| (time, value)));
    if first.0 > 0.0 || keys.is_empty() {
        keys.iter_mut().take(1).for_each(|(_, key)| key[0] = Vec3::ZERO);
        keys.insert(0, (0.0, still(first.1)));
    }
    if last.0 < clip.duration_seconds {
        keys.iter_mut().last().into_iter().for_each(|(_, key)| key[2] = Vec3::ZERO);
        keys.push((clip.duration_seconds, still(last.1)));
    }
    let moved = |value: Vec3, by: DVec3| (value.as_dvec3() - by).as_vec3();
    let of_key = |&(time, [before, value, after]): &(f32, [Vec3; 3])| {
        let value = moved(value, start + slope * f64::from(time));
        if is_spline { vec![moved(before, slope), value, moved(after, slope)] } else { vec![value] }
    };
    let interpolation = if is_spline { Interpolation::CubicSpline } else { Interpolation::Linear };
    let (values, timeline) = (keys.iter().flat_map(of_key).collect(), clip.timelines.len() as u32);
    clip.timelines.push(keys.iter().map(|(time, _)| *time).collect());
    clip.translations.push(Track { node, timeline, interpolation, values });
}
