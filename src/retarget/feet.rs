//! Feet that stay where they stand.
//!
//! In: the feet of a source's pose, and the target with the source's turns. Out: slightly different turns of the target's
//! pelvis and legs, and the way of its pelvis. Thighs and shins of other proportions bring feet to other places, and so do
//! wider hips: a pelvis that turns in a walk would push the feet over the ground.
//!
//! 1. *Apart.* The feet are as far from each other as the source's, times the ratio of the leg lengths, plus the difference of
//!    the hips' widths. To reach this, the pelvis turns around the vertical, and then both legs swing, within limits. The mean
//!    error of a clip is left alone: it belongs to the bodies.
//! 2. *Place.* The pelvis moves so that the lower foot is where the source's foot is. If both feet are low, both count.
//!
//! The widths of hips count along the *left* of the body: the left of the pelvis, averaged over a second. It follows a body
//! that turns, but not a pelvis that turns to and fro above standing feet.

use glam::{Quat, Vec2, Vec3};

use super::rig::Rig;
use super::standing::rotation_of;
use crate::animation::{PoseScratch, pose_model};
use crate::model::Clip;
use crate::model::humanoid::{Limb, Role, Side};

/// The largest turns of pelvis and legs away from the source's.
const MOST_YAW_DEGREES: f32 = 4.5;
const MOST_SWING_DEGREES: f32 = 1.4;
/// The height of a foot above the lower one, as a share of the leg, at which it counts only by a third.
const LOW_SHARE: f32 = 0.03;
/// The difference in height of the feet, as a share of the leg, at which their distance counts only by a third.
const APART_SHARE: f32 = 0.15;
/// Hips narrower than this, as a share of the leg, turn less than the feet need: they would turn too far and too fast.
const NARROW_SHARE: f32 = 0.4;
/// The number of times of a clip at which the usual distance of feet is measured.
pub const USUAL_SAMPLES: usize = 32;
/// The step at which the left of the body is sampled, and the number of samples before and after a time that are averaged.
const LEFT_SECONDS: f32 = 1.0 / 24.0;
const LEFT_WINDOW: usize = 12;
const MOST_LEFT_SAMPLES: usize = 4096;

/// The feet of a source in a pose.
#[derive(Debug, Clone, Copy)]
pub struct Feet {
    /// The left of the body over the ground.
    left: Vec3,
    feet: [Option<Foot>; 2],
}

/// A foot in a pose. Lengths are shares of the leg.
#[derive(Debug, Clone, Copy)]
struct Foot {
    /// The way of the ankle: over the ground from where a straight leg has it, in height from where it stands.
    way: Vec3,
    /// The height of the lower one of ankle and toes above where they stand.
    height: f32,
}

/// The legs of the target in a pose: the hip joint and the ankle of each, in body space.
pub type Legs = [Option<[Vec3; 2]>; 2];

/// The facts about a clip that its single poses do not have.
pub struct Stance {
    /// The left of the body over the ground, at even steps, of unit length.
    lefts: Vec<Vec3>,
    step_seconds: f32,
    /// How far the feet usually are from the wanted distance, to the left and to the front.
    pub usual_error: Vec2,
}

impl Stance {
    /// Returns the number of poses of the source that [`Self::new`] takes.
    pub fn sample_count(clip: &Clip) -> usize {
        (clip.duration_seconds / LEFT_SECONDS).min((MOST_LEFT_SAMPLES - 2) as f32) as usize + 2
    }

    /// Returns the stance of a clip, without a usual error yet.
    pub fn new(rig: &Rig, clip: &Clip, scratch: &mut PoseScratch) -> Self {
        let count = Self::sample_count(clip);
        let step_seconds = clip.duration_seconds / (count - 1) as f32;
        let hips = rig.node(Role::HIPS).unwrap_or(0);
        let mut left_at = |sample: usize| {
            let seconds = f64::from(step_seconds) * sample as f64;
            let matrices = pose_model(rig.model, Some(clip), seconds, scratch).model_from_node;
            let turn = rig.body_from_model * rotation_of(&matrices[hips]) * rig.reference[hips].inverse();
            (turn * Vec3::X).with_y(0.0)
        };
        let samples: Vec<Vec3> = (0..count).map(&mut left_at).collect();
        // Beyond the ends, the body stays.
        let at = |index: usize| samples[index.saturating_sub(LEFT_WINDOW).min(count - 1)];
        let mean = |index| (index..=index + 2 * LEFT_WINDOW).map(at).sum::<Vec3>().normalize_or(Vec3::X);
        Self { lefts: (0..count).map(mean).collect(), step_seconds, usual_error: Vec2::ZERO }
    }

    /// Returns the usual error, in poses of the source and the target in which both feet are low.
    pub fn usual_error(target: &Rig, poses: impl Iterator<Item = (Feet, Legs)>) -> Vec2 {
        let (mut sum, mut weights) = (Vec2::ZERO, 0.0);
        for (feet, legs) in poses {
            let ([Some(left), Some(right)], [Some(a), Some(b)]) = (legs, feet.feet) else { continue };
            let Some(error) = feet.error_apart(target, [left, right]) else { continue };
            let weight = (-(a.height.max(0.0) + b.height.max(0.0)) / LOW_SHARE).exp();
            sum += weight * Vec2::new(error.dot(feet.left), error.dot(front_of(feet.left)));
            weights += weight;
        }
        let mean = sum / weights;
        if weights > 1e-6 && mean.is_finite() { mean } else { Vec2::ZERO }
    }

    pub fn left_at(&self, seconds: f32) -> Vec3 {
        let at = if self.step_seconds > 0.0 { (seconds / self.step_seconds).max(0.0) } else { 0.0 };
        let index = (at as usize).min(self.lefts.len() - 1);
        let next = (index + 1).min(self.lefts.len() - 1);
        self.lefts[index].lerp(self.lefts[next], (at - index as f32).clamp(0.0, 1.0)).normalize_or(Vec3::X)
    }
}

