//! A mesh at several places: read once, then copied.
//!
//! Every placement has a palette entry and vertices of its own, so that no later stage knows of placements at all. The
//! first one is read like any mesh. The vertices that it adds follow its entry alone, so that none of them was there
//! before and all of them stand one behind the other: the others are copies of that run with another joint. No accessor
//! is read twice, nothing is welded or put in order anew.
//!
//! A few bytes of a file place a mesh of any size once more, so copies are paid for, and where they cannot be some
//! placements are left out, evenly, with a warning.

use std::ops::Range;

use glam::Affine3A;
use gltf::json;

use super::builder::{Builder, Follow, MeshNode, Scene, Shown};
use super::instancing;
use super::weld::reserve;
use crate::model::import::error::Result;
use crate::model::import::limits::{CopyCost, Purse};
use crate::model::{DrawRange, SourcePrimitive};

/// The mesh at its first place.
struct Template {
    /// Its vertices.
    run: Range<usize>,
    primitives: Vec<Shown>,
}

/// A place at which the mesh is drawn.
struct Placement {
    /// Which of the node's.
    instance: usize,
    palette_entry: u32,
    mirrored: bool,
}

impl Template {
    fn first_vertex_of_copy(&self, copy: usize) -> u32 {
        (self.run.len() * copy) as u32
    }
}

impl Builder<'_> {
    /// Adds a mesh at all its places, or at as many as can be paid for.
    pub(super) fn add_placements(
        &mut self,
        scene: &Scene,
        place: MeshNode,
        mesh: &json::Mesh,
        placements: &[Affine3A],
    ) -> Result<()> {
        let Some((&first, others)) = placements.split_first() else { return Ok(()) };
        if !self.affords_first(scene, mesh) {
            self.warn_of_missing(place, 0, placements.len());
            return Ok(());
        }
        let first_entry = self.palette.rigid_entry(place.skeleton_node, first);
        let first_vertex = self.welder.geometry.vertex_count();
        let place = MeshNode { instance: Some(0), ..place };
        let primitives = self.read_primitives(scene, place, mesh, Follow::Entry(first_entry))?;
        let run = first_vertex..self.welder.geometry.vertex_count();
        let template = Template { run, primitives };
        if template.primitives.is_empty() {
            // Each has had its warning.
            return Ok(());
        }
        let copies = self.pay_for_copies(&scene.document.purse(), &template, others.len(), place.node)?;
        let drawn = copies + 1;
        if drawn < placements.len() {
            self.warn_of_missing(place, drawn, placements.len());
        }
        // Evenly chosen where some are left out, so that what is drawn still has the shape of the whole.
        let chosen = (1..drawn).map(|rank| rank * placements.len() / drawn);
        let mut all =
            vec![Placement { instance: 0, palette_entry: first_entry, mirrored: self.is_mirrored(first_entry) }];
        for instance in chosen {
            let node_from_mesh = placements.get(instance).copied().unwrap_or_default();
            let palette_entry = self.palette.rigid_entry(place.skeleton_node, node_from_mesh);
            all.push(Placement { instance, palette_entry, mirrored: self.is_mirrored(palette_entry) });
        }
        self.welder.copy(template.run.clone(), all.iter().skip(1).map(|placement| placement.palette_entry));
        self.push_copies(template, &all);
        Ok(())
    }

    /// Whether one placement of a mesh can be read, by what its accessors say: as one that cannot is left out, it is no
    /// error as it is for other nodes.
    fn affords_first(&self, scene: &Scene, mesh: &json::Mesh) -> bool {
        let cost = instancing::cost(scene.document, mesh);
        cost.vertices <= self.vertices.left()
            && cost.indices <= self.indices.left()
            && mesh.primitives.len() as u64 <= self.primitives.left()
    }

    fn warn_of_missing(&mut self, place: MeshNode, drawn: usize, all: usize) {
        let problem = format!("of {all} placements {drawn} are drawn: files of this size allow no more");
        self.warnings.add(format_args!("nodes[{}]", place.node), problem);
    }

    /// Pays for as many copies as can be, up to `wanted`, and returns how many they are.
    fn pay_for_copies(&mut self, purse: &Purse, template: &Template, wanted: usize, node: usize) -> Result<usize> {
        let size = self.welder.size_of(&template.run);
        let sum = |count: fn(&Shown) -> usize| template.primitives.iter().map(count).sum::<usize>() as u64;
        let cost = CopyCost {
            vertices: size.vertices as u64,
            file_vertices: sum(|shown| shown.source.vertices.len()),
            indices: sum(|shown| shown.indices.len()),
            morph_deltas: size.morph_deltas as u64,
            primitives: template.primitives.len() as u64,
        };
        let geometry = &self.welder.geometry;
        let index_count = geometry.indices.len() + cost.indices as usize;
        // Half of what is left, so that the nodes to come have their part; the purse sees to that by itself.
        let copies = purse
            .affordable_copies(&cost, geometry.vertex_count(), index_count)
            .min(self.primitives.left() / 2 / cost.primitives.max(1))
            .min(self.morph_deltas.left() / 2 / cost.morph_deltas.max(1))
            .min(wanted as u64);
        let at = format!("nodes[{node}]");
        purse.take_copies(&cost, copies, &at)?;
        self.primitives.take(cost.primitives * copies, &at)?;
        self.morph_deltas.take(cost.morph_deltas * copies, &at)?;
        Ok(copies as usize)
    }

    /// Draws the template at all places: primitive by primitive, and mirrored places apart, so that there are few draw
    /// ranges.
    fn push_copies(&mut self, template: Template, all: &[Placement]) {
        let first_is_mirrored = all.first().is_some_and(|first| first.mirrored);
        for Shown { range, indices, .. } in &template.primitives {
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
            sources.extend(template.primitives.iter().map(|Shown { source, .. }| SourcePrimitive {
                instance: Some(placement.instance as u32),
                vertices: source.vertices.iter().map(|vertex| vertex + shift).collect(),
                ..*source
            }));
        }
    }
}
