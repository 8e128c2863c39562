//! Bodies that sit, kneel or lie: what touches the floor in the source touches it in the target.
//!
//! In: how high the parts of a source's body are above its floor, and the target's pose with the source's turns and with feet
//! set. Out: the height of the target's pelvis, and slightly different turns of its trunk, head, arms and legs. The ratio of
//! the leg lengths places a body that stands. A seat, a back or a knee has another depth under its joint in each body.
//!
//! A *part* is a piece of skin ([`PARTS`]). Its height is that of its lowest vertex, as a share of the body's height above the
//! soles. Only a few vertices are skinned: the outermost ones of a part, in 98 directions.
//!
//! 1. Parts lower than [`NEAR`] touch. Up to [`FAR`] they touch in part, so that a body that sits down does not jump.
//! 2. The pelvis rises or sinks until the most important part that touches is as high as the source's: the seat, the back, a
//!    knee, the feet, an elbow, a hand, the head.
//! 3. The spine bends until the back is right, and so does the neck for the head. The pelvis itself does not turn.
//! 4. Thighs and upper arms swing until knees and elbows are right, and then limbs swing for feet and hands.
//!
//! A part that does not touch keeps the source's direction, but must not sink into the floor. All this is repeated
//! [`PASSES`] times. A pose in which nothing but feet is near the floor is left alone, bit for bit.

use std::collections::BTreeMap;

use glam::{Affine3A, Quat, Vec3, Vec4};

use super::rig::Rig;
use super::standing::{rotation_of, standing_matrices};
use crate::animation::joint_matrices;
use crate::animation::skin::{Pose, skinned_position};
use crate::model::humanoid::{FINGERS, Limb, PHALANGES, ROLE_COUNT, Role, Side};

/// The number of parts: seat, back, head, and of each side elbow, hand, knee and foot.
pub const PARTS: usize = 11;
pub const SEAT: usize = 0;
pub const BACK: usize = 1;
pub const HEAD: usize = 2;
pub const ELBOW: usize = 3;
pub const HAND: usize = 4;
pub const KNEE: usize = 5;
pub const FOOT: usize = 6;

pub const fn of_side(part: usize, side: Side) -> usize {
    part + 4 * side as usize
}

/// Returns the part without its side.
pub const fn kind(part: usize) -> usize {
    if part > FOOT { part - 4 } else { part }
}

/// Heights as shares of the body's height: up to the first a part touches, and from the second on it does not.
const NEAR: f32 = 0.01;
const FAR: f32 = 0.05;
/// A pose in which all parts but feet are higher than this is left alone.
const OUT_OF_REACH: f32 = 0.08;
/// The depth of a part at which a clip was made without a floor.
const DIVES: f32 = 0.25;
/// The number of times that a pose is measured and corrected.
pub const PASSES: usize = 4;
/// The largest turn of a part of the trunk or of a limb.
const MOST_DEGREES: f32 = 50.0;
/// The level distance of a point from its pivot, as a share of the bone, at which a turn raises it only by a half.
const SHORT_LEVER: f32 = 0.15;

/// The skin of a humanoid by parts.
pub struct Body {
    /// The outermost vertices of each part.
    supports: [Vec<u32>; PARTS],
    /// The node near each part, and how far the part reaches from it.
    anchors: [Option<(usize, f32)>; PARTS],
    /// The height of the soles of the standing body in body space.
    pub floor: f32,
    /// The height of the body above them.
    pub height: f32,
}

/// How high a source's parts are, as shares of its height.
#[derive(Debug, Clone, Copy)]
pub struct Contact {
    heights: [Option<f32>; PARTS],
    /// From 0, for a body that stands, to 1.
    pub strength: f32,
}

/// The turns of the target's nodes in body space, now and before any was corrected.
pub struct Turns {
    pub now: Vec<Option<Quat>>,
    pub first: Vec<Option<Quat>>,
}

impl Turns {
    /// Turns a node further, but no further than [`MOST_DEGREES`] in all.
    fn turn(&mut self, node: usize, turn: Quat) {
        let (Some(now), Some(first)) = (self.now[node], self.first[node]) else { return };
        let turned = (turn * now).normalize();
        let share = MOST_DEGREES.to_radians() / turned.angle_between(first);
        self.now[node] = Some(if share < 1.0 { first.slerp(turned, share) } else { turned });
    }
}

