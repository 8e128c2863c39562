//! The roles of a humanoid skeleton: which node is the hips, which the left upper arm.
//!
//! In: the map of a VRM file, or a guess from names and the tree ([`crate::retarget::humanoid_of`]). Out: a node for each role
//! that is known. A node has one role at most.
//!
//! Source: VRM 1.0, humanoid.md. Names and meanings of the roles are the same there; eyes and jaw are left out.

use std::fmt;

use glam::{Affine3A, Quat, Vec3, Vec4};

use super::{Clip, NO_PARENT, Skeleton};

pub const ROLE_COUNT: usize = 52;

/// Lists the names of the torso, then those of one side for the left and for the right.
macro_rules! both_sides {
    ([$($of_torso:literal),*], [$($of_side:literal),*]) => {
        [$($of_torso,)* $(concat!("left", $of_side),)* $(concat!("right", $of_side),)*]
    };
}

/// The name of each role in VRM 1.0.
const NAMES: [&str; ROLE_COUNT] = both_sides! {
    ["hips", "spine", "chest", "upperChest", "neck", "head"],
    [
        "Shoulder", "UpperArm", "LowerArm", "Hand",
        "UpperLeg", "LowerLeg", "Foot", "Toes",
        "ThumbMetacarpal", "ThumbProximal", "ThumbDistal",
        "IndexProximal", "IndexIntermediate", "IndexDistal",
        "MiddleProximal", "MiddleIntermediate", "MiddleDistal",
        "RingProximal", "RingIntermediate", "RingDistal",
        "LittleProximal", "LittleIntermediate", "LittleDistal"
    ]
};

/// The number of roles of the torso, which come first.
const TORSO_COUNT: u8 = 6;
const SIDE_COUNT: u8 = 23;

/// A side of the body, as its owner sees it. A character that faces +Z has its left side at +X.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Left,
    Right,
}

impl Side {
    pub const BOTH: [Self; 2] = [Self::Left, Self::Right];
}

/// A part of an arm or a leg, in the order of the roles of a side. Fingers come after them ([`Role::finger`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limb {
    Shoulder,
    UpperArm,
    LowerArm,
    Hand,
    UpperLeg,
    LowerLeg,
    Foot,
    Toes,
}

impl Limb {
    pub const ALL: [Self; 8] = {
        use Limb::*;
        [Shoulder, UpperArm, LowerArm, Hand, UpperLeg, LowerLeg, Foot, Toes]
    };
}

/// The number of fingers of a hand: thumb, index, middle, ring and little finger.
pub const FINGERS: usize = 5;
/// The number of bones of a finger, from the hand outwards.
pub const PHALANGES: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Role(u8);

impl Role {
    pub const HIPS: Self = Self(0);
    pub const SPINE: Self = Self(1);
    pub const CHEST: Self = Self(2);
    pub const UPPER_CHEST: Self = Self(3);
    pub const NECK: Self = Self(4);
    pub const HEAD: Self = Self(5);

    /// Returns all roles. A role comes after the role whose node moves its own.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..ROLE_COUNT as u8).map(Self)
    }

    pub const fn limb(side: Side, limb: Limb) -> Self {
        Self(TORSO_COUNT + SIDE_COUNT * side as u8 + limb as u8)
    }

    pub const fn finger(side: Side, finger: usize, phalanx: usize) -> Self {
        Self(Self::limb(side, Limb::Toes).0 + 1 + (PHALANGES * finger + phalanx) as u8)
    }

    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the name in VRM 1.0, such as `leftUpperArm`.
    pub fn name(self) -> &'static str {
        NAMES[self.index()]
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleSource {
    Extension(&'static str),
    /// The names of the nodes, their tree and their places.
    NamesAndTree,
}

impl fmt::Display for RoleSource {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Extension(name) => f.write_str(name),
            Self::NamesAndTree => f.write_str("names and tree"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Humanoid {
    pub source: RoleSource,
    /// The skeleton node of each role, by [`Role::index`].
    pub nodes: [Option<u32>; ROLE_COUNT],
}

impl Humanoid {
    pub fn new(source: RoleSource) -> Self {
        Self { source, nodes: [None; ROLE_COUNT] }
    }

    /// Whether the body faces -Z in its file, as VRM 0.x has it, so that import has turned it round.
    pub fn is_turned(&self) -> bool {
        self.source == RoleSource::Extension("VRM")
    }

    pub fn node(&self, role: Role) -> Option<u32> {
        self.nodes[role.index()]
    }

    pub fn limb(&self, side: Side, limb: Limb) -> Option<u32> {
        self.node(Role::limb(side, limb))
    }

    pub fn roles(&self) -> impl Iterator<Item = (Role, u32)> + '_ {
        Role::all().filter_map(|role| Some((role, self.node(role)?)))
    }

    /// Returns whether all roles are filled that a motion of the whole body needs.
    pub fn is_whole(&self) -> bool {
        let limbs = [Limb::UpperArm, Limb::LowerArm, Limb::UpperLeg, Limb::LowerLeg];
        [Role::HIPS, Role::SPINE, Role::HEAD].into_iter().all(|role| self.node(role).is_some())
            && Side::BOTH.into_iter().all(|side| limbs.into_iter().all(|limb| self.limb(side, limb).is_some()))
    }
}

/// Turns everything by half a turn around +Y, so that what faced -Z faces +Z, as import does for VRM 0.x. Twice is not at all.
pub fn turn_round(skeleton: &mut Skeleton, clips: &mut [Clip]) {
    const TURN: Quat = Quat::from_xyzw(0.0, 1.0, 0.0, 0.0);
    let is_root = |node: u32| skeleton.parents[node as usize] == NO_PARENT;
    // The rest transforms of nodes that are given as matrices are unused.
    for node in 0..skeleton.parents.len() {
        if is_root(node as u32) && skeleton.is_free(node as u32) {
            let rest = &mut skeleton.rest;
            rest.translations[node] = TURN * rest.translations[node];
            rest.rotations[node] = TURN * rest.rotations[node];
        }
    }
    for fixed in skeleton.fixed_locals.iter_mut().filter(|fixed| is_root(fixed.node)) {
        fixed.parent_from_node = Affine3A::from_quat(TURN) * fixed.parent_from_node;
    }
    for clip in clips {
        for track in clip.translations.iter_mut().filter(|track| is_root(track.node)) {
            track.values.iter_mut().for_each(|value: &mut Vec3| *value = TURN * *value);
        }
        // Tangents turn in the same way, because the product of quaternions is linear.
        for track in clip.rotations.iter_mut().filter(|track| is_root(track.node)) {
            track.values.iter_mut().for_each(|value: &mut Vec4| *value = Vec4::from(TURN * Quat::from_vec4(*value)));
        }
    }
}
