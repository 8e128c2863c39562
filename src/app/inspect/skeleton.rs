//! What moves in a model: nodes, morph targets, skins, roles and clips.

use std::collections::{BTreeMap, BTreeSet};

use crate::animation::PoseScratch;
use crate::app::fact::Fact;
use crate::app::joint::joints;
use crate::model::{Clip, Interpolation, Model, MorphedNode, NO_PARENT, Role};
use crate::retarget::first::jump_of;
use crate::retarget::together::are_parts;
use crate::retarget::{first_clips, humanoid_of};

pub(super) fn scenes(model: &Model) -> Fact {
    let shown = model.source.shown_scene.map(|scene| scene as usize);
    let scenes = model.source.scenes.iter().enumerate();
    scenes.map(|(index, name)| [("name", name.as_deref().into()), ("shown", (shown == Some(index)).into())]).collect()
}

/// Returns the mesh that the scene shows at each node, by glTF indices.
fn shown_meshes(model: &Model) -> BTreeMap<u32, u32> {
    model.geometry.source_primitives.iter().map(|primitive| (primitive.node, primitive.mesh)).collect()
}

/// Lists the nodes depth first: parents come before their children. Nodes, parents, skins and meshes are glTF indices.
pub(super) fn nodes(model: &Model) -> Fact {
    let skeleton = &model.skeleton;
    let mut skins = vec![BTreeSet::new(); skeleton.len()];
    for (index, skin) in (0..).zip(&model.skins) {
        for &joint in &skin.joints {
            if let Some(skins) = skins.get_mut(joint as usize) {
                skins.insert(index);
            }
        }
    }
    let meshes = shown_meshes(model);
    let weights: BTreeMap<u32, u32> =
        skeleton.morphed_nodes.iter().map(|morphed| (morphed.node, morphed.weight_count)).collect();
    let node = |(index, skins): (u32, BTreeSet<u32>)| {
        let at = index as usize;
        let (node, parent) = (skeleton.source_nodes[at], skeleton.parents[at]);
        let morph_targets = weights.get(&index).copied().unwrap_or_default();
        [
            ("node", node.into()),
            ("name", skeleton.names[at].as_str().into()),
            ("parent", (parent != NO_PARENT).then(|| skeleton.source_nodes[parent as usize]).into()),
            ("joint", (!skins.is_empty()).into()),
            ("skins", skins.into_iter().collect()),
            ("mesh", meshes.get(&node).copied().into()),
            ("morph_targets", u64::from(morph_targets).into()),
            ("in_scene", skeleton.in_scene[at].into()),
        ]
    };
    (0..).zip(skins).map(node).collect()
}

/// Lists the morph targets of each mesh node, with the weights of the rest pose.
pub(super) fn morph_targets(model: &Model) -> Fact {
    let skeleton = &model.skeleton;
    let meshes = shown_meshes(model);
    let of_node = |morphed: &MorphedNode| {
        let node = skeleton.source_nodes[morphed.node as usize];
        let mesh = meshes.get(&node).copied();
        let weights = (morphed.first_weight as usize..).take(morphed.weight_count as usize);
        let target = move |weight: usize| {
            let name = skeleton.morph_names.get(weight).map(AsRef::as_ref);
            [
                ("name", name.into()),
                ("mesh", mesh.into()),
                ("node", node.into()),
                ("weight", skeleton.rest.morph_weights[weight].into()),
            ]
        };
        weights.map(target)
    };
    skeleton.morphed_nodes.iter().flat_map(of_node).collect()
}

pub(super) fn skins(model: &Model) -> Fact {
    let mut meshes = vec![BTreeSet::new(); model.skins.len()];
    for primitive in &model.geometry.source_primitives {
        if let Some(meshes) = primitive.skin.and_then(|skin| meshes.get_mut(skin as usize)) {
            meshes.insert(primitive.mesh);
        }
    }
    let facts = model.skins.iter().zip(meshes).map(|(skin, meshes)| {
        [
            ("name", skin.name.as_deref().into()),
            ("joints", skin.joints.len().into()),
            // Without inverse bind matrices in the file they are identity.
            ("inverse_binds", skin.has_inverse_binds.into()),
            // The meshes that the scene shows with this skin.
            ("meshes", meshes.into_iter().collect()),
        ]
    });
    facts.collect()
}

