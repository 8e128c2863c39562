//! From skins to joints with inverse bind matrices, and from mesh nodes to the palette layout of the model.
//!
//! The transform of a skinned mesh node and `skin.skeleton` have no effect, as the specification requires.
//!
//! Source: glTF 2.0, 3.7.3 (skins).

use std::collections::HashMap;
use std::rc::Rc;

use glam::Affine3A;
use gltf::json;

use super::nodes::{NodeTree, affine_from_columns};
use crate::model::import::decode::{Accessor, Document};
use crate::model::import::error::{Fault, Result, Warnings};
use crate::model::{PaletteLayout, Skin};

pub fn read(document: &Document, tree: &NodeTree, warnings: &mut Warnings) -> Result<Vec<Skin>> {
    let read = |(index, entry)| {
        let skin = read_skin(document, index, entry, tree, warnings);
        // A skin without joints keeps the numbers of the others, and its primitives are left out.
        Ok(warnings.leave_out("skin", skin)?.unwrap_or_default())
    };
    document.root.skins.iter().enumerate().map(read).collect()
}

fn read_skin(
    document: &Document,
    index: usize,
    entry: &json::Skin,
    tree: &NodeTree,
    warnings: &mut Warnings,
) -> Result<Skin> {
    // All joints exist and are in the skeleton, which has been made of them too.
    let joint = |node: &json::Index<json::Node>| tree.skeleton_node.get(node.value()).copied().flatten();
    let joints: Vec<u32> = entry.joints.iter().filter_map(joint).collect();
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

/// Builds the palette layout: one entry for each joint of the skins in use, and one for each rigid mesh node. Joints of the
/// same node with the same inverse bind matrix share an entry: the skins of avatars often have the same joints.
#[derive(Default)]
pub struct Palette {
    pub layout: PaletteLayout,
    entries_of_skin: HashMap<usize, Rc<[u32]>>,
    /// The entry of a node with an inverse bind matrix, by its bits.
    entry_of_joint: HashMap<(u32, [u32; 12]), u32>,
}

impl Palette {
    /// Returns the entry of each joint of `skin`, which all mesh nodes with this skin share.
    pub fn skin_entries(&mut self, index: usize, skin: &Skin) -> Rc<[u32]> {
        let Self { layout, entries_of_skin, entry_of_joint } = self;
        let entries = entries_of_skin.entry(index).or_insert_with(|| {
            let mut entry = |(&node, &joint_from_mesh): (&u32, &Affine3A)| {
                let key = (node, joint_from_mesh.to_cols_array().map(f32::to_bits));
                *entry_of_joint.entry(key).or_insert_with(|| push(layout, node, joint_from_mesh, true))
            };
            skin.joints.iter().zip(&skin.joint_from_mesh).map(&mut entry).collect()
        });
        Rc::clone(entries)
    }

    /// Appends the entry of a rigid mesh, which follows its own node.
    pub fn rigid_entry(&mut self, skeleton_node: u32) -> u32 {
        push(&mut self.layout, skeleton_node, Affine3A::IDENTITY, false)
    }
}

fn push(layout: &mut PaletteLayout, node: u32, joint_from_mesh: Affine3A, is_joint: bool) -> u32 {
    layout.nodes.push(node);
    layout.joint_from_mesh.push(joint_from_mesh);
    layout.is_joint.push(is_joint);
    layout.nodes.len() as u32 - 1
}
