//! The gait of a clip: how fast, and in which direction, its feet would move a character that stays in place.
//!
//! In: a model and a clip. Out: a velocity over the ground, and the distance of the feet from the line of travel. Most
//! clips of walking keep the character in place, so a foot that stands on the ground moves backwards, as on a treadmill.
//! The character that walks with the opposite velocity leaves that foot where it is.
//!
//! 1. The soles are the vertices near the floor in the rest pose. Hands, weapons and clothes that touch the ground in
//!    the clip are not among them.
//! 2. The clip is sampled at even steps. In each step a sole counts if it is near the lowest point of its own path, and
//!    near the lowest point of the body. The lower it is, the greater is its weight. A height relative to the path needs
//!    no ground: some clips sink, some limp, and nothing touches the ground while a runner flies.
//! 3. The velocity of the treadmill is the weighted median of the horizontal velocities. Feet that land or lift off have
//!    little weight, so they do not move it.
//!
//! A clip that carried the body away ([`Clip::drift`]) has that velocity instead.
//!
//! The velocity is exactly zero for clips that go nowhere: most contacts stand still (idle, a jump on the spot), they do
//! not move alike (a dance, feet that shuffle), the body moves with them (a drone that circles), or the clip does not
//! end as it began (a fall, a dodge, a clip that moves the character by itself).
//!
//! A clip that ends as it began and is named a walk or a run goes somewhere in any case ([`Gait::is_assumed`]): as fast as its
//! feet move to and fro, or, if they do not, by strides of the length of usual legs.

use glam::{Vec2, Vec3, Vec3Swizzles};

use super::floor::SOLE_SHARE;
use super::{extent, rest_positions, standing_point};
use crate::animation::{Pose, PoseScratch, joint_matrices, pose_model, skinned_position};
use crate::model::{Clip, Model};
use crate::shader_types::JointMatrix;

/// The number of steps into which a clip is divided.
const STEPS: usize = 48;
/// The most vertices of the soles that are observed, and of the whole body. Of larger models every second, third … vertex is.
const MAX_VERTICES: usize = 1024;
/// The largest height of a contact above the lowest point of its path, as a share of the height of that path.
const CONTACT_SHARE: f32 = 0.15;
/// The largest height of a contact above the lowest point of the body, as a share of the height of the rest pose.
const LOW_SHARE: f32 = 0.1;
/// The smallest speed, in heights of the model a second. Slower feet stand.
const LEAST_SPEED: f32 = 0.05;
/// The least share of contacts that move about as fast as the median, and in its direction. A motion to and fro has half.
const LEAST_AGREEMENT: f32 = 0.55;
/// The largest mean distance of the vertices between the first and the last pose of a clip, as a share of the height of
/// the rest pose. It is small for a clip that repeats, and not 0 for one that lacks its last frame.
const LARGEST_CHANGE: f32 = 0.08;
/// Words that begin a word in the name of a clip that goes somewhere, and the length of a stride in legs.
const PACES: [(&str, f32); 5] = [("walk", 1.6), ("trot", 2.2), ("run", 3.0), ("sprint", 3.5), ("gallop", 3.5)];
/// The length of a leg as a share of the height of the rest pose, and the usual duration of a stride.
const LEG_SHARE: f32 = 0.5;
const STRIDE_SECONDS: f32 = 1.0;

/// The gait of a clip. See the module.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Gait {
    /// The velocity in model space: x and z, in units a second. Zero for clips that go nowhere.
    pub velocity: Vec2,
    /// The mean distance of the contacts from the line through the [`standing_point`] in the direction of travel.
    pub stance: f32,
    /// Whether only the clip's name says that it goes somewhere.
    pub is_assumed: bool,
}

/// A sole in contact with the ground during one step.
struct Contact {
    /// The position in model space, x and z.
    position: Vec2,
    /// The velocity in model space, x and z.
    velocity: Vec2,
    /// The velocity relative to the centre of the body.
    from_body: Vec2,
    /// From 0 at the largest height of a contact to 1 at the lowest point of the path.
    weight: f32,
}

