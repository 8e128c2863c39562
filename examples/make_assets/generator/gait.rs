//! Walking and running: one description of steps with two sets of numbers.
//!
//! The clips stay in place: the ground moves back under the walker at [`Gait::speed`]. A character that moves forward
//! at that speed has feet that stand still. A step is planned from the ground up. A standing foot moves back with the
//! ground: it lands on its heel, rolls down, becomes flat, then rolls off over the ball with the toes planted. In the
//! air, the ball follows a Hermite curve. The curve leaves and meets the ground with the ground's velocity, and its
//! lift keeps the toes clear of the ground. [`Pose::place_foot`] solves the legs from that; hips, shoulders and arms
//! are sines.
//!
//! Phase 0 is the landing of the left heel. The right foot is half a cycle later. Angles are radians, lengths metres.

use std::f64::consts::{PI, TAU};

use glam::{DQuat, DVec3, dvec3};

use super::body::smooth_step;
use super::pose::{FootTarget, Pose};
use super::skeleton::{Joint, Side};

/// The parameters of one gait.
pub struct Gait {
    /// The length of a cycle (two steps).
    pub duration_seconds: f64,
    /// The ground speed in metres per second.
    pub speed: f64,
    /// The share of the cycle during which a foot stands. Below 0.5 there is flight.
    stance: f64,
    /// The phases at which the landed foot has become flat, and at which the heel leaves the ground.
    flat: f64,
    heel_off: f64,
    /// The phase at which the standing foot's ankle is under the hip.
    under_hip: f64,
    /// The pitch of the foot: toes up when it lands, heel up when it leaves.
    strike_pitch: f64,
    leave_pitch: f64,
    /// How far the ball of the foot rises in the air above the straight path, and when (above 1 is earlier).
    lift: f64,
    earliness: f64,
    /// The distance of each foot's line from the middle.
    track_width: f64,
    /// The mean height of the hips above the bind pose, its variation, and the phase of the highest point.
    hips_height: f64,
    bob: f64,
    highest: f64,
    /// The hips move to the standing side, drop on the other, and turn forward on the leading one. The body leans
    /// forward.
    sway: f64,
    roll: f64,
    yaw: f64,
    lean: f64,
    /// The turn of the shoulders against the hips, the swing of the arms, and the mean and variation of the elbows'
    /// bend.
    counter_yaw: f64,
    arm_swing: f64,
    elbow: [f64; 2],
    /// How far the tail of the scarf streams out.
    scarf: f64,
}

/// A walk at 3.6 km/h. Landing, heel-off and leaving fall on keys of 30 per second, so interpolation does not blur
/// them.
pub const WALK: Gait = Gait {
    duration_seconds: 32.0 / 30.0,
    speed: 1.0,
    stance: 20.0 / 32.0,
    flat: 3.0 / 32.0,
    heel_off: 11.0 / 32.0,
    under_hip: 0.27,
    strike_pitch: 0.36,
    leave_pitch: 0.88,
    lift: 0.022,
    earliness: 1.1,
    track_width: 0.080,
    hips_height: -0.026,
    bob: 0.013,
    highest: 0.31,
    sway: 0.022,
    roll: 0.065,
    yaw: 0.14,
    lean: 0.04,
    counter_yaw: 0.16,
    arm_swing: 0.46,
    elbow: [0.30, 0.18],
    scarf: 0.22,
};

/// A run at about 9 km/h.
pub const RUN: Gait = Gait {
    duration_seconds: 22.0 / 30.0,
    speed: 2.4,
    stance: 8.0 / 22.0,
    flat: 1.0 / 22.0,
    heel_off: 3.0 / 22.0,
    under_hip: 0.135,
    strike_pitch: 0.14,
    leave_pitch: 0.98,
    lift: 0.20,
    earliness: 1.25,
    track_width: 0.062,
    hips_height: -0.058,
    bob: 0.036,
    highest: 0.425,
    sway: 0.012,
    roll: 0.07,
    yaw: 0.20,
    lean: 0.23,
    counter_yaw: 0.24,
    arm_swing: 0.95,
    elbow: [1.35, 0.22],
    scarf: 0.85,
};

/// The point about which a landing foot turns, relative to the ankle of a flat foot.
const HEEL_FROM_ANKLE: DVec3 = dvec3(0.0, -0.09, -0.075);

/// How far the feet turn outwards, in radians.
const TOES_OUT: f64 = 0.06;

/// One foot, seen from the side.
#[derive(Clone, Copy)]
struct Step {
    /// The position of the toe joint, in the plane x = 0.
    ball: DVec3,
    pitch: f64,
    toe_pitch: f64,
}

