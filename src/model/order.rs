//! From triangles and vertices in any order to an order that suits caches, for import and for levels of detail.
//!
//! Within each primitive, triangles that share vertices are put next to each other, which suits the GPU's vertex cache.
//! As the last step of geometry import, and again after levels of detail
//! have been added, vertices are sorted by the coarsest level that uses them, because each level uses a prefix. All
//! vertices of a model without coarser levels are in one such band. Within a band they stand in the order in which the
//! triangles in full detail first use them, so that vertex fetches walk through memory; unused ones come last. The entries of
//! the palette are sorted in the same way ([`number_joints`]). No step changes the image: triangles keep their corners and
//! winding, and draw ranges keep their position.
//!
//! Source: the vertex cache optimiser of meshoptimizer.

use super::{CoarserLevel, Geometry, Influence, Model, PaletteLayout};

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

/// Sorts the vertices by the coarsest level that uses them, and then by their first use in full detail. Sets the number of
/// vertices of each level.
pub(crate) fn number_by_use(geometry: &mut Geometry) {
    let vertex_count = geometry.vertex_count();
    let full = geometry.coarser_levels.len();
    // Counted from the coarsest level, 0, to full detail.
    let mut band_of = vec![full; vertex_count];
    for (finer, level) in geometry.coarser_levels.iter().enumerate() {
        level.indices.iter().for_each(|&vertex| band_of[vertex as usize] = full - 1 - finer);
    }
    let mut is_listed = vec![false; vertex_count];
    let by_use = geometry.indices.iter().copied().chain(0..vertex_count as u32);
    let mut order: Vec<u32> =
        by_use.filter(|&vertex| !std::mem::replace(&mut is_listed[vertex as usize], true)).collect();
    // The sort is stable, so the vertices of a band stay in the order of their use.
    order.sort_by_key(|&vertex| band_of[vertex as usize]);
    for (finer, level) in geometry.coarser_levels.iter_mut().enumerate() {
        level.vertex_count = order.partition_point(|&vertex| band_of[vertex as usize] <= full - 1 - finer) as u32;
    }
    apply(geometry, &order);
}

/// Sorts the palette by the coarsest level that needs an entry. `stand_ins` has, for each coarser level, the entry that its
/// vertices follow instead of each entry. Sets the number of joints and the influences of each level.
pub(crate) fn number_joints(model: &mut Model, stand_ins: &[Vec<u32>]) {
    let Model { geometry, palette, bones, .. } = model;
    let full = stand_ins.len();
    // Counted from the coarsest level, 0, to full detail.
    let mut band_of = vec![full; palette.len()];
    let end_of = |level: &CoarserLevel| geometry.influence_starts[level.vertex_count as usize] as usize;
    for (finer, (level, stand_ins)) in geometry.coarser_levels.iter().zip(stand_ins).enumerate() {
        let joints = geometry.influences[..end_of(level)].iter().map(|influence| influence.joint as usize);
        joints.for_each(|joint| band_of[stand_ins[joint] as usize] = full - 1 - finer);
    }
    let mut order: Vec<u32> = (0..palette.len() as u32).collect();
    // The sort is stable, so joints of a band stay in their order.
    order.sort_by_key(|&entry| band_of[entry as usize]);
    let mut new_index = vec![0; order.len()];
    (0..).zip(&order).for_each(|(new, &old)| new_index[old as usize] = new);
    for (finer, (level, stand_ins)) in geometry.coarser_levels.iter_mut().zip(stand_ins).enumerate() {
        level.joint_count = order.partition_point(|&entry| band_of[entry as usize] <= full - 1 - finer) as u32;
        let vertices = 0..level.vertex_count as usize;
        let starts = &geometry.influence_starts;
        let own = |vertex: usize| &geometry.influences[starts[vertex] as usize..starts[vertex + 1] as usize];
        if vertices.clone().flat_map(own).all(|influence| stand_ins[influence.joint as usize] == influence.joint) {
            continue;
        }
        level.influence_starts.push(0);
        for vertex in vertices {
            let first = level.influences.len();
            for &Influence { joint, weight } in own(vertex) {
                let joint = new_index[stand_ins[joint as usize] as usize];
                match level.influences[first..].iter_mut().find(|other| other.joint == joint) {
                    Some(other) => other.weight += weight,
                    None => level.influences.push(Influence { joint, weight }),
                }
            }
            level.influences[first..].sort_by(|a, b| b.weight.total_cmp(&a.weight));
            level.influence_starts.push(level.influences.len() as u32);
        }
    }
    let PaletteLayout { nodes, joint_from_mesh, is_joint } = palette;
    reorder(nodes, &order);
    reorder(joint_from_mesh, &order);
    reorder(is_joint, &order);
    let renumber = |entry: &mut u32| *entry = new_index[*entry as usize];
    geometry.influences.iter_mut().for_each(|influence| renumber(&mut influence.joint));
    for bone in bones {
        renumber(&mut bone.base);
        renumber(&mut bone.tip);
    }
}