impl Body {
    /// Returns the parts of a rig's skin. `None` if there is no skin of its seat or its feet.
    pub fn new(rig: &Rig) -> Option<Self> {
        let skin = parts(rig)?;
        let at = |vertex: &u32| skin[*vertex as usize].0;
        // By joint: the underside of a thigh is hidden in standing hips. Fingers are together.
        let mut vertices: BTreeMap<(usize, u32), Vec<u32>> = BTreeMap::new();
        for (vertex, (_, part)) in (0..).zip(&skin) {
            let Some(part) = *part else { continue };
            let strongest = rig.model.geometry.influences_of(vertex as usize).first().map_or(0, |first| first.joint);
            vertices.entry((part, if kind(part) == HAND { 0 } else { strongest })).or_default().push(vertex);
        }
        let grid = (0..125).map(|cell| Vec3::new((cell % 5) as f32, (cell / 5 % 5) as f32, (cell / 25) as f32) - 2.0);
        let directions: Vec<Vec3> = grid.filter(|cell| cell.abs().max_element() == 2.0).collect();
        let mut supports: [Vec<u32>; PARTS] = Default::default();
        for ((part, _), vertices) in vertices {
            let outermost =
                |along: &Vec3| vertices.iter().copied().max_by(|a, b| at(a).dot(*along).total_cmp(&at(b).dot(*along)));
            supports[part].extend(directions.iter().filter_map(outermost));
            supports[part].sort_unstable();
            supports[part].dedup();
        }
        // Each with the bone above, for bodies without hands or feet.
        let bones = [Limb::UpperArm, Limb::LowerArm, Limb::Hand, Limb::UpperLeg, Limb::LowerLeg, Limb::Foot];
        let limbs = [1, 2, 4, 5].map(|limb| [bones[limb], bones[limb - 1]]);
        let of_sides = Side::BOTH
            .into_iter()
            .flat_map(|side| limbs.map(|[limb, above]| rig.limb(side, limb).or(rig.limb(side, above))));
        let trunk = [rig.node(Role::HIPS), rig.chains[0].last().copied(), rig.node(Role::HEAD)];
        let nodes: Vec<Option<usize>> = trunk.into_iter().chain(of_sides).collect();
        let anchors = std::array::from_fn(|part| {
            let node = nodes[part].filter(|_| !supports[part].is_empty())?;
            let reach = |vertex: &u32| at(vertex).distance(rig.standing[node]);
            Some((node, supports[part].iter().map(reach).fold(0.0, f32::max)))
        });
        let soles = Side::BOTH.into_iter().flat_map(|side| &supports[of_side(FOOT, side)]);
        let floor = soles.map(|vertex| at(vertex).y).reduce(f32::min)?;
        let height = supports.iter().flatten().map(|vertex| at(vertex).y - floor).fold(0.0, f32::max);
        let is_body = height > 0.0 && height.is_finite() && anchors[SEAT].is_some();
        is_body.then_some(Self { supports, anchors, floor, height })
    }

    /// Returns the number of vertices that are skinned for a pose.
    pub fn vertex_count(&self) -> usize {
        self.supports.iter().map(Vec::len).sum()
    }

    /// Returns the lowest point of each part that may be lower than `most` above the floor.
    fn lowest(&self, rig: &Rig, body_from_model: Quat, matrices: &[Affine3A], most: f32) -> [Option<Vec3>; PARTS] {
        let palette: Vec<_> = joint_matrices(&rig.model.palette, matrices).collect();
        let (geometry, up) = (&rig.model.geometry, body_from_model.inverse() * Vec3::Y);
        // Heights are one row of a blend of matrices.
        let row = |r: &[[f32; 4]; 3]| up.x * Vec4::from(r[0]) + up.y * Vec4::from(r[1]) + up.z * Vec4::from(r[2]);
        let rows: Vec<Vec4> = palette.iter().map(|matrix| row(&matrix.rows)).collect();
        std::array::from_fn(|part| {
            let (node, reach) = self.anchors[part]?;
            let anchor = body_from_model * Vec3::from(matrices[node].translation);
            if anchor.y - 1.2 * reach - self.floor > most {
                return None;
            }
            let height = |vertex: usize| -> f32 {
                let position = geometry.positions[vertex].extend(1.0);
                geometry.influences_of(vertex).iter().map(|of| of.weight * rows[of.joint as usize].dot(position)).sum()
            };
            let heights = self.supports[part].iter().map(|&vertex| (height(vertex as usize), vertex as usize));
            let (_, lowest) = heights.min_by(|a, b| a.0.total_cmp(&b.0))?;
            let pose = Pose { palette: &palette, ..Pose::default() };
            Some(body_from_model * skinned_position(geometry, lowest, pose)).filter(|point| point.is_finite())
        })
    }

