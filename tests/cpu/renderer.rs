//! What the renderer computes on the CPU: what a frame tells its shaders, which devices and queues are chosen, the order in
//! which vertices are skinned, and the sizes of textures and geometry.

use std::collections::BTreeSet;
use std::sync::Arc;

use ash::vk;
use glam::{Mat4, Vec3};
use throng::crowd::{Crowd, CrowdSettings, InstanceRange, VERTICES_PER_LINE};
use throng::model::{CoarserLevel, DrawRange, Geometry, Influence};
use throng::renderer::resident::copies::{CopiedGeometry, Copies};
use throng::renderer::resident::sizes::geometry_bytes;
use throng::renderer::resident::skin_runs::{SkinOrder, SkinRun};
use throng::renderer::resident::texture::texture_bytes;
use throng::renderer::{Pass, Shot, shot};
use throng::view::{Look, OrbitCamera};
use throng::vulkan::physical_device::{draw_families, rank};

use crate::common::assets::{STRIP, asset};

#[test]
fn the_last_pass_is_the_first_one_without_an_end() {
    let names: Vec<_> = (0..=Pass::COUNT + 1).map(|written| Pass::after_timestamps(written).name()).collect();
    assert_eq!(names, ["upload", "upload", "skin", "shadow", "draw", "post", "post"]);
}

#[test]
fn every_ray_where_the_sky_is_hidden_meets_the_ground() {
    let crowd = Crowd::new(Arc::from([asset(STRIP)]), &CrowdSettings::default()).unwrap();
    let mut edges_inside = 0;
    for pitch_degrees in [-20.0_f32, -5.0, 0.0, 2.0, 15.0, 40.0, 70.0, 90.0] {
        for distance in [0.5, 4.0, 60.0] {
            let camera = OrbitCamera { pitch_radians: pitch_degrees.to_radians(), distance, ..OrbitCamera::default() };
            let look = Look::default();
            let shot = Shot { camera, look, lod_error_pixels: 0.0, cull: true, time_seconds: 0.0, capture: false };
            let data = shot::frame_data(&crowd, &shot, 1.8, None, false);
            let (eye, hidden, reach) = (camera.position(), data.hidden_sky_height, data.ground_reach_metres);
            let direction_from_clip = Mat4::from_cols_array_2d(&data.direction_from_clip);
            edges_inside += u32::from(hidden > 0.0 && hidden < 2.0);
            for (x, share) in (-10..=10).flat_map(|x| (0..20).map(move |y| (x as f32 / 10.0, y as f32 / 20.0))) {
                let y = -1.0 + share * hidden;
                let ray = direction_from_clip.project_point3(Vec3::new(x, y, 0.5));
                let place = ray * (eye.y / -ray.y);
                let meets = ray.y < 0.0 && place.x.abs().max(place.z.abs()) <= reach;
                assert!(meets || hidden == 0.0, "pitch {pitch_degrees}, distance {distance}: {x} {y}, {hidden}");
            }
        }
    }
    assert!(edges_inside > 5, "{edges_inside}");
}

#[test]
fn processors_come_last_and_gpus_of_unknown_kind_before_them() {
    use vk::PhysicalDeviceType as Kind;
    let mut kinds = [Kind::OTHER, Kind::CPU, Kind::DISCRETE_GPU, Kind::VIRTUAL_GPU, Kind::INTEGRATED_GPU];
    kinds.sort_by_key(|&kind| std::cmp::Reverse(rank(kind)));
    assert_eq!(kinds, [Kind::DISCRETE_GPU, Kind::INTEGRATED_GPU, Kind::VIRTUAL_GPU, Kind::OTHER, Kind::CPU]);
}