impl Feet {
    /// Returns the feet of a rig, from the places of its joints in body space and the left of the body.
    pub fn new(rig: &Rig, left: Vec3, place: impl Fn(Role) -> Option<Vec3>) -> Self {
        let foot = |side| {
            let ankle = place(Role::limb(side, Limb::Foot))?;
            let rise = |place: Vec3, height: f32| (place.y - height) / rig.leg_length;
            let over_ground = (ankle - straight_ankle(rig, side, left)?) / rig.leg_length;
            let way = over_ground.with_y(rise(ankle, rig.ankle_height));
            let toes = place(Role::limb(side, Limb::Toes)).map(|toes| rise(toes, rig.toes_height));
            Some(Foot { way, height: toes.map_or(way.y, |toes| toes.min(way.y)) })
        };
        Self { left, feet: Side::BOTH.map(foot) }
    }

    /// Returns where the target's ankle belongs in body space.
    fn wanted_ankle(&self, target: &Rig, side: Side) -> Option<Vec3> {
        let straight = straight_ankle(target, side, self.left)?;
        Some(straight.with_y(target.ankle_height) + target.leg_length * self.feet[side as usize]?.way)
    }

    /// Returns how much further to the left the target's left foot must be, compared with the right one.
    fn error_apart(&self, target: &Rig, [left, right]: [[Vec3; 2]; 2]) -> Option<Vec3> {
        let wanted = self.wanted_ankle(target, Side::Left)? - self.wanted_ankle(target, Side::Right)?;
        Some((wanted - (left[1] - right[1])).with_y(0.0))
    }

    /// Turns the pelvis and the legs a little, so that the feet are as far from each other as the source's are. Returns `None`,
    /// and turns nothing, if one of the bodies lacks a foot.
    pub fn set_apart(&self, target: &Rig, stance: &Stance, legs: Legs, turns: &mut [Option<Quat>]) -> Option<()> {
        let legs = [legs[0]?, legs[1]?];
        let usual = self.left * stance.usual_error.x + front_of(self.left) * stance.usual_error.y;
        // A foot in the air may be anywhere.
        let apart_in_height = (self.feet[0]?.height - self.feet[1]?.height).abs();
        let mut error = (-apart_in_height / APART_SHARE).exp() * (self.error_apart(target, legs)? - usual);
        let own = &mut turns[target.node(Role::HIPS)?];
        let hips = (legs[0][0] - legs[1][0]).with_y(0.0);
        let by_yaw = Vec3::Y.cross(hips);
        let yaw = error.dot(by_yaw) / (by_yaw.length_squared() + (NARROW_SHARE * target.leg_length).powi(2));
        // If the pelvis leans, it leans elsewhere after such a turn.
        let tilt = own.map_or(0.0, |own| (own * Vec3::Y).with_y(0.0).length());
        let most = MOST_YAW_DEGREES.min(MOST_SWING_DEGREES / tilt).to_radians();
        let turn = Quat::from_rotation_y(if yaw.is_finite() { yaw.clamp(-most, most) } else { 0.0 });
        *own = own.map(|own| turn * own);
        error -= turn * hips - hips;
        for (side, [joint, ankle], share) in [(Side::Left, legs[0], 0.5), (Side::Right, legs[1], -0.5)] {
            let (bone, way) = (ankle - joint, share * error);
            let Some(axis) = bone.cross(way).try_normalize() else { continue };
            let angle = (way.length() / bone.length()).min(MOST_SWING_DEGREES.to_radians());
            let swing = Quat::from_axis_angle(axis, angle);
            for limb in [Limb::UpperLeg, Limb::LowerLeg] {
                let Some(node) = target.limb(side, limb) else { continue };
                turns[node] = turns[node].map(|own| swing * own);
            }
        }
        Some(())
    }

    /// Returns how far the target's feet, after they have moved by `moved`, are from where they belong: in height by the lowest
    /// foot, and over the ground by the mean, in which a lower foot counts more.
    pub fn error(&self, target: &Rig, moved: Vec3, legs: Legs) -> Vec3 {
        let lowest = self.feet.iter().flatten().map(|foot| foot.height).fold(f32::INFINITY, f32::min);
        let (mut error, mut weights) = (Vec3::ZERO, 0.0);
        let (mut wanted_height, mut height) = (f32::INFINITY, f32::INFINITY);
        for (side, leg) in Side::BOTH.into_iter().zip(legs) {
            let (Some(foot), Some([_, ankle])) = (self.feet[side as usize], leg) else { continue };
            let Some(wanted) = self.wanted_ankle(target, side) else { continue };
            let place = ankle + moved;
            let weight = ((lowest - foot.height) / LOW_SHARE).exp();
            error += weight * (wanted - place);
            weights += weight;
            (wanted_height, height) = (wanted_height.min(wanted.y), height.min(place.y));
        }
        if weights > 0.0 { (error / weights).with_y(wanted_height - height) } else { Vec3::ZERO }
    }
}

/// Returns where the ankle of a straight leg is that hangs from the hip joint, as the body stands, but turned to a left.
fn straight_ankle(rig: &Rig, side: Side, left: Vec3) -> Option<Vec3> {
    let from_pelvis = rig.place(Role::limb(side, Limb::UpperLeg))? - rig.pelvis();
    let turned = left * from_pelvis.x + front_of(left) * from_pelvis.z;
    Some(rig.pelvis() + turned + Vec3::Y * (from_pelvis.y - rig.length_of_leg(side)?))
}

fn front_of(left: Vec3) -> Vec3 {
    left.cross(Vec3::Y)
}
