//! Finds the roles of a humanoid skeleton.
//!
//! In: a model. Out: its [`Humanoid`], or nothing if it is none: a quadruped, a hand alone, a dinosaur. A file that declares
//! its roles (VRM) is believed. Otherwise names are evidence ([`super::names`]), and the tree decides: the hips are where the
//! legs meet, the chest is where the arms meet, a forearm is below an upper arm. Where names say nothing, limbs are pairs of
//! branches that mirror each other. A role that is not certain stays empty.

use glam::Vec3;

use super::names::{Evidence, Word, evidence_of};
use super::standing::standing_matrices;
use crate::model::humanoid::{FINGERS, Humanoid, Limb, PHALANGES, Role, RoleSource, Side};
use crate::model::{Model, Skeleton};

/// The smallest share of the way from the hips to the head that leads upwards. A quadruped's head is in front.
const LEAST_UPRIGHT: f32 = 0.7;
/// The smallest length of an arm as a share of a leg. The arms of dinosaurs are shorter.
const LEAST_ARM: f32 = 0.3;
/// The largest ratio of the lengths of a left and a right bone.
const MOST_ASYMMETRY: f32 = 1.5;
/// The largest distance of the middle of two mirrored branches from that of the body, as a share of the distance between them.
const MOST_OFF_MIDDLE: f32 = 0.25;
/// The smallest drop of a bone of a leg, as a share of its length. Those of feet lead forwards, and drop less.
const LEAST_STEEP: f32 = 0.75;
/// How far legs may end in front of the hips or behind them, as a share of their height, before others are tried.
const MOST_BEHIND: f32 = 0.35;
/// Larger skeletons are no characters, and the search takes time that grows faster than their size.
const MOST_NODES: usize = 4096;
/// Nodes with more branches than this are no hips and no chest.
const MOST_BRANCHES: usize = 64;

pub fn humanoid_of(model: &Model) -> Option<Humanoid> {
    if model.skeleton.len() > MOST_NODES {
        return None;
    }
    if let Some(declared) = model.humanoid.as_deref().filter(|declared| declared.is_whole()) {
        return Some(declared.clone());
    }
    let body = Body::of(model);
    [Body::limbs_by_name, Body::limbs_by_tree].into_iter().find_map(|limbs| body.humanoid(limbs(&body)?))
}

/// The node of each [`Limb`] of one side.
type SideLimbs = [Option<usize>; Limb::ALL.len()];

/// A skeleton as the search sees it.
struct Body<'m> {
    skeleton: &'m Skeleton,
    children: Vec<Vec<usize>>,
    depths: Vec<usize>,
    positions: Vec<Vec3>,
    evidence: Vec<Evidence>,
    /// Whether a node is a joint, or the model has no joints.
    is_joint: Vec<bool>,
    /// Whether a node or one below it is a joint.
    has_joints: Vec<bool>,
}

impl<'m> Body<'m> {
    fn of(model: &'m Model) -> Self {
        let skeleton = &model.skeleton;
        let count = skeleton.len();
        let (mut children, mut depths) = (vec![Vec::new(); count], vec![0; count]);
        for node in 0..count {
            if let Some(parent) = skeleton.parent(node) {
                children[parent].push(node);
                depths[node] = depths[parent] + 1;
            }
        }
        let mut is_joint = vec![model.skins.is_empty(); count];
        for &joint in model.skins.iter().flat_map(|skin| &skin.joints) {
            is_joint[joint as usize] = true;
        }
        let mut has_joints = is_joint.clone();
        for node in (0..count).rev() {
            if let Some(parent) = skeleton.parent(node) {
                has_joints[parent] |= has_joints[node];
            }
        }
        let positions = standing_matrices(model).iter().map(|matrix| Vec3::from(matrix.translation)).collect();
        let evidence = skeleton.names.iter().map(|name| evidence_of(name)).collect();
        Self { skeleton, children, depths, positions, evidence, is_joint, has_joints }
    }

    /// Returns the deepest node that both nodes are, or are below.
    fn meeting(&self, a: usize, b: usize) -> Option<usize> {
        let of_a: Vec<usize> = std::iter::once(a).chain(self.skeleton.ancestors(a)).collect();
        std::iter::once(b).chain(self.skeleton.ancestors(b)).find(|node| of_a.contains(node))
    }