/// Returns where the roles of a humanoid come from, and the node of each role, by glTF index.
pub(super) fn roles(model: &Model) -> (Option<String>, Fact) {
    let Some(humanoid) = humanoid_of(model) else { return (None, Fact::List(Vec::new())) };
    let role = |(role, node): (Role, u32)| {
        let at = node as usize;
        [
            ("role", role.name().into()),
            ("node", model.skeleton.source_nodes[at].into()),
            ("name", model.skeleton.names[at].as_str().into()),
        ]
    };
    (Some(humanoid.source.to_string()), humanoid.roles().map(role).collect())
}

/// Lists the clips. `shown_first` is the one that is shown without `--clip`, unless all are shown together.
pub(super) fn clips(model: &Model) -> Fact {
    let first = if are_parts(&model.clips) { None } else { Some(first_clips(model).first().map_or(0, |&first| first)) };
    let mut scratch = PoseScratch::for_model(model);
    (0..).zip(&model.clips).map(|(index, own)| clip(model, own, first == Some(index), &mut scratch)).collect()
}

/// Returns what a clip moves: a number of joints, of morph targets, and whether a joint above all others goes somewhere.
fn moves(model: &Model, clip: &Clip) -> Fact {
    let joints = BTreeSet::from_iter(joints(model));
    let moved: BTreeSet<u32> = clip.node_tracks().map(|track| track.node).collect();
    let has_joint_above =
        |node: u32| model.skeleton.ancestors(node as usize).any(|above| joints.contains(&(above as u32)));
    let root = clip.translations.iter().any(|track| joints.contains(&track.node) && !has_joint_above(track.node));
    let targets: u32 = clip.morph_weights.iter().map(|track| track.weight_count).sum();
    Fact::from([
        ("joints", joints.iter().filter(|joint| moved.contains(joint)).count().into()),
        ("other_nodes", moved.iter().filter(|node| !joints.contains(node)).count().into()),
        ("morph_targets", u64::from(targets).into()),
        ("root", root.into()),
    ])
}

fn clip(model: &Model, clip: &Clip, is_first: bool, scratch: &mut PoseScratch) -> Fact {
    let jump = jump_of(model, clip, scratch);
    let (mut interpolations, mut keys) = (BTreeMap::new(), 0);
    let mut tracks_of = vec![0_usize; clip.timelines.len()];
    let of_nodes = clip.node_tracks().map(|track| (track.timeline, track.interpolation));
    let of_morphs = clip.morph_weights.iter().map(|track| (track.timeline, track.interpolation));
    for (timeline, interpolation) in of_nodes.chain(of_morphs) {
        let name = match interpolation {
            Interpolation::Step => "STEP",
            Interpolation::Linear => "LINEAR",
            Interpolation::CubicSpline => "CUBICSPLINE",
        };
        *interpolations.entry(name).or_insert(0_usize) += 1;
        if let Some(times) = clip.timelines.get(timeline as usize) {
            tracks_of[timeline as usize] += 1;
            keys += times.len();
        }
    }
    let interpolations = interpolations.into_iter().map(|(name, count)| (name, count.into()));
    let timelines = clip.timelines.iter().zip(tracks_of);
    let timelines = timelines.map(|(times, tracks)| [("keys", times.len().into()), ("tracks", tracks.into())]);
    Fact::from([
        ("name", clip.name.as_deref().into()),
        // The file that the clip was borrowed from.
        ("file", clip.file.as_deref().into()),
        ("duration", clip.duration_seconds.into()),
        ("shown_first", is_first.into()),
        ("moves", moves(model, clip)),
        // Whether it repeats without a jump, and the longest distance between both ends of a joint's way, in metres.
        ("repeats", jump.is_small.into()),
        ("jump", jump.metres.into()),
        // The numbers of tracks.
        ("translations", clip.translations.len().into()),
        ("rotations", clip.rotations.len().into()),
        ("scales", clip.scales.len().into()),
        ("morph_weights", clip.morph_weights.len().into()),
        // The number of distinct lists of key times.
        ("timelines", clip.timelines.len().into()),
        ("interpolations", Fact::Object(interpolations.collect())),
        ("keys", keys.into()),
        ("shared_timelines", timelines.collect()),
        ("bytes", clip_bytes(clip).into()),
    ])
}

/// Returns the size of key times and values.
pub(super) fn clip_bytes(clip: &Clip) -> usize {
    let times: usize = clip.timelines.iter().map(|times| size_of_val(&times[..])).sum();
    let vectors = clip.translations.iter().chain(&clip.scales).map(|track| size_of_val(&track.values[..]));
    let rotations = clip.rotations.iter().map(|track| size_of_val(&track.values[..]));
    let morphs = clip.morph_weights.iter().map(|track| size_of_val(&track.values[..]));
    times + vectors.chain(rotations).chain(morphs).sum::<usize>()
}
