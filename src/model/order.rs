//! From triangles and vertices in any order to an order that suits caches, for import and for levels of detail.
//!
//! Within each primitive, triangles that share vertices are put next to each other, which suits the GPU's vertex cache.
//! Copies of a mesh have the order of the original. As the last step of geometry import, and again after levels of detail
//! have been added, vertices are sorted by the coarsest level that uses them, because each level uses a prefix. All
//! vertices of a model without coarser levels are in one such band. Within a band they are sorted by their number of
//! influences, so that the skinning shader finds runs of equal numbers. Within a run they stand in the order in which the
//! draw ranges first use them, so that vertex fetches walk through memory; unused ones come last. Neither step changes the
//! image: triangles keep their corners and winding, and draw ranges keep their position.
//!
//! Source: the vertex cache optimiser of meshoptimizer.

use super::Geometry;
use super::arrays::for_each_array;

/// The number of a vertex that has no new number yet.
const UNNUMBERED: u32 = u32::MAX;

/// The effort that each index adds. For each triangle, the optimiser looks at all later triangles around its corners,
/// so its effort is the sum, over all vertices, of the squared number of their triangles. That is 36 for a vertex with
/// six triangles. But a file of a hundred kilobytes can have a million triangles around one vertex, which no order
/// improves.
const EFFORT_PER_INDEX: u64 = 64;
/// The effort that every model may take, for small models with a large fan.
const EFFORT_FLOOR: u64 = 1 << 25;

/// The effort that ordering the triangles of a model may still take.
pub(crate) struct OrderingEffort {
    left: u64,
}

impl OrderingEffort {
    pub fn new() -> Self {
        Self { left: EFFORT_FLOOR }
    }
}

/// Orders a list of triangles, unless that takes more effort than is left.
///
/// The vertices of the list are numbered from 0 for this, because meshoptimizer's tables are as long as the vertex
/// array, and a model may have thousands of primitives.
pub(crate) fn order_triangles(indices: &mut [u32], effort: &mut OrderingEffort) {
    let mut used = indices.to_vec();
    used.sort_unstable();
    let needed: u64 =
        used.chunk_by(|a, b| a == b).map(|same| (same.len() as u64).saturating_mul(same.len() as u64)).sum();
    effort.left = effort.left.saturating_add(EFFORT_PER_INDEX * indices.len() as u64);
    let Some(left) = effort.left.checked_sub(needed) else { return };
    effort.left = left;
    used.dedup();
    for index in indices.iter_mut() {
        let vertex = *index;
        *index = used.partition_point(|&other| other < vertex) as u32;
    }
    meshopt::optimize_vertex_cache_in_place(indices, used.len());
    for index in indices {
        // meshoptimizer only permutes the indices, all of which are in range.
        *index = used.get(*index as usize).copied().unwrap_or_default();
    }
}

/// Sorts the vertices by the coarsest level that uses them, then by their number of influences, and then by their first
/// use. Sets the number of vertices of each level.
///
/// The numbers of influences ascend in full detail and in every second level before it. In the others they descend. So the
/// vertices on both sides of a border have about as many, and fewer work groups of `skin.comp` have different ones.
pub(crate) fn number_by_use(geometry: &mut Geometry) {
    let vertex_count = geometry.vertex_count();
    let mut is_listed = vec![false; vertex_count];
    let mut order = Vec::with_capacity(vertex_count);
    let mut add_band = |level: usize, indices: &mut dyn Iterator<Item = u32>, order: &mut Vec<u32>| {
        let first = order.len();
        order.extend(indices.filter(|&vertex| {
            is_listed.get_mut(vertex as usize).is_some_and(|listed| !std::mem::replace(listed, true))
        }));
        // The sort is stable, so vertices with equally many influences stay in the order of their use.
        let count = |vertex: u32| geometry.influences_of(vertex as usize).len() as isize;
        order[first..].sort_by_key(|&vertex| if level.is_multiple_of(2) { count(vertex) } else { -count(vertex) });
        order.len() as u32
    };
    let coarsest_first = geometry.coarser_levels.iter().enumerate().rev();
    let mut vertex_counts: Vec<u32> = coarsest_first
        .map(|(index, level)| add_band(index + 1, &mut level.indices.iter().copied(), &mut order))
        .collect();
    add_band(0, &mut geometry.indices.iter().copied().chain(0..vertex_count as u32), &mut order);
    for level in &mut geometry.coarser_levels {
        level.vertex_count = vertex_counts.pop().unwrap_or_default();
    }
    apply(geometry, &order);
}

