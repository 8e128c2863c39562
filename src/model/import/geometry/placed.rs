//! From the placements of a node to a mesh that is read once, with a palette entry for each placement.
//!
//! The mesh is read at the first placement, like any mesh. Its vertices follow a palette entry that nothing else follows, so
//! they are all new and contiguous. Placements that mirror the mesh and those that do not need different windings, so a mesh
//! that has both kinds has its vertices twice.
//!
//! A few bytes of a file can add another placement of a large mesh. Each takes a palette entry in memory, and as much time as
//! a mesh of its own where every vertex counts: in drawing, in measures on the CPU and in `throng pose`, which copies the
//! vertices. So placements are charged as if they were copies. If they are too many, a warning follows, and an evenly chosen
//! subset is drawn.

use std::ops::Range;

use glam::Affine3A;
use gltf::json;

use super::builder::{Builder, Follow, MeshNode, ReadPrimitive};
use super::instancing;
use crate::model::import::error::Result;
use crate::model::import::limits::CopyCost;
use crate::model::{DrawRange, PlacedMesh, SourcePrimitive};

/// The mesh at the first placement.
struct Template {
    /// Its vertices in the geometry.
    vertices: Range<usize>,
    primitives: Vec<ReadPrimitive>,
}

/// The drawn placements of a mesh with the same winding, and the distance of its vertices from those of the template.
struct Group {
    mesh: u32,
    mirrored: bool,
    shift: u32,
}

impl Builder<'_, '_> {
    /// Adds the mesh of a node at each of `placements` (`node_from_mesh`), or at as many as the limits allow.
    pub fn add_placements(&mut self, mesh_node: MeshNode, mesh: &json::Mesh, placements: &[Affine3A]) -> Result<()> {
        let Some((&first, others)) = placements.split_first() else { return Ok(()) };
        if !self.affords_first(mesh) {
            self.warn_of_missing(mesh_node.node, 0, placements.len());
            return Ok(());
        }
        let first_entry = self.palette.rigid_entry(mesh_node.skeleton_node, first);
        let first_vertex = self.welder.geometry.vertex_count();
        let primitives = self.read_primitives(mesh_node, mesh, Follow::Entry(first_entry))?;
        let vertices = first_vertex..self.welder.geometry.vertex_count();
        let template = Template { vertices, primitives };
        if template.primitives.is_empty() {
            // Each primitive has had its warning.
            return Ok(());
        }
        let drawn = 1 + self.take_copies(&template, others.len(), mesh_node.node)?;
        if drawn < placements.len() {
            self.warn_of_missing(mesh_node.node, drawn, placements.len());
        }
        let first_is_mirrored = self.mirrors(mesh_node.skeleton_node, &first);
        let mut groups = Vec::new();
        for mirrored in [first_is_mirrored, !first_is_mirrored] {
            // If some are left out, an even choice keeps the shape of the whole.
            let all = (0..drawn).map(|rank| rank * placements.len() / drawn);
            let indices = all.filter_map(|index| Some((index as u32, placements.get(index)?)));
            let own = indices.filter(|(_, placement)| self.mirrors(mesh_node.skeleton_node, placement) == mirrored);
            let (indices, own): (Vec<u32>, Vec<Affine3A>) = own.unzip();
            if !own.is_empty() {
                groups.push(self.push_mesh((mesh_node, first_entry), &template, mirrored, indices, &own));
            }
        }
        self.push_draws(&template, &groups);
        Ok(())
    }

