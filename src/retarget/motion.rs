//! The motion of one humanoid on another.
//!
//! In: a clip of a source rig. Out: a clip of a target rig. Both are in the same reference pose at first ([`super::rig`]).
//!
//! 1. *Turns.* At each time of the clip, the turn of each source bone away from the reference pose is taken in body space:
//!    `turn = body_from_source · reference⁻¹`. The target's bone makes the same turn: `body_from_target = turn · reference`.
//!    So bones of both rigs point in the same direction, with any axes of their joints. Bones of the trunk and of the
//!    neck share the turns by their rank in the chain: a spine of four turns by halves of the steps of a spine of two.
//! 2. *Place.* The pelvis moves by the source's way, times the ratio of the leg lengths.
//! 3. *Feet* stay where they stand ([`super::feet`]): pelvis and legs turn a little, and the pelvis moves.
//! 4. *Contact.* Seats, backs, knees and hands on the floor are there too ([`super::contact`]). What this adds to the pose is
//!    averaged over [`SMOOTH_SECONDS`] before and after each key: another part may be the lowest one in the next.
//! 5. *Locals.* The rotations become those relative to the parents. Nodes without a partner keep their rest pose.
//!
//! Times are those of the source's keys. Between two of them, sampling interpolates the rotation of each bone relative to its
//! parent, which is not the turn of step 1. Where the difference at the middle exceeds [`MOST_ERROR_DEGREES`], a key is added.
//!
//! Source: VRM 1.0 ("humanoid.md", pose and T-pose), which takes every rest pose for the reference pose and scales the way of
//! the hips by their heights. The reference pose by directions, shared turns, and step 3 are added here.

use std::cell::Cell;

use glam::{Affine3A, Quat, Vec3, Vec4};

use super::contact::{Body, Contact, PASSES, Turns};
use super::feet::{Feet, Legs, Stance, USUAL_SAMPLES};
use super::rig::Rig;
use super::standing::{rotation_of, standing_matrices};
use super::twist::Twist;
use crate::animation::{PoseScratch, model_from_nodes, pose_model};
use crate::model::humanoid::{Limb, Role, Side};
use crate::model::{Clip, Interpolation, LocalPose, Track};

/// The largest difference between a bone of the new clip and its exact rotation, in the middle between two keys.
const MOST_ERROR_DEGREES: f32 = 0.3;
/// The smallest distance of keys that are added.
const LEAST_STEP_SECONDS: f32 = 1.0 / 240.0;
/// How long before a key the value of the key before is held, where the source's clip has steps.
const STEP_SECONDS: f32 = 1e-3;
const SMOOTH_SECONDS: f32 = 0.08;
/// The largest number of keys of a clip: ten minutes at 60 a second.
pub const MOST_KEYS: usize = 36_000;
/// The largest number of nodes that are posed for all clips of a file, which takes a second, and the same for each key value of
/// the file, if that is more. Each key takes the nodes of both skeletons, and as many if a key is added behind it.
const MOST_POSED_NODES: u64 = 16_000_000;
/// The same for contact, with the vertices that are skinned for it. Poses after that are not fitted.
const MOST_FITTED: u64 = 48_000_000;
const MOST_POSED_NODES_PER_VALUE: u64 = 10;

/// The pose of a source at a time, in body space.
struct SourcePose {
    /// The turn of each role that has a node.
    turns: Vec<Option<Quat>>,
    /// The turns of the hips and of the nodes of the trunk, and of the last of them and the nodes of the neck.
    chains: [Vec<Quat>; 2],
    /// The way of the pelvis from where it stands, as a share of the leg's length.
    pelvis: Vec3,
    feet: Feet,
    /// What touches the floor, if there is skin, and not only feet do.
    contact: Option<Contact>,
}

#[derive(Debug, Clone)]
struct Key {
    seconds: f32,
    /// The rotation of each node of [`Retarget::nodes`] relative to its parent.
    rotations: Vec<Quat>,
    /// The translation of each node of [`Retarget::moved`].
    translations: Vec<Vec3>,
    /// What contact has added to both.
    added: Option<(Vec<Quat>, Vec<Vec3>)>,
}

