//! The triangles of one level, by draw range, with their edges and connected components. Lines and points are the same in all
//! levels and are added at the end.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use glam::Vec3A;

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

/// The edges of triangles, each material's own. An edge has the same number in all triangles that share it.
pub(super) struct Edges {
    /// The edges from each vertex to a vertex with a larger index begin here in `ends`.
    starts: Vec<u32>,
    /// The material and the other vertex of each edge, sorted for each first vertex.
    ends: Vec<(u32, u32)>,
}

impl Edges {
    /// Finds the edges of the triangles of each material. `vertex_count` is larger than all corners.
    pub fn new<'t>(by_material: impl Iterator<Item = (u32, &'t [[u32; 3]])> + Clone, vertex_count: usize) -> Self {
        let all = || {
            let of_material = |(material, triangles): (u32, &'t [[u32; 3]])| {
                triangles.iter().flat_map(|&corners| sides(corners)).map(move |side| (material, side))
            };
            by_material.clone().flat_map(of_material)
        };
        // Counting sort by the first vertex.
        let mut starts = vec![0u32; vertex_count + 1];
        all().for_each(|(_, [first, _])| starts[first as usize + 1] += 1);
        for vertex in 0..vertex_count {
            starts[vertex + 1] += starts[vertex];
        }
        let mut next = starts.clone();
        let mut ends = vec![(0, 0); starts[vertex_count] as usize];
        for (material, [first, second]) in all() {
            ends[next[first as usize] as usize] = (material, second);
            next[first as usize] += 1;
        }
        // Each edge once.
        let mut count = 0;
        for vertex in 0..vertex_count {
            let (start, end) = (starts[vertex] as usize, starts[vertex + 1] as usize);
            ends[start..end].sort_unstable();
            starts[vertex] = count as u32;
            for index in start..end {
                if index == start || ends[index] != ends[index - 1] {
                    ends[count] = ends[index];
                    count += 1;
                }
            }
        }
        starts[vertex_count] = count as u32;
        ends.truncate(count);
        Self { starts, ends }
    }

    /// Returns the number of edges.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the number of an edge, if there is this edge.
    pub fn index(&self, material: u32, [first, second]: [u32; 2]) -> Option<usize> {
        let start = self.starts[first as usize] as usize;
        let own = &self.ends[start..self.starts[first as usize + 1] as usize];
        own.binary_search(&(material, second)).ok().map(|index| start + index)
    }
}

/// Returns the side of a triangle opposite to each corner. The vertex with the smaller index comes first.
pub(super) fn sides([a, b, c]: [u32; 3]) -> [[u32; 2]; 3] {
    [[b, c], [c, a], [a, b]].map(|[a, b]| [a.min(b), a.max(b)])
}

/// A connected part of a surface: a body, an eye, a buckle.
pub(super) struct Component {
    pub triangles: Vec<[u32; 3]>,
    /// The vertices, sorted, each once.
    pub vertices: Vec<u32>,
}

/// Divides triangles into connected parts. Vertices at the same position are connected.
pub(super) fn components(triangles: &[[u32; 3]], reference: &[Vec3A]) -> Vec<Component> {
    let mut first_at = HashMap::<[u32; 3], u32>::new();
    let mut number_of = vec![u32::MAX; reference.len()];
    let mut parents: Vec<u32> = Vec::new();
    for &vertex in triangles.as_flattened() {
        let number = &mut number_of[vertex as usize];
        if *number == u32::MAX {
            *number = *first_at.entry(position_bits(reference[vertex as usize])).or_insert_with(|| {
                parents.push(parents.len() as u32);
                parents.len() as u32 - 1
            });
        }
    }
    for corners in triangles {
        let roots = corners.map(|vertex| root(&mut parents, number_of[vertex as usize]));
        let [a, b, c] = roots;
        for number in roots {
            parents[number as usize] = a.min(b).min(c);
        }
    }
    let mut components = BTreeMap::<u32, Vec<[u32; 3]>>::new();
    for &corners in triangles {
        components.entry(root(&mut parents, number_of[corners[0] as usize])).or_default().push(corners);
    }
    components.into_values().map(|triangles| Component { vertices: used_vertices(&triangles), triangles }).collect()
}

/// Returns the bits of a position, the same for equal positions.
pub(super) fn position_bits(position: Vec3A) -> [u32; 3] {
    // Adding zero turns -0 into 0.
    (position + 0.0).to_array().map(f32::to_bits)
}

/// Returns the smallest number that is connected to `number`.
fn root(parents: &mut [u32], mut number: u32) -> u32 {
    while parents[number as usize] != number {
        // Halves the way for the next search.
        parents[number as usize] = parents[parents[number as usize] as usize];
        number = parents[number as usize];
    }
    number
}