impl Gait {
    /// Returns the pose at a phase from 0 to 1.
    #[must_use]
    pub fn pose(&self, phase: f64) -> Pose {
        let mut pose = Pose::rest();
        self.pose_trunk(&mut pose, phase);
        for (side, phase) in [(Side::Left, phase), (Side::Right, (phase + 0.5).fract())] {
            let step = self.step(phase);
            // Start from the ball: it stays planted longest, for any direction of the toes.
            let yaw = side.sign() * TOES_OUT;
            let rotation = DQuat::from_rotation_y(yaw) * DQuat::from_rotation_x(step.pitch);
            let ball = step.ball + dvec3(side.sign() * self.track_width, 0.0, 0.0);
            let ankle = ball - rotation * ball_from_ankle();
            pose.place_foot(side, FootTarget { ankle, pitch: step.pitch, toe_pitch: step.toe_pitch, yaw });

            // Arms swing against the legs, a little late, and the elbow bends most in front.
            let forward = -(TAU * (phase - 0.03)).cos();
            let bend = self.elbow[0] + self.elbow[1] * -(TAU * (phase - 0.08)).cos();
            pose.place_arm(side, self.arm_swing * (forward + 0.05), 0.20, bend);
            pose.rotate(Joint::Shoulder(side), DQuat::from_rotation_y(-side.sign() * 0.10 * forward));
            pose.rotate(Joint::Hand(side), DQuat::from_rotation_x(-0.15 * (TAU * (phase - 0.12)).cos() - 0.05));
        }
        pose
    }

    fn pose_trunk(&self, pose: &mut Pose, phase: f64) {
        let once = |peak: f64| (TAU * (phase - peak)).cos();
        let twice = |peak: f64| (2.0 * TAU * (phase - peak)).cos();
        let mid_stance = self.stance / 2.0;
        let bob = dvec3(self.sway * once(mid_stance), self.hips_height + self.bob * twice(self.highest), 0.0);
        pose.hips_position = Joint::Hips.position() + bob;

        let (hips_yaw, chest_yaw) = (-self.yaw * once(0.0), self.counter_yaw * once(0.02));
        let roll = self.roll * once(mid_stance * 0.6);
        let hips = DQuat::from_rotation_y(hips_yaw) * DQuat::from_rotation_z(roll);
        let hips = hips * DQuat::from_rotation_x(self.lean * 0.5);
        let half_turn = (chest_yaw - hips_yaw) / 2.0;
        let nod = 0.25 * self.bob / 0.02 * 0.1 * twice(self.highest + 0.06);
        let spine = DQuat::from_rotation_y(half_turn) * DQuat::from_rotation_z(-0.7 * roll);
        let spine = spine * DQuat::from_rotation_x(self.lean * 0.3 + nod);
        let chest = DQuat::from_rotation_y(half_turn) * DQuat::from_rotation_z(-0.6 * roll);
        let chest = chest * DQuat::from_rotation_x(self.lean * 0.3);
        pose.rotate(Joint::Hips, hips);
        pose.rotate(Joint::Spine, spine);
        pose.rotate(Joint::Chest, chest);

        // The eyes look ahead: neck and head each undo half of the trunk's rotation, except for a little nod.
        let undo = DQuat::IDENTITY.slerp((hips * spine * chest).inverse(), 0.46);
        pose.rotate(Joint::Neck, undo);
        pose.rotate(Joint::Head, undo * DQuat::from_rotation_x(0.03 - 0.8 * nod));
        let spring = twice(self.highest + 0.12);
        pose.rotate(Joint::Antenna, DQuat::from_rotation_x(-0.25 * self.lean + 6.0 * self.bob * spring));
        let flutter = DQuat::from_rotation_z(0.10 * once(0.35)) * DQuat::from_rotation_x(self.scarf);
        pose.rotate(Joint::ScarfUpper, flutter * DQuat::from_rotation_x(3.0 * self.bob * spring));
        let wave = self.scarf * 0.5 + 8.0 * self.bob * twice(self.highest + 0.22);
        pose.rotate(Joint::ScarfLower, DQuat::from_rotation_z(0.14 * once(0.5)) * DQuat::from_rotation_x(wave));
    }

    /// Returns one foot at its phase: standing below `stance`, in the air above.
    fn step(&self, phase: f64) -> Step {
        if phase < self.stance { self.standing(phase) } else { self.flying(phase) }
    }

