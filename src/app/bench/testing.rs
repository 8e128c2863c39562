//! Made-up results, for the tests of this folder.

use super::report::{Bytes, CpuInfo, CpuSummary, DeviceInfo, GpuSummary, Program, Report, Run, SCHEMA, Yardsticks};
use super::scene_settings::SceneSettings;
use super::summary::Summary;

/// Returns times close to `middle` milliseconds.
fn times(middle: f64) -> Summary {
    Summary::new((0..60).map(|step| middle * (0.95 + f64::from(step) / 600.0)).collect())
}

/// Returns a row whose times grow with the crowd.
pub(super) fn run(instances: u32, skinning: &str) -> Run {
    let count = f64::from(instances);
    let is_compute = skinning == "compute";
    Run {
        models: vec!["walker.glb".to_owned()],
        instances,
        visible: instances,
        unique_poses: instances,
        share_poses_hz: None,
        sharing_error_metres: None,
        sharing_error_share_of_size: None,
        scene: Some(SceneSettings {
            clip: "0".to_owned(),
            phase: "random".to_owned(),
            speed: 1.0,
            seed: 1,
            cull: true,
            ..SceneSettings::default()
        }),
        joints: 25.0,
        vertices: 5262.0,
        triangles: 10412.0,
        width: 1280,
        height: 720,
        msaa: 4,
        shadows: true,
        lod_error_pixels: Some(1.0),
        vertices_skinned: if is_compute { u64::from(instances) * 5262 } else { 0 },
        vertices_drawn: u64::from(instances) * 5262,
        triangles_drawn: u64::from(instances) * 10_412,
        shadow_triangles_drawn: u64::from(instances) * 10_412,
        level_shares: vec![0.25, 0.5, 0.25],
        skinning: skinning.to_owned(),
        upload: "direct".to_owned(),
        threads: 2,
        frames: 60,
        warmup: 5,
        rounds: 6,
        partial: false,
        serialize: false,
        frames_per_second: 1e3 / (12.0 + count * 0.14),
        characters_per_second: count * 1e3 / (12.0 + count * 0.14),
        fit_limit_ms: None,
        fit_bound: None,
        frame_ms: times(12.0 + count * 0.14),
        cpu_ms: CpuSummary {
            cull: times(0.002 + count * 1e-5),
            animate: times(0.01 + count * 0.002),
            record: times(0.1 + count * 1e-4),
            wait: times(11.8 + count * 0.13),
            other: times(0.001),
        },
        gpu_ms: Some(GpuSummary {
            upload: times(0.001),
            skin: times(if is_compute { count * 0.02 } else { 0.0 }),
            shadow: times(1.0 + count * 0.04),
            draw: times(10.0 + count * if is_compute { 0.07 } else { 0.1 }),
            post: times(1.0),
        }),
        bytes: Bytes {
            palette: u64::from(instances) * 1200,
            skinned_vertices: u64::from(instances) * 84_192,
            static_data: 1 << 20,
            total_device: 100 << 20,
            planned_device: Some(99 << 20),
        },
        joints_per_second: 12.5e6,
        skinned_vertices_per_second: is_compute.then_some(263e6),
        skin_bytes_per_second: is_compute.then_some(4.2e9),
        copy_bytes_per_second: 8.4e9,
        yardsticks: Yardsticks {
            copy_buffer_bytes: Some(512 << 20),
            store_bytes_per_second: Some(16e9),
            animate_ns_per_joint: Some(80.0),
            store_ns_per_joint: Some(3.0),
            animate_share_of_store: Some(0.0375),
            skin_ns_per_vertex: is_compute.then_some(3.8),
            skin_share_of_copy: is_compute.then_some(0.5),
        },
        turns: Vec::new(),
    }
}

pub(super) fn report(runs: Vec<Run>) -> Report {
    Report {
        schema: SCHEMA,
        date: "2026-11-22T16:22:00Z".to_owned(),
        partial: false,
        program: Program { version: "0.1.0".to_owned(), commit: "0123456789".to_owned() },
        device: DeviceInfo {
            name: "llvmpipe (LLVM 15.0.6, 256 bits)".to_owned(),
            kind: "cpu".to_owned(),
            driver: "llvmpipe Mesa 22.3.6".to_owned(),
            api: "1.3.230".to_owned(),
        },
        cpu: CpuInfo { name: "A processor with a name as long as they have".to_owned(), threads: 2 },
        runs,
    }
}