    /// Returns the nodes with a word, from the root outwards. If some are joints, or deform by their names, only those count.
    fn named(&self, side: Option<Side>, word: Word) -> Vec<usize> {
        let is_meant = |node: &usize| {
            let evidence = self.evidence[*node];
            !evidence.is_helper && evidence.word == Some(word) && evidence.side == side
        };
        let mut nodes: Vec<usize> = (0..self.skeleton.len()).filter(is_meant).collect();
        if nodes.iter().any(|&node| self.is_joint[node]) {
            nodes.retain(|&node| self.is_joint[node]);
        }
        if nodes.iter().any(|&node| self.evidence[node].deforms) {
            nodes.retain(|&node| self.evidence[node].deforms);
        }
        nodes.sort_by_key(|&node| self.depths[node]);
        nodes
    }

    fn limbs_by_name(&self) -> Option<[SideLimbs; 2]> {
        Some(Side::BOTH.map(|side| {
            let named = |word| self.named(Some(side), word);
            let first = |word| named(word).first().copied();
            // The bones of a limb. Where upper and lower bone lack words of their own, they are among those with one word.
            let bones = |upper: Option<usize>, lower: Option<usize>, word: Word, spare: Option<usize>| {
                let all = named(word);
                let own = |rank: usize| all.get(rank).copied();
                match (upper, lower) {
                    (Some(above), None) => {
                        [upper, all.iter().copied().find(|&bone| self.skeleton.is_below(bone, above)), None, None]
                    }
                    (None, Some(_)) => [own(0).or(spare), lower, None, None],
                    (None, None) => [0, 1, 2, 3].map(own),
                    (Some(_), Some(_)) => [upper, lower, None, None],
                }
            };
            let shoulder = first(Word::Shoulder);
            let [upper_arm, lower_arm, hand, _] =
                bones(first(Word::UpperArm), first(Word::LowerArm), Word::Arm, shoulder);
            let shoulder = first(Word::Clavicle).or(shoulder).filter(|&shoulder| Some(shoulder) != upper_arm);
            let hand = first(Word::Hand).or_else(|| first(Word::Wrist)).or(hand);

            let upper_leg = first(Word::UpperLeg).or_else(|| first(Word::Hips));
            let [upper_leg, lower_leg, foot, toes] = bones(upper_leg, first(Word::LowerLeg), Word::Leg, None);
            let feet = named(Word::Foot);
            let mut foot = feet.first().copied().or(foot);
            let mut toes = first(Word::Toes).or(toes).or_else(|| feet.get(1).copied());
            if let (None, Some(upper), Some(lower)) = (foot, upper_leg, lower_leg) {
                let [.., end, front] = self.leg(&[&[upper], &*self.chain_down(lower)].concat());
                // What is as high as the knee is no foot.
                let drop = |from: usize, to: usize| self.positions[from].y - self.positions[to].y;
                let is_low = |node: usize| drop(lower, node) > 0.25 * drop(upper, lower);
                foot = end.filter(|&node| !self.evidence[node].is_helper && is_low(node));
                toes = toes.or(front);
            }
            // In the order of `Limb`.
            [shoulder, upper_arm, lower_arm, hand, upper_leg, lower_leg, foot, toes]
        }))
    }