pub fn gait_of(model: &Model, clip: &Clip) -> Gait {
    let step_seconds = clip.duration_seconds / STEPS as f32;
    let mut scratch = PoseScratch::for_model(model);
    // The positions of vertices in model space, at a time of the clip.
    let mut positions = |time_seconds: f64, vertices: &[usize]| -> Vec<Vec3> {
        let pose = pose_model(model, Some(clip), time_seconds, &mut scratch);
        let palette: Vec<JointMatrix> = joint_matrices(&model.palette, pose.model_from_node).collect();
        let pose = Pose { palette: &palette, morph_weights: pose.morph_weights, ..Pose::default() };
        vertices.iter().map(|&vertex| skinned_position(&model.geometry, vertex, pose)).collect()
    };
    let rest = rest_positions(model);
    let (lowest, highest) = extent(&rest);
    let height = highest - lowest;
    if !(step_seconds > 0.0 && height > 0.0 && height.is_finite()) {
        return Gait::default();
    }
    let stand = standing_point(model);
    let floor = stand.y.max(lowest);
    let is_sole = |position: &Vec3| (position.y - floor).abs() <= SOLE_SHARE * height;
    let soles = thinned((0..rest.len()).filter(|&vertex| is_sole(&rest[vertex])));
    if clip.drift != Vec2::ZERO {
        let velocity = clip.drift / clip.duration_seconds;
        let sideways = velocity.normalize_or_zero().perp();
        let distances = soles.iter().map(|&sole| (rest[sole].xz() - stand.xz()).dot(sideways).abs());
        return Gait { velocity, stance: distances.sum::<f32>() / soles.len().max(1) as f32, is_assumed: false };
    }
    let body = thinned(0..rest.len());
    let observed = [&soles[..], &body].concat();

    let times = (0..=STEPS).map(|step| f64::from(clip.duration_seconds) * step as f64 / STEPS as f64);
    let poses: Vec<Vec<Vec3>> = times.map(|time_seconds| positions(time_seconds, &observed)).collect();
    // A clip that does not repeat has no gait. The comparison is false for numbers that are not finite, too.
    let ends = poses[0].iter().zip(&poses[STEPS]).skip(soles.len());
    let change = ends.map(|(a, b)| a.distance(*b)).sum::<f32>() / body.len() as f32;
    let repeats = change <= LARGEST_CHANGE * height;
    let mut contacts = contacts(&poses, soles.len(), LOW_SHARE * height, step_seconds);
    let first = treadmill(&contacts);
    let all_weights = weight_of(&contacts);
    let named = stride_of(clip).map(|legs| named_velocity(&contacts, height, legs, clip.duration_seconds));
    contacts.retain(|contact| (first - contact.from_body).length_squared() < 0.5 * first.length_squared());
    let agree = weight_of(&contacts) >= LEAST_AGREEMENT * all_weights;
    // The contacts that agree are those of feet that stand. The others no longer count.
    let treadmill = treadmill(&contacts);
    let is_planted = agree && treadmill.length() >= LEAST_SPEED * height;
    let Some(velocity) = (if is_planted { Some(-treadmill) } else { named }).filter(|_| repeats) else {
        return Gait::default();
    };
    let sideways = velocity.normalize().perp();
    let distances = contacts.iter().map(|contact| contact.weight * (contact.position - stand.xz()).dot(sideways).abs());
    let stance = distances.sum::<f32>() / weight_of(&contacts).max(f32::MIN_POSITIVE);
    Gait { velocity, stance, is_assumed: !is_planted }
}

/// Returns the length of a stride in legs, if the clip's name says that it goes somewhere and does not jump.
fn stride_of(clip: &Clip) -> Option<f32> {
    let name = clip.name.as_deref()?;
    let lower = name.to_ascii_lowercase();
    let begins_word = |at: usize| {
        !lower[..at].ends_with(|before: char| before.is_alphabetic()) || name[at..].starts_with(char::is_uppercase)
    };
    let is_said = |word: &str| lower.match_indices(word).any(|(at, _)| begins_word(at));
    PACES.iter().find(|(word, _)| is_said(word) && !is_said("jump")).map(|&(_, legs)| legs)
}

