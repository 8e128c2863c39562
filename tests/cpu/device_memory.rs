//! The arithmetic of device memory: the size of each part of a crowd, refusals and warnings.

use glam::Vec3;
use throng::model::{CoarserLevel, Geometry};
use throng::renderer::memory::{
    Demand, MemoryLimits, MemoryPlan, ModelDemand, format_bytes, geometry_bytes, texture_bytes,
};
use throng::renderer::{Skinning, UploadPath};

/// The size of a heap of which the driver does not report the free part.
const HEAP: (u64, Option<u64>) = (2 << 30, None);

const LIMITS: MemoryLimits =
    MemoryLimits { storage_bytes: 128 << 20, buffer_bytes: 2 << 30, allocation_bytes: 2 << 30, page_bytes: 128 << 20 };

fn refusal(demand: &Demand) -> Option<String> {
    MemoryPlan::check(demand, LIMITS, (u64::MAX, None)).err().map(|error| error.to_string())
}

/// Instances of the bundled character, which has 25 joints and 5262 vertices.
fn walkers(count: u64) -> Demand {
    let model = ModelDemand { instances: count, poses: count, joints: 25, morph_weights: 0, skinned_bytes: 5262 * 16 };
    Demand {
        models: vec![model],
        static_bytes: 1_000_000,
        skinning: Skinning::Compute,
        upload: UploadPath::Direct,
        frames_in_flight: 2,
        extent: [1280, 720],
        samples: 4,
        shadow_map_size: Some(2048),
    }
}

#[test]
fn each_part_is_the_sum_of_its_buffers() {
    let plan = MemoryPlan::new(&walkers(1000), LIMITS);
    // 1,200,000 bytes a frame and half as much again. Morph weights and pose records keep their initial size.
    assert_eq!(plan.poses, 2 * (1_800_000 + 2 * (64 << 10)));
    // 64,000 bytes fit into the initial size.
    assert_eq!(plan.instances, 2 * (64 << 10));
    assert_eq!(plan.staging, 0);
    // 84,192,000 bytes and a quarter.
    assert_eq!(plan.skinned_vertices, 2 * 105_240_000);
    let pixels = 1280 * 720;
    // The three tables, and a buffer for each of them.
    let environment = 2 * (32 * 32 * 8 + 128 * 128 * 6 * 8 + 64 * 64 * 4);
    assert_eq!(plan.images, pixels * (8 + 4 * 8 + 4 * 4 + 4 + 4) + 2048 * 2048 * 4 + environment);
    assert_eq!(plan.total(), plan.crowd() + plan.images + plan.static_data);

    let staged = MemoryPlan::new(&Demand { upload: UploadPath::Staged, ..walkers(1000) }, LIMITS);
    assert_eq!(staged.total(), plan.total() + plan.poses + plan.instances);
    let vertex = MemoryPlan::new(&Demand { skinning: Skinning::Vertex, ..walkers(1000) }, LIMITS);
    assert_eq!(vertex.total(), plan.total() - plan.skinned_vertices);
    let plain = Demand { samples: 1, shadow_map_size: None, ..walkers(1000) };
    assert_eq!(MemoryPlan::new(&plain, LIMITS).images, pixels * (8 + 4 + 4 + 4) + 4 + environment);
}

#[test]
fn shared_poses_are_counted_once() {
    let mut demand = walkers(1000);
    let all = MemoryPlan::new(&demand, LIMITS);
    demand.models[0].poses = 100;
    let shared = MemoryPlan::new(&demand, LIMITS);
    assert_eq!(shared.instances, all.instances);
    assert_eq!(shared.skinned_vertices, 2 * 10_524_000);
    assert!(shared.poses < all.poses / 5);
}

#[test]
fn all_pages_but_the_last_are_full_size() {
    let paged = |poses: &[(u64, u64)]| {
        let model =
            |&(poses, skinned_bytes): &(u64, u64)| ModelDemand { poses, skinned_bytes, ..ModelDemand::default() };
        let demand = Demand { models: poses.iter().map(model).collect(), frames_in_flight: 1, ..walkers(0) };
        MemoryPlan::new(&demand, MemoryLimits { page_bytes: 1000, ..LIMITS }).skinned_vertices
    };
    assert_eq!(paged(&[]), 0);
    assert_eq!(paged(&[(0, 100), (4, 100), (7, 0)]), 500);
    assert_eq!(paged(&[(9, 100)]), 1000);
    assert_eq!(paged(&[(24, 100)]), 2500);
    // One pose per page leaves 400 bytes unused. Small poses still fit into the last page.
    assert_eq!(paged(&[(3, 600)]), 2000 + 750);
    assert_eq!(paged(&[(3, 600), (1, 100)]), 2000 + 875);
    assert_eq!(paged(&[(3, 600), (5, 100)]), 3000 + 125);
    assert_eq!(paged(&[(2, 5000)]), 2000);
    assert_eq!(paged(&[(u64::MAX, 1000)]), u64::MAX);
}