    /// Finds limbs as pairs of branches that mirror each other: legs, which lead down, and arms further up.
    fn limbs_by_tree(&self) -> Option<[SideLimbs; 2]> {
        let hips = (0..self.skeleton.len()).find_map(|node| Some((node, self.mirrored_branches(node, true)?)));
        let (hips, legs) = hips?;
        let above = |node: usize| {
            self.skeleton.is_below(node, hips)
                && legs.iter().all(|&leg| node != leg && !self.skeleton.is_below(node, leg))
        };
        let mut trunk = (hips + 1..self.skeleton.len()).filter(|&node| above(node));
        let arms = trunk.find_map(|node| self.mirrored_branches(node, false))?;
        let (legs, arms) = (legs.map(|leg| self.chain_down(leg)), arms.map(|arm| self.chain_out(arm)));
        let aside = |node: usize| (self.positions[node] - self.positions[hips]).with_y(0.0);
        let sign = |side| if side == Side::Left { 1.0 } else { -1.0 };
        let to_left = |&node: &usize| self.evidence[node].side.map_or(0.0, sign) * aside(node);
        // Names say which side is the left one. So do feet, which point forwards. Without both the body faces +Z.
        let mut left: Vec3 = legs.iter().chain(&arms).flatten().map(to_left).sum();
        if left == Vec3::ZERO {
            let feet = legs.iter().map(|leg| self.leg(leg));
            let feet = feet.filter_map(|leg| Some(self.positions[leg[3]?] - self.positions[leg[2]?])).sum::<Vec3>();
            let is_clear = feet.y.abs() < LEAST_STEEP * feet.length();
            left = if is_clear { Vec3::Y.cross(feet) } else { Vec3::X };
        }
        let ordered = |[a, b]: [Vec<usize>; 2]| {
            let is_left = (aside(a[a.len() - 1]) - aside(b[b.len() - 1])).dot(left) > 0.0;
            if is_left { [a, b] } else { [b, a] }
        };
        let (legs, arms) = (ordered(legs), ordered(arms));
        Some([0, 1].map(|side| {
            let mut found = SideLimbs::default();
            found[Limb::UpperLeg as usize..].copy_from_slice(&self.leg(&legs[side]));
            let chain = &arms[side];
            // A clavicle is short.
            let length = |index: usize| self.positions[chain[index]].distance(self.positions[chain[index + 1]]);
            let has_shoulder = chain.len() > 3 && length(0) < 0.7 * length(1);
            let limbs = [Limb::Shoulder, Limb::UpperArm, Limb::LowerArm, Limb::Hand];
            for (limb, &node) in limbs.into_iter().skip(usize::from(!has_shoulder)).zip(chain) {
                found[limb as usize] = Some(node);
            }
            found
        }))
    }

    /// Returns upper leg, lower leg, foot and toes of a chain from the hips to the ground. The bones of a leg lead far down,
    /// unlike those before and after them. A third one is that of a hind leg.
    fn leg(&self, chain: &[usize]) -> [Option<usize>; 4] {
        let bone = |end: usize| self.positions[chain[end - 1]] - self.positions[chain[end]];
        let most = (1..chain.len()).map(|end| bone(end).y).fold(0.0, f32::max);
        let is_long = |&end: &usize| bone(end).y >= f32::max(0.5 * most, LEAST_STEEP * bone(end).length());
        let long: Vec<usize> = (1..chain.len()).filter(is_long).collect();
        let [upper, lower, foot] = match long[..] {
            [first, second, ..] => [first - 1, second - 1, long[long.len() - 1]],
            _ => [0, 1, 2],
        }
        .map(|rank| chain.get(rank).copied());
        let toes = foot.and_then(|foot| {
            let length = |node: usize| (self.positions[node] - self.positions[foot]).with_y(0.0).length();
            let joints = self.children[foot].iter().copied().filter(|&child| self.is_joint[child]);
            joints.max_by(|&a, &b| length(a).total_cmp(&length(b)))
        });
        [upper, lower, foot, toes]
    }

