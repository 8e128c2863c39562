//! From the roles that a VRM file declares to nodes of the skeleton; and a body that faces -Z is turned round.

use glam::{Quat, Vec3, Vec4};

use super::nodes::NodeTree;
use crate::model::import::error::Warnings;
use crate::model::import::file::DeclaredRoles;
use crate::model::{Clip, Humanoid, NO_PARENT};

/// Returns the humanoid, if the file declares one.
pub fn read(roles: &DeclaredRoles, tree: &NodeTree, warnings: &mut Warnings) -> Option<Box<Humanoid>> {
    let source = roles.source?;
    let mut humanoid = Humanoid::new(source);
    for (role, node, at) in &roles.nodes {
        let count = tree.skeleton_node.len();
        match tree.skeleton_node.get(*node) {
            None => warnings
                .add(at, format_args!("nodes[{node}] does not exist; the file has {count}; the role is left out")),
            Some(None) => warnings.add(at, format_args!("nodes[{node}] is neither in the scene nor a joint; ignored")),
            Some(Some(node)) if humanoid.nodes.contains(&Some(*node)) => {
                warnings.add(at, "the node already has a role; ignored");
            }
            Some(&node) => humanoid.nodes[role.index()] = node,
        }
    }
    if !humanoid.is_whole() {
        warnings.add(format_args!("extensions.{source}.humanoid"), "a role is missing that every humanoid has");
    }
    Some(Box::new(humanoid))
}

/// Turns everything by half a turn around +Y, so that what faced -Z faces +Z.
pub fn turn_round(tree: &mut NodeTree, clips: &mut [Clip]) {
    const TURN: Quat = Quat::from_xyzw(0.0, 1.0, 0.0, 0.0);
    let skeleton = &mut tree.skeleton;
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
        fixed.parent_from_node = glam::Affine3A::from_quat(TURN) * fixed.parent_from_node;
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
