//! A clip for a model that has a skeleton and no clip: each joint turns out and back, in the order of the tree, as riggers test
//! the range of motion. It shows what each joint moves.

use std::collections::BTreeSet;

use glam::{Quat, Vec3, Vec4};

use crate::model::{Clip, Interpolation, Model, Track};

/// The name of the clip.
pub const EXERCISE: &str = "exercise";
/// The largest turn of a joint.
const TURN_DEGREES: f32 = 30.0;
/// The longest time between the beginnings of two joints. Each takes twice as long.
const MOST_STEP_SECONDS: f32 = 0.4;
/// The longest time of the clip, but for the last joint.
const MOST_SECONDS: f32 = 20.0;
/// The largest number of joints that turn. Each has its own timeline.
const MOST_JOINTS: usize = 1024;

/// Returns the clip, if the model has joints that can turn. Rigid meshes of such a model turn too.
pub fn exercise(model: &Model) -> Option<Clip> {
    let skeleton = &model.skeleton;
    let has_joints = model.palette.joints().next().is_some();
    let nodes: BTreeSet<u32> = model.palette.nodes.iter().copied().collect();
    let joints = nodes.into_iter().filter(|&node| skeleton.is_free(node)).map(|node| node as usize);
    let joints: Vec<usize> = joints.take(MOST_JOINTS).collect();
    if joints.is_empty() || !has_joints {
        return None;
    }
    let step_seconds = MOST_STEP_SECONDS.min(MOST_SECONDS / joints.len() as f32);
    let mut clip = Clip { name: Some(EXERCISE.to_owned()), ..Clip::default() };
    for (rank, &node) in joints.iter().enumerate() {
        let start = rank as f32 * step_seconds;
        let rest = skeleton.rest.rotations[node];
        let turned = rest * Quat::from_axis_angle(axis_of(model, node), TURN_DEGREES.to_radians());
        let times = [start, start + 0.5 * step_seconds, start + 1.5 * step_seconds, start + 2.0 * step_seconds];
        clip.timelines.push(times.to_vec());
        clip.rotations.push(Track {
            node: node as u32,
            timeline: rank as u32,
            interpolation: Interpolation::Linear,
            values: [rest, turned, turned, rest].map(Vec4::from).to_vec(),
        });
        clip.duration_seconds = times[3];
    }
    Some(clip)
}

/// Returns the axis around which a joint turns: across the bone to its first child.
fn axis_of(model: &Model, node: usize) -> Vec3 {
    let skeleton = &model.skeleton;
    let is_child = |&child: &usize| skeleton.parent(child) == Some(node);
    // Children follow their parents closely.
    let child = (node + 1..skeleton.len().min(node + MOST_JOINTS)).find(is_child);
    let bone = child.map_or(Vec3::Y, |child| skeleton.rest.translations[child]);
    // Products of large or tiny numbers would leave the range of numbers.
    let bone = bone / bone.abs().max_element().max(f32::MIN_POSITIVE);
    let across = if bone.x.abs() > bone.y.abs().max(bone.z.abs()) { Vec3::Z } else { Vec3::X };
    bone.cross(across).cross(bone).normalize_or(across)
}
