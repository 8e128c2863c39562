//! Step two: local pose → model pose, parents before children.
//!
//! The textbook way is recursive: a node's matrix is its parent's matrix times its own local transform. Import sorts the nodes
//! so that each parent comes before its children, so one loop over the arrays does the same without recursion. The skeleton has
//! *all* nodes that move a joint: an ancestor counts even if it is neither a joint nor animated.

use glam::Affine3A;

use crate::model::{LocalPose, NO_PARENT, Skeleton};

/// Fills `model_from_node` with the matrix of every node: its parent's matrix times its own local transform T·R·S (glTF
/// 2.0, 3.5.3), or times its fixed local matrix if it has one.
///
/// # Panics
/// If the node counts of `local`, `model_from_node` and `skeleton` differ.
pub fn model_from_nodes(skeleton: &Skeleton, local: &LocalPose, model_from_node: &mut [Affine3A]) {
    assert!(
        local.translations.len() == skeleton.len() && model_from_node.len() == skeleton.len(),
        "a pose of {} nodes and {} matrices for a skeleton of {} nodes",
        local.translations.len(),
        model_from_node.len(),
        skeleton.len()
    );
    // Both lists are sorted by node, so one pass merges them.
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