/// Makes clips of a target out of clips of a source.
pub struct Retarget<'r> {
    source: &'r Rig<'r>,
    target: &'r Rig<'r>,
    /// The nodes of the target's trunk and neck, each with its chain ([`Rig::chains`]) and the share of the chain above it.
    chains: Vec<(usize, usize, f32)>,
    /// The roles that both rigs have, apart from those of trunk and neck, with the target's node.
    limbs: Vec<(Role, usize)>,
    twists: Vec<Twist>,
    hips: usize,
    /// Nodes that are not below the node that carries them in a body, such as feet that a control moves: the node, the node
    /// that carries it, and the place of the first seen from the second.
    loose: Vec<(usize, usize, Vec3)>,
    /// The nodes that turn, and those that move.
    nodes: Vec<usize>,
    moved: Vec<usize>,
    /// The skins of source and target.
    bodies: Option<[Body; 2]>,
    /// The rest rotation of each node relative to its parent.
    rest_rotations: Vec<Quat>,
    /// How many more nodes may be posed, and for contact.
    posed_nodes_left: Cell<u64>,
    fitted_left: Cell<u64>,
}

impl<'r> Retarget<'r> {
    /// Prepares for any number of clips. Returns `None` if the hips of the target cannot move.
    pub fn new(source: &'r Rig<'r>, target: &'r Rig<'r>) -> Option<Self> {
        let is_free = |node: usize| target.model.skeleton.is_free(node as u32);
        let shares = |(chain, nodes): (usize, &'r Vec<usize>)| {
            (1..).zip(nodes).map(move |(rank, &node)| (node, chain, rank as f32 / nodes.len() as f32))
        };
        let chains = target.chains.iter().enumerate().flat_map(shares);
        let chains: Vec<(usize, usize, f32)> = chains.filter(|&(node, ..)| is_free(node)).collect();
        let is_chain = |node: usize| chains.iter().any(|&(of_chain, ..)| of_chain == node);
        let hips = target.node(Role::HIPS).filter(|&hips| is_free(hips))?;
        let both = Role::all().filter_map(|role| source.node(role).and(Some((role, target.node(role)?))));
        let limbs: Vec<_> = both.filter(|&(_, node)| node != hips && is_free(node) && !is_chain(node)).collect();
        let loose: Vec<_> = loose(target).into_iter().filter(|&(node, ..)| is_free(node)).collect();
        let twists: Vec<Twist> = target.twists.iter().filter(|twist| is_free(twist.node)).copied().collect();
        let limb_nodes = limbs.iter().map(|&(_, node)| node).chain(twists.iter().map(|twist| twist.node));
        let nodes = std::iter::once(hips).chain(chains.iter().map(|&(node, ..)| node)).chain(limb_nodes).collect();
        let moved = std::iter::once(hips).chain(loose.iter().map(|&(node, ..)| node)).collect();
        let skeleton = &target.model.skeleton;
        let mut rest_rotations = skeleton.rest.rotations.clone();
        for fixed in &skeleton.fixed_locals {
            rest_rotations[fixed.node as usize] = rotation_of(&fixed.parent_from_node);
        }
        let key_values: usize =
            source.model.clips.iter().flat_map(Clip::node_tracks).map(|track| track.value_count).sum();
        let posed_nodes_left = Cell::new(MOST_POSED_NODES.max(MOST_POSED_NODES_PER_VALUE * key_values as u64));
        Some(Self {
            source,
            target,
            chains,
            limbs,
            twists,
            hips,
            loose,
            nodes,
            moved,
            bodies: Body::new(source).zip(Body::new(target)).map(|(source, target)| [source, target]),
            rest_rotations,
            posed_nodes_left,
            fitted_left: Cell::new(MOST_FITTED),
        })
    }

