//! Clips of other files on a model: as they are, retargeted, or by the names of nodes; and clips for models without any.
//!
//! In: a [`Model`], and a source of clips, which is a model too, perhaps without a mesh. Out: ordinary [`Clip`]s of the first
//! one, at load time. Nothing after this knows where a clip came from.
//!
//! | source and model | clips become |
//! |---|---|
//! | have the same rig ([`same_rig`]) | the same clips, bit for bit |
//! | are humanoids ([`roles`]) | retargeted clips ([`motion`], between two [`rig`]s) |
//! | share names of nodes | the tracks of these nodes; [`found`] names the missing ones |
//!
//! Clips that carry the body away are kept [`in_place`]. A humanoid without clips borrows those of another humanoid,
//! and any other model with a skeleton and without clips gets an [`mod@exercise`].

#![forbid(unsafe_code)]

pub mod bare;
pub mod contact;
pub mod exercise;
pub mod feet;
pub mod first;
pub mod found;
pub mod in_place;
pub mod motion;
pub mod names;
pub mod rig;
pub mod roles;
pub mod same_rig;
pub mod standing;
pub mod together;
pub mod twist;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use glam::{Affine3A, Quat, Vec4};

pub use exercise::exercise;
pub use first::first_clips;
pub use found::{Borrowed, NoFit, Way};
pub use in_place::keep_in_place;
pub use roles::humanoid_of;

use crate::model::humanoid::Humanoid;
use crate::model::{Clip, Model, Role, Skeleton, Track};
use motion::Retarget;
use rig::Rig;

/// Adds all clips of `source` to a model.
///
/// # Errors
/// The source has no clips, or the model lacks more than half of what they move.
pub fn borrow_clips(model: &mut Model, source: &Model) -> Result<Borrowed, NoFit> {
    let first = model.clips.len();
    let borrowed = borrow_for_one(model, source)?;
    give_to_twins(model, first);
    Ok(borrowed)
}

/// Gives the tracks of all clips from `first` on to the other skeletons of the file whose joints have the same names.
fn give_to_twins(model: &mut Model, first: usize) {
    let moved = model.clips[first..].iter().flat_map(Clip::node_tracks).map(|track| track.node).collect();
    let twins = twins_of(&moved, model);
    free(&mut model.skeleton, &twins.values().flatten().copied().collect());
    fn give<T: Clone>(tracks: &mut Vec<Track<T>>, twins: &BTreeMap<u32, Vec<u32>>, skeleton: &Skeleton) {
        let of_twins = |track: &Track<T>| -> Vec<Track<T>> {
            let others = twins.get(&track.node).into_iter().flatten().filter(|&&node| skeleton.is_free(node));
            others.map(|&node| Track { node, ..track.clone() }).collect()
        };
        let given: Vec<Track<T>> = tracks.iter().flat_map(of_twins).collect();
        tracks.extend(given);
    }
    for clip in &mut model.clips[first..] {
        give(&mut clip.translations, &twins, &model.skeleton);
        give(&mut clip.rotations, &twins, &model.skeleton);
        give(&mut clip.scales, &twins, &model.skeleton);
    }
}

/// Returns the joints of other skeletons that correspond to each of some nodes: they and all joints above them have the same
/// names, and none of these is above both. Nodes that are moved themselves are no twins.
fn twins_of(moved: &BTreeSet<u32>, model: &Model) -> BTreeMap<u32, Vec<u32>> {
    /// The most joints above a joint that are compared. Hostile files have longer chains.
    const MOST_ABOVE: usize = 64;
    let Model { skeleton, skins, .. } = model;
    let joints: HashSet<u32> = skins.iter().flat_map(|skin| &skin.joints).copied().collect();
    let mut by_name: HashMap<&str, Vec<u32>> = HashMap::new();
    for (node, name) in (0..).zip(&skeleton.names).filter(|(node, _)| joints.contains(node)) {
        by_name.entry(name).or_default().push(node);
    }
    let parent = |&node: &u32| skeleton.parent(node as usize).map(|parent| parent as u32);
    let chain =
        |node: u32| std::iter::successors(Some(node), parent).take(MOST_ABOVE).take_while(|node| joints.contains(node));
    let name = |node: u32| &*skeleton.names[node as usize];
    let are_twins =
        |a: u32, b: u32| chain(a).map(name).eq(chain(b).map(name)) && chain(a).zip(chain(b)).all(|(a, b)| a != b);
    let mut taken = HashSet::new();
    let twins = |&node: &u32| {
        let named = by_name.get(name(node)).into_iter().flatten().copied().take(MOST_NAMESAKES);
        let mut is_twin = |&other: &u32| !moved.contains(&other) && are_twins(node, other) && taken.insert(other);
        let twins: Vec<u32> = named.filter(|other| joints.contains(&node) && is_twin(other)).collect();
        (!twins.is_empty()).then_some((node, twins))
    };
    moved.iter().filter_map(twins).collect()
}

