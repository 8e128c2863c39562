//! The triangles of one level, by draw range. Lines and points are the same in all levels and are added at the end.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::model::{CoarserLevel, Geometry, Topology};

/// The triangles of one level.
#[derive(Debug, Clone, Default)]
pub(super) struct Triangles {
    /// The corners of all triangles.
    pub indices: Vec<u32>,
    /// The part of `indices` for each draw range of the geometry. Ranges of lines and points have none.
    pub ranges: Vec<Range<usize>>,
}

impl Triangles {
    /// Returns the triangles in full detail.
    pub fn of(geometry: &Geometry) -> Self {
        let mut triangles = Self::default();
        for range in &geometry.draw_ranges {
            let first = triangles.indices.len();
            if range.topology == Topology::Triangles {
                triangles.indices.extend_from_slice(&geometry.indices[span(range.first_index, range.index_count)]);
            }
            triangles.ranges.push(first..triangles.indices.len());
        }
        triangles
    }

    /// Returns the number of triangles.
    pub fn count(&self) -> usize {
        self.indices.len() / 3
    }

    /// Returns the corners of each triangle of a draw range.
    pub fn of_range(&self, range: usize) -> &[[u32; 3]] {
        self.indices[self.ranges[range].clone()].as_chunks().0
    }

    /// Returns the triangles of each material.
    pub fn by_material(&self, geometry: &Geometry) -> BTreeMap<u32, Vec<[u32; 3]>> {
        let mut by_material = BTreeMap::<u32, Vec<[u32; 3]>>::new();
        for (range, drawn) in geometry.draw_ranges.iter().enumerate() {
            let own = self.of_range(range);
            if !own.is_empty() {
                by_material.entry(drawn.material).or_default().extend_from_slice(own);
            }
        }
        by_material
    }

    /// Returns the level with these triangles and all lines and points of the geometry.
    pub fn into_level(self, geometry: &Geometry, error: f32) -> CoarserLevel {
        let mut level = CoarserLevel { error, ..CoarserLevel::default() };
        for (range, own) in geometry.draw_ranges.iter().zip(&self.ranges) {
            let first = level.indices.len() as u32;
            level.indices.extend_from_slice(match range.topology {
                Topology::Triangles => &self.indices[own.clone()],
                Topology::Lines | Topology::Points => &geometry.indices[span(range.first_index, range.index_count)],
            });
            level.ranges.push(first..level.indices.len() as u32);
        }
        level
    }
}

/// Returns the vertices of triangles, sorted, each once.
pub(super) fn used_vertices(triangles: &[[u32; 3]]) -> Vec<u32> {
    let mut used = triangles.as_flattened().to_vec();
    used.sort_unstable();
    used.dedup();
    used
}

fn span(first: u32, count: u32) -> Range<usize> {
    first as usize..(first + count) as usize
}
