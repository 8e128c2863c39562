//! The walker's joints: their positions and their parents.
//!
//! The bind pose stands in an A with straight legs. It faces +Z and has its left at +X (right-handed, +Y up, metres,
//! feet on y = 0). Every joint's axes are the model's axes in that pose: all rest rotations are identity. So a local
//! rotation about X is a pitch for every joint, and inverse bind matrices are pure translations.

use glam::{DVec3, dvec3};

/// One half of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The side of +X.
    Left,
    /// The side of -X.
    Right,
}

impl Side {
    pub const BOTH: [Self; 2] = [Self::Left, Self::Right];

    /// The sign of X on this side.
    #[must_use]
    pub fn sign(self) -> f64 {
        match self {
            Self::Left => 1.0,
            Self::Right => -1.0,
        }
    }

    /// Mirrors a point that is given for the left half.
    #[must_use]
    pub fn of(self, left: DVec3) -> DVec3 {
        dvec3(left.x * self.sign(), left.y, left.z)
    }
}

/// The joints, by body part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joint {
    Hips,
    Spine,
    Chest,
    Neck,
    Head,
    Eyes,
    Antenna,
    ScarfUpper,
    ScarfLower,
    Shoulder(Side),
    UpperArm(Side),
    Forearm(Side),
    Hand(Side),
    Thigh(Side),
    Shin(Side),
    Foot(Side),
    Toe(Side),
}

use Joint::{Antenna, Chest, Eyes, Foot, Forearm, Hand, Head, Hips, Neck, ScarfLower, ScarfUpper, Shin, Shoulder};
use Joint::{Spine, Thigh, Toe, UpperArm};
use Side::{Left, Right};

/// Every joint, parents before children. The position in this list is the joint's index in the skin.
pub const JOINTS: [Joint; 25] = [
    Hips,
    Spine,
    Chest,
    Neck,
    Head,
    Eyes,
    Antenna,
    ScarfUpper,
    ScarfLower,
    Shoulder(Left),
    UpperArm(Left),
    Forearm(Left),
    Hand(Left),
    Shoulder(Right),
    UpperArm(Right),
    Forearm(Right),
    Hand(Right),
    Thigh(Left),
    Shin(Left),
    Foot(Left),
    Toe(Left),
    Thigh(Right),
    Shin(Right),
    Foot(Right),
    Toe(Right),
];

/// The length of the upper arm, in metres.
pub const UPPER_ARM_LENGTH: f64 = 0.25;
/// The length of the forearm, in metres.
pub const FOREARM_LENGTH: f64 = 0.23;
/// The angle between the bind pose's arms and the vertical, in radians.
pub const ARM_SPREAD: f64 = 0.61;

impl Joint {
    /// The index in [`JOINTS`].
    #[must_use]
    pub fn index(self) -> usize {
        match self {
            Hips => 0,
            Spine => 1,
            Chest => 2,
            Neck => 3,
            Head => 4,
            Eyes => 5,
            Antenna => 6,
            ScarfUpper => 7,
            ScarfLower => 8,
            Shoulder(side) => 9 + 4 * side as usize,
            UpperArm(side) => 10 + 4 * side as usize,
            Forearm(side) => 11 + 4 * side as usize,
            Hand(side) => 12 + 4 * side as usize,
            Thigh(side) => 17 + 4 * side as usize,
            Shin(side) => 18 + 4 * side as usize,
            Foot(side) => 19 + 4 * side as usize,
            Toe(side) => 20 + 4 * side as usize,
        }
    }

    /// The parent joint; `None` for the hips.
    #[must_use]
    pub fn parent(self) -> Option<Self> {
        match self {
            Hips => None,
            Spine | Thigh(_) => Some(Hips),
            Chest => Some(Spine),
            Neck | ScarfUpper | Shoulder(_) => Some(Chest),
            Head => Some(Neck),
            Eyes | Antenna => Some(Head),
            ScarfLower => Some(ScarfUpper),
            UpperArm(side) => Some(Shoulder(side)),
            Forearm(side) => Some(UpperArm(side)),
            Hand(side) => Some(Forearm(side)),
            Shin(side) => Some(Thigh(side)),
            Foot(side) => Some(Shin(side)),
            Toe(side) => Some(Foot(side)),
        }
    }

    /// The position in the bind pose, in model space.
    #[must_use]
    pub fn position(self) -> DVec3 {
        match self {
            Hips => dvec3(0.0, 0.87, 0.0),
            Spine => dvec3(0.0, 0.95, 0.0),
            Chest => dvec3(0.0, 1.09, 0.0),
            Neck => dvec3(0.0, 1.29, 0.0),
            Head => dvec3(0.0, 1.35, 0.0),
            Eyes => dvec3(0.0, 1.505, 0.15),
            Antenna => dvec3(-0.08, 1.64, -0.03),
            ScarfUpper => dvec3(0.07, 1.32, -0.10),
            ScarfLower => dvec3(0.10, 1.23, -0.29),
            Shoulder(side) => side.of(dvec3(0.05, 1.23, 0.0)),
            UpperArm(side) => side.of(dvec3(0.165, 1.225, 0.0)),
            Forearm(side) => UpperArm(side).position() + arm_direction(side) * UPPER_ARM_LENGTH,
            Hand(side) => Forearm(side).position() + arm_direction(side) * FOREARM_LENGTH,
            Thigh(side) => side.of(dvec3(0.092, 0.83, 0.0)),
            Shin(side) => side.of(dvec3(0.092, 0.46, 0.0)),
            Foot(side) => side.of(dvec3(0.092, 0.09, 0.0)),
            Toe(side) => side.of(dvec3(0.092, 0.03, 0.115)),
        }
    }

    /// The position relative to the parent, in the bind pose.
    #[must_use]
    pub fn offset(self) -> DVec3 {
        self.position() - self.parent().map_or(DVec3::ZERO, Self::position)
    }

    /// The name in the file, such as `upper_arm.L`.
    #[must_use]
    pub fn name(self) -> String {
        let (stem, side) = match self {
            Hips => ("hips", None),
            Spine => ("spine", None),
            Chest => ("chest", None),
            Neck => ("neck", None),
            Head => ("head", None),
            Eyes => ("eyes", None),
            Antenna => ("antenna", None),
            ScarfUpper => ("scarf.001", None),
            ScarfLower => ("scarf.002", None),
            Shoulder(side) => ("shoulder", Some(side)),
            UpperArm(side) => ("upper_arm", Some(side)),
            Forearm(side) => ("forearm", Some(side)),
            Hand(side) => ("hand", Some(side)),
            Thigh(side) => ("thigh", Some(side)),
            Shin(side) => ("shin", Some(side)),
            Foot(side) => ("foot", Some(side)),
            Toe(side) => ("toe", Some(side)),
        };
        match side {
            None => stem.to_owned(),
            Some(Left) => format!("{stem}.L"),
            Some(Right) => format!("{stem}.R"),
        }
    }
}

/// The unit vector from shoulder to hand in the bind pose.
#[must_use]
pub fn arm_direction(side: Side) -> DVec3 {
    side.of(dvec3(ARM_SPREAD.sin(), -ARM_SPREAD.cos(), 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joints_follow_their_index_and_their_parent() {
        for (index, joint) in JOINTS.into_iter().enumerate() {
            assert_eq!(joint.index(), index, "{}", joint.name());
            assert!(joint.parent().is_none_or(|parent| parent.index() < index), "{}", joint.name());
        }
    }
}
