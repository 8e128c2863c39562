//! Hand-made levels of detail, for tests that need no good ones.

use throng::model::{CoarserLevel, Influence, Model};

/// Gives a model a level for each error. Each has a part of the vertices of the one before, `1 / divisor`, and the triangles,
/// lines and points among them. So with 1, each shows the whole surface. If the coarsest has fewer, they follow one joint each.
pub fn give_levels(model: &mut Model, divisor: u32, errors: &[f32]) {
    let joint_count = model.palette.len() as u32;
    let geometry = &mut model.geometry;
    for &error in errors {
        let finer = geometry.coarser_levels.last().map_or(geometry.positions.len() as u32, |level| level.vertex_count);
        let vertex_count = finer.div_ceil(divisor);
        let mut level = CoarserLevel { vertex_count, error, joint_count, ..CoarserLevel::default() };
        for range in &geometry.draw_ranges {
            let corners = range.topology.corner_count();
            let all = &geometry.indices[range.first_index as usize..(range.first_index + range.index_count) as usize];
            let first = level.indices.len() as u32;
            let kept = all.chunks_exact(corners).filter(|corners| corners.iter().all(|&vertex| vertex < vertex_count));
            level.indices.extend(kept.flatten());
            level.ranges.push(first..level.indices.len() as u32);
        }
        geometry.coarser_levels.push(level);
    }
    let Some(mut coarsest) = geometry.coarser_levels.pop() else { return };
    if divisor > 1 {
        let first = |vertex: u32| geometry.influences_of(vertex as usize).first().copied();
        let own = (0..coarsest.vertex_count).map(|vertex| first(vertex).map(|own| Influence { weight: 1.0, ..own }));
        coarsest.influence_starts.push(0);
        for own in own {
            coarsest.influences.extend(own);
            coarsest.influence_starts.push(coarsest.influences.len() as u32);
        }
    }
    geometry.coarser_levels.push(coarsest);
}