/// Moves vertex `order[k]` to index `k` in every array that has vertices, and adapts the arrays that refer to them.
fn apply(geometry: &mut Geometry, order: &[u32]) {
    // A new array does not compile until it is listed here.
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
        indices,
        draw_ranges: _,
        source_primitives,
        coarser_levels,
        with_dual_quaternions: _,
    } = geometry;
    reorder(positions, order);
    reorder(normals, order);
    reorder(tangents, order);
    reorder(tex_coords, order);
    reorder(colors, order);
    reorder_lists(influence_starts, influences, order);
    reorder_lists(morph_delta_starts, morph_deltas, order);
    let mut new_index = vec![UNNUMBERED; order.len()];
    for (new, &old) in order.iter().enumerate() {
        new_index[old as usize] = new as u32;
    }
    let renumber = |vertex: &mut u32| *vertex = new_index[*vertex as usize];
    indices.iter_mut().for_each(renumber);
    coarser_levels.iter_mut().for_each(|level| level.indices.iter_mut().for_each(renumber));
    source_primitives.iter_mut().for_each(|source| source.vertices.iter_mut().for_each(renumber));
}

fn reorder<T: Copy>(array: &mut Vec<T>, order: &[u32]) {
    // Tangents are empty if no draw range needs them.
    if !array.is_empty() {
        *array = order.iter().map(|&vertex| array[vertex as usize]).collect();
    }
}

/// Reorders lists of any length: that of vertex `v` is `values[starts[v]..starts[v + 1]]`.
fn reorder_lists<T: Copy>(starts: &mut Vec<u32>, values: &mut Vec<T>, order: &[u32]) {
    let (old_starts, old_values) = (std::mem::take(starts), std::mem::take(values));
    starts.push(0);
    for &vertex in order {
        let vertex = vertex as usize;
        values.extend_from_slice(&old_values[old_starts[vertex] as usize..old_starts[vertex + 1] as usize]);
        starts.push(values.len() as u32);
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::model::{DrawRange, Influence, MorphDelta, SourcePrimitive, Topology};

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
            has_tangents: true,
            ..DrawRange::default()
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
    fn reordering_keeps_triangles_and_vertices_and_reduces_cache_misses() {
        let before = shuffled_grid();
        let mut after = before.clone();
        reorder(&mut after);

        assert_eq!(after.draw_ranges, before.draw_ranges);
        for range in &before.draw_ranges[..2] {
            assert_eq!(triangles(&after, range), triangles(&before, range));
        }
        // No order needs less than half a vertex for each triangle. The original order, which jumps, needs two.
        assert!(acmr(&before) >= 2.0 && acmr(&after) < 0.8, "{} and {}", acmr(&before), acmr(&after));
        // Vertices are numbered in the order of their first use, and the unused one comes last.
        let mut next = 0;
        for &index in &after.indices {
            assert!(index <= next, "{index} before {next}");
            next = next.max(index + 1);
        }
        assert_eq!(next as usize, after.vertex_count() - 1);
        let lines: Vec<f32> =
            after.indices[after.indices.len() - 4..].iter().map(|&i| after.positions[i as usize].x).collect();
        assert_eq!(lines, [5.0, 3.0, 9.0, 5.0]);
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
}