    /// Adds placements with the same winding, which is that of the template if they are the first ones.
    fn push_mesh(
        &mut self,
        (mesh_node, first_entry): (MeshNode, u32),
        template: &Template,
        mirrored: bool,
        placements: Vec<u32>,
        node_from_mesh: &[Affine3A],
    ) -> Group {
        let geometry = &mut self.welder.geometry;
        let mesh = geometry.placed_meshes.len() as u32;
        let is_template = placements.first() == Some(&0);
        let own = node_from_mesh.get(usize::from(is_template)..).unwrap_or(&[]);
        let next_entry = self.palette.layout.len() as u32;
        for &node_from_mesh in own {
            self.palette.rigid_entry(mesh_node.skeleton_node, node_from_mesh);
        }
        let entry = if is_template { first_entry } else { next_entry };
        let shift = if is_template { 0 } else { (geometry.vertex_count() - template.vertices.start) as u32 };
        if !is_template {
            // No later vertex can equal one of the copies, because nothing else follows their joint.
            geometry.copy_vertices(&template.vertices, entry);
        }
        let [first, end] = [template.vertices.start, template.vertices.end].map(|vertex| vertex as u32 + shift);
        let palette_entries = entry..entry + placements.len() as u32;
        geometry.placed_meshes.push(PlacedMesh { vertices: first..end, palette_entries, placements });
        Group { mesh, mirrored, shift }
    }

    /// Whether the limits allow to read the mesh once, according to the counts of its accessors. If not, the node shows
    /// nothing, with a warning; for a node without placements that is an error.
    fn affords_first(&self, mesh: &json::Mesh) -> bool {
        let size = instancing::size_of(self.scene.document, mesh);
        size.vertices <= self.vertices.left()
            && size.indices <= self.indices.left()
            && mesh.primitives.len() as u64 <= self.primitives.left()
    }

    fn warn_of_missing(&mut self, node: usize, drawn: usize, all: usize) {
        let problem = format!("{drawn} of {all} placements are drawn: files of this size allow no more");
        self.warnings.add(format_args!("nodes[{node}]"), problem);
    }

    /// Charges as many further placements as the limits allow, at most `wanted`; returns their number.
    fn take_copies(&mut self, template: &Template, wanted: usize, node: usize) -> Result<usize> {
        let Template { vertices, primitives } = template;
        let sum = |count: fn(&ReadPrimitive) -> usize| primitives.iter().map(count).sum::<usize>() as u64;
        let starts = &self.welder.geometry.morph_delta_starts;
        let cost = CopyCost {
            vertices: vertices.len() as u64,
            file_vertices: sum(|primitive| primitive.source.vertices.len()),
            indices: sum(|primitive| primitive.indices.len()),
            morph_deltas: (starts[vertices.end] - starts[vertices.start]).into(),
            primitives: primitives.len() as u64,
        };
        let total = self.scene.document.total_budget();
        let geometry = &self.welder.geometry;
        let index_count = geometry.shown_index_count() + cost.indices as usize;
        // Half of each budget stays for the nodes that come later; `affordable_copies` keeps a part of the total.
        let copies = total
            .affordable_copies(&cost, geometry.shown_vertex_count(), index_count)
            .min(self.primitives.left() / 2 / cost.primitives.max(1))
            .min(self.morph_deltas.left() / 2 / cost.morph_deltas.max(1))
            .min(wanted as u64);
        let at = format!("nodes[{node}]");
        total.take_copies(&cost, copies, &at)?;
        self.primitives.take(cost.primitives * copies, &at)?;
        self.morph_deltas.take(cost.morph_deltas * copies, &at)?;
        Ok(copies as usize)
    }

    /// Appends the indices and the source primitives of a mesh, primitive by primitive, so that there are few draw ranges.
    fn push_draws(&mut self, template: &Template, groups: &[Group]) {
        for ReadPrimitive { range, indices, .. } in &template.primitives {
            for &Group { mesh, mirrored, shift } in groups {
                self.push_indices(DrawRange { mirrored, placed_mesh: Some(mesh), ..*range }, indices, shift);
            }
        }
        for ReadPrimitive { source, .. } in &template.primitives {
            self.welder.geometry.source_primitives.extend(groups.iter().map(|group| SourcePrimitive {
                placed_mesh: Some(group.mesh),
                vertices: source.vertices.iter().map(|vertex| vertex + group.shift).collect(),
                ..*source
            }));
        }
    }
}
