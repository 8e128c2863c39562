//! Twist bones: nodes along an arm or a leg that share the twist of a joint, so that the skin around it does not wring.
//!
//! In: a humanoid, and the places of its nodes. Out: its [`Twist`] bones, and their turns in a pose. Some skeletons have such
//! bones between the forearm and the hand in the tree, others beside the chain, with names such as `lowerarm_twist_01_l`. A
//! clip of another skeleton cannot move them, so they get their share from the bones that it moves:
//!
//! * along a forearm or a shin, the twist of the hand or the foot increases towards the end;
//! * along an upper arm or a thigh, the bone's own twist does, from none at the body.

use glam::{Quat, Vec3};

use super::names::is_twist;
use crate::model::Skeleton;
use crate::model::humanoid::{Humanoid, Limb, Role, Side};

/// The largest distance of a twist bone from the line of its bone, as a share of the bone.
const MOST_ASIDE: f32 = 0.2;

/// A node that shares a twist.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Twist {
    pub node: usize,
    /// The role of the bone along which it lies, and the bone's node.
    pub role: Role,
    bone: usize,
    /// The place along the bone, from 0 to 1.
    share: f32,
    /// The node at the end of a forearm or a shin. `None` for an upper arm or a thigh.
    end: Option<usize>,
    /// The direction of the bone in the reference pose.
    axis: Vec3,
}

/// Returns the twist bones of a humanoid. `standing` are the places of all nodes in body space. A bone beside the chain is
/// named, and nothing but its own ends is below it.
pub fn twist_bones(skeleton: &Skeleton, humanoid: &Humanoid, standing: &[Vec3]) -> Vec<Twist> {
    let mut has_role = vec![false; skeleton.len()];
    humanoid.roles().for_each(|(_, node)| has_role[node as usize] = true);
    let mut carries_role = has_role.clone();
    for node in (0..skeleton.len()).rev() {
        if let Some(parent) = skeleton.parent(node) {
            carries_role[parent] |= carries_role[node];
        }
    }
    let mut found = Vec::new();
    for side in Side::BOTH {
        let out = if side == Side::Left { Vec3::X } else { Vec3::NEG_X };
        for (bone, end, is_lower, axis) in [
            (Limb::UpperArm, Limb::LowerArm, false, out),
            (Limb::LowerArm, Limb::Hand, true, out),
            (Limb::UpperLeg, Limb::LowerLeg, false, Vec3::NEG_Y),
            (Limb::LowerLeg, Limb::Foot, true, Vec3::NEG_Y),
        ] {
            let role = Role::limb(side, bone);
            let (Some(base), Some(tip)) = (humanoid.node(role), humanoid.limb(side, end)) else { continue };
            let (base, tip) = (base as usize, tip as usize);
            let along = standing[tip] - standing[base];
            let carrier = |node: usize| skeleton.ancestors(node).find(|&above| has_role[above]);
            let is_twist = |&node: &usize| {
                let is_in_chain = is_lower && carries_role[node] && skeleton.is_below(tip, node);
                let is_beside = !carries_role[node] && is_twist(&skeleton.names[node]);
                !has_role[node] && (is_in_chain || is_beside) && carrier(node) == Some(base)
            };
            for node in (base + 1..skeleton.len()).filter(is_twist) {
                let from_base = standing[node] - standing[base];
                let share = from_base.dot(along) / along.length_squared();
                let aside = (from_base - share * along).length();
                if share.is_finite() && aside <= MOST_ASIDE * along.length() {
                    let (share, end) = (share.clamp(0.0, 1.0), is_lower.then_some(tip));
                    found.push(Twist { node, role, bone: base, share, end, axis });
                }
            }
        }
    }
    found
}

impl Twist {
    /// Returns the turn of the bone, from the turns of the nodes that a clip moves.
    pub fn turn(&self, skeleton: &Skeleton, turns: &[Option<Quat>]) -> Option<Quat> {
        let turn = turns[self.bone]?;
        if let Some(end) = self.end {
            let twist = twist_around(self.axis, turn.inverse() * turns[end]?);
            return Some(turn * Quat::IDENTITY.slerp(twist, self.share));
        }
        let above = skeleton.ancestors(self.bone).find_map(|node| turns[node])?;
        let twist = twist_around(self.axis, above.inverse() * turn);
        Some(turn * Quat::IDENTITY.slerp(twist.inverse(), 1.0 - self.share))
    }
}

/// Returns the part of a turn that is around an axis: the turn is a swing after it.
fn twist_around(axis: Vec3, turn: Quat) -> Quat {
    let around = axis * Vec3::new(turn.x, turn.y, turn.z).dot(axis);
    let length = turn.w.hypot(around.length());
    // A swing by half a turn leaves no twist to be seen.
    if length < 1e-3 { Quat::IDENTITY } else { Quat::from_xyzw(around.x, around.y, around.z, turn.w).normalize() }
}
