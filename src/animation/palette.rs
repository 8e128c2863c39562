//! Step three: model pose → the joint matrices of one pose, in the palette's order.
//!
//! A joint matrix takes a vertex of the bind pose from mesh space to model space: `model_from_joint * joint_from_mesh`.
//! The transform of the node that carries a skinned mesh is ignored, as glTF 2.0, 3.7.3.3 requires.

use std::mem::MaybeUninit;

use glam::Affine3A;

use crate::model::PaletteLayout;
use crate::shader_types::JointMatrix;

/// Returns the joint matrices of one pose, in the palette's order.
///
/// # Panics
/// While iterating, if `model_from_node` is shorter than the skeleton that `layout` belongs to.
pub fn joint_matrices<'a>(
    layout: &'a PaletteLayout,
    model_from_node: &'a [Affine3A],
) -> impl ExactSizeIterator<Item = JointMatrix> + 'a {
    layout
        .nodes
        .iter()
        .zip(&layout.joint_from_mesh)
        .map(|(&node, joint_from_mesh)| JointMatrix::from(model_from_node[node as usize] * *joint_from_mesh))
}

/// Writes the first joint matrices of one pose, as many as there is room for, in ascending order, each once. This order suits
/// every kind of memory.
///
/// # Panics
/// If `out` is longer than `layout`, or if `model_from_node` is shorter than the skeleton of `layout`.
pub fn write_palette(layout: &PaletteLayout, model_from_node: &[Affine3A], out: &mut [MaybeUninit<JointMatrix>]) {
    assert!(out.len() <= layout.len(), "room for {} joint matrices of {}", out.len(), layout.len());
    for (element, matrix) in out.iter_mut().zip(joint_matrices(layout, model_from_node)) {
        element.write(matrix);
    }
}
