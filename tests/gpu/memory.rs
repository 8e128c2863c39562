//! Resident memory and device memory stay the same, however many frames are drawn and however often the models are loaded
//! again. Resident memory includes the driver's own memory, which neither Rust's allocator nor the device's counters see.
//!
//! Each test has its own process, because the memory is that of the whole process. There is no validation, because the layer
//! allocates memory itself. The long forms take minutes: `cargo test --test gpu memory:: -- --ignored --nocapture`.

use std::sync::Arc;

use glam::{Vec2, Vec3};
use serde_json::json;
use throng::model::Model;
use throng::renderer::{RendererSettings, Shadows};

use crate::common::builder::Gltf;
use crate::common::gpu::{Test, TestDevice, gpu_tests, in_own_processes, note};
use crate::common::scene::{self, Shown};

pub fn tests() -> Vec<Test> {
    let tests = gpu_tests![
        thousands_of_frames_take_no_memory,
        a_few_reloads_take_no_memory,
        texels_do_not_stay_in_memory_after_an_upload,
        a_hundred_thousand_frames_take_no_memory [ignored if true],
        ten_thousand_reloads_take_no_memory [ignored if true],
    ];
    in_own_processes(&[], tests)
}

/// What allocators may keep. Some reach their size late, so a larger growth is measured again: a leak is as large each time.
const MOST_GROWTH_BYTES: u64 = 1 << 19;
const TRIES: u32 = 5;
const CROWD: &str = "--size 16x16 --instances 1 --threads 1";

fn draw(shown: &mut Shown, number: u32) {
    shown.scene.draw(&mut shown.renderer, f64::from(number) / 60.0, false).unwrap();
    shown.renderer.wait().unwrap();
}

/// Loads the model as a window does when its file has changed: only the threads and the device stay. Then draws.
fn draw_reloaded(shown: &mut Shown, number: u32) {
    let models = models();
    shown.scene = shown.scene.with_models(Arc::from(&models[..]), (&scene::arguments(CROWD)).into()).unwrap();
    shown.renderer.rebuild(&models, settings()).unwrap();
    draw(shown, number);
}

fn models() -> [Model; 1] {
    [scene::asset("assets/simple_strip.gltf")]
}

fn settings() -> RendererSettings<'static> {
    RendererSettings { samples: 1, shadows: Shadows::Off, ..RendererSettings::default() }
}

/// Returns the resident memory of this process: the second number of `/proc/self/statm`, in pages. Pages that are free in
/// the C library's allocator do not count: they come and go by up to a mebibyte.
fn resident_bytes() -> u64 {
    // SAFETY: no preconditions.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
    // SAFETY: no preconditions.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * page_bytes as u64
}

/// Does a step `first` times and then up to `count` times, and asserts that the memory of the process and of the device
/// stay the same from then on. The second part is repeated, up to [`TRIES`] times, while memory grows.
fn assert_flat(what: &str, device: &TestDevice, (first, count): (u32, u32), step: fn(&mut Shown, u32)) {
    let device = device.open(false);
    let mut shown = Shown::new(&device, &models(), CROWD, settings());
    (0..first).for_each(|number| step(&mut shown, number));
    let device_bytes = device.allocated_bytes();
    let mut resident = vec![resident_bytes()];
    let is_flat = (0..TRIES).any(|_| {
        (first..count).for_each(|number| step(&mut shown, number));
        resident.push(resident_bytes());
        resident[resident.len() - 1] <= resident[resident.len() - 2] + MOST_GROWTH_BYTES
    });
    let figures = format!("bytes after {first} {what}, and after each {} more: {resident:?}", count - first);
    note!("{figures}");
    assert!(is_flat, "{figures}");
    assert_eq!(device.allocated_bytes(), device_bytes, "device memory");
}

fn thousands_of_frames_take_no_memory(device: &TestDevice) {
    assert_flat("frames", device, (1_000, 10_500), draw);
}

fn a_few_reloads_take_no_memory(device: &TestDevice) {
    assert_flat("reloads", device, (40, 90), draw_reloaded);
}

fn a_hundred_thousand_frames_take_no_memory(device: &TestDevice) {
    assert_flat("frames", device, (1_000, 101_000), draw);
}

fn ten_thousand_reloads_take_no_memory(device: &TestDevice) {
    assert_flat("reloads", device, (1_000, 10_000), draw_reloaded);
}

/// Returns a triangle with a texture of this size, of one colour, so that its file is small.
fn textured(side: u32) -> Model {
    let corners = [Vec2::ZERO, Vec2::X, Vec2::Y];
    let material = json!({"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}});
    let mut gltf = Gltf::mesh(&corners.map(|at| at.extend(0.0)), &[Vec3::Z; 3], &corners, &[0, 1, 2], material);
    gltf.texture(&image::RgbaImage::from_pixel(side, side, image::Rgba([90, 160, 220, 255])));
    gltf.load().unwrap()
}

/// Without the second upload, the texels of a lost device's models would have to stay in memory. They are decoded again.
fn texels_do_not_stay_in_memory_after_an_upload(device: &TestDevice) {
    const SIDE: u32 = 4096;
    const MOST_KEPT_BYTES: u64 = 32 << 20;
    let upload = |model: &Model| {
        let device = device.open(false);
        drop(scene::renderer(&device, std::slice::from_ref(model), [16, 16], settings()));
    };
    // The driver keeps some memory of its first device.
    upload(&textured(1));
    let before = resident_bytes();
    let model = textured(SIDE);
    let (image, texel_bytes) = (&model.images[0], u64::from(4 * SIDE * SIDE));
    assert_eq!(image.decoded_bytes() as u64, texel_bytes);
    let decoded = resident_bytes();
    assert!(decoded > before + texel_bytes, "{decoded} bytes after import, {before} before");
    for number in 1..=2 {
        upload(&model);
        let after = resident_bytes();
        note!("{before} bytes before import, {decoded} after it, {after} after upload {number}");
        assert!(after <= before + MOST_KEPT_BYTES, "{after} bytes after upload {number}, {before} before import");
    }
    assert!(image.kept_bytes() < 1 << 20);
}
