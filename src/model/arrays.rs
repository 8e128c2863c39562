//! From a [`Geometry`] to its per-vertex arrays, for steps that treat all of them alike.
//!
//! [`for_each_array`] names every field of `Geometry`. A new array there does not compile until it is listed here.

use crate::model::Geometry;

/// An array with one element, or one list of elements, for each vertex.
pub(crate) trait PerVertex {
    /// Moves the element of vertex `order[k]` to index `k`.
    fn reorder(&mut self, order: &[u32]);
}

/// Calls `visit` with each per-vertex array of `geometry`.
pub(crate) fn for_each_array(geometry: &mut Geometry, mut visit: impl FnMut(&mut dyn PerVertex)) {
    let Geometry {
        positions,
        normals,
        tangents,
        tex_coords,
        colors,
        influence_starts,
        influences,
        morph_delta_starts,
        morph_deltas,
        indices: _,
        draw_ranges: _,
        source_primitives: _,
        coarser_levels: _,
    } = geometry;
    visit(positions);
    visit(normals);
    visit(tangents);
    visit(tex_coords);
    visit(colors);
    visit(&mut Lists { starts: influence_starts, values: influences });
    visit(&mut Lists { starts: morph_delta_starts, values: morph_deltas });
}

/// Lists of any length in one array: that of vertex `v` is `values[starts[v]..starts[v + 1]]`.
struct Lists<'g, T> {
    starts: &'g mut Vec<u32>,
    values: &'g mut Vec<T>,
}

impl<T: Copy> PerVertex for Vec<T> {
    fn reorder(&mut self, order: &[u32]) {
        // Tangents are empty if no draw range needs them.
        if !self.is_empty() {
            *self = order.iter().map(|&vertex| self[vertex as usize]).collect();
        }
    }
}

impl<T: Copy> PerVertex for Lists<'_, T> {
    fn reorder(&mut self, order: &[u32]) {
        let mut starts = Vec::with_capacity(self.starts.len());
        let mut values = Vec::with_capacity(self.values.len());
        starts.push(0);
        for &vertex in order {
            let vertex = vertex as usize;
            values.extend_from_slice(&self.values[self.starts[vertex] as usize..self.starts[vertex + 1] as usize]);
            starts.push(values.len() as u32);
        }
        (*self.starts, *self.values) = (starts, values);
    }
}

/// Makes room for `more` elements, growing by an eighth, where `Vec` would double. Unused capacity counts where memory
/// is limited.
pub(crate) fn reserve<T>(list: &mut Vec<T>, more: usize) {
    /// The smallest growth, so that short lists do not grow by single elements.
    const LEAST: usize = 64;
    if list.capacity() - list.len() < more {
        list.reserve_exact(more.max(list.len() / 8).max(LEAST));
    }
}
