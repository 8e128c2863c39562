//! What a source moves, and what a model has of it.
//!
//! In: the nodes that clips move, each with the model's node that does the same, if there is one. Out: whether the clips fit
//! the model, and sentences about what it lacks.

use std::collections::{BTreeMap, BTreeSet};

use glam::{Vec3, Vec4};

use super::names::{Evidence, Word, evidence_of};
use super::rig::Rig;
use crate::model::text::{printable, shortened};
use crate::model::{Interpolation, Model, Track};

/// The way in which clips came to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The rig is the same, and so are the clips.
    SameRig,
    /// Both are humanoids.
    Retargeted,
    /// Some nodes have the same names.
    ByName,
}

/// The result of borrowing the clips of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Borrowed {
    pub way: Way,
    /// The number of clips that were added.
    pub clip_count: usize,
    /// The name of each node of the source that moves, and that of the model's node that does the same.
    pub joints: Vec<(String, Option<String>)>,
    /// Sentences about what was left out.
    pub warnings: Vec<String>,
}

/// The reason why no clip of a source fits a model.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum NoFit {
    #[error("there are no clips in it")]
    NoClips,
    /// Fewer than half of the nodes that move have a counterpart.
    #[error("no clip fits {model}: {reason}. {count}. Nodes were looked for by these names: {names}")]
    NoNode {
        model: String,
        /// Why the clips were not retargeted.
        reason: &'static str,
        /// How many joints move, and how many of them were found, as a sentence.
        count: String,
        /// The first names that were not found.
        names: String,
    },
    #[error("its clips have too many keys to be retargeted")]
    TooManyKeys,
}

/// Returns the nodes that clips move away from the rest pose.
pub fn moving_nodes(source: &Model) -> BTreeSet<u32> {
    fn add<T: Copy>(tracks: &[Track<T>], is_rest: impl Fn(usize, T) -> bool, moving: &mut BTreeSet<u32>) {
        for track in tracks {
            // A spline has a tangent before and after each value.
            let (first, step) = if track.interpolation == Interpolation::CubicSpline { (1, 3) } else { (0, 1) };
            if track.values.iter().skip(first).step_by(step).any(|&value| !is_rest(track.node as usize, value)) {
                moving.insert(track.node);
            }
        }
    }
    let rest = &source.skeleton.rest;
    let is_near = |a: Vec3, b: Vec3| a.distance(b) <= 1e-4 * (a.length() + b.length());
    let mut moving = BTreeSet::new();
    for clip in &source.clips {
        add(&clip.translations, |node, value| is_near(value, rest.translations[node]), &mut moving);
        add(&clip.scales, |node, value| is_near(value, rest.scales[node]), &mut moving);
        let is_near = |node: usize, value| Vec4::from(rest.rotations[node]).dot(value).abs() > 1.0 - 1e-6;
        add(&clip.rotations, is_near, &mut moving);
    }
    moving
}

/// Returns the node of a humanoid that turns as a node of another one does.
pub fn counterpart(node: usize, source: &Rig, target: &Rig) -> Option<u32> {
    let in_chain = source.chains.iter().zip(&target.chains).find_map(|(own, other)| {
        let rank = own.iter().position(|&of_chain| of_chain == node)? + 1;
        other.get((rank * other.len()).div_ceil(own.len()).checked_sub(1)?).copied()
    });
    // A node without a role moves those below it: a root moves the hips.
    let carries = |own: usize| own == node || source.model.skeleton.is_below(own, node);
    let role = source.humanoid.roles().find(|&(_, own)| carries(own as usize)).map(|(role, _)| role);
    let twist = source.twists.iter().find(|twist| twist.node == node);
    let twist = twist.and_then(|twist| Some(target.twists.iter().find(|other| other.role == twist.role)?.node));
    let found = in_chain.or(twist).or_else(|| target.node(role?));
    found.map(|node| node as u32).filter(|&node| target.model.skeleton.is_free(node))
}

/// Judges by the nodes that move, and by `counts` of other things that are lost and found. Of a humanoid's nodes only those of
/// the body count, which have roles (`role_of` returns the name) and are no fingers.
pub fn judge(
    way: Way,
    [model, source]: [&Model; 2],
    reason: &'static str,
    mut counts: [usize; 2],
    counterpart: impl Fn(u32) -> Option<u32>,
    role_of: impl Fn(u32) -> Option<&'static str>,
) -> Result<Borrowed, NoFit> {
    let mut joints: Vec<(String, Option<String>)> = Vec::new();
    let mut limbs = BTreeMap::<String, bool>::new();
    for node in moving_nodes(source) {
        let (own, role, name) = (counterpart(node), role_of(node), &source.skeleton.names[node as usize]);
        joints.push((name.clone(), own.map(|own| model.skeleton.names[own as usize].clone())));
        let Evidence { side, word, is_helper, .. } = evidence_of(role.unwrap_or(name));
        let is_of_body = role.is_some() && !is_helper && !matches!(word, Some(Word::Finger(_)));
        counts[usize::from(own.is_some())] += usize::from(is_of_body || way != Way::Retargeted);
        let limb = match word {
            _ if is_helper => continue,
            Some(Word::Head) => "head",
            Some(Word::UpperArm | Word::Arm | Word::LowerArm) => "arm",
            Some(Word::Wrist | Word::Hand) => "hand",
            Some(Word::UpperLeg | Word::Leg | Word::LowerLeg) => "leg",
            Some(Word::Foot) => "foot",
            _ => continue,
        };
        let side = side.map_or(String::new(), |side| format!("{side:?} ").to_lowercase());
        *limbs.entry(side + limb).or_default() |= own.is_some();
    }
    let missing: Vec<&str> = joints.iter().filter(|(_, own)| own.is_none()).map(|(name, _)| &**name).collect();
    let without: Vec<&str> = limbs.iter().filter(|(_, found)| !**found).map(|(limb, _)| &**limb).collect();
    let [lost, found] = counts;
    let count = format!("{} of {} joints that move were found", joints.len() - missing.len(), joints.len());
    if found < lost || found == 0 && way == Way::ByName {
        return Err(NoFit::NoNode { model: model.name.clone(), reason, count, names: listed(&missing) });
    }
    // What a humanoid with all limbs lacks is controls, and bones of clothes.
    let is_whole = way == Way::Retargeted && without.is_empty();
    let sentences = [(missing, count + "; not: "), (without, "limbs that move and are not in the model: ".to_owned())];
    let warnings = sentences.into_iter().filter(|(names, _)| !names.is_empty() && !is_whole);
    let warnings = warnings.map(|(names, sentence)| sentence + &listed(&names)).collect();
    Ok(Borrowed { way, clip_count: 0, joints, warnings })
}

/// Returns the first names, and how many others there are.
fn listed(names: &[&str]) -> String {
    const MOST: usize = 8;
    const MOST_CHARS: usize = 40;
    let shown = names.iter().take(MOST).map(|name| printable(&shortened(name, MOST_CHARS)));
    let shown = shown.collect::<Vec<_>>().join(", ");
    if names.len() > MOST { format!("{shown} and {} more", names.len() - MOST) } else { shown }
}