    /// Returns the clip on the target. `None` if it has more than [`MOST_KEYS`] keys, or takes too long.
    pub fn clip(&self, clip: &Clip) -> Option<Clip> {
        let mut scratch = PoseScratch::for_model(self.source.model);
        let times = key_times(clip)?;
        let source_nodes = self.source.reference.len();
        // The target is posed before and after its feet are set.
        let nodes = source_nodes + 2 * self.target.reference.len();
        charge(&self.posed_nodes_left, source_nodes * Stance::sample_count(clip) + nodes * USUAL_SAMPLES)?;
        let mut stance = Stance::new(self.source, clip, &mut scratch);
        let usual = times.iter().step_by(times.len().div_ceil(USUAL_SAMPLES)).map(|&seconds| {
            let pose = self.source_pose(clip, seconds, &stance, &mut scratch);
            (pose.feet, self.legs(&self.posed(&self.target_turns(&pose)).1))
        });
        stance.usual_error = Stance::usual_error(self.target, usual);
        let mut key_at = |seconds: f32| {
            charge(&self.posed_nodes_left, nodes)?;
            let mut pose = self.source_pose(clip, seconds, &stance, &mut scratch);
            let fitted = self.contact_nodes(&pose);
            pose.contact = pose.contact.filter(|_| charge(&self.fitted_left, fitted).is_some());
            let (plain, fitted) = self.target_pose(&pose, &stance);
            Some(self.key(seconds, &plain, fitted.as_ref()))
        };
        let mut keys: Vec<Key> = Vec::with_capacity(times.len());
        for seconds in times {
            append(key_at(seconds)?, &mut key_at, &mut keys)?;
        }
        smooth(&mut keys);
        Some(self.tracks(clip, &keys))
    }

    /// Returns the number of nodes that are posed, and of vertices that are skinned, because of a pose's contact.
    fn contact_nodes(&self, pose: &SourcePose) -> usize {
        let Some((_, [source, target])) = pose.contact.zip(self.bodies.as_ref()) else { return 0 };
        source.vertex_count() + PASSES * (2 * self.target.reference.len() + target.vertex_count())
    }

    /// Returns the part of a pose that the clip animates. Numbers out of range become those of the rest pose.
    fn key(&self, seconds: f32, plain: &LocalPose, fitted: Option<&LocalPose>) -> Key {
        let values = |pose: &LocalPose| -> (Vec<Quat>, Vec<Vec3>) {
            let rotation = |&node: &usize| {
                let rotation = pose.rotations[node];
                if rotation.is_finite() { rotation } else { self.target.model.skeleton.rest.rotations[node] }
            };
            let translation = |&node: &usize| pose.translations[node];
            (self.nodes.iter().map(rotation).collect(), self.moved.iter().map(translation).collect())
        };
        let (rotations, translations) = values(fitted.unwrap_or(plain));
        let added = fitted.map(|_| {
            let (plain_rotations, plain_translations) = values(plain);
            let turns = plain_rotations.iter().zip(&rotations).map(|(plain, fitted)| plain.inverse() * *fitted);
            let ways = plain_translations.iter().zip(&translations).map(|(plain, fitted)| *fitted - *plain);
            (turns.collect(), ways.collect())
        });
        Key { seconds, rotations, translations, added }
    }

    fn tracks(&self, clip: &Clip, keys: &[Key]) -> Clip {
        let rotation = |(index, &node): (usize, &usize)| {
            let mut values: Vec<Vec4> = keys.iter().map(|key| Vec4::from(key.rotations[index])).collect();
            for index in 1..values.len() {
                if values[index].dot(values[index - 1]) < 0.0 {
                    values[index] = -values[index];
                }
            }
            Track { node: node as u32, timeline: 0, interpolation: Interpolation::Linear, values }
        };
        let translation = |(index, &node): (usize, &usize)| {
            let values = keys.iter().map(|key| key.translations[index]).collect();
            Track { node: node as u32, timeline: 0, interpolation: Interpolation::Linear, values }
        };
        Clip {
            name: clip.name.clone(),
            duration_seconds: clip.duration_seconds,
            timelines: vec![keys.iter().map(|key| key.seconds).collect()],
            translations: self.moved.iter().enumerate().map(translation).collect(),
            rotations: self.nodes.iter().enumerate().map(rotation).collect(),
            ..Clip::default()
        }
    }