/// Returns the velocity of a clip whose name says that it goes somewhere, though its feet do not stand still.
fn named_velocity(contacts: &[Contact], height: f32, stride_legs: f32, duration_seconds: f32) -> Vec2 {
    // The direction in which the feet move most, to the front rather than back.
    let squares = contacts
        .iter()
        .map(|Contact { velocity: v, weight, .. }| *weight * Vec2::new(v.y * v.y - v.x * v.x, 2.0 * v.x * v.y));
    let from_front = 0.5 * squares.sum::<Vec2>().to_angle();
    let front = Vec2::new(from_front.sin(), from_front.cos());
    // Of their way back alone: feet swing forwards faster.
    let along = contacts.iter().map(|contact| (-contact.velocity.dot(front), contact.weight));
    let speed = median(along.filter(|(speed, _)| *speed > 0.0));
    if speed >= LEAST_SPEED * height && speed.is_finite() {
        return speed * front;
    }
    let strides = (duration_seconds / STRIDE_SECONDS).round().max(1.0);
    Vec2::Y * (stride_legs * LEG_SHARE * height * strides / duration_seconds)
}

/// Returns the contacts of all steps, from the poses at their ends, which begin with the soles. `low` is the largest
/// height of a contact above the lowest point of the body.
fn contacts(poses: &[Vec<Vec3>], sole_count: usize, low: f32, step_seconds: f32) -> Vec<Contact> {
    let body_of = |pose: &Vec<Vec3>| {
        let body = pose[sole_count..].iter().map(|position| position.xz());
        (extent(pose).0, body.sum::<Vec2>() / (pose.len() - sole_count).max(1) as f32)
    };
    let bodies: Vec<(f32, Vec2)> = poses.iter().map(body_of).collect();
    let mut contacts = Vec::new();
    for sole in 0..sole_count {
        let path: Vec<Vec3> = poses.iter().map(|pose| pose[sole]).collect();
        let (lowest, highest) = extent(&path);
        for (ends, body) in path.windows(2).zip(bodies.windows(2)) {
            let position = 0.5 * (ends[0] + ends[1]);
            let weight = 1.0 - (position.y - lowest) / (CONTACT_SHARE * (highest - lowest));
            if weight > 0.0 && position.y <= 0.5 * (body[0].0 + body[1].0) + low {
                let velocity = (ends[1].xz() - ends[0].xz()) / step_seconds;
                let from_body = velocity - (body[1].1 - body[0].1) / step_seconds;
                contacts.push(Contact { position: position.xz(), velocity, from_body, weight });
            }
        }
    }
    contacts
}

/// Returns the median of the velocities.
fn treadmill(contacts: &[Contact]) -> Vec2 {
    let along = |of: fn(Vec2) -> f32| median(contacts.iter().map(|contact| (of(contact.velocity), contact.weight)));
    Vec2::new(along(|velocity| velocity.x), along(|velocity| velocity.y))
}

fn weight_of(contacts: &[Contact]) -> f32 {
    contacts.iter().map(|contact| contact.weight).sum()
}

/// Returns the weighted median of values with their weights: half of the weight lies on each side. 0 without values.
fn median(values: impl Iterator<Item = (f32, f32)>) -> f32 {
    let mut values: Vec<(f32, f32)> = values.collect();
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let half = 0.5 * values.iter().map(|(_, weight)| weight).sum::<f32>();
    let mut sum = 0.0;
    let middle = values.iter().find(|(_, weight)| {
        sum += weight;
        sum >= half
    });
    middle.map_or(0.0, |(value, _)| *value)
}

/// Returns every n-th vertex, so that at most [`MAX_VERTICES`] are left.
fn thinned(vertices: impl Iterator<Item = usize>) -> Vec<usize> {
    let vertices: Vec<_> = vertices.collect();
    vertices.iter().copied().step_by(vertices.len().div_ceil(MAX_VERTICES).max(1)).collect()
}
