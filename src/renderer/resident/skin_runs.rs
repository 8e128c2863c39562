//! The order in which `skin.comp` skins the vertices of a model: for each level of detail, runs of vertices with the same
//! number of influences.
//!
//! In: a model's geometry. Out: a [`SkinOrder`]. Each level has a list of its vertices, in runs ([`SkinRun`]), and each run
//! takes one dispatch. Within a run the number of influences is a constant and the loop over them is unrolled. There are
//! few constants (1, 2, 4, 8), so influences of weight zero fill up the list of a vertex ([`SkinOrder::pad`]).
//!
//! A run consists of whole work groups, each with the largest number of influences of its vertices. So a level has no more
//! work groups than one dispatch would have. A work group consists of whole cache lines of the transient vertex buffer
//! ([`VERTICES_PER_LINE`]). A run skins all poses before the next run starts, so a line that two runs share would go to memory
//! twice. Real models would write 1.11 to 1.71 times as many lines. The rule costs full detail 12 to 25 % more influences.
//!
//! The order of skinning is not the order of the vertices, which suits the draws: vertices of a coarse level come first, and
//! neighbours in the index buffer are neighbours in memory. One order for both, by the number of influences, would make skinning
//! and drawing slower. With a constant number of influences the compiler unrolls the loop, and a work group reads them once for
//! several poses (`POSES_PER_GROUP` of `skin_pass.rs`). `docs/measurements.md` has the figures.

use crate::animation::BindPose;
use crate::crowd::VERTICES_PER_LINE;
use crate::model::Geometry;
use crate::shader_types::{GpuInfluence, VERTICES_PER_GROUP};

/// The numbers of influences for which runs are specialised. `UnpackedVertex` of `shaders/skinning.glsl` has room for the last.
const COUNTS: [u32; 4] = [1, 2, 4, 8];

/// Vertices that one dispatch skins: a range of [`SkinOrder::vertices`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkinRun {
    pub first: u32,
    /// One beyond the last index.
    pub end: u32,
    /// The number of influences of every vertex; `None` if they differ, with more than eight for one of them.
    pub influence_count: Option<u32>,
}

/// The vertices of each level of detail in the order in which they are skinned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkinOrder {
    /// The vertices of all levels, one level after the other, finest first.
    pub vertices: Vec<u32>,
    levels: Vec<Vec<SkinRun>>,
}

impl SkinOrder {
    /// Divides the vertices of each level of a model into runs.
    pub fn new(geometry: &Geometry) -> Self {
        let mut order = Self { vertices: Vec::new(), levels: Vec::new() };
        for (vertex_count, own) in geometry.levels() {
            order.add_level(vertex_count, own.map_or(&geometry.influence_starts, |(starts, _)| starts));
        }
        order
    }

    fn add_level(&mut self, vertex_count: u32, influence_starts: &[u32]) {
        let first_of_level = self.vertices.len();
        self.vertices.extend(0..vertex_count);
        let count = |vertex: u32| influence_starts[vertex as usize + 1] - influence_starts[vertex as usize];
        let count_of_line = |vertex: u32| {
            let first = vertex - vertex % VERTICES_PER_LINE;
            (first..vertex_count.min(first + VERTICES_PER_LINE)).map(count).max()
        };
        // The sort is stable, so vertices of a run stay in the order of their numbers.
        let key = |&vertex: &u32| run_count(count_of_line(vertex).unwrap_or(0)).unwrap_or(u32::MAX);
        self.vertices[first_of_level..].sort_by_cached_key(key);
        let mut runs: Vec<SkinRun> = Vec::new();
        let mut first = first_of_level as u32;
        for group in self.vertices[first_of_level..].chunks(VERTICES_PER_GROUP as usize) {
            let influence_count = run_count(group.iter().map(|&vertex| count(vertex)).max().unwrap_or(0));
            let end = first + group.len() as u32;
            match runs.last_mut() {
                Some(last) if last.influence_count == influence_count => last.end = end,
                _ => runs.push(SkinRun { first, end, influence_count }),
            }
            first = end;
        }
        self.levels.push(runs);
    }

    /// Returns the runs of a level of detail. Levels beyond the coarsest one are equal to it.
    pub fn runs(&self, level: u32) -> &[SkinRun] {
        self.levels.get(level as usize).or(self.levels.last()).map_or(&[], |runs| runs)
    }

    pub fn all_runs(&self) -> impl Iterator<Item = &SkinRun> {
        self.levels.iter().flatten()
    }

    /// Pads the influences of each vertex to the largest number of its runs, with weights of zero. A level's own vertices have
    /// no fewer than those of full detail, because vertex shaders read the same number in all levels.
    pub fn pad(&self, bind_pose: &mut BindPose) {
        for (runs, &start) in self.levels.iter().zip(&bind_pose.level_starts) {
            for run in runs {
                for &vertex in &self.vertices[run.first as usize..run.end as usize] {
                    let in_full = if start > 0 { bind_pose.bind_vertices[vertex as usize].influence_count } else { 0 };
                    let vertex = &mut bind_pose.bind_vertices[(start + vertex) as usize];
                    let least = run.influence_count.unwrap_or(0).max(in_full);
                    vertex.influence_count = vertex.influence_count.max(least);
                }
            }
        }
        let own = std::mem::take(&mut bind_pose.influences);
        let padded = &mut bind_pose.influences;
        let mut firsts =
            bind_pose.bind_vertices.iter().map(|vertex| vertex.first_influence).skip(1).collect::<Vec<_>>();
        firsts.push(own.len() as u32);
        for (vertex, end) in bind_pose.bind_vertices.iter_mut().zip(firsts) {
            let own = &own[vertex.first_influence as usize..end as usize];
            vertex.first_influence = padded.len() as u32;
            padded.extend(own);
            // A joint that the vertex reads in any case.
            let padding = GpuInfluence { joint: own.first().map_or(0, |influence| influence.joint), weight: 0.0 };
            padded.resize((vertex.first_influence + vertex.influence_count) as usize, padding);
        }
    }
}

/// Returns the smallest constant for a number of influences, or `None` if it is too large for all of them.
pub fn run_count(influence_count: u32) -> Option<u32> {
    COUNTS.into_iter().find(|&count| influence_count <= count)
}
