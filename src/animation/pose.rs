//! Step two: local pose → model pose, parents before children.
//!
//! The skeleton holds *all* nodes that matter, joints or not, sorted so that a parent comes before its children: one
//! pass over the arrays, no recursion, and ancestors that are no joints (animated ones included) count as they must.

use glam::Affine3A;

use crate::model::{LocalPose, NO_PARENT, Skeleton};

/// Fills `model_from_node` with the matrix of every node: its parent's times its own local transform T·R·S (glTF 2.0,
/// 3.5.3), or its fixed local matrix where it has one.
///
/// # Panics
/// If `local` or `model_from_node` has not as many nodes as `skeleton`.
pub fn model_from_nodes(skeleton: &Skeleton, local: &LocalPose, model_from_node: &mut [Affine3A]) {
    assert!(
        local.len() == skeleton.len() && model_from_node.len() == skeleton.len(),
        "a pose of {} nodes and {} matrices for a skeleton of {} nodes",
        local.len(),
        model_from_node.len(),
        skeleton.len()
    );
    // Both lists are sorted by node, so one walk merges them.
    let mut fixed_locals = skeleton.fixed_locals.iter().peekable();
    for (node, &parent) in skeleton.parents.iter().enumerate() {
        let parent_from_node = match fixed_locals.next_if(|fixed| fixed.node as usize == node) {
            Some(fixed) => fixed.parent_from_node,
            None => Affine3A::from_scale_rotation_translation(
                local.scales[node],
                local.rotations[node],
                local.translations[node],
            ),
        };
        model_from_node[node] =
            if parent == NO_PARENT { parent_from_node } else { model_from_node[parent as usize] * parent_from_node };
    }
}
