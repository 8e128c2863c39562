//! The edges of triangles, numbered.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_of_a_material_share_the_numbers_of_edges() {
        let triangles = [[[0, 1, 2], [2, 1, 3]].as_slice(), &[[2, 3, 0], [3, 3, 0]]];
        let edges = Edges::new((0..).zip(triangles), 4);
        assert_eq!(edges.len(), 5 + 4);
        let number = |material, side| edges.index(material, side);
        // From vertices 0, 1, 2 and 3, first those of material 0.
        let all =
            [(0, [0, 1]), (0, [0, 2]), (1, [0, 2]), (1, [0, 3]), (0, [1, 2]), (0, [1, 3]), (0, [2, 3]), (1, [2, 3])];
        assert_eq!(all.map(|(material, side)| number(material, side)), [0, 1, 2, 3, 4, 5, 6, 7].map(Some));
        assert_eq!(number(1, [3, 3]), Some(8), "of a triangle without area");
        assert_eq!((number(1, [0, 1]), number(0, [0, 3]), number(2, [0, 1])), (None, None, None));
    }
}
