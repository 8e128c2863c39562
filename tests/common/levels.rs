//! Hand-made levels of detail, for tests that need no good ones: each has half of the vertices of the one before, and the
//! triangles, lines and points among them.

use throng::model::{CoarserLevel, Model};

/// Gives a model a level for each error.
pub fn give_levels(model: &mut Model, errors: &[f32]) {
    let geometry = &mut model.geometry;
    for &error in errors {
        let finer = geometry.coarser_levels.last().map_or(geometry.positions.len() as u32, |level| level.vertex_count);
        let vertex_count = finer.div_ceil(2);
        let mut level = CoarserLevel { vertex_count, error, ..CoarserLevel::default() };
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
}