    /// Returns the contact of a source's pose. Arms of an upright trunk do not count: long ones may reach the floor in a walk.
    pub fn contact(&self, rig: &Rig, matrices: &[Affine3A]) -> Contact {
        let up = |&node: &usize| {
            let body_from_node = rig.body_from_model * rotation_of(&matrices[node]);
            (body_from_node * rig.reference[node].inverse() * Vec3::Y).y
        };
        let upright = rig.chains[0].last().map_or(1.0, up);
        let lowest = self.lowest(rig, rig.body_from_model, matrices, 2.0 * OUT_OF_REACH * self.height);
        let heights = lowest.map(|point| Some((point?.y - self.floor) / self.height));
        let strength = |part: usize| {
            let counts = match kind(part) {
                FOOT => 0.0,
                ELBOW | HAND => fade(0.5, 0.8, upright),
                _ => 1.0,
            };
            heights[part].map_or(0.0, |height| counts * fade(FAR, OUT_OF_REACH, height))
        };
        // A body that dives through the floor has none.
        let deepest = heights.iter().flatten().copied().fold(0.0, f32::min);
        let strength = (0..PARTS).map(strength).fold(0.0, f32::max) * (1.0 - fade(-DIVES, -0.5 * DIVES, deepest));
        Contact { heights, strength }
    }

    /// Turns parts of the target so that those touch that do in the source. Returns how far the body must rise.
    pub fn fit(&self, rig: &Rig, contact: &Contact, matrices: &[Affine3A], turns: &mut Turns) -> f32 {
        let place = |node: usize| rig.body_from_posed * Vec3::from(matrices[node].translation);
        let wanted =
            |part: usize| contact.heights[part].map_or(f32::INFINITY, |share| self.floor + share * self.height);
        let touch = |part: usize| contact.heights[part].map_or(0.0, |height| fade(NEAR, FAR, height));
        let lowest = self.lowest(rig, rig.body_from_posed, matrices, f32::INFINITY);
        // How far a part must rise that is already `risen`.
        let gap = |part: usize, risen: f32| {
            let Some(point) = lowest[part] else { return 0.0 };
            let (now, wanted, touch) = (point.y + risen, wanted(part), touch(part));
            let to_wanted = if touch > 0.0 { touch * (wanted - now) } else { 0.0 };
            contact.strength * to_wanted.max(wanted.min(self.floor) - now)
        };

        let [left, right] = Side::BOTH;
        let both = |part: usize| [of_side(part, left), of_side(part, right)];
        let (mut rise, mut left_over) = (0.0, 1.0);
        for parts in [[SEAT; 2], [BACK; 2], both(KNEE), both(FOOT), both(ELBOW), both(HAND), [HEAD; 2]] {
            let weights = parts.map(|part| if lowest[part].is_some() { touch(part) } else { 0.0 });
            let most = weights[0].max(weights[1]);
            let gaps = (0..2).map(|index| if weights[index] > 0.0 { gap(parts[index], 0.0) } else { 0.0 });
            // The feet are where they belong.
            if most > 0.0 && kind(parts[0]) != FOOT {
                rise += left_over * most * gaps.sum::<f32>() / (weights[0] + weights[1]);
            }
            left_over *= 1.0 - most;
        }
        rise += gap(SEAT, rise).max(0.0) * (1.0 - touch(SEAT));

        let trunk = self.bend(rig, 0, place, lowest[BACK], gap(BACK, rise), turns);
        // Carried by the trunk.
        let pivot = rig.chains[0].first().map_or(Vec3::ZERO, |&node| place(node));
        let carried = |node: usize| rise + (trunk * (place(node) - pivot) - (place(node) - pivot)).y;
        let of_neck = rig.chains[1].first().map_or(rise, |&node| carried(node));
        self.bend(rig, 1, place, lowest[HEAD], gap(HEAD, of_neck), turns);
        for side in Side::BOTH {
            for (bones, [middle, end], of_trunk) in [
                ([Limb::UpperArm, Limb::LowerArm, Limb::Hand], [ELBOW, HAND], true),
                ([Limb::UpperLeg, Limb::LowerLeg, Limb::Foot], [KNEE, FOOT], false),
            ] {
                let [Some(upper), Some(lower), tip] = bones.map(|limb| rig.limb(side, limb)) else { continue };
                let risen = if of_trunk { carried(upper) } else { rise };
                let (middle, end) = (of_side(middle, side), of_side(end, side));
                let Some(tip) = tip.map(place).or(lowest[end]) else { continue };
                let joints = [place(upper), place(lower), tip];
                let swinging = (lowest[middle].unwrap_or(joints[1]), gap(middle, risen), touch(middle));
                let [of_upper, of_lower] = fit_limb(joints, swinging, |moved| gap(end, risen + moved));
                turns.turn(upper, of_upper);
                turns.turn(lower, of_lower);
            }
        }
        rise
    }

