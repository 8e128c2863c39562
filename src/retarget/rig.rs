//! A humanoid in the reference pose that all share: upright, facing +Z, arms stretched out to the sides, legs straight down.
//!
//! In: a model and its roles. Out: for each role, the rotation of its node in the reference pose, and a few lengths. Two
//! rigs may differ in the axes of their joints, in the pose in which they were modelled (arms down, elbows bent, fingers
//! closed), in their size and in the axis that points up. In the reference pose only the axes still differ, so a turn away
//! from it means the same for both.
//!
//! Arms, legs and fingers are turned to the reference pose by the directions of their bones, each by the smallest turn
//! after that of its parent. Trunk, head, shoulders and feet are left as they stand: where a stylised neck is straight and
//! another one leans, the difference belongs to the body and not to its pose.

use glam::{Affine3A, Mat3, Quat, Vec3};

use super::standing::{along_axes, rotation_of, standing_matrices};
use super::twist::{Twist, twist_bones};
use crate::model::Model;
use crate::model::humanoid::{FINGERS, Humanoid, Limb, PHALANGES, ROLE_COUNT, Role, Side};

/// The largest angle by which a body may lean in the pose in which it was modelled and still count as upright.
const UPRIGHT_DEGREES: f32 = 30.0;

/// A humanoid in its reference pose. *Body space* is model space, turned so that the character is upright and faces +Z.
pub struct Rig<'m> {
    pub model: &'m Model,
    pub humanoid: &'m Humanoid,
    /// Turns model space into body space.
    pub body_from_model: Quat,
    /// The same for the poses of new clips. They turn a body upright, and to +Z, if its root is not upright in its file.
    pub body_from_posed: Quat,
    /// The rotation of each node in body space in the reference pose. Twist bones are as their
    /// bones. Other nodes without a role are as they stand.
    pub reference: Vec<Quat>,
    /// The position of each node in body space, as it stands.
    pub standing: Vec<Vec3>,
    /// The length of a leg from the hip joint to the ankle.
    pub leg_length: f32,
    /// The heights of the ankles and of the toes of a foot on the ground: those of the lower foot, as the body stands.
    pub ankle_height: f32,
    pub toes_height: f32,
    /// The nodes of trunk and neck: from the hips, which are left out, to the one that carries the neck and the arms, and from
    /// there to the head.
    pub chains: [Vec<usize>; 2],
    pub twists: Vec<Twist>,
}

impl<'m> Rig<'m> {
    /// Returns the rig of a model. The roles must be [whole](Humanoid::is_whole).
    pub fn new(model: &'m Model, humanoid: &'m Humanoid) -> Option<Self> {
        let matrices = standing_matrices(model);
        let body_from_model = upright(humanoid, &matrices)?;
        let places = |matrices: &[Affine3A]| -> Vec<Vec3> {
            matrices.iter().map(|matrix| body_from_model * Vec3::from(matrix.translation)).collect()
        };
        // The rest pose may crouch, or lift a foot: its lowest foot is on the ground, and so are both of the standing body.
        let mut standing = places(&matrices);
        let rise = lowest_foot(humanoid, &places(&model.skeleton.rest_matrices())) - lowest_foot(humanoid, &standing);
        standing.iter_mut().for_each(|place| place.y += rise);
        let reference = matrices.iter().map(|matrix| body_from_model * rotation_of(matrix)).collect();
        let node = |role: Role| humanoid.node(role).map(|node| node as usize);
        let top = [Role::UPPER_CHEST, Role::CHEST, Role::SPINE].into_iter().find_map(node)?;
        let (hips, head) = (node(Role::HIPS)?, node(Role::HEAD)?);
        let mut rig = Self {
            model,
            humanoid,
            body_from_model,
            body_from_posed: if (body_from_model * Vec3::Y).y > 0.9 { body_from_model } else { Quat::IDENTITY },
            reference,
            standing,
            leg_length: 0.0,
            ankle_height: 0.0,
            toes_height: 0.0,
            chains: [model.skeleton.path(hips, top)?, model.skeleton.path(top, head)?],
            twists: Vec::new(),
        };
        rig.leg_length = 0.5 * (rig.length_of_leg(Side::Left)? + rig.length_of_leg(Side::Right)?);
        let lower = |limb| {
            Side::BOTH.into_iter().filter_map(|side| Some(rig.place(Role::limb(side, limb))?.y)).reduce(f32::min)
        };
        (rig.ankle_height, rig.toes_height) = (lower(Limb::Foot).unwrap_or(0.0), lower(Limb::Toes).unwrap_or(0.0));
        let turns = rig.turns_to_reference();
        for (role, node) in humanoid.roles() {
            rig.reference[node as usize] = (turns[role.index()] * rig.reference[node as usize]).normalize();
        }
        rig.twists = twist_bones(&model.skeleton, humanoid, &rig.standing);
        for twist in &rig.twists {
            rig.reference[twist.node] = (turns[twist.role.index()] * rig.reference[twist.node]).normalize();
        }
        let is_sound =
            rig.leg_length > 0.0 && rig.leg_length.is_finite() && rig.reference.iter().all(|q| q.is_finite());
        is_sound.then_some(rig)
    }

    pub fn node(&self, role: Role) -> Option<usize> {
        self.humanoid.node(role).map(|node| node as usize)
    }

    pub fn limb(&self, side: Side, limb: Limb) -> Option<usize> {
        self.node(Role::limb(side, limb))
    }

    /// Returns the position of a role's node, as it stands.
    pub fn place(&self, role: Role) -> Option<Vec3> {
        self.node(role).map(|node| self.standing[node])
    }

