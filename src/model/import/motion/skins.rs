//! From skins to joints with inverse bind matrices, and from mesh nodes to the palette layout of the model.
//!
//! The transform of a skinned mesh node and `skin.skeleton` have no effect, as the specification requires.
//!
//! Source: glTF 2.0, 3.7.3 (skins).

use std::collections::HashMap;

use glam::Affine3A;

use super::nodes::{NodeTree, affine_from_columns};
use crate::model::import::decode::{Accessor, Document};
use crate::model::import::error::{Fault, Result, Warnings};
use crate::model::{PaletteLayout, Skin};

/// Reads all skins of the file, including unused ones.
pub fn read(document: &Document, tree: &NodeTree, warnings: &mut Warnings) -> Result<Vec<Skin>> {
    (0..document.root.skins.len()).map(|index| read_skin(document, index, tree, warnings)).collect()
}

fn read_skin(document: &Document, index: usize, tree: &NodeTree, warnings: &mut Warnings) -> Result<Skin> {
    let Some(entry) = document.root.skins.get(index) else {
        return Err(Fault::dangling("skins", "skins", index, document.root.skins.len()));
    };
    let count = document.root.nodes.len();
    let joint = |(rank, node): (usize, usize)| {
        let found = tree.skeleton_node.get(node).copied().flatten();
        found.ok_or_else(|| Fault::dangling(format_args!("skins[{index}].joints[{rank}]"), "nodes", node, count))
    };
    let joints: Vec<u32> =
        entry.joints.iter().map(|node| node.value()).enumerate().map(joint).collect::<Result<_>>()?;
    let (joint_from_mesh, inverse_bind_w) = match entry.inverse_bind_matrices {
        Some(accessor) => {
            let accessor =
                Accessor::open(document, accessor.value(), format_args!("skins[{index}].inverseBindMatrices"))?;
            read_inverse_binds(&accessor, joints.len(), warnings)?
        }
        None => (vec![Affine3A::IDENTITY; joints.len()], vec![1.0; joints.len()]),
    };
    let has_inverse_binds = entry.inverse_bind_matrices.is_some();
    Ok(Skin { name: entry.name.clone(), joints, joint_from_mesh, inverse_bind_w, has_inverse_binds })
}

/// Reads the matrices. Also returns the last element of each.
fn read_inverse_binds(
    accessor: &Accessor,
    joint_count: usize,
    warnings: &mut Warnings,
) -> Result<(Vec<Affine3A>, Vec<f32>)> {
    let mismatch = format!("{} matrices for {joint_count} joints", accessor.count);
    if accessor.count < joint_count {
        return Err(Fault::content(&accessor.at, mismatch));
    }
    if accessor.count > joint_count {
        warnings.add(&accessor.at, format_args!("{mismatch}; the rest is ignored"));
    }
    let matrices = accessor.first_floats::<16>(joint_count)?;
    let affine =
        matrices.iter().map(|matrix| affine_from_columns(matrix, &accessor.at, warnings)).collect::<Result<_>>()?;
    Ok((affine, matrices.iter().map(|matrix| matrix[15]).collect()))
}

/// Builds the palette layout: one section for each skin in use, and one entry for each rigid mesh node.
#[derive(Default)]
pub struct Palette {
    /// The layout so far.
    pub layout: PaletteLayout,
    section_of_skin: HashMap<usize, u32>,
}

impl Palette {
    /// Returns the first entry of the section of `skin`, which all mesh nodes with this skin share.
    pub fn skin_section(&mut self, index: usize, skin: &Skin) -> u32 {
        let layout = &mut self.layout;
        *self.section_of_skin.entry(index).or_insert_with(|| {
            let first = layout.nodes.len() as u32;
            layout.nodes.extend_from_slice(&skin.joints);
            layout.joint_from_mesh.extend_from_slice(&skin.joint_from_mesh);
            layout.skins.push(first..layout.nodes.len() as u32);
            first
        })
    }

    /// Appends the entry of a rigid mesh, which follows its own node.
    pub fn rigid_entry(&mut self, skeleton_node: u32) -> u32 {
        self.layout.nodes.push(skeleton_node);
        self.layout.joint_from_mesh.push(Affine3A::IDENTITY);
        self.layout.nodes.len() as u32 - 1
    }
}
