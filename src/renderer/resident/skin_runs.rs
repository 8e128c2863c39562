//! Which vertices of a model `skin.comp` handles together: runs of vertices on which equally many joints pull.
//!
//! Each run has a dispatch of its own, in which the number of influences is a constant and the loop over them is
//! unrolled. Constants are few (1, 2, 4, 8), so a vertex may get influences of weight zero to fill its list up. Import
//! sorts vertices by their number of influences ([`Geometry`]); any other order would be skinned as well, only with
//! more of those.
//!
//! All runs but the last fill whole work groups: vertices beyond them go to the next run, where they take no group of
//! their own. So a model has no more work groups than it would have in one dispatch.
//!
//! Measured against one dispatch with a loop over each vertex's own influences, in turns with it (Mesa lavapipe 22.3.6 on
//! two threads, medians): 0.6 to 0.7 of the time with one or two influences for every vertex, 0.70 to 0.76 with four,
//! 0.88 with eight; 0.67 to 0.76 for Fox, CesiumMan, Knight, mannequiny and RiggedFigure. A vertex takes about 13, 18 and
//! 26 ns with one, two and four influences. What did not pay there: blocks of 2, 4 or 8 poses with the bind-pose vertex
//! kept in registers (1.15 to 2 times the time of the loop), and joint matrices staged in shared memory (no change).

use crate::model::Geometry;
use crate::renderer::passes::skin_pass::VERTICES_PER_GROUP;

/// Influences that a vertex of a run may have.
const COUNTS: [u32; 4] = [1, 2, 4, 8];

/// Consecutive vertices that one dispatch can skin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkinRun {
    /// First vertex of the model.
    pub first_vertex: u32,
    /// One beyond the last.
    pub end_vertex: u32,
    /// All of them have so many influences; `None`: each has its own number.
    pub influence_count: Option<u32>,
}

impl SkinRun {
    /// Partition of a model's vertices.
    #[must_use]
    pub fn partition(geometry: &Geometry) -> Vec<Self> {
        let counts: Vec<u32> = geometry.influence_starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mut runs = Vec::new();
        let mut first = 0;
        // With room for any number, the last of these takes all that is left.
        for most in COUNTS.map(Some).into_iter().chain([None]) {
            let left = counts.get(first..).unwrap_or(&[]);
            let fits = |&count: &u32| most.is_none_or(|most| count <= most);
            let mut taken = left.iter().position(|count| !fits(count)).unwrap_or(left.len());
            if taken < left.len() {
                taken -= taken % VERTICES_PER_GROUP as usize;
            }
            if taken > 0 {
                let end = first + taken;
                runs.push(Self { first_vertex: first as u32, end_vertex: end as u32, influence_count: most });
                first = end;
            }
        }
        runs
    }

    /// The vertices.
    pub fn vertices(&self) -> impl Iterator<Item = usize> + use<> {
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
    fn runs_fill_work_groups_and_leave_the_rest_to_the_next() {
        assert_eq!(runs(&[]), []);
        assert_eq!(runs(&[(10, 1)]), [(0, 10, Some(1))]);
        assert_eq!(runs(&[(64, 1), (64, 3)]), [(0, 64, Some(1)), (64, 128, Some(4))]);
        // The fox.
        let fox = [(0, 192, Some(1)), (192, 384, Some(2)), (384, 434, Some(4))];
        assert_eq!(runs(&[(202, 1), (218, 2), (14, 4)]), fox);
        assert_eq!(runs(&[(63, 1), (63, 2), (1, 7)]), [(0, 64, Some(2)), (64, 127, Some(8))]);
        assert_eq!(runs(&[(20, 1), (20, 2), (20, 7)]), [(0, 60, Some(8))]);
        assert_eq!(runs(&[(64, 1), (1, 9)]), [(0, 64, Some(1)), (64, 65, None)]);
    }

    #[test]
    fn vertices_in_no_order_are_all_there() {
        assert_eq!(runs(&[(70, 4), (200, 1)]), [(0, 270, Some(4))]);
        assert_eq!(runs(&[(64, 2), (64, 1), (64, 9), (64, 1)]), [(0, 128, Some(2)), (128, 256, None)]);
    }
}