    /// Returns the middle between the hip joints, as it stands.
    pub fn pelvis(&self) -> Vec3 {
        self.pelvis_at(|node| self.standing[node])
    }

    /// Returns the middle between the hip joints, from the places of nodes.
    pub fn pelvis_at(&self, place: impl Fn(usize) -> Vec3) -> Vec3 {
        let joints = Side::BOTH.map(|side| self.limb(side, Limb::UpperLeg).map_or(Vec3::ZERO, &place));
        0.5 * (joints[0] + joints[1])
    }

    /// Returns the length of a leg, as it stands. Without a foot both bones are as long as the thigh.
    pub fn length_of_leg(&self, side: Side) -> Option<f32> {
        let place = |limb| self.place(Role::limb(side, limb));
        let (upper, lower) = (place(Limb::UpperLeg)?, place(Limb::LowerLeg)?);
        let thigh = upper.distance(lower);
        Some(thigh + place(Limb::Foot).map_or(thigh, |foot| lower.distance(foot)))
    }

    /// Returns the turn of each role from the pose in which the body stands to the reference pose.
    fn turns_to_reference(&self) -> [Quat; ROLE_COUNT] {
        let mut turns = [Quat::IDENTITY; ROLE_COUNT];
        for side in Side::BOTH {
            let out = if side == Side::Left { Vec3::X } else { Vec3::NEG_X };
            let limb = |limb| Role::limb(side, limb);
            let [arm, forearm, hand] = [Limb::UpperArm, Limb::LowerArm, Limb::Hand].map(limb);
            let middle = Role::finger(side, 2, 0);
            self.straighten(&mut turns, &[(arm, forearm), (forearm, hand), (hand, middle)], Quat::IDENTITY, out);
            turns[hand.index()] = self.palm_down(side, turns[hand.index()]);
            for finger in 0..FINGERS {
                let of_hand = turns[hand.index()];
                let phalanges: [Role; PHALANGES] = std::array::from_fn(|phalanx| Role::finger(side, finger, phalanx));
                if finger == 0 {
                    // A thumb's place at the hand belongs to the body.
                    phalanges.iter().for_each(|phalanx| turns[phalanx.index()] = of_hand);
                    continue;
                }
                let bones = [0, 1, 2].map(|phalanx| (phalanges[phalanx], phalanges[(phalanx + 1).min(PHALANGES - 1)]));
                self.straighten(&mut turns, &bones, of_hand, out);
            }
            let [thigh, shin, foot] = [Limb::UpperLeg, Limb::LowerLeg, Limb::Foot].map(limb);
            self.straighten(&mut turns, &[(thigh, shin), (shin, foot)], Quat::IDENTITY, Vec3::NEG_Y);
        }
        turns
    }

    /// Turns bones, each from one role to the next, to point in a direction. A bone without an end follows the bone above.
    fn straighten(&self, turns: &mut [Quat; ROLE_COUNT], bones: &[(Role, Role)], first: Quat, direction: Vec3) {
        let mut turn = first;
        for &(from, to) in bones {
            if let (Some(from), Some(to)) = (self.place(from), self.place(to))
                && let Some(bone) = (turn * (to - from)).try_normalize()
            {
                turn = Quat::from_rotation_arc(bone, direction) * turn;
            }
            turns[from.index()] = turn;
        }
    }

    /// Turns a stretched hand around its length so that the palm looks down: the index finger is in front of the little one.
    fn palm_down(&self, side: Side, turn: Quat) -> Quat {
        /// Fingers closer together than this, as a share of a leg, say nothing.
        const LEAST_WIDTH: f32 = 0.01;
        let [index, little] = [1, 4].map(|finger| self.place(Role::finger(side, finger, 0)));
        let (Some(index), Some(little)) = (index, little) else { return turn };
        let across = (turn * (index - little)).with_x(0.0);
        if across.length() < LEAST_WIDTH * self.leg_length {
            return turn;
        }
        Quat::from_rotation_arc(across.normalize(), Vec3::Z) * turn
    }
}

/// Returns the height of the lowest joint of the feet, or 0 without feet.
fn lowest_foot(humanoid: &Humanoid, places: &[Vec3]) -> f32 {
    let joints = Side::BOTH.into_iter().flat_map(|side| [Limb::Foot, Limb::Toes].map(|limb| humanoid.limb(side, limb)));
    let heights = joints.flatten().map(|node| places[node as usize].y);
    heights.reduce(f32::min).filter(|height| height.is_finite()).unwrap_or(0.0)
}

/// Returns the turn from model space to body space.
///
/// The left side is where the left limbs are, and up is from the pelvis to the head. If these are close to axes of model
/// space, the axes count: a body may lean a little as it stands.
fn upright(humanoid: &Humanoid, matrices: &[Affine3A]) -> Option<Quat> {
    let place = |role: Role| Some(Vec3::from(matrices[humanoid.node(role)? as usize].translation));
    let of_side = |limb| Some([place(Role::limb(Side::Left, limb))?, place(Role::limb(Side::Right, limb))?]);
    let (legs, arms) = (of_side(Limb::UpperLeg)?, of_side(Limb::UpperArm)?);
    let up = (place(Role::HEAD)? - 0.5 * (legs[0] + legs[1])).try_normalize()?;
    let across = (legs[0] - legs[1]) + (arms[0] - arms[1]);
    let left = across.reject_from(up).try_normalize()?;
    let turn = Quat::from_mat3(&Mat3::from_cols(left, up, left.cross(up)));
    let model_from_body = along_axes(turn, UPRIGHT_DEGREES).unwrap_or(turn);
    model_from_body.is_finite().then(|| model_from_body.inverse())
}
