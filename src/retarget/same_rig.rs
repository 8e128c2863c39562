//! Whether the clips of a source fit a model as they are.
//!
//! A clip holds transforms of nodes relative to their parents. They mean the same in another file if its nodes have the same
//! axes. Names say which nodes to compare: a node and its partner have the same name, and the names of their ancestors agree.
//! The places of the nodes relative to their parents say whether the axes agree: they are the lengths and directions of
//! bones, in the axes of the parent. Rest rotations say nothing, because many files of clips have the first frame there.

use std::collections::BTreeMap;

use glam::Vec3A;

use crate::model::{Model, Skeleton};

/// The smallest share of the animated nodes that must have a partner.
const LEAST_FOUND: f32 = 0.8;
/// The smallest share of the partners that must be in the same place relative to their parents. The place of the hips is
/// that of a pose, and some rigs stretch the spine.
const LEAST_IN_PLACE: f32 = 0.75;
/// The largest distance between two places, as a share of the bone's length.
const MOST_APART: f32 = 0.02;

/// Returns whether a model has the rig of a source. `partners` are the model's nodes for the animated nodes of the source.
pub fn is_same_rig(model: &Model, source: &Model, partners: &BTreeMap<u32, Option<u32>>) -> bool {
    let found: Vec<(u32, u32)> = partners.iter().filter_map(|(&node, own)| Some((node, (*own)?))).collect();
    let has_ancestors = found.iter().all(|&(node, own)| has_ancestors_of(&model.skeleton, own, &source.skeleton, node));
    let places = |model: &Model| model.skeleton.rest_locals().map(|local| local.translation).collect();
    let [of_source, of_model]: [Vec<Vec3A>; 2] = [source, model].map(places);
    let (mut bones, mut in_place) = (0, 0);
    for &(node, own) in &found {
        let (theirs, ours) = (of_source[node as usize], of_model[own as usize]);
        let length = theirs.length().max(ours.length());
        if length > 0.0 {
            bones += 1;
            in_place += usize::from(theirs.distance(ours) <= MOST_APART * length);
        }
    }
    let at_least = |part: usize, share: f32, whole: usize| part as f32 >= share * whole as f32;
    !found.is_empty()
        && has_ancestors
        && at_least(found.len(), LEAST_FOUND, partners.len())
        && at_least(in_place, LEAST_IN_PLACE, bones)
}

/// Returns whether the parent of a node of `other` has the same name as an ancestor of `node`, and so on up to the root of
/// either file: files of clips may lack nodes in between, and roots.
pub fn has_ancestors_of<'s>(skeleton: &'s Skeleton, node: u32, other: &'s Skeleton, of_other: u32) -> bool {
    /// Further ancestors say no more about two nodes.
    const MOST: usize = 8;
    let ancestors = |skeleton: &'s Skeleton, node: u32| -> Vec<&'s str> {
        skeleton.ancestors(node as usize).take(MOST).map(|node| &*skeleton.names[node]).collect()
    };
    let (ours, theirs) = (ancestors(skeleton, node), ancestors(other, of_other));
    let mut left = ours.iter();
    theirs.iter().filter(|name| ours.contains(name)).all(|name| left.any(|own| own == name))
        && (theirs.is_empty() || ours.is_empty() || theirs.iter().any(|name| ours.contains(name)))
}