    /// Returns two branches of a node that mirror each other. If `down`, they end below the node, as low as any.
    fn mirrored_branches(&self, node: usize, down: bool) -> Option<[usize; 2]> {
        let branches: Vec<_> = self.children[node].iter().copied().filter(|&child| self.has_joints[child]).collect();
        if !(3..=MOST_BRANCHES).contains(&branches.len()) {
            return None;
        }
        let limbs = branches.into_iter().filter(|&branch| !self.children[branch].is_empty());
        let limbs: Vec<Vec<usize>> = limbs.map(|branch| self.chain_out(branch)).collect();
        let center = self.positions[node];
        let place = |node: usize| self.positions[node] - center;
        // How far the middle between two nodes is from that of the body, if they mirror each other.
        let off_middle = |a: usize, b: usize| {
            let (a, b) = (place(a), place(b));
            let (across, size) = ((a - b).with_y(0.0), a.length());
            let off_middle = (0.5 * (a + b)).dot(across).abs() / across.length_squared();
            let is_pair = across.length() > 0.1 * size && (a.y - b.y).abs() < 0.2 * size;
            (is_pair && off_middle < MOST_OFF_MIDDLE).then_some(off_middle)
        };
        let pairs = limbs.iter().enumerate().flat_map(|(rank, a)| limbs[rank + 1..].iter().map(move |b| (a, b)));
        let rated = pairs.filter_map(|(a, b)| {
            let ends = [a, b].map(|limb| limb[limb.len() - 1]);
            // One hand may hold something.
            let inner = || off_middle(*a.get(2)?, *b.get(2)?).filter(|_| !down);
            let off = off_middle(ends[0], ends[1]).or_else(inner)?;
            let [end, other] = ends.map(place);
            let middle = 0.5 * (end + other);
            // A coat is behind the legs.
            let behind = middle.dot(Vec3::Y.cross(end - other).normalize_or_zero()).abs();
            let is_odd = off > 0.4 * MOST_OFF_MIDDLE || down && behind > MOST_BEHIND * -middle.y;
            let is_unnamed = a.iter().chain(b).all(|&node| self.evidence[node].word.is_none());
            let height = if down { middle.y } else { 0.0 };
            (!down || end.y.max(other.y) < 0.0).then_some(([is_unnamed, is_odd], height, [a[0], b[0]]))
        });
        rated.min_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))).map(|(.., pair)| pair)
    }

    /// Returns the chain from a node to the joint below it that is furthest away.
    fn chain_out(&self, from: usize) -> Vec<usize> {
        self.chain(from, |body, node| body.positions[node].distance(body.positions[from]))
    }

    /// Returns the chain from a node to the lowest joint below it.
    fn chain_down(&self, from: usize) -> Vec<usize> {
        self.chain(from, |body, node| -body.positions[node].y)
    }

    /// Returns the chain from a node to the joint below it with the greatest value.
    fn chain(&self, from: usize, value: impl Fn(&Self, usize) -> f32) -> Vec<usize> {
        let mut left = vec![from];
        let (mut best, mut most) = (from, value(self, from));
        while let Some(node) = left.pop() {
            let own = value(self, node);
            if own > most && self.is_joint[node] {
                (best, most) = (node, own);
            }
            left.extend(self.children[node].iter().copied().filter(|&child| self.has_joints[child]));
        }
        std::iter::once(from).chain(self.skeleton.path(from, best).into_iter().flatten()).collect()
    }

    /// Adds the torso and the fingers to the limbs. Returns `None` if the result is no humanoid.
    fn humanoid(&self, mut limbs: [SideLimbs; 2]) -> Option<Humanoid> {
        for side in &mut limbs {
            self.drop_what_is_misplaced(side);
        }
        let [left, right] = limbs;
        let hips = self.meeting(left[Limb::UpperLeg as usize]?, right[Limb::UpperLeg as usize]?)?;
        let chest = self.meeting(left[Limb::UpperArm as usize]?, right[Limb::UpperArm as usize]?)?;
        let spine = self.skeleton.path(hips, chest)?;
        let head = self.head(chest, &limbs)?;
        let neck = self.skeleton.path(chest, head)?;

        let mut humanoid = Humanoid::new(RoleSource::NamesAndTree);
        let mut put = |role: Role, node: Option<usize>| humanoid.nodes[role.index()] = node.map(|node| node as u32);
        put(Role::HIPS, Some(hips));
        put(Role::SPINE, spine.first().copied());
        put(Role::CHEST, Some(spine[spine.len() / 2]).filter(|_| spine.len() > 1));
        put(Role::UPPER_CHEST, spine.last().copied().filter(|_| spine.len() > 2));
        put(Role::NECK, neck.first().copied().filter(|&node| node != head));
        put(Role::HEAD, Some(head));
        for (side, found) in Side::BOTH.into_iter().zip(&limbs) {
            for limb in Limb::ALL {
                put(Role::limb(side, limb), found[limb as usize]);
            }
            for finger in 0..FINGERS {
                let of_hand = |node: &usize| {
                    let Evidence { word, is_helper, .. } = self.evidence[*node];
                    word == Some(Word::Finger(finger))
                        && !is_helper
                        && found[Limb::Hand as usize].is_some_and(|hand| self.skeleton.is_below(*node, hand))
                };
                let mut bones: Vec<usize> = (0..self.skeleton.len()).filter(of_hand).collect();
                bones.sort_by_key(|&node| self.depths[node]);
                for (phalanx, bone) in bones.into_iter().take(PHALANGES).enumerate() {
                    put(Role::finger(side, finger, phalanx), Some(bone));
                }
            }
        }
        (humanoid.is_whole() && self.is_plausible(&humanoid)).then_some(humanoid)
    }

    /// Empties the parts of limbs that are not where they must be in the tree. A foot may be anywhere: some rigs move it by
    /// inverse kinematics.
    fn drop_what_is_misplaced(&self, side: &mut SideLimbs) {
        for (upper, lower) in [
            (Limb::Shoulder, Limb::UpperArm),
            (Limb::UpperArm, Limb::LowerArm),
            (Limb::LowerArm, Limb::Hand),
            (Limb::UpperLeg, Limb::LowerLeg),
            (Limb::Foot, Limb::Toes),
        ] {
            let (Some(above), Some(below)) = (side[upper as usize], side[lower as usize]) else { continue };
            if !self.skeleton.is_below(below, above) {
                side[if upper == Limb::Shoulder { upper } else { lower } as usize] = None;
            }
        }
        if side[Limb::Foot as usize].is_none() {
            side[Limb::Toes as usize] = None;
        }
    }

    /// Returns the node that is called head, or the end of the chain that leads up from the chest.
    fn head(&self, chest: usize, limbs: &[SideLimbs; 2]) -> Option<usize> {
        let named = self.named(None, Word::Head).into_iter().find(|&node| self.skeleton.is_below(node, chest));
        named.or_else(|| {
            let of_arm = |node: usize| {
                let mut arms = limbs
                    .iter()
                    .filter_map(|side| side[Limb::Shoulder as usize].or_else(|| side[Limb::UpperArm as usize]));
                arms.any(|arm| node == arm || self.skeleton.is_below(node, arm))
            };
            let branches =
                self.children[chest].iter().copied().filter(|&child| self.has_joints[child] && !of_arm(child));
            let top = |&branch: &usize| {
                let chain = self.chain(branch, |body, node| body.positions[node].y);
                chain.last().map_or(f32::NEG_INFINITY, |&end| self.positions[end].y)
            };
            let branch = branches.max_by(|a, b| top(a).total_cmp(&top(b)))?;
            // Beyond a fork is a face.
            let mut head = branch;
            while let [only] = self.children[head][..] {
                if !self.is_joint[only] || self.evidence[only].is_helper {
                    break;
                }
                head = only;
            }
            Some(head)
        })
    }

    /// Returns whether a body stands upright, with arms and legs that are alike on both sides.
    fn is_plausible(&self, humanoid: &Humanoid) -> bool {
        let at = |node: Option<u32>| node.map(|node| self.positions[node as usize]);
        let limb = |side, limb| at(humanoid.limb(side, limb));
        let joints = Side::BOTH.map(|side| limb(side, Limb::UpperLeg));
        let ([Some(left), Some(right)], Some(head)) = (joints, at(humanoid.node(Role::HEAD))) else { return false };
        let length = |side, a, b| Some(limb(side, a)?.distance(limb(side, b)?));
        let alike = |a, b| {
            let (Some(left), Some(right)) = (length(Side::Left, a, b), length(Side::Right, a, b)) else { return true };
            left > 0.0 && left <= MOST_ASYMMETRY * right && right <= MOST_ASYMMETRY * left
        };
        let knees = Side::BOTH.map(|side| limb(side, Limb::LowerLeg).map_or(f32::INFINITY, |knee| knee.y));
        let arm = length(Side::Left, Limb::UpperArm, Limb::LowerArm).unwrap_or(0.0);
        let leg = length(Side::Left, Limb::UpperLeg, Limb::LowerLeg).unwrap_or(0.0);
        let trunk = head - 0.5 * (left + right);
        trunk.y >= LEAST_UPRIGHT * trunk.length()
            && knees[0] < left.y
            && knees[1] < right.y
            && arm >= LEAST_ARM * leg
            && alike(Limb::UpperArm, Limb::LowerArm)
            && alike(Limb::UpperLeg, Limb::LowerLeg)
    }
}