    /// Bends a chain of the trunk so that a point rises. Returns the turn of its end.
    fn bend(
        &self,
        rig: &Rig,
        chain: usize,
        place: impl Fn(usize) -> Vec3,
        point: Option<Vec3>,
        rise: f32,
        turns: &mut Turns,
    ) -> Quat {
        let nodes = &rig.chains[chain];
        let (Some(point), Some(&first)) = (point, nodes.first()) else { return Quat::IDENTITY };
        // Upwards, as the body stands, by the length of the chain.
        let up = |&last: &usize| Some(turns.now[last]? * Vec3::Y * place(first).distance(place(last)));
        let Some(bone) = nodes.last().and_then(up) else { return Quat::IDENTITY };
        let turn = lift(bone, point - place(first), rise);
        let shoulders = Side::BOTH.into_iter().filter_map(|side| rig.limb(side, Limb::Shoulder)).filter(|_| chain == 0);
        let shares = (1..).zip(nodes).map(|(rank, &node)| (node, rank as f32 / nodes.len() as f32));
        for (node, share) in shares.chain(shoulders.map(|node| (node, 1.0))) {
            turns.turn(node, Quat::IDENTITY.slerp(turn, share));
        }
        turn
    }
}

/// Returns the turns of the two bones of a limb, from its joints. First its middle swings, from a point that must rise. Then
/// `rise`, which is given the way that the tip has moved by then, says how far the tip must rise. As far as the middle touches
/// the floor, only the lower bone swings for that, otherwise the whole limb.
fn fit_limb(
    [base, middle, tip]: [Vec3; 3],
    (point, middle_rise, touch): (Vec3, f32, f32),
    rise: impl Fn(f32) -> f32,
) -> [Quat; 2] {
    let upper = lift(middle - base, point - base, middle_rise);
    let (knee, lower) = (upper * (middle - base), tip - middle);
    let rise = rise((knee - (middle - base)).y);
    let whole = knee + lower;
    let swing = lift(whole, whole, (1.0 - touch) * rise);
    let lower_swing = lift(swing * lower, swing * lower, touch * rise);
    [swing * upper, lower_swing * swing]
}

/// Returns the turn around a level axis that raises a point of a bone, seen from the joint. It is small for a point above,
/// below or near the joint. The axis is between those of the bone and the point: by the point alone, a body would roll.
fn lift(bone: Vec3, point: Vec3, rise: f32) -> Quat {
    let ahead = (bone.normalize_or_zero() + point.normalize_or_zero()).with_y(0.0);
    let Some(ahead) = ahead.try_normalize() else { return Quat::IDENTITY };
    let (lever, short) = (point.dot(ahead).max(0.0), SHORT_LEVER * point.length().max(bone.length()));
    let angle = rise * lever / (lever * lever + short * short);
    let (angle, most) = (if angle.is_finite() { angle } else { 0.0 }, MOST_DEGREES.to_radians());
    Quat::from_axis_angle(ahead.cross(Vec3::Y), angle.clamp(-most, most))
}

/// Returns 1 up to `near`, 0 from `far` on, and a smooth step between them.
fn fade(near: f32, far: f32, height: f32) -> f32 {
    let share = ((far - height) / (far - near)).clamp(0.0, 1.0);
    share * share * (3.0 - 2.0 * share)
}

