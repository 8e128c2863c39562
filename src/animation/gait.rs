//! The gait of a clip: how fast, and in which direction, its feet would move a character that stays in place.
//!
//! In: a model and a clip. Out: a velocity over the ground, and the distance of the feet from the line of travel. Most
//! clips of walking keep the character in place, so a foot that stands on the ground moves backwards, as on a treadmill.
//! The character that walks with the opposite velocity leaves that foot where it is.
//!
//! The clip is sampled at even steps. Vertices near the ground are in contact, and the median of their horizontal
//! velocities is the treadmill's. Feet that land or lift off are few, so they do not move the median. The ground is the
//! lower quartile of the lowest points of all steps, because nothing touches it while a runner flies.
//!
//! The velocity is exactly zero for clips that go nowhere: most contacts stand still (idle, a dance), they do not move
//! alike (feet that shuffle, a bird's belly), or the clip moves the character by itself and does not end where it began.

use glam::{Vec2, Vec3};

use super::{BindPose, Pose, PoseScratch, joint_matrices, pose_model, skin_vertex};
use crate::model::{Clip, Model};
use crate::shader_types::JointMatrix;

/// The number of steps into which a clip is divided.
const STEPS: usize = 48;
/// The largest number of vertices that are observed. Of larger models every second, third … vertex is.
const MAX_VERTICES: usize = 2048;
/// The largest distance of a contact from the ground, as a share of the model's height.
const CONTACT_SHARE: f32 = 0.015;
/// The smallest speed, in heights of the model a second. Slower feet stand.
const LEAST_SPEED: f32 = 0.05;
/// The smallest share of the contacts that move about as fast as the median, in about the same direction.
const LEAST_AGREEMENT: f32 = 0.6;
/// The largest distance between the first and the last pose of a clip in place, as a share of the model's height.
const LARGEST_DRIFT: f32 = 0.05;

/// The gait of a clip. See the module.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Gait {
    /// The velocity in model space: x and z, in units a second. Zero for clips that go nowhere.
    pub velocity: Vec2,
    /// The mean distance of the contacts from the line through the model's origin in the direction of travel.
    pub stance: f32,
}

/// A vertex in contact with the ground during one step.
struct Contact {
    /// The position in model space, x and z.
    position: Vec2,
    /// The velocity in model space, x and z.
    velocity: Vec2,
}

/// Returns the gait of a clip.
#[must_use]
pub fn gait_of(model: &Model, clip: &Clip) -> Gait {
    let step_seconds = clip.duration_seconds / STEPS as f32;
    let poses = poses(model, clip);
    let heights = || poses.iter().flatten().map(|position| position.y);
    let height = heights().fold(f32::NEG_INFINITY, f32::max) - heights().fold(f32::INFINITY, f32::min);
    if !(step_seconds > 0.0 && height > 0.0 && height.is_finite()) {
        return Gait::default();
    }
    let drift = match &poses[..] {
        [first, .., last] => center(last) - center(first),
        _ => Vec2::ZERO,
    };
    let mut lowest: Vec<f32> =
        poses.iter().map(|pose| pose.iter().map(|position| position.y).fold(f32::INFINITY, f32::min)).collect();
    lowest.sort_unstable_by(f32::total_cmp);
    let ground = lowest[lowest.len() / 4];

    let steps = poses.windows(2).flat_map(|step| step[0].iter().zip(&step[1]));
    let near_ground = |(a, b): &(&Vec3, &Vec3)| (0.5 * (a.y + b.y) - ground).abs() <= CONTACT_SHARE * height;
    let flat = |v: Vec3| Vec2::new(v.x, v.z);
    let contacts: Vec<Contact> = steps
        .filter(near_ground)
        .map(|(&a, &b)| Contact { position: flat(0.5 * (a + b)), velocity: flat(b - a) / step_seconds })
        .collect();
    let treadmill = Vec2::new(
        median(contacts.iter().map(|contact| contact.velocity.x)),
        median(contacts.iter().map(|contact| contact.velocity.y)),
    );
    let agrees =
        |contact: &&Contact| (treadmill - contact.velocity).length_squared() < 0.5 * treadmill.length_squared();
    let agreement = contacts.iter().filter(agrees).count() as f32 / contacts.len().max(1) as f32;
    let goes = treadmill.length() >= LEAST_SPEED * height
        && agreement >= LEAST_AGREEMENT
        && drift.length() <= LARGEST_DRIFT * height;
    if !goes {
        return Gait::default();
    }
    let sideways = treadmill.normalize().perp();
    let distances = contacts.iter().map(|contact| contact.position.dot(sideways).abs());
    Gait { velocity: -treadmill, stance: distances.sum::<f32>() / contacts.len() as f32 }
}

/// Returns the positions of the observed vertices at the ends of all steps.
fn poses(model: &Model, clip: &Clip) -> Vec<Vec<Vec3>> {
    let bind_pose = BindPose::new(&model.geometry);
    let stride = model.geometry.shown_vertex_count().div_ceil(MAX_VERTICES).max(1);
    let observed: Vec<(usize, usize)> = model.geometry.shown_vertices().step_by(stride).collect();
    let mut scratch = PoseScratch::for_model(model);
    let pose_at = |step: usize| {
        let time_seconds = f64::from(clip.duration_seconds) * step as f64 / STEPS as f64;
        let pose = pose_model(model, Some(clip), time_seconds, &mut scratch);
        let palette: Vec<JointMatrix> = joint_matrices(&model.palette, pose.model_from_node).collect();
        let pose = Pose { palette: &palette, morph_weights: pose.morph_weights };
        let skinned = |&(vertex, placement): &(usize, usize)| {
            Vec3::from(skin_vertex(&bind_pose, vertex, pose.placed(placement), false).0.position)
        };
        observed.iter().map(skinned).collect()
    };
    (0..=STEPS).map(pose_at).collect()
}

/// Returns the mean of the positions, x and z.
fn center(pose: &[Vec3]) -> Vec2 {
    let mean = pose.iter().sum::<Vec3>() / pose.len().max(1) as f32;
    Vec2::new(mean.x, mean.z)
}

/// Returns the median, or 0 without values.
fn median(values: impl Iterator<Item = f32>) -> f32 {
    let mut values: Vec<f32> = values.collect();
    let middle = values.len() / 2;
    if values.is_empty() { 0.0 } else { *values.select_nth_unstable_by(middle, f32::total_cmp).1 }
}