    fn source_pose(&self, clip: &Clip, seconds: f32, stance: &Stance, scratch: &mut PoseScratch) -> SourcePose {
        let rig = self.source;
        let matrices = pose_model(rig.model, Some(clip), f64::from(seconds), scratch).model_from_node;
        let place = |node: usize| rig.body_from_model * Vec3::from(matrices[node].translation);
        let turn = |node: usize| {
            let body_from_node = rig.body_from_model * rotation_of(&matrices[node]);
            (body_from_node * rig.reference[node].inverse()).normalize()
        };
        let turns: Vec<Option<Quat>> = Role::all().map(|role| rig.node(role).map(turn)).collect();
        let mut first = turns[Role::HIPS.index()].unwrap_or_default();
        let chains = rig.chains.each_ref().map(|nodes| {
            let turns: Vec<Quat> = std::iter::once(first).chain(nodes.iter().map(|&node| turn(node))).collect();
            first = turns[nodes.len()];
            turns
        });
        let pelvis = (rig.pelvis_at(place) - rig.pelvis()) / rig.leg_length;
        let feet = Feet::new(rig, stance.left_at(seconds), |role: Role| rig.node(role).map(place));
        let contact = self.bodies.as_ref().map(|[source, _]| source.contact(rig, matrices));
        let contact = contact.filter(|contact| contact.strength > 0.0);
        SourcePose { turns, chains, pelvis, feet, contact }
    }

    /// Returns the turns of the target's nodes that a clip moves, but for twist bones.
    fn target_turns(&self, pose: &SourcePose) -> Vec<Option<Quat>> {
        let mut turns: Vec<Option<Quat>> = vec![None; self.target.reference.len()];
        turns[self.hips] = Some(pose.turns[Role::HIPS.index()].unwrap_or_default());
        for &(node, chain, share) in &self.chains {
            turns[node] = Some(shared(&pose.chains[chain], share));
        }
        for &(role, node) in &self.limbs {
            turns[node] = pose.turns[role.index()];
        }
        turns
    }

    /// Returns the pose without contact, and the one that is fitted to it if there is any.
    fn target_pose(&self, pose: &SourcePose, stance: &Stance) -> (LocalPose, Option<LocalPose>) {
        let rig = self.target;
        let mut turns = self.target_turns(pose);
        let (_, matrices) = self.posed(&turns);
        // A body without feet has nothing to set.
        let _ = pose.feet.set_apart(rig, stance, self.legs(&matrices), &mut turns);
        self.turn_twists(&mut turns);
        let (local, mut matrices) = self.posed(&turns);
        let to_pelvis = rig.pelvis() + rig.leg_length * pose.pelvis - rig.pelvis_at(|node| self.place(node, &matrices));
        let mut way = to_pelvis + pose.feet.error(rig, to_pelvis, self.legs(&matrices));
        let plain = self.moved(local, &matrices, way);
        let Some((contact, [_, body])) = pose.contact.zip(self.bodies.as_ref()) else { return (plain, None) };
        let mut local = plain.clone();
        let mut turns = Turns { first: turns.clone(), now: turns };
        for _ in 0..PASSES {
            model_from_nodes(&rig.model.skeleton, &local, &mut matrices);
            way.y += body.fit(rig, &contact, &matrices, &mut turns);
            self.turn_twists(&mut turns.now);
            (local, matrices) = self.posed(&turns.now);
            local = self.moved(local, &matrices, way);
        }
        (plain, Some(local))
    }

    fn turn_twists(&self, turns: &mut [Option<Quat>]) {
        for twist in &self.twists {
            turns[twist.node] = twist.turn(&self.target.model.skeleton, turns);
        }
    }

    /// Returns a pose of the target after its body has gone a way. The matrices are those before that.
    fn moved(&self, mut local: LocalPose, matrices: &[Affine3A], way: Vec3) -> LocalPose {
        let rig = self.target;
        let model_way = rig.body_from_posed.inverse() * way;
        self.move_node(self.hips, model_way, &mut local, matrices);
        for &(node, carrier, place) in &self.loose {
            // What is below the hips has already moved with them.
            let moves_along = node == self.hips || rig.model.skeleton.is_below(node, self.hips);
            let moved = if moves_along { Vec3::ZERO } else { model_way };
            let now = Vec3::from(matrices[node].translation);
            self.move_node(node, matrices[carrier].transform_point3(place) - now + moved, &mut local, matrices);
        }
        local
    }

