//! From the mesh nodes of a scene to one vertex array, one index array, draw ranges, and the palette that they follow.
//!
//! A mesh that several nodes show is read once for each node, because its vertices follow different palette entries.
//! Mesh nodes come in the order of their glTF index, and their primitives in the order of the file.
//!
//! Reading order: `builder` reads a primitive from start to end. It takes vertices from `attributes`, `influences` and
//! `morphs`, triangles from `topology`, and missing tangents from `tangents`. `weld` removes duplicate vertices, and
//! [`order`](crate::model::order) puts triangles and vertices into an order that suits caches.

#![forbid(unsafe_code)]

mod attributes;
mod builder;
mod influences;
mod morphs;
mod tangents;
mod topology;
mod weld;

use builder::Builder;

pub use builder::Scene;

use super::error::{Result, Warnings};
use super::material::Materials;
use crate::model::order::number_by_use;
use crate::model::{Geometry, PaletteLayout};

pub fn read(scene: &Scene, materials: &mut Materials, warnings: &mut Warnings) -> Result<(Geometry, PaletteLayout)> {
    let mut builder = Builder::new(scene, materials, warnings);
    for (node, entry) in scene.document.root.nodes.iter().enumerate() {
        let Some(skeleton_node) = scene.tree.skeleton_node.get(node).copied().flatten() else { continue };
        let in_scene = scene.tree.skeleton.in_scene.get(skeleton_node as usize) == Some(&true);
        let is_shown = in_scene && !scene.tree.is_hidden(skeleton_node);
        let (true, Some(mesh)) = (is_shown, entry.mesh.map(|mesh| mesh.value())) else { continue };
        let added = builder.add_mesh_node(node, skeleton_node, mesh, entry.skin.map(|skin| skin.value()));
        builder.warnings.leave_out("mesh", added)?;
    }
    let (mut geometry, palette) = builder.finish()?;
    number_by_use(&mut geometry);
    Ok((geometry, palette))
}
