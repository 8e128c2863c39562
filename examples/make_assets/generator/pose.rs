//! A pose of the walker, and the solver that places its feet.
//!
//! Rest rotations are identity (see [`super::skeleton`]), so a pose is one rotation per joint and the position of the
//! hips. Feet are given in model space, because the ground is there.

use glam::{DMat3, DQuat, DVec3};

use super::skeleton::{JOINTS, Joint, Side, arm_direction};

/// The local rotations of all joints and the position of the hips.
#[derive(Clone)]
pub struct Pose {
    /// The position of the hips in model space, in metres.
    pub hips_position: DVec3,
    /// The rotations by [`Joint::index`], relative to the parent.
    pub rotations: [DQuat; JOINTS.len()],
}

/// The wanted position and direction of a foot.
#[derive(Clone, Copy)]
pub struct FootTarget {
    /// The position of the ankle in model space, in metres.
    pub ankle: DVec3,
    /// The pitch of the foot, in radians. A positive pitch lifts the heel.
    pub pitch: f64,
    /// The pitch of the toes relative to the foot, in radians. A negative pitch bends them up.
    pub toe_pitch: f64,
    /// The rotation about +Y, in radians. A positive one turns the left side's toes outwards (towards +X).
    pub yaw: f64,
}

impl Pose {
    /// Returns the bind pose.
    #[must_use]
    pub fn rest() -> Self {
        Self { hips_position: Joint::Hips.position(), rotations: [DQuat::IDENTITY; JOINTS.len()] }
    }

    /// Sets a joint's local rotation.
    pub fn rotate(&mut self, joint: Joint, rotation: DQuat) {
        self.rotations[joint.index()] = rotation;
    }

    /// Returns a joint's rotation in model space.
    #[must_use]
    pub fn model_rotation(&self, joint: Joint) -> DQuat {
        let local = self.rotations[joint.index()];
        joint.parent().map_or(local, |parent| self.model_rotation(parent) * local)
    }

    /// Returns a joint's position in model space.
    #[must_use]
    pub fn model_position(&self, joint: Joint) -> DVec3 {
        match joint.parent() {
            None => self.hips_position,
            Some(parent) => self.model_position(parent) + self.model_rotation(parent) * joint.offset(),
        }
    }

    /// Bends a leg so that its ankle reaches the target, with the knee forward. Pose spine and hips first. If the
    /// target is out of reach, the leg is straight and points at it.
    pub fn place_foot(&mut self, side: Side, target: FootTarget) {
        let [thigh, shin, foot] = [Joint::Thigh(side), Joint::Shin(side), Joint::Foot(side)];
        let hip = self.model_position(thigh);
        let (thigh_length, shin_length) = (shin.offset().length(), foot.offset().length());
        let reach = (target.ankle - hip).length().min((thigh_length + shin_length) * 0.9995);
        let to_ankle = (target.ankle - hip).normalize();
        // The law of cosines gives the angle at the hip, between the thigh and the line to the ankle, and the angle at
        // the knee.
        let cosine = |opposite: f64, a: f64, b: f64| ((a * a + b * b - opposite * opposite) / (2.0 * a * b)).acos();
        let hip_angle = cosine(shin_length, thigh_length, reach);
        let knee_angle = std::f64::consts::PI - cosine(reach, thigh_length, shin_length);

        // The knee points in the direction of the toes.
        let forward = DQuat::from_rotation_y(target.yaw) * DVec3::Z;
        let hinge = forward.cross(to_ankle).normalize();
        let down_the_thigh = DQuat::from_axis_angle(hinge, -hip_angle) * to_ankle;
        let model_thigh = leg_rotation(hinge, down_the_thigh);
        let model_shin = model_thigh * DQuat::from_rotation_x(knee_angle);
        let model_foot = DQuat::from_rotation_y(target.yaw) * DQuat::from_rotation_x(target.pitch);

        self.rotate(thigh, self.model_rotation(Joint::Hips).inverse() * model_thigh);
        self.rotate(shin, DQuat::from_rotation_x(knee_angle));
        self.rotate(foot, model_shin.inverse() * model_foot);
        self.rotate(Joint::Toe(side), DQuat::from_rotation_x(target.toe_pitch));
    }

    /// Lets an arm hang: `swing` forward (radians; negative is back), `spread` from the vertical, `bend` of the elbow.
    pub fn place_arm(&mut self, side: Side, swing: f64, spread: f64, bend: f64) {
        let lower = DQuat::from_rotation_z(side.sign() * (spread - super::skeleton::ARM_SPREAD));
        self.rotate(Joint::UpperArm(side), DQuat::from_rotation_x(-swing) * lower);
        let elbow_axis = arm_direction(side).cross(DVec3::Z).normalize();
        self.rotate(Joint::Forearm(side), DQuat::from_axis_angle(elbow_axis, bend));
    }
}

/// Turns a leg bone, which points down -Y in the bind pose and bends about +X, to a given direction and hinge.
fn leg_rotation(hinge: DVec3, direction: DVec3) -> DQuat {
    DQuat::from_mat3(&DMat3::from_cols(hinge, -direction, hinge.cross(-direction)))
}

#[cfg(test)]
mod tests {
    use glam::dvec3;

    use super::*;

    #[test]
    fn a_leg_reaches_its_target_with_the_foot_as_asked() {
        for (side, z) in [(Side::Left, 0.25), (Side::Right, -0.3), (Side::Left, 0.0)] {
            let mut pose = Pose::rest();
            pose.rotate(Joint::Hips, DQuat::from_rotation_z(0.1) * DQuat::from_rotation_y(0.2));
            let ankle = side.of(dvec3(0.12, 0.2, z));
            pose.place_foot(side, FootTarget { ankle, pitch: 0.4, toe_pitch: -0.4, yaw: 0.1 });
            let error_metres = (pose.model_position(Joint::Foot(side)) - ankle).length();
            assert!(error_metres < 1e-9, "{side:?} misses by {error_metres}");
            let wanted = DQuat::from_rotation_y(0.1) * DQuat::from_rotation_x(0.4);
            assert!(pose.model_rotation(Joint::Foot(side)).angle_between(wanted) < 1e-6);
            // The toes' pitch cancels the foot's pitch, so the toes are level.
            let toes = pose.model_rotation(Joint::Toe(side)) * DVec3::Z;
            assert!(toes.y.abs() < 1e-9, "{toes}");
            let knee = pose.model_position(Joint::Shin(side));
            let straight = (pose.model_position(Joint::Thigh(side)) + ankle) / 2.0;
            assert!(knee.z > straight.z, "the knee bends backwards");
        }
    }
}