#[test]
fn families_must_draw_and_compute() {
    use vk::QueueFlags as Flags;
    let both = Flags::GRAPHICS | Flags::COMPUTE;
    let flags = [Flags::TRANSFER, Flags::GRAPHICS, both, Flags::COMPUTE, both | Flags::TRANSFER];
    let families = flags.map(|queue_flags| vk::QueueFamilyProperties { queue_flags, ..Default::default() });
    assert_eq!(draw_families(&families).collect::<Vec<_>>(), [2, 4]);
}

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
    assert_eq!(runs(&[(14, 4), (100, 2), (100, 1), (118, 2), (102, 1)]), runs(&[(202, 1), (218, 2), (14, 4)]));
    // Vertices 68 to 71 are one line.
    let order = SkinOrder::new(&geometry(&[(70, 4), (200, 1)]));
    assert_eq!(order.vertices, (72..270).chain(0..72).collect::<Vec<_>>());
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

#[test]
fn textures_have_all_mip_levels() {
    assert_eq!(texture_bytes(1, 1), 4);
    assert_eq!(texture_bytes(4, 2), 4 * (8 + 2 + 1));
    assert_eq!(texture_bytes(256, 256), 4 * 87_381);
}

/// Indices take two bytes while they suffice for all vertices. The indices and the skin order of coarser levels count.
#[test]
fn static_geometry_has_all_levels() {
    let bytes = |vertices: usize, indices: usize, coarser: &[(u32, usize)]| {
        let level = |&(vertex_count, indices): &(u32, usize)| CoarserLevel {
            vertex_count,
            indices: vec![0; indices],
            ..CoarserLevel::default()
        };
        let coarser_levels = coarser.iter().map(level).collect();
        let positions = vec![Vec3::ZERO; vertices];
        geometry_bytes(&Geometry { positions, indices: vec![0; indices], coarser_levels, ..Geometry::default() })
    };
    // A bind-pose vertex, a static vertex, and its number in the skin order.
    let vertex = 32 + 20 + 4;
    assert_eq!(bytes(100, 300, &[]), 100 * vertex + 600);
    assert_eq!(bytes(100, 300, &[(50, 150), (10, 30)]), 100 * vertex + 960 + 4 * 60);
    assert_eq!(bytes(65_536, 300, &[(50, 150)]), 65_536 * vertex + 900 + 4 * 50);
    assert_eq!(bytes(65_537, 300, &[(50, 150)]), 65_537 * vertex + 1800 + 4 * 50);
}

#[test]
fn levels_of_few_vertices_have_copies() {
    let level = |vertex_count: u32| {
        let indices = vec![0, 1, vertex_count - 1];
        CoarserLevel { vertex_count, indices, ranges: std::iter::once(0..3).collect(), ..CoarserLevel::default() }
    };
    let draw_ranges = vec![DrawRange { index_count: 3, ..DrawRange::default() }];
    let (positions, coarser_levels) = (vec![Vec3::ZERO; 300], [129, 100, 16].map(level).to_vec());
    let geometry = Geometry { positions, indices: vec![0, 1, 299], draw_ranges, coarser_levels, ..Geometry::default() };
    let CopiedGeometry { indices, vertices, copies } = CopiedGeometry::new(&geometry);
    let [None, None, Some(two), Some(many)] = copies[0][..] else { panic!("{copies:?}") };
    assert_eq!([two.count(), two.first_index, many.count(), many.first_index], [2, 12, 16, 12 + 2 * 3]);
    assert_eq!(indices[..6], [0, 1, 99, 128, 129, 227]);
    assert_eq!(indices[6..12], [0, 1, 15, 16, 17, 31]);
    for (copies, indices, last) in [(two, &indices[..6], 99), (many, &indices[6..], 15)] {
        // The static vertices of copies follow the model's own.
        let source = indices.iter().map(|index| vertices[(copies.first_vertex + index) as usize - 300]);
        assert!(source.eq([0, 1, last].into_iter().cycle().take(indices.len())));
        assert_eq!(Copies::fitting(&[Some(copies)], 5, InstanceRange { first: 0, count: copies.count() - 1 }), None);
    }
}
