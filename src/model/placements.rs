//! Placed meshes: the drawn vertices of a mesh that exists once, and copies for each placement where somebody needs them.
//!
//! The renderer draws the placements as instances. Measures on the CPU (bounds, floor, picking) read the few vertices again
//! for each placement, with the palette from another entry on. Only `throng pose` lists every vertex of every placement, so
//! only it calls [`Geometry::copy_placements`].
//!
//! *Shown vertices* have numbers: first all vertices of the geometry, which for placed meshes are those of the first
//! placement, then the vertices of all other placements, mesh by mesh.

use std::ops::Range;

use super::arrays::for_each_array;
use super::{DrawRange, Geometry, PlacedMesh, SourcePrimitive};

impl PlacedMesh {
    /// Returns the number of placements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.palette_entries.len()
    }

    /// Returns whether there are no placements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.palette_entries.is_empty()
    }

    fn vertex_range(&self) -> Range<usize> {
        self.vertices.start as usize..self.vertices.end as usize
    }

    /// Returns the number of shown vertices beyond those of the first placement.
    fn other_vertex_count(&self) -> usize {
        self.vertices.len() * self.len().saturating_sub(1)
    }
}

impl Geometry {
    /// Returns the number of vertices that each pose has: those that no placed mesh has.
    #[must_use]
    pub fn posed_vertex_count(&self) -> usize {
        self.placed_meshes.first().map_or(self.vertex_count(), |mesh| mesh.vertices.start as usize)
    }

    /// Returns the number of shown vertices.
    #[must_use]
    pub fn shown_vertex_count(&self) -> usize {
        self.vertex_count() + self.placed_meshes.iter().map(PlacedMesh::other_vertex_count).sum::<usize>()
    }

    /// Returns the number of indices that are drawn.
    #[must_use]
    pub fn shown_index_count(&self) -> usize {
        self.draw_ranges.iter().map(|range| range.index_count as usize * self.times_drawn(range)).sum()
    }

    /// Returns the shown vertices by number: the vertex of the geometry, and its placement, which is 0 for vertices that are
    /// shown once.
    pub fn shown_vertices(&self) -> impl Iterator<Item = (usize, usize)> {
        let others = self.placed_meshes.iter().flat_map(|mesh| {
            (1..mesh.len()).flat_map(|placement| mesh.vertex_range().map(move |vertex| (vertex, placement)))
        });
        (0..self.vertex_count()).map(|vertex| (vertex, 0)).chain(others)
    }

    /// Returns the placed mesh that a draw range is part of.
    #[must_use]
    pub fn placed_mesh_of(&self, range: &DrawRange) -> Option<&PlacedMesh> {
        self.placed_meshes.get(range.placed_mesh? as usize)
    }

    /// Returns how often each instance draws a range.
    #[must_use]
    pub fn times_drawn(&self, range: &DrawRange) -> usize {
        self.placed_mesh_of(range).map_or(1, PlacedMesh::len)
    }

    /// Returns what to add to the vertices of a draw range to get the numbers of the shown vertices, for each time that it is
    /// drawn.
    pub fn shifts(&self, range: &DrawRange) -> impl Iterator<Item = u32> + use<> {
        self.shifts_of(range.placed_mesh)
    }

    /// Returns what to add to the vertices of a placed mesh, for each placement; 0 for vertices that are shown once.
    fn shifts_of(&self, mesh: Option<u32>) -> impl Iterator<Item = u32> + use<> {
        let (mut second, mut step, mut count) = (0, 0, 1);
        if let Some((index, mesh)) = mesh.and_then(|index| Some((index, self.placed_meshes.get(index as usize)?))) {
            let before = self.placed_meshes.iter().take(index as usize).map(PlacedMesh::other_vertex_count);
            second = (self.vertex_count() + before.sum::<usize>()) as u32 - mesh.vertices.start;
            (step, count) = (mesh.vertices.len() as u32, mesh.len() as u32);
        }
        (0..count).map(move |placement| placement.checked_sub(1).map_or(0, |other| second + other * step))
    }

    /// Gives each placement vertices, triangles and source primitives of its own, so that there are no placed meshes.
    /// Removes the coarser levels.
    pub fn copy_placements(&mut self) {
        self.coarser_levels.clear();
        let mut indices = Vec::with_capacity(self.shown_index_count());
        let mut draw_ranges = std::mem::take(&mut self.draw_ranges);
        for range in &mut draw_ranges {
            let own = range.first_index as usize..(range.first_index + range.index_count) as usize;
            range.first_index = indices.len() as u32;
            for shift in self.shifts(range) {
                indices.extend(self.indices[own.clone()].iter().map(|vertex| vertex + shift));
            }
            range.index_count = indices.len() as u32 - range.first_index;
            range.placed_mesh = None;
        }
        (self.draw_ranges, self.indices) = (draw_ranges, indices);
        let mut sources: Vec<SourcePrimitive> = Vec::new();
        for source in std::mem::take(&mut self.source_primitives) {
            let Some(mesh) = source.placed_mesh.and_then(|mesh| self.placed_meshes.get(mesh as usize)) else {
                sources.push(source);
                continue;
            };
            let copies = mesh.placements.iter().zip(self.shifts_of(source.placed_mesh));
            sources.extend(copies.map(|(&placement, shift)| SourcePrimitive {
                placed_mesh: None,
                placement: Some(placement),
                vertices: source.vertices.iter().map(|vertex| vertex + shift).collect(),
                ..source
            }));
        }
        sources.sort_by_key(|source| (source.node, source.placement, source.primitive));
        self.source_primitives = sources;
        for mesh in std::mem::take(&mut self.placed_meshes) {
            let range = mesh.vertex_range();
            for_each_array(self, |array| array.reserve_copies(&range, mesh.len().saturating_sub(1)));
            for joint in mesh.palette_entries.skip(1) {
                self.copy_vertices(&range, joint);
            }
        }
    }

    /// Appends a copy of vertices that all follow one joint. The copies follow `joint` instead.
    pub(crate) fn copy_vertices(&mut self, range: &Range<usize>, joint: u32) {
        let first_influence = self.influences.len();
        for_each_array(self, |array| array.copy(range));
        self.influences[first_influence..].iter_mut().for_each(|influence| influence.joint = joint);
    }
}
