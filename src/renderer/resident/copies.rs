//! Copies: how levels of detail with few vertices are drawn, many characters in each instance of a draw.
//!
//! A GPU fills the lanes of a vertex shader from one instance at a time, so a character of 16 vertices leaves most lanes without
//! work. The index buffer therefore has such a level several times, one copy after the other, with [`COPIED_VERTICES`] vertices in
//! all. `shaders/copies.glsl` finds character and vertex from the index of the vertex. The order of all triangles, and so
//! the picture, is that of one instance for each character.
//!
//! In: the geometry. Out: the indices and the static vertices of all copies, which follow those of the model, and a [`Copies`] for
//! each level of a draw range that has some.

use crate::crowd::InstanceRange;
use crate::model::Geometry;
use crate::renderer::layouts::Layouts;
use crate::shader_types::CopyConstants;
use crate::vulkan::recorder::Recorder;

/// The number of vertices of all copies of a level together: several vertex waves of any GPU. `copies.glsl` has the same.
pub const COPIED_VERTICES: u32 = 256;

/// The most indices of all copies of a draw range in one level.
const MOST_INDICES: usize = 8192;

/// The copies of a draw range in one level of detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copies {
    pub first_index: u32,
    /// The number of indices of one copy. Those of the others follow.
    pub index_count: u32,
    /// The first of the static vertices, a multiple of [`COPIED_VERTICES`]. The indices are relative to it.
    pub first_vertex: u32,
    /// A copy has `1 << vertex_bits` vertices, of which the last ones may be unused.
    pub vertex_bits: u32,
}

impl Copies {
    /// Returns the copies in a level of detail, if these instances fill a draw of them. Levels beyond the coarsest one are equal
    /// to it.
    pub fn fitting(levels: &[Option<Self>], level: u32, instances: InstanceRange) -> Option<Self> {
        let copies = levels.get(level as usize).or(levels.last()).copied().flatten();
        copies.filter(|copies| instances.count >= copies.count())
    }

    /// Returns the number of characters in an instance of the draw.
    pub fn count(&self) -> u32 {
        COPIED_VERTICES >> self.vertex_bits
    }

    /// Draws instances, with a bound pipeline that has
    /// [`COPIES`](crate::shader_types::material_features::COPIES). The last draw has fewer copies.
    pub fn record(&self, recorder: Recorder, layouts: &Layouts, instances: InstanceRange) {
        let Self { first_index, index_count, first_vertex, vertex_bits } = *self;
        let (whole, rest) = (instances.count / self.count(), instances.count % self.count());
        let draws = [(0, whole, self.count()), (whole * self.count(), 1, rest)];
        for (skipped, draw_instances, copies) in draws.into_iter().filter(|&(_, count, copies)| count * copies > 0) {
            let constants = CopyConstants { first_instance: instances.first + skipped, vertex_bits };
            recorder.push_constants(&layouts.scene, &constants);
            recorder.draw_indexed((first_index, copies * index_count), first_vertex, (0, draw_instances));
        }
    }
}

/// What the index buffer and the static vertices have behind those of the model.
#[derive(Debug, Default)]
pub struct CopiedGeometry {
    pub indices: Vec<u32>,
    /// The vertex of the geometry for each static vertex.
    pub vertices: Vec<u32>,
    /// The copies of each draw range in each level of detail; `None` where an instance for each character suits the level.
    pub copies: Vec<Vec<Option<Copies>>>,
}

impl CopiedGeometry {
    pub fn new(geometry: &Geometry) -> Self {
        let mut copied = Self::default();
        let of_range = |range| geometry.levels_of(range).map(|level| copied.add(geometry, level)).collect();
        let copies = (0..geometry.draw_ranges.len()).map(of_range).collect();
        if !copied.indices.is_empty() {
            let first = geometry.vertex_count() as u32;
            let copy = |bits: u32| (0..COPIED_VERTICES).map(move |vertex| (vertex & ((1 << bits) - 1)).min(first - 1));
            let unused = first..first.next_multiple_of(COPIED_VERTICES);
            copied.vertices = unused.map(|_| 0).chain((0..COPIED_VERTICES.ilog2()).flat_map(copy)).collect();
        }
        Self { copies, ..copied }
    }

    fn add(&mut self, geometry: &Geometry, (vertex_count, indices): (u32, &[u32])) -> Option<Copies> {
        let vertex_bits = vertex_count.next_power_of_two().ilog2();
        let count = COPIED_VERTICES.checked_shr(vertex_bits).filter(|&count| count > 1)?;
        if indices.is_empty() || indices.len() * count as usize > MOST_INDICES {
            return None;
        }
        let coarser: usize = geometry.coarser_levels.iter().map(|level| level.indices.len()).sum();
        let first = geometry.indices.len() + coarser + self.indices.len();
        for copy in 0..count {
            self.indices.extend(indices.iter().map(|index| (copy << vertex_bits) + index));
        }
        let first_vertex =
            (geometry.vertex_count() as u32).next_multiple_of(COPIED_VERTICES) + COPIED_VERTICES * vertex_bits;
        Some(Copies { first_index: first as u32, index_count: indices.len() as u32, first_vertex, vertex_bits })
    }
}