/// Moves vertex `order[k]` to index `k` in every array that has vertices, and adapts the arrays that refer to them.
fn apply(geometry: &mut Geometry, order: &[u32]) {
    let mut new_index = vec![UNNUMBERED; order.len()];
    for (new, &old) in order.iter().enumerate() {
        new_index[old as usize] = new as u32;
    }
    for_each_array(geometry, |array| array.reorder(order));
    let renumber = |vertex: &mut u32| *vertex = new_index[*vertex as usize];
    geometry.indices.iter_mut().for_each(renumber);
    geometry.coarser_levels.iter_mut().for_each(|level| level.indices.iter_mut().for_each(renumber));
    geometry.source_primitives.iter_mut().for_each(|source| source.vertices.iter_mut().for_each(renumber));
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::model::{CoarserLevel, DrawRange, Influence, MorphDelta, SourcePrimitive, Topology};

    const CACHE_SIZE: u32 = 16;
    const SIDE: u32 = 40;

    /// Does the same as import, but for whole draw ranges.
    fn reorder(geometry: &mut Geometry) {
        let mut effort = OrderingEffort::new();
        for range in geometry.draw_ranges.iter().filter(|range| range.topology == Topology::Triangles) {
            let span = range.first_index as usize..(range.first_index + range.index_count) as usize;
            order_triangles(&mut geometry.indices[span], &mut effort);
        }
        number_by_use(geometry);
    }

    fn acmr(geometry: &Geometry) -> f32 {
        let triangles = &geometry.indices[..6 * (SIDE * SIDE) as usize];
        meshopt::analyze_vertex_cache(triangles, geometry.vertex_count(), CACHE_SIZE, 0, 0).acmr
    }

    /// Returns a grid of quads in two halves, each a draw range, with an order of triangles that defeats every cache.
    /// Every third vertex has two influences, every fourth a morph delta. There are two lines, and an unused last
    /// vertex.
    fn shuffled_grid() -> Geometry {
        let across = SIDE + 1;
        let vertex_count = across * across + 1;
        let cell = |cell: u32| {
            let first = cell / SIDE * across + cell % SIDE;
            [first, first + 1, first + across, first + 1, first + across + 1, first + across]
        };
        let half = SIDE * SIDE / 2;
        // 307 and the number of cells have no common divisor, so each cell appears once.
        let order = |start: u32| (0..half).map(move |k| start + k * 307 % half);
        let mut indices: Vec<u32> = order(0).chain(order(half)).flat_map(cell).collect();
        let lines_at = indices.len() as u32;
        indices.extend([5, 3, 9, 5]);
        let range = |topology, first_index, index_count| DrawRange {
            topology,
            first_index,
            index_count,
            material: 0,
            flat_shaded: false,
            has_tangents: true,
            mirrored: false,
        };
        let vertices = || 0..vertex_count;
        let number = |vertex: u32| Vec3::splat(vertex as f32);
        let mut grid = Geometry {
            positions: vertices().map(number).collect(),
            normals: vertices().map(|vertex| -number(vertex)).collect(),
            tangents: vertices().map(|vertex| number(vertex).extend(1.0)).collect(),
            tex_coords: vertices().map(|vertex| [number(vertex).truncate(); 2]).collect(),
            colors: vertices().map(u32::to_ne_bytes).collect(),
            influence_starts: vec![0],
            morph_delta_starts: vec![0],
            indices,
            draw_ranges: vec![
                range(Topology::Triangles, 0, half * 6),
                range(Topology::Triangles, half * 6, half * 6),
                range(Topology::Lines, lines_at, 4),
            ],
            source_primitives: vec![SourcePrimitive { vertices: vertices().collect(), ..SourcePrimitive::default() }],
            ..Geometry::default()
        };
        for vertex in vertices() {
            let influences = if vertex % 3 == 0 { 2 } else { 1 };
            grid.influences.extend((0..influences).map(|k| Influence { joint: vertex + k, weight: 0.5 }));
            grid.influence_starts.push(grid.influences.len() as u32);
            if vertex % 4 == 0 {
                grid.morph_deltas.push(MorphDelta {
                    weight_index: vertex,
                    position: number(vertex),
                    normal: Vec3::ZERO,
                    tangent: Vec3::ZERO,
                });
            }
            grid.morph_delta_starts.push(grid.morph_deltas.len() as u32);
        }
        grid
    }

    /// Returns the sorted triangles of a draw range, in terms of the original vertex numbers, which the positions hold.
    /// Each triangle starts with its smallest number, which keeps the winding.
    fn triangles(geometry: &Geometry, range: &DrawRange) -> Vec<[u32; 3]> {
        let span = range.first_index as usize..(range.first_index + range.index_count) as usize;
        let corners: Vec<u32> =
            geometry.indices[span].iter().map(|&index| geometry.positions[index as usize].x as u32).collect();
        let turned = |&[a, b, c]: &[u32; 3]| [[a, b, c], [b, c, a], [c, a, b]].into_iter().min().unwrap();
        let mut triangles: Vec<[u32; 3]> = corners.as_chunks::<3>().0.iter().map(turned).collect();
        triangles.sort_unstable();
        triangles
    }

    #[test]
    fn reordering_keeps_the_triangles_and_reduces_cache_misses() {
        let before = shuffled_grid();
        let mut after = before.clone();
        reorder(&mut after);

        assert_eq!(after.draw_ranges, before.draw_ranges);
        for range in &before.draw_ranges[..2] {
            assert_eq!(triangles(&after, range), triangles(&before, range));
        }
        // No order needs less than half a vertex for each triangle. The original order, which jumps, needs two.
        assert!(acmr(&before) >= 2.0 && acmr(&after) < 0.8, "{} and {}", acmr(&before), acmr(&after));
        // Vertices with one influence come before those with two. Within each run, the numbers of first uses increase.
        let influence_counts: Vec<usize> = (0..after.vertex_count()).map(|v| after.influences_of(v).len()).collect();
        assert!(influence_counts.is_sorted());
        let first_of_two = influence_counts.partition_point(|&count| count == 1);
        let mut next = [0, first_of_two];
        for &index in &after.indices {
            let next = &mut next[usize::from(index as usize >= first_of_two)];
            assert!(index as usize <= *next, "{index} before {next}");
            *next = (*next).max(index as usize + 1);
        }
        let ends = [first_of_two, after.vertex_count()];
        let unused = ends[0] + ends[1] - next[0] - next[1];
        assert!(unused == 1 && (next[0] < ends[0] || next[1] < ends[1]), "unused vertices come last: {next:?}");
        let lines: Vec<f32> =
            after.indices[after.indices.len() - 4..].iter().map(|&i| after.positions[i as usize].x).collect();
        assert_eq!(lines, [5.0, 3.0, 9.0, 5.0]);
    }

    #[test]
    fn levels_use_prefixes_whose_borders_join_equal_numbers_of_influences() {
        let mut grid = shuffled_grid();
        grid.coarser_levels = [900, 90]
            .map(|count| CoarserLevel { indices: grid.indices[..count].to_vec(), ..CoarserLevel::default() })
            .into();
        number_by_use(&mut grid);
        let [one, two] = [0, 1].map(|level| grid.coarser_levels[level].vertex_count as usize);
        assert!(0 < two && two < one && one < grid.vertex_count(), "{two}, {one}");
        for (level, vertex_count) in grid.coarser_levels.iter().zip([one, two]) {
            let mut used: Vec<usize> = level.indices.iter().map(|&vertex| vertex as usize).collect();
            used.sort_unstable();
            used.dedup();
            assert_eq!(used, (0..vertex_count).collect::<Vec<_>>());
        }
        let counts = |vertices: std::ops::Range<usize>| -> Vec<usize> {
            vertices.map(|vertex| grid.influences_of(vertex).len()).collect()
        };
        assert!(counts(0..two).is_sorted() && counts(one..grid.vertex_count()).is_sorted());
        assert!(counts(two..one).is_sorted_by(|a, b| a >= b));
    }

    #[test]
    fn every_array_follows_its_vertex() {
        let before = shuffled_grid();
        let mut after = before.clone();
        reorder(&mut after);
        assert_eq!(after.vertex_count(), before.vertex_count());
        for (old, &new) in after.source_primitives[0].vertices.iter().enumerate() {
            let new = new as usize;
            assert_eq!(after.positions[new], before.positions[old]);
            assert_eq!(after.normals[new], before.normals[old]);
            assert_eq!(after.tangents[new], before.tangents[old]);
            assert_eq!(after.tex_coords[new], before.tex_coords[old]);
            assert_eq!(after.colors[new], before.colors[old]);
            assert_eq!(after.influences_of(new), before.influences_of(old));
            assert_eq!(after.morph_deltas_of(new), before.morph_deltas_of(old));
        }
    }

    #[test]
    fn numbering_vertices_keeps_the_order_of_triangles() {
        let before = shuffled_grid();
        let mut after = before.clone();
        number_by_use(&mut after);
        let drawn = |geometry: &Geometry| -> Vec<Vec3> {
            geometry.indices.iter().map(|&index| geometry.positions[index as usize]).collect()
        };
        assert_eq!(drawn(&after), drawn(&before));
        assert_ne!(after.indices, before.indices, "vertices have new numbers");
    }

    #[test]
    fn vertices_of_coarser_levels_come_first() {
        let mut grid = shuffled_grid();
        let level = |indices: &[u32]| CoarserLevel { indices: indices.to_vec(), ..CoarserLevel::default() };
        // Vertices 3 and 9 have two influences, the others have one.
        grid.coarser_levels = vec![level(&[9, 7, 8, 9, 3, 7]), level(&[9, 3, 7])];
        let before = grid.clone();
        number_by_use(&mut grid);
        let counts: Vec<u32> = grid.coarser_levels.iter().map(|level| level.vertex_count).collect();
        assert_eq!(counts, [4, 3]);
        assert_eq!(grid.coarser_levels[1].indices, [1, 2, 0]);
        assert_eq!(grid.coarser_levels[0].indices, [1, 0, 3, 1, 2, 0]);
        assert_eq!(grid.positions[0], before.positions[7]);
        assert_eq!(grid.positions[3], before.positions[8]);
    }

    #[test]
    fn triangles_that_all_meet_in_one_vertex_keep_their_order() {
        let mut fan: Vec<u32> = (1..10_000).flat_map(|rim| [0, rim, rim + 1]).collect();
        let before = fan.clone();
        let mut effort = OrderingEffort::new();
        order_triangles(&mut fan, &mut effort);
        let left = EFFORT_FLOOR + EFFORT_PER_INDEX * fan.len() as u64;
        assert_eq!((&fan, effort.left), (&before, left));
        // A fan of a thousand triangles fits the effort.
        order_triangles(&mut fan[..3000], &mut effort);
        assert_eq!(left + EFFORT_PER_INDEX * 3000 - effort.left, 1000 * 1000 + 999 * 4 + 2);
    }

    #[test]
    fn empty_geometry_can_be_reordered() {
        let mut empty = Geometry { influence_starts: vec![0], morph_delta_starts: vec![0], ..Geometry::default() };
        number_by_use(&mut empty);
        order_triangles(&mut [], &mut OrderingEffort::new());
        assert_eq!((empty.vertex_count(), empty.influence_starts.len(), empty.morph_delta_starts.len()), (0, 1, 1));
    }
}