fn borrow_for_one(model: &mut Model, source: &Model) -> Result<Borrowed, NoFit> {
    if source.clips.is_empty() {
        return Err(NoFit::NoClips);
    }
    let partners = Partners::by_name(model, source);
    if same_rig::is_same_rig(model, source, &partners.nodes) {
        return partners.take(model, source, Way::SameRig, "it lacks most of the joints");
    }
    let reason = match (humanoid_of(source), humanoid_of(model)) {
        (Some(of_source), Some(of_model)) => {
            // Between two roles of the trunk there may be more nodes.
            let head = of_model.node(Role::HEAD).into_iter();
            let trunk = head.flat_map(|head| model.skeleton.ancestors(head as usize)).map(|node| node as u32);
            let trunk = trunk.take_while(|&node| Some(node) != of_model.node(Role::HIPS));
            let moved = trunk.chain(of_model.roles().map(|(_, node)| node)).collect();
            free(&mut model.skeleton, &moved);
            if let Some(borrowed) = retarget(model, source, [&of_model, &of_source]) {
                return borrowed;
            }
            "the bones of one of them have no length, or its hips cannot move"
        }
        (None, _) => "the file's skeleton is no humanoid",
        (_, None) => "the model is no humanoid",
    };
    partners.take(model, source, Way::ByName, reason)
}

/// Returns `None` if the bones of one humanoid have no length, or the hips of the model cannot move.
fn retarget(model: &mut Model, source: &Model, [own, other]: [&Humanoid; 2]) -> Option<Result<Borrowed, NoFit>> {
    let source_rig = Rig::new(source, other)?;
    let target_rig = Rig::new(model, own)?;
    let retarget = Retarget::new(&source_rig, &target_rig)?;
    let counterpart = |node: u32| found::counterpart(node as usize, &source_rig, &target_rig);
    let role_of = |node: u32| other.roles().find(|&(_, own)| own == node).map(|(role, _)| role.name());
    let (models, reason) = ([&*model, source], "it lacks most of the body's joints");
    let judged = found::judge(Way::Retargeted, models, reason, [0; 2], counterpart, role_of);
    let Ok(mut borrowed) = judged else { return Some(judged) };
    let clips: Vec<_> = source.clips.iter().filter_map(|clip| Some(from_file(retarget.clip(clip)?, source))).collect();
    let (clip_count, all) = (clips.len(), source.clips.len());
    let left_out =
        || format!("{} of {all} clips have too many keys to be retargeted and are left out", all - clip_count);
    borrowed.warnings.extend((clip_count < all).then(left_out));
    model.clips.extend(clips);
    Some(if clip_count > 0 { Ok(Borrowed { clip_count, ..borrowed }) } else { Err(NoFit::TooManyKeys) })
}

/// Marks a clip as one of another file. A clip without a name gets that of the file without its extension.
fn from_file(clip: Clip, source: &Model) -> Clip {
    let stem = || Some(source.name.rsplit_once('.')?.0.to_owned());
    Clip { file: Some(Arc::from(&*source.name)), name: clip.name.or_else(stem), ..clip }
}

/// The largest number of nodes with the same name that are compared.
const MOST_NAMESAKES: usize = 16;

/// The counterparts of a source's animated nodes.
struct Partners {
    /// The model's node for each animated node of the source.
    nodes: BTreeMap<u32, Option<u32>>,
    /// The first weight of the model's node for that of each animated node of the source, if it has as many.
    weights: HashMap<u32, Option<u32>>,
}