    /// Returns the pose of the target in which nodes have made these turns, and its matrices.
    fn posed(&self, turns: &[Option<Quat>]) -> (LocalPose, Vec<Affine3A>) {
        let mut local = self.target.model.skeleton.rest.clone();
        self.turn_nodes(turns, &mut local);
        let mut matrices = vec![Affine3A::IDENTITY; local.translations.len()];
        model_from_nodes(&self.target.model.skeleton, &local, &mut matrices);
        (local, matrices)
    }

    /// Moves a node by a way in model space.
    fn move_node(&self, node: usize, way: Vec3, local: &mut LocalPose, matrices: &[Affine3A]) {
        let above = self.target.model.skeleton.parent(node).map_or(Affine3A::IDENTITY, |parent| matrices[parent]);
        let moved = local.translations[node] + above.inverse().transform_vector3(way);
        if moved.is_finite() {
            local.translations[node] = moved;
        }
    }

    /// Gives each node that turns the rotation relative to its parent that turns it.
    fn turn_nodes(&self, turns: &[Option<Quat>], local: &mut LocalPose) {
        let rig = self.target;
        let mut rotations: Vec<Quat> = Vec::with_capacity(local.translations.len());
        for (node, &parent) in rig.model.skeleton.parents.iter().enumerate() {
            let above = rotations.get(parent as usize).copied().unwrap_or(rig.body_from_posed);
            let own = match turns[node] {
                Some(turn) => {
                    let rotation = (turn * rig.reference[node]).normalize();
                    local.rotations[node] = (above.inverse() * rotation).normalize();
                    rotation
                }
                None => (above * self.rest_rotations[node]).normalize(),
            };
            rotations.push(own);
        }
    }

    /// Returns the place of a node in body space.
    fn place(&self, node: usize, matrices: &[Affine3A]) -> Vec3 {
        self.target.body_from_posed * Vec3::from(matrices[node].translation)
    }

    /// Returns the hip joints and the ankles in body space.
    fn legs(&self, matrices: &[Affine3A]) -> Legs {
        let rig = self.target;
        Side::BOTH.map(|side| {
            let (joint, foot) = (rig.limb(side, Limb::UpperLeg)?, rig.limb(side, Limb::Foot)?);
            let carried = self.loose.iter().find(|&&(node, ..)| node == foot);
            let ankle = carried.map_or(self.place(foot, matrices), |&(_, carrier, place)| {
                rig.body_from_posed * matrices[carrier].transform_point3(place)
            });
            Some([self.place(joint, matrices), ankle])
        })
    }
}

/// Appends a key, and others before it where interpolation is not exact enough. Each halves the time, so recursion is not deep.
fn append(next: Key, key_at: &mut impl FnMut(f32) -> Option<Key>, keys: &mut Vec<Key>) -> Option<()> {
    while let Some(last) = keys.last() {
        let seconds = 0.5 * (last.seconds + next.seconds);
        // Late times may have no number between them.
        let is_between = last.seconds < seconds && seconds < next.seconds;
        if !is_between || next.seconds - last.seconds <= 2.0 * LEAST_STEP_SECONDS {
            break;
        }
        let middle = key_at(seconds)?;
        if are_close(last, &next, &middle) {
            break;
        }
        append(middle, key_at, keys)?;
    }
    keys.push(next);
    (keys.len() <= MOST_KEYS).then_some(())
}

/// Returns whether interpolation between two keys gives the one in the middle, nearly.
fn are_close(from: &Key, to: &Key, middle: &Key) -> bool {
    let mut rotations = from.rotations.iter().zip(&to.rotations).zip(&middle.rotations);
    rotations.all(|((from, to), exact)| from.slerp(*to, 0.5).angle_between(*exact) <= MOST_ERROR_DEGREES.to_radians())
}

/// Counts nodes that are about to be posed. Returns `None` if these are too many.
fn charge(left: &Cell<u64>, nodes: usize) -> Option<()> {
    left.set(left.get().checked_sub(nodes as u64)?);
    Some(())
}

