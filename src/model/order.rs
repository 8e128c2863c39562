//! From triangles and vertices in any order to an order that suits caches, for import and for levels of detail.
//!
//! Within each primitive, triangles that share vertices are put next to each other, which suits the GPU's vertex cache. As the
//! last step of geometry import, and again after levels of detail have been added, vertices are sorted by the coarsest level that
//! uses them, because each level uses a prefix. All vertices of a model without coarser levels are in one such band. Within a band
//! they stand in the order in which the triangles in full detail first use them, so that vertex fetches walk through memory; unused
//! ones come last. The entries of the palette are sorted in the same way ([`number_joints`]). No step changes the image: triangles
//! keep their corners and winding, and draw ranges keep their position.
//!
//! Source: the vertex cache optimiser of meshoptimizer.

mod remove;

use super::{CoarserLevel, Geometry, Influence, Model, PaletteLayout};

/// The effort that each index adds. For each triangle, the optimiser looks at all later triangles around its corners, so its
/// effort is the sum, over all vertices, of the squared number of their triangles. That is 36 for a vertex with six triangles.
/// But a file of a hundred kilobytes can have a million triangles around one vertex, which no order improves.
const EFFORT_PER_INDEX: u64 = 64;
/// The effort with which the ordering of a model's triangles begins, for small models with a large fan.
pub(crate) const ORDERING_EFFORT: u64 = 1 << 25;

/// Orders a list of triangles, unless that takes more than the `effort` that is left to the model.
///
/// The vertices of the list are numbered from 0 for this, because meshoptimizer's tables are as long as the vertex
/// array, and a model may have thousands of primitives.
pub(crate) fn order_triangles(indices: &mut [u32], effort: &mut u64) {
    let mut used = indices.to_vec();
    used.sort_unstable();
    let needed: u64 = used.chunk_by(|a, b| a == b).map(|same| (same.len() as u64).saturating_pow(2)).sum();
    *effort = effort.saturating_add(EFFORT_PER_INDEX * indices.len() as u64);
    let Some(left) = effort.checked_sub(needed) else { return };
    *effort = left;
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

/// Sorts the vertices by the coarsest level that uses them, and then by their first use in full detail. Sets `vertex_count`.
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
    let new_index = inverse(&order, order.len());
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
    let new_index = inverse(order, order.len());
    let renumber = |vertex: &mut u32| *vertex = new_index[*vertex as usize];
    indices.iter_mut().for_each(renumber);
    coarser_levels.iter_mut().for_each(|level| level.indices.iter_mut().for_each(renumber));
    source_primitives.iter_mut().for_each(|source| source.vertices.iter_mut().for_each(renumber));
}

/// Returns the new index of each element of an order. It is 0 for those of the `count` old elements that are left out.
fn inverse(order: &[u32], count: usize) -> Vec<u32> {
    let mut new_index = vec![0; count];
    (0..).zip(order).for_each(|(new, &old)| new_index[old as usize] = new);
    new_index
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