impl Partners {
    fn by_name(model: &Model, source: &Model) -> Self {
        let mut by_name: HashMap<&str, Vec<u32>> = HashMap::new();
        for (node, name) in (0..).zip(&model.skeleton.names) {
            by_name.entry(name).or_default().push(node);
        }
        // A node is the counterpart of one node only. Of several namesakes the one with the same ancestors comes first.
        let partner = |node: u32, taken: &mut HashSet<u32>| {
            let named = by_name.get(&*source.skeleton.names[node as usize])?;
            let has_parents = |&own: &u32| same_rig::has_ancestors_of(&model.skeleton, own, &source.skeleton, node);
            let mut left = named.iter().copied().take(MOST_NAMESAKES).filter(|own| !taken.contains(own));
            let own = left.clone().find(has_parents).or_else(|| left.next())?;
            taken.insert(own);
            Some(own)
        };
        let mut animated = BTreeSet::new();
        let (mut weights, mut taken) = (HashMap::new(), HashSet::new());
        for clip in &source.clips {
            animated.extend(clip.node_tracks().map(|track| track.node));
            for track in &clip.morph_weights {
                // Both lists are sorted.
                weights.entry(track.first_weight).or_insert_with(|| {
                    let [ours, theirs] = [model, source].map(|model| &model.skeleton.morphed_nodes);
                    let of_source = theirs.binary_search_by_key(&track.first_weight, |node| node.first_weight).ok()?;
                    let node = partner(theirs[of_source].node, &mut taken)?;
                    let own = ours.binary_search_by_key(&node, |morphed| morphed.node).ok()?;
                    let is_same = ours[own].weight_count == theirs[of_source].weight_count;
                    is_same.then_some(ours[own].first_weight)
                });
            }
        }
        taken.clear();
        let nodes = animated.into_iter().map(|node| (node, partner(node, &mut taken))).collect();
        Self { nodes, weights }
    }

    /// Adds the tracks of all nodes that have a counterpart.
    fn take(&self, model: &mut Model, source: &Model, way: Way, reason: &'static str) -> Result<Borrowed, NoFit> {
        free(&mut model.skeleton, &self.nodes.values().flatten().copied().collect());
        // What is still a matrix has shear, which no track can turn.
        let is_free = |node: u32| model.skeleton.is_free(node);
        let own = |node: u32| self.nodes.get(&node).copied().flatten().filter(|&node| is_free(node));
        let morphed = [false, true].map(|fits| self.weights.values().filter(|own| own.is_some() == fits).count());
        let borrowed = found::judge(way, [model, source], reason, morphed, own, |_| None)?;
        fn moved<T>(tracks: &mut Vec<Track<T>>, own: impl Fn(u32) -> Option<u32>) {
            tracks.retain_mut(|track| own(track.node).map(|node| track.node = node).is_some());
        }
        let taken = |clip: &Clip| {
            let mut clip = from_file(clip.clone(), source);
            moved(&mut clip.translations, own);
            moved(&mut clip.rotations, own);
            moved(&mut clip.scales, own);
            clip.morph_weights.retain_mut(|track| {
                let own = self.weights.get(&track.first_weight).copied().flatten();
                own.map(|first_weight| track.first_weight = first_weight).is_some()
            });
            clip
        };
        let clips: Vec<Clip> = source.clips.iter().map(taken).collect();
        let clip_count = clips.len();
        model.clips.extend(clips);
        Ok(Borrowed { clip_count, ..borrowed })
    }
}

/// Gives nodes with a matrix a translation, a rotation and a scale, so that a clip can animate them. A matrix with shear stays.
fn free(skeleton: &mut Skeleton, nodes: &BTreeSet<u32>) {
    /// The largest error of an element of the matrix, as a share of its longest axis.
    const TOLERANCE: f32 = 1e-4;
    let Skeleton { fixed_locals, rest, .. } = skeleton;
    fixed_locals.retain(|fixed| {
        let (scale, rotation, translation) = fixed.parent_from_node.to_scale_rotation_translation();
        // As import normalises rotations, so that the result is that of a file with this rotation.
        let rotation = Quat::from_vec4(Vec4::from(rotation).as_dvec4().normalize().as_vec4());
        let made = Affine3A::from_scale_rotation_translation(scale, rotation, translation);
        let is_same =
            made.is_finite() && made.abs_diff_eq(fixed.parent_from_node, TOLERANCE * scale.abs().max_element());
        let becomes_free = nodes.contains(&fixed.node) && is_same;
        if becomes_free {
            let node = fixed.node as usize;
            (rest.translations[node], rest.rotations[node], rest.scales[node]) = (translation, rotation, scale);
        }
        !becomes_free
    });
}
