//! From the placements of a node to copies of its mesh: the mesh is read once, then its vertices are copied.
//!
//! Every placement has its own palette entry and vertices, so later stages treat it like any rigid part. The mesh at
//! the first placement is read like any mesh. Its vertices follow a palette entry that nothing else follows, so they
//! are all new and contiguous, and the others are copies of that range with another joint. They need no welding and no
//! ordering.
//!
//! A few bytes of a file can add another copy of a large mesh, so copies are charged. If they are too many, a warning
//! follows, and an evenly chosen subset is drawn.

use std::ops::Range;

use glam::Affine3A;
use gltf::json;

use super::builder::{Builder, Follow, MeshNode, ReadPrimitive};
use super::instancing;
use crate::model::arrays::reserve;
use crate::model::import::error::Result;
use crate::model::import::limits::CopyCost;
use crate::model::{DrawRange, SourcePrimitive};

/// The mesh at the first placement.
struct Template {
    /// Its vertices in the geometry.
    vertices: Range<usize>,
    primitives: Vec<ReadPrimitive>,
}

/// A placement that is drawn.
struct Placement {
    /// The index in the file.
    index: usize,
    palette_entry: u32,
    mirrored: bool,
}

impl Template {
    fn first_vertex_of_copy(&self, copy: usize) -> u32 {
        (self.vertices.len() * copy) as u32
    }
}

impl Builder<'_, '_> {
    /// Adds the mesh of a node once for each of `placements` (`node_from_mesh`), or for as many as the limits allow.
    pub fn add_placements(&mut self, mesh_node: MeshNode, mesh: &json::Mesh, placements: &[Affine3A]) -> Result<()> {
        let Some((&first, others)) = placements.split_first() else { return Ok(()) };
        if !self.affords_first(mesh) {
            self.warn_of_missing(mesh_node.node, 0, placements.len());
            return Ok(());
        }
        let first_entry = self.palette.rigid_entry(mesh_node.skeleton_node, first);
        let first_vertex = self.welder.geometry.vertex_count();
        let mesh_node = MeshNode { placement: Some(0), ..mesh_node };
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
        let mut all = vec![Placement { index: 0, palette_entry: first_entry, mirrored: self.is_mirrored(first_entry) }];
        // If some are left out, an even choice keeps the shape of the whole.
        for index in (1..drawn).map(|rank| rank * placements.len() / drawn) {
            let node_from_mesh = placements.get(index).copied().unwrap_or_default();
            let palette_entry = self.palette.rigid_entry(mesh_node.skeleton_node, node_from_mesh);
            all.push(Placement { index, palette_entry, mirrored: self.is_mirrored(palette_entry) });
        }
        self.welder.copy(&template.vertices, all.iter().skip(1).map(|placement| placement.palette_entry));
        self.push_copies(template, &all);
        Ok(())
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

    /// Charges as many copies as the limits allow, at most `wanted`; returns their number.
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
        let index_count = geometry.indices.len() + cost.indices as usize;
        // Half of each budget stays for the nodes that come later; `affordable_copies` keeps a part of the total.
        let copies = total
            .affordable_copies(&cost, geometry.vertex_count(), index_count)
            .min(self.primitives.left() / 2 / cost.primitives.max(1))
            .min(self.morph_deltas.left() / 2 / cost.morph_deltas.max(1))
            .min(wanted as u64);
        let at = format!("nodes[{node}]");
        total.take_copies(&cost, copies, &at)?;
        self.primitives.take(cost.primitives * copies, &at)?;
        self.morph_deltas.take(cost.morph_deltas * copies, &at)?;
        Ok(copies as usize)
    }

    /// Appends the indices of all copies: primitive by primitive, and mirrored copies apart from the others, so that
    /// there are few draw ranges.
    fn push_copies(&mut self, template: Template, all: &[Placement]) {
        let first_is_mirrored = all.first().is_some_and(|first| first.mirrored);
        for ReadPrimitive { range, indices, .. } in &template.primitives {
            reserve(&mut self.welder.geometry.indices, indices.len() * all.len());
            for mirrored in [first_is_mirrored, !first_is_mirrored] {
                for (copy, _) in all.iter().enumerate().filter(|(_, placement)| placement.mirrored == mirrored) {
                    self.push_indices(DrawRange { mirrored, ..*range }, indices, template.first_vertex_of_copy(copy));
                }
            }
        }
        let sources = &mut self.welder.geometry.source_primitives;
        sources.reserve_exact(template.primitives.len() * all.len());
        for (copy, placement) in all.iter().enumerate() {
            let shift = template.first_vertex_of_copy(copy);
            sources.extend(template.primitives.iter().map(|ReadPrimitive { source, .. }| SourcePrimitive {
                placement: Some(placement.index as u32),
                vertices: source.vertices.iter().map(|vertex| vertex + shift).collect(),
                ..*source
            }));
        }
    }
}
