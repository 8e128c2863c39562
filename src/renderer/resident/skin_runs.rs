//! Runs: consecutive vertices of a model with the same number of influences, which `skin.comp` skins in one dispatch.
//!
//! In: a model's geometry. Out: a partition of its vertices. Within a run the number of influences is a constant and the
//! loop over them is unrolled. There are few constants (1, 2, 4, 8), so influences of weight zero fill up the list of a
//! vertex. Any order of vertices works. Runs are longest if vertices with equal numbers of influences are neighbours, so
//! import sorts them ([`Geometry`]), and so does each level of detail among the vertices that it adds.
//!
//! A run consists of whole work groups, each with the largest number of influences of its vertices. So a model has no more
//! work groups than one dispatch would have. A level of detail uses the first vertices of the model, so it needs the first
//! runs and a part of one more ([`SkinRun::among_first`]).
//!
//! Compared with one dispatch and a loop over each vertex's own influences, in turns (Mesa lavapipe 22.3.6 on two threads,
//! medians), runs take 0.6 to 0.7 of the time with one or two influences per vertex, 0.70 to 0.76 with four and 0.88 with
//! eight. Fox, CesiumMan, Knight, mannequiny and RiggedFigure take 0.67 to 0.76. A vertex takes about 13, 18 and 26 ns with
//! one, two and four influences. Two other ideas did not help: blocks of 2, 4 or 8 poses with the bind-pose vertex in
//! registers (1.15 to 2 times the time of the loop), and joint matrices in shared memory (no change).

use crate::model::Geometry;
use crate::shader_types::VERTICES_PER_GROUP;

/// The numbers of influences for which runs are specialised.
const COUNTS: [u32; 4] = [1, 2, 4, 8];

/// Consecutive vertices that one dispatch skins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkinRun {
    /// The first vertex.
    pub first_vertex: u32,
    /// One beyond the last vertex.
    pub end_vertex: u32,
    /// The number of influences of every vertex; `None` if they differ, with more than eight for one of them.
    pub influence_count: Option<u32>,
}

impl SkinRun {
    /// Divides the vertices of a model into runs.
    #[must_use]
    pub fn partition(geometry: &Geometry) -> Vec<Self> {
        let counts: Vec<u32> = geometry.influence_starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mut runs: Vec<Self> = Vec::new();
        for group in counts.chunks(VERTICES_PER_GROUP as usize) {
            let most = group.iter().copied().max().unwrap_or(0);
            let influence_count = COUNTS.into_iter().find(|&count| most <= count);
            let first_vertex = runs.last().map_or(0, |run| run.end_vertex);
            let end_vertex = first_vertex + group.len() as u32;
            match runs.last_mut() {
                Some(last) if last.influence_count == influence_count => last.end_vertex = end_vertex,
                _ => runs.push(Self { first_vertex, end_vertex, influence_count }),
            }
        }
        runs
    }

    /// Returns the part of the run among the first vertices of a model, or `None` if there is none.
    #[must_use]
    pub fn among_first(self, vertex_count: u32) -> Option<Self> {
        let end_vertex = self.end_vertex.min(vertex_count);
        (self.first_vertex < end_vertex).then_some(Self { end_vertex, ..self })
    }

    /// Returns the indices of the vertices.
    pub fn vertices(&self) -> std::ops::Range<usize> {
        self.first_vertex as usize..self.end_vertex as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Influence;

    fn runs(influence_counts: &[(u32, u32)]) -> Vec<(u32, u32, Option<u32>)> {
        let mut geometry = Geometry { influence_starts: vec![0], ..Geometry::default() };
        for &(vertex_count, influence_count) in influence_counts {
            for _ in 0..vertex_count {
                let influence = Influence { joint: 0, weight: 1.0 };
                geometry.influences.extend((0..influence_count).map(|_| influence));
                geometry.influence_starts.push(geometry.influences.len() as u32);
            }
        }
        let runs = SkinRun::partition(&geometry);
        runs.into_iter().map(|run| (run.first_vertex, run.end_vertex, run.influence_count)).collect()
    }

    #[test]
    fn runs_are_whole_work_groups() {
        assert_eq!(runs(&[]), []);
        assert_eq!(runs(&[(10, 1)]), [(0, 10, Some(1))]);
        assert_eq!(runs(&[(64, 1), (64, 3)]), [(0, 64, Some(1)), (64, 128, Some(4))]);
        // The fox.
        let fox = [(0, 192, Some(1)), (192, 384, Some(2)), (384, 434, Some(4))];
        assert_eq!(runs(&[(202, 1), (218, 2), (14, 4)]), fox);
        assert_eq!(runs(&[(63, 1), (64, 2), (1, 7)]), [(0, 64, Some(2)), (64, 128, Some(8))]);
        assert_eq!(runs(&[(20, 1), (20, 2), (20, 7)]), [(0, 60, Some(8))]);
        assert_eq!(runs(&[(64, 1), (1, 9)]), [(0, 64, Some(1)), (64, 65, None)]);
    }

    #[test]
    fn vertices_in_no_order_are_all_there() {
        assert_eq!(runs(&[(70, 4), (200, 1)]), [(0, 128, Some(4)), (128, 270, Some(1))]);
        let mixed = [(0, 64, Some(2)), (64, 128, Some(1)), (128, 192, None), (192, 256, Some(1))];
        assert_eq!(runs(&[(64, 2), (64, 1), (64, 9), (64, 1)]), mixed);
    }

    #[test]
    fn a_level_needs_the_part_of_each_run_among_its_vertices() {
        let run = SkinRun { first_vertex: 64, end_vertex: 192, influence_count: Some(2) };
        assert_eq!(run.among_first(500), Some(run));
        assert_eq!(run.among_first(100), Some(SkinRun { end_vertex: 100, ..run }));
        assert_eq!((run.among_first(64), run.among_first(0)), (None, None));
    }
}