/// Returns the drawn vertices of a rig in body space.
pub fn skin(rig: &Rig, body_from_model: Quat, matrices: &[Affine3A]) -> Vec<Vec3> {
    let palette: Vec<_> = joint_matrices(&rig.model.palette, matrices).collect();
    let pose = Pose { palette: &palette, ..Pose::default() };
    let geometry = &rig.model.geometry;
    let position = |vertex| body_from_model * skinned_position(geometry, vertex, pose);
    (0..geometry.drawn_vertex_count()).map(position).collect()
}

/// Returns the vertices of the standing body, each with its part: that of the joint with the largest share in it. Hair, cloth
/// and weapons are no parts: only joints count that have a role, or are right below one that is no hand.
pub fn parts(rig: &Rig) -> Option<Vec<(Vec3, Option<usize>)>> {
    let Rig { model, humanoid, chains, .. } = rig;
    // A shoulder moves with the trunk and with the arm.
    const NONE: usize = PARTS;
    // For each role: the part, and if it is a limb, its tip, and the part of its second half.
    let mut parts = [(BACK, None, BACK); ROLE_COUNT];
    parts[Role::HIPS.index()].0 = SEAT;
    parts[Role::HEAD.index()].0 = HEAD;
    for side in Side::BOTH {
        let [elbow, hand, knee, foot] = [ELBOW, HAND, KNEE, FOOT].map(|part| of_side(part, side));
        let fingers = (0..FINGERS * PHALANGES).map(|of| Role::finger(side, of / PHALANGES, of % PHALANGES));
        let hands = fingers.chain([Role::limb(side, Limb::Hand)]);
        hands.for_each(|role| parts[role.index()].0 = hand);
        [Limb::Foot, Limb::Toes].iter().for_each(|&limb| parts[Role::limb(side, limb).index()].0 = foot);
        for (limb, near, tip, far) in [
            (Limb::UpperArm, NONE, Limb::LowerArm, elbow),
            (Limb::LowerArm, elbow, Limb::Hand, hand),
            (Limb::UpperLeg, SEAT, Limb::LowerLeg, knee),
            (Limb::LowerLeg, knee, Limb::Foot, foot),
        ] {
            parts[Role::limb(side, limb).index()] = (near, Some(Role::limb(side, tip)), far);
        }
    }
    let mut roles: Vec<Option<Role>> = vec![None; model.skeleton.len()];
    humanoid.roles().for_each(|(role, node)| roles[node as usize] = Some(role));
    rig.twists.iter().for_each(|twist| roles[twist.node] = Some(twist.role));
    for (rank, &node) in (1..).zip(&chains[0]) {
        roles[node] = Some(if 2 * rank <= chains[0].len() { Role::HIPS } else { Role::CHEST });
    }
    let has_joints = model.palette.joints().next().is_some();
    let entries = model.palette.nodes.iter().zip(&model.palette.is_joint).map(|(&node, is_joint)| {
        let above = model.skeleton.parent(node as usize).and_then(|parent| roles[parent]);
        let is_hand = |role: &Role| kind(parts[role.index()].0) == HAND;
        roles[node as usize].or(above.filter(|role| (*is_joint || !has_joints) && !is_hand(role)))
    });
    let entries: Vec<Option<Role>> = entries.collect();
    let part_of = |role: Role, vertex: Vec3| {
        let (near, tip, far) = parts[role.index()];
        // Beyond the middle of the bone.
        let is_far = || {
            let (base, tip) = (rig.place(role)?, rig.place(tip?)?);
            Some((vertex - base).dot(tip - base) > 0.5 * (tip - base).length_squared())
        };
        // Without a hand, all of a forearm is one.
        if is_far().unwrap_or(tip.is_some()) { far } else { near }
    };
    let matrices = standing_matrices(model);
    let hips = rig.node(Role::HIPS)?;
    let rise = rig.standing[hips] - rig.body_from_model * Vec3::from(matrices[hips].translation);
    let vertices = skin(rig, rig.body_from_model, &matrices).into_iter().enumerate().map(|(vertex, place)| {
        let strongest = model.geometry.influences_of(vertex).first().and_then(|first| entries[first.joint as usize]);
        let part = strongest.map(|role| part_of(role, place + rise));
        (place + rise, part.filter(|&part| part != NONE))
    });
    Some(vertices.collect())
}