    fn standing(&self, phase: f64) -> Step {
        let back = self.speed * self.duration_seconds * (phase - self.under_hip);
        let flat_ankle = dvec3(0.0, Joint::Foot(Side::Left).position().y, -back);
        let landing = (1.0 - phase / self.flat).max(0.0).powi(2);
        let leaving = smooth_step(self.heel_off, self.stance, phase);
        let pitch = self.leave_pitch * leaving - self.strike_pitch * landing;
        let pivot = if leaving > 0.0 { ball_from_ankle() } else { HEEL_FROM_ANKLE };
        let ball = flat_ankle + pivot + DQuat::from_rotation_x(pitch) * (ball_from_ankle() - pivot);
        Step { ball, pitch, toe_pitch: -self.leave_pitch * leaving }
    }

    fn flying(&self, phase: f64) -> Step {
        let airborne = 1.0 - self.stance;
        let t = (phase - self.stance) / airborne;
        // The slopes at both ends, per unit of t: those of the standing foot.
        let tiny = 1e-3;
        let (leave, land) = (self.standing(self.stance), self.standing(0.0));
        let (before, after) = (self.standing(self.stance - tiny), self.standing(tiny));
        let per_t = airborne / tiny;
        let spline = |from: f64, from_slope: f64, to: f64, to_slope: f64| {
            let (t2, t3) = (t * t, t * t * t);
            from * (2.0 * t3 - 3.0 * t2 + 1.0)
                + from_slope * (t3 - 2.0 * t2 + t)
                + to * (3.0 * t2 - 2.0 * t3)
                + to_slope * (t3 - t2)
        };
        let curve = |value: fn(&Step) -> f64| {
            let from_slope = (value(&leave) - value(&before)) * per_t;
            spline(value(&leave), from_slope, value(&land), (value(&after) - value(&land)) * per_t)
        };
        let pitch = curve(|s| s.pitch);
        let bump = (PI * (1.0 - (1.0 - t).powf(self.earliness))).sin().powi(2);
        let ball = dvec3(0.0, curve(|s| s.ball.y) + self.lift * bump, curve(|s| s.ball.z));
        let toe_pitch = leave.toe_pitch * (1.0 - smooth_step(0.1, 0.8, t));
        Step { ball, pitch, toe_pitch }
    }
}

/// Where the toes begin. A leaving foot rolls over this point. Relative to the ankle of a flat foot.
fn ball_from_ankle() -> DVec3 {
    dvec3(0.0, Joint::Toe(Side::Left).offset().y, Joint::Toe(Side::Left).offset().z)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that one point of each foot stays in place on the moving ground while the foot stands.
    fn assert_planted(gait: &Gait, joint: fn(Side) -> Joint, from_phase: f64, to_phase: f64) {
        for (side, offset) in [(Side::Left, 0.0), (Side::Right, 0.5)] {
            let on_ground = |step: u32| {
                let phase = from_phase + (to_phase - from_phase) * f64::from(step) / 20.0;
                let position = gait.pose((phase + offset).fract()).model_position(joint(side));
                position + DVec3::Z * (gait.speed * gait.duration_seconds * phase)
            };
            for step in 1..=20 {
                let slip_metres = (on_ground(step) - on_ground(0)).length();
                assert!(slip_metres < 1e-3, "{side:?} slips by {slip_metres} at step {step}");
            }
        }
    }

    #[test]
    fn standing_feet_do_not_slide() {
        for gait in [&WALK, &RUN] {
            assert_planted(gait, Joint::Foot, gait.flat, gait.heel_off);
            assert_planted(gait, Joint::Toe, gait.flat, gait.stance);
        }
    }

    #[test]
    fn no_joint_of_the_foot_sinks() {
        for gait in [&WALK, &RUN] {
            for step in 0..200 {
                let pose = gait.pose(f64::from(step) / 200.0);
                for side in Side::BOTH {
                    // Below its height in the bind pose, a joint would press the sole into the ground.
                    assert!(pose.model_position(Joint::Toe(side)).y > 0.03 - 1e-3, "step {step}, {side:?}");
                    assert!(pose.model_position(Joint::Foot(side)).y > 0.09 - 1e-3, "step {step}, {side:?}");
                }
            }
        }
    }

    #[test]
    fn walking_always_has_a_foot_on_the_ground_and_running_does_not() {
        let grounded = |gait: &Gait, phase: f64| phase < gait.stance || (phase + 0.5).fract() < gait.stance;
        let phases = (0..100).map(|step| f64::from(step) / 100.0);
        assert!(phases.clone().all(|phase| grounded(&WALK, phase)));
        assert!(phases.filter(|phase| !grounded(&RUN, *phase)).count() > 20);
    }
}
