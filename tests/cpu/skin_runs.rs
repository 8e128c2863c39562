//! The order in which vertices are skinned: runs of one number of influences, which are whole work groups.

use std::collections::BTreeSet;

use glam::Vec3;
use throng::crowd::VERTICES_PER_LINE;
use throng::model::{Geometry, Influence};
use throng::renderer::resident::skin_runs::{SkinOrder, SkinRun};

/// Returns a geometry whose vertices have these numbers of influences: a number of vertices, and of influences of each.
fn geometry(influence_counts: &[(u32, u32)]) -> Geometry {
    let mut geometry = Geometry { influence_starts: vec![0], morph_delta_starts: vec![0], ..Geometry::default() };
    for &(vertex_count, influence_count) in influence_counts {
        for _ in 0..vertex_count {
            geometry.positions.push(Vec3::ZERO);
            geometry.normals.push(Vec3::Y);
            let influence = |k: u32| Influence { joint: k, weight: 1.0 / influence_count as f32 };
            geometry.influences.extend((0..influence_count).map(influence));
            geometry.influence_starts.push(geometry.influences.len() as u32);
            geometry.morph_delta_starts.push(0);
        }
    }
    geometry
}

fn runs(influence_counts: &[(u32, u32)]) -> Vec<(u32, u32, Option<u32>)> {
    let order = SkinOrder::new(&geometry(influence_counts));
    order.runs(0).iter().map(|run| (run.first, run.end, run.influence_count)).collect()
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
fn the_numbers_of_the_vertices_hardly_matter() {
    let sorted = runs(&[(202, 1), (218, 2), (14, 4)]);
    assert_eq!(runs(&[(14, 4), (100, 2), (100, 1), (118, 2), (102, 1)]), sorted);
    // Vertices 68 to 71 are one line.
    let order = SkinOrder::new(&geometry(&[(70, 4), (200, 1)]));
    let expected: Vec<u32> = (72..270).chain(0..72).collect();
    assert_eq!(order.vertices, expected);
}

#[test]
fn each_line_of_memory_is_written_by_one_run() {
    let influence_counts: Vec<_> = (0..2001).map(|k| (1, [1, 2, 4][k / 5 % 3])).collect();
    let order = SkinOrder::new(&geometry(&influence_counts));
    let runs = order.runs(0);
    assert!(runs.len() >= 3, "{runs:?}");
    let lines = |run: &SkinRun| {
        let vertices = &order.vertices[run.first as usize..run.end as usize];
        vertices.iter().map(|vertex| vertex / VERTICES_PER_LINE).collect::<BTreeSet<_>>().len()
    };
    let (touched, needed) = (runs.iter().map(lines).sum::<usize>(), 2001usize.div_ceil(VERTICES_PER_LINE as usize));
    // The last line is not full, so the groups after it do not begin at a line.
    assert!(touched < needed + runs.len(), "{touched} lines instead of {needed}");
}