#[test]
fn a_crowd_beyond_a_limit_is_refused_with_figures_and_advice() {
    // 128 MiB hold 111,848 palettes of 1,200 bytes.
    assert_eq!(refusal(&walkers(111_848)), None);
    assert_eq!(
        refusal(&walkers(111_849)).unwrap(),
        "the palette of 111849 visible instances takes 128.0 MiB, but the device's maxStorageBufferRange is 128.0 MiB; \
         at most 111848 visible --instances fit, or more with --share-poses HZ"
    );
    let mut shared = walkers(40_000_000);
    shared.models[0].poses = 1;
    assert!(refusal(&shared).unwrap().starts_with("the instance data of 40000000 visible instances takes 2.4 GiB"));
    let large = Demand { extent: [16_384, 16_384], ..walkers(1) };
    let message = refusal(&large).unwrap();
    assert!(message.starts_with("the colour image takes 8.0 GiB") && message.contains("--msaa 1"), "{message}");
    // Exactly at the limit.
    assert_eq!(refusal(&Demand { samples: 1, ..large }), None);
}

#[test]
fn no_number_overflows() {
    let max = ModelDemand {
        instances: u64::MAX,
        poses: u64::MAX,
        joints: u64::MAX,
        morph_weights: u64::MAX,
        skinned_bytes: u64::MAX,
    };
    let demand = Demand { models: vec![max; 3], extent: [u64::MAX; 2], ..walkers(1) };
    let plan = MemoryPlan::new(&demand, LIMITS);
    assert_eq!(plan.total(), u64::MAX);
    assert!(refusal(&demand).is_some());
}

#[test]
fn a_warning_has_figures_and_advice() {
    let check = |demand: &Demand, heap| MemoryPlan::check(demand, LIMITS, heap).map(|(_, warning)| warning);
    // 80 % of the heap count as available if the driver does not report how much is free.
    assert_eq!(check(&walkers(9_000), HEAP), Ok(None));
    assert!(check(&walkers(10_000), HEAP).unwrap().is_some());
    assert_eq!(check(&walkers(10_000), (2 << 30, Some(2 << 30))), Ok(None));
    assert!(check(&walkers(15_000), HEAP).unwrap().unwrap().contains("--share-poses"));
    // More than one and a half times the heap is an error.
    assert_eq!(
        check(&walkers(20_000), HEAP).unwrap_err().to_string(),
        "the crowd needs about 3.3 GiB of device memory (skinned vertices in full detail 3.2 GiB, joint matrices \
         69.7 MiB, images 73.8 MiB), but only 1.6 GiB are available; --skinning vertex takes 3.2 GiB less, \
         --share-poses HZ takes less, about 9418 visible --instances fit"
    );
    let vertex = Demand { skinning: Skinning::Vertex, ..walkers(50_000) };
    let vertex = check(&vertex, (2 << 30, Some(100 << 20))).unwrap().unwrap();
    assert!(vertex.contains("only 100.0 MiB are free; --share-poses HZ takes less, about"), "{vertex}");
    let large = check(&Demand { extent: [8000, 8000], ..walkers(1) }, HEAP).unwrap_err().to_string();
    assert!(large.ends_with("1.6 GiB are available; --msaa 1 or a smaller --size takes less"), "{large}");
}

#[test]
fn textures_have_all_mip_levels() {
    assert_eq!(texture_bytes(1, 1), 4);
    assert_eq!(texture_bytes(4, 2), 4 * (8 + 2 + 1));
    assert_eq!(texture_bytes(256, 256), 4 * 87_381);
}

#[test]
fn bytes_are_formatted_in_the_largest_unit() {
    let texts = [1, 1023, 1024, 3 << 19, 5 << 30].map(format_bytes);
    assert_eq!(texts, ["1 byte", "1023 bytes", "1.0 KiB", "1.5 MiB", "5.0 GiB"]);
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