/// Replaces what contact adds to each key by its mean over time, with weights that fall to 0 at [`SMOOTH_SECONDS`].
fn smooth(keys: &mut [Key]) {
    if keys.iter().all(|key| key.added.is_none()) {
        return;
    }
    let times: Vec<f32> = keys.iter().map(|key| key.seconds).collect();
    let added: Vec<_> = keys.iter_mut().map(|key| key.added.take()).collect();
    let last = times.len() - 1;
    for (key, own) in keys.iter_mut().zip(&added) {
        let near = |seconds: f32| times.partition_point(|time| *time < seconds);
        let (first, end) = (near(key.seconds - SMOOTH_SECONDS), near(key.seconds + SMOOTH_SECONDS));
        let mut turns = vec![Vec4::ZERO; key.rotations.len()];
        let mut ways = vec![Vec3::ZERO; key.translations.len()];
        let mut weights = 0.0;
        for at in first..end {
            let span = (times[(at + 1).min(last)] - times[at.saturating_sub(1)]).max(1e-6);
            let weight = span * (1.0 - (times[at] - key.seconds).abs() / SMOOTH_SECONDS);
            weights += weight;
            for (index, turn) in turns.iter_mut().enumerate() {
                let added = added[at].as_ref().map_or(Vec4::W, |(turns, _)| Vec4::from(turns[index]));
                *turn += if added.w < 0.0 { -weight } else { weight } * added;
            }
            for (index, way) in ways.iter_mut().enumerate() {
                *way += weight * added[at].as_ref().map_or(Vec3::ZERO, |(_, ways)| ways[index]);
            }
        }
        for (index, rotation) in key.rotations.iter_mut().enumerate() {
            let before = own.as_ref().map_or(Quat::IDENTITY, |(turns, _)| turns[index]);
            let after = Quat::from_vec4(turns[index].normalize_or(Vec4::W));
            *rotation = (*rotation * before.inverse() * after).normalize();
        }
        for (index, translation) in key.translations.iter_mut().enumerate() {
            let before = own.as_ref().map_or(Vec3::ZERO, |(_, ways)| ways[index]);
            *translation += ways[index] / weights.max(f32::MIN_POSITIVE) - before;
        }
    }
}

fn shared(turns: &[Quat], share: f32) -> Quat {
    let at = share * (turns.len() - 1) as f32;
    let index = (at as usize).min(turns.len().saturating_sub(2));
    match turns.get(index..index + 2) {
        Some([from, to]) => from.slerp(*to, (at - index as f32).clamp(0.0, 1.0)),
        _ => turns.last().copied().unwrap_or_default(),
    }
}

/// Returns the nodes of a rig that the tree does not move with the node that carries them.
fn loose(rig: &Rig) -> Vec<(usize, usize, Vec3)> {
    let matrices = standing_matrices(rig.model);
    let of_side = |side| {
        let (foot, shin) = (rig.limb(side, Limb::Foot)?, rig.limb(side, Limb::LowerLeg)?);
        let place = matrices[shin].inverse().transform_point3(matrices[foot].translation.into());
        let is_loose = foot != shin && !rig.model.skeleton.is_below(foot, shin);
        is_loose.then_some((foot, shin, place))
    };
    Side::BOTH.into_iter().filter_map(of_side).collect()
}

/// Returns the times of all keys that move nodes, ascending. `None` if there are too many.
fn key_times(clip: &Clip) -> Option<Vec<f32>> {
    let mut used = vec![None::<bool>; clip.timelines.len()];
    for track in clip.node_tracks() {
        let steps = &mut used[track.timeline as usize];
        *steps = Some(steps.unwrap_or(false) || track.interpolation == Interpolation::Step);
    }
    let mut times = Vec::new();
    for (keys, steps) in clip.timelines.iter().zip(used) {
        let Some(steps) = steps else { continue };
        for pair in keys.windows(2) {
            // A repeated time is a jump too.
            if (steps || pair[1] == pair[0]) && pair[1] - STEP_SECONDS > 0.0 {
                times.push(pair[1] - STEP_SECONDS);
            }
        }
        times.extend_from_slice(keys);
        if times.len() > 64 * MOST_KEYS {
            return None;
        }
    }
    if times.is_empty() {
        times.push(0.0);
    }
    times.sort_unstable_by(f32::total_cmp);
    times.dedup();
    (times.len() <= MOST_KEYS).then_some(times)
}
