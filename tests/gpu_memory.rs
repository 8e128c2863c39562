//! Resident memory stays the same, however many frames are drawn. It includes the driver's own memory, which neither
//! Rust's allocator nor the device's counters see.
//!
//! This test binary has a single test, which runs on one device at a time, because the memory is that of the whole process. There is no validation, because
//! the layer allocates memory itself.
#![cfg(target_os = "linux")]

#[path = "common/gpu.rs"]
#[allow(dead_code, reason = "the test runs without validation")]
mod gpu;
#[path = "common/scene.rs"]
mod scene;

use std::process::ExitCode;

use ash::vk;
use gpu::{TestDevice, gpu_tests, note};
use throng::renderer::RendererSettings;

fn main() -> ExitCode {
    gpu::run_one_at_a_time(gpu_tests![twenty_thousand_frames_take_no_more_memory_than_one_thousand])
}

const FIRST_FRAMES: u32 = 1_000;
const FRAMES: u32 = 20_000;
const MOST_GROWTH_BYTES: u64 = 1 << 20;

/// Returns the resident memory of this process: the second number of `/proc/self/statm`, in pages.
fn resident_bytes() -> u64 {
    // SAFETY: no preconditions.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * page_bytes as u64
}

fn twenty_thousand_frames_take_no_more_memory_than_one_thousand(device: &TestDevice) {
    let device = device.open(false);
    let models = [scene::asset("assets/simple_strip.gltf")];
    let settings = RendererSettings { samples: 1, shadow_map_size: None, ..RendererSettings::default() };
    let extent = vk::Extent2D { width: 64, height: 64 };
    let mut renderer = scene::renderer(&device, &models, extent, settings);
    let mut scene = scene::scene(&models, "--size 64x64 --instances 1 --threads 1");
    let mut draw = |frames: std::ops::Range<u32>| {
        for frame in frames {
            scene.draw(&mut renderer, f64::from(frame) / 60.0, 1.0, false).unwrap();
        }
        renderer.wait().unwrap();
        resident_bytes()
    };
    let first = draw(0..FIRST_FRAMES);
    let last = draw(FIRST_FRAMES..FRAMES);
    note!("{first} bytes after {FIRST_FRAMES} frames, {last} after {FRAMES}");
    assert!(last <= first + MOST_GROWTH_BYTES, "{first} bytes after {FIRST_FRAMES} frames, {last} after {FRAMES}");
}
