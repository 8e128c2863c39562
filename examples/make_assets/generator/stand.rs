//! Standing clips: [`idle`] breathes and looks about, [`wave`] greets.
//!
//! Motions are sines with whole numbers of periods, and [`pulse`]s that start and end at zero within the clip. So both
//! clips loop without a seam. The feet stay in place: the hips move and the legs are solved.

use std::f64::consts::TAU;

use glam::{DQuat, dvec3};

use super::body::smooth_step;
use super::pose::{FootTarget, Pose};
use super::skeleton::{Joint, Side, arm_direction};

/// The length of [`idle`].
pub const IDLE_SECONDS: f64 = 4.0;
/// The length of [`wave`].
pub const WAVE_SECONDS: f64 = 2.2;

/// Rises from 0 to 1 over `ramp` after `start` and falls back over `ramp` before `end`.
fn pulse(start: f64, end: f64, ramp: f64, time: f64) -> f64 {
    smooth_step(start, start + ramp, time) * (1.0 - smooth_step(end - ramp, end, time))
}

/// Puts the weight on one leg: `shift` is metres to the left, `breath` goes from -1 to 1.
fn stand(shift: f64, breath: f64) -> Pose {
    let mut pose = Pose::rest();
    pose.hips_position = Joint::Hips.position() + dvec3(shift, -0.009 + 0.003 * breath - 2.0 * shift * shift, -0.004);
    let roll = 1.6 * shift;
    pose.rotate(Joint::Hips, DQuat::from_rotation_z(roll));
    pose.rotate(Joint::Spine, DQuat::from_rotation_z(-1.1 * roll) * DQuat::from_rotation_x(0.02 - 0.012 * breath));
    pose.rotate(Joint::Chest, DQuat::from_rotation_z(-0.4 * roll) * DQuat::from_rotation_x(-0.02 - 0.025 * breath));
    pose.rotate(Joint::Neck, DQuat::from_rotation_x(0.02 * breath));
    for side in Side::BOTH {
        let ankle = side.of(dvec3(0.098, Joint::Foot(side).position().y, if side == Side::Left { 0.0 } else { 0.025 }));
        let yaw = side.sign() * 0.20;
        pose.place_foot(side, FootTarget { ankle, pitch: 0.0, toe_pitch: 0.0, yaw });
        pose.place_arm(side, 0.03 + 0.01 * breath, 0.26 + 0.015 * breath, 0.30);
        let shrug = DQuat::from_rotation_z(side.sign() * (0.02 + 0.03 * breath));
        pose.rotate(Joint::Shoulder(side), shrug);
    }
    pose
}

/// Takes two breaths, moves the weight from one leg to the other and back, and looks to each side.
#[must_use]
pub fn idle(time: f64) -> Pose {
    let phase = time / IDLE_SECONDS;
    let breath = -(2.0 * TAU * phase).cos();
    let shift = 0.024 * (TAU * phase).sin();
    let mut pose = stand(shift, breath);
    let look = 0.55 * pulse(0.35, 1.75, 0.45, time) - 0.45 * pulse(2.15, 3.55, 0.45, time);
    let tilt = 0.10 * pulse(2.15, 3.55, 0.45, time);
    pose.rotate(Joint::Neck, DQuat::from_rotation_y(0.35 * look));
    let head = DQuat::from_rotation_y(0.65 * look) * DQuat::from_rotation_z(tilt);
    pose.rotate(Joint::Head, head * DQuat::from_rotation_x(-0.02 * breath));
    pose.rotate(Joint::Antenna, DQuat::from_rotation_z(0.10 * (3.0 * TAU * phase).sin()));
    pose.rotate(Joint::ScarfUpper, DQuat::from_rotation_x(0.03 + 0.03 * (TAU * phase).sin()));
    pose.rotate(Joint::ScarfLower, DQuat::from_rotation_x(0.02 + 0.06 * (TAU * (phase - 0.1)).sin()));
    pose
}

/// Raises the right hand, waves three times and lowers it.
#[must_use]
pub fn wave(time: f64) -> Pose {
    let phase = time / WAVE_SECONDS;
    let raised = pulse(0.0, WAVE_SECONDS, 0.55, time);
    let mut pose = stand(0.016 * raised, -(TAU * phase).cos());
    let chest = pose.rotations[Joint::Chest.index()];
    pose.rotate(Joint::Chest, chest * DQuat::from_rotation_z(0.05 * raised));
    let head = DQuat::from_rotation_z(-0.16 * raised) * DQuat::from_rotation_y(-0.10 * raised);
    pose.rotate(Joint::Head, head * DQuat::from_rotation_x(-0.06 * raised));
    let spring = raised * (3.0 * TAU * phase).sin();
    pose.rotate(Joint::Antenna, DQuat::from_rotation_z(0.16 * spring));

    // The arm goes out and up to the side, the elbow bends upwards, the palm turns to the front.
    let [shoulder, upper_arm, forearm] =
        [Joint::Shoulder(Side::Right), Joint::UpperArm(Side::Right), Joint::Forearm(Side::Right)];
    let lift = DQuat::from_rotation_z(-1.05) * DQuat::from_rotation_x(-0.15);
    pose.rotate(shoulder, pose.rotations[shoulder.index()].slerp(DQuat::from_rotation_z(-0.16), raised));
    pose.rotate(upper_arm, pose.rotations[upper_arm.index()].slerp(lift, raised));
    let twist = DQuat::from_axis_angle(arm_direction(Side::Right), 0.8);
    let bend = DQuat::from_rotation_z(-1.15 - 0.30 * beat(time)) * twist;
    pose.rotate(forearm, pose.rotations[forearm.index()].slerp(bend, raised));
    pose.rotate(Joint::Hand(Side::Right), waving_hand(time));
    pose
}

/// Moves the waving hand, which the file keys as a spline. It lags behind the forearm.
#[must_use]
pub fn waving_hand(time: f64) -> DQuat {
    let raised = pulse(0.0, WAVE_SECONDS, 0.55, time);
    let twist = DQuat::from_axis_angle(arm_direction(Side::Right), 0.6 * raised);
    DQuat::from_rotation_z(-0.28 * raised * beat(time - 0.06)) * twist
}

/// Oscillates three times while the arm is up.
fn beat(time: f64) -> f64 {
    (TAU * (time - 0.35) / 0.5).sin()
}
