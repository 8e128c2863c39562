//! Resident memory stays the same, however many frames are drawn. It includes the driver's own memory, which neither
//! Rust's allocator nor the device's counters see.
//!
//! The tests of this binary run one after the other, because the memory is that of the whole process. There is no validation,
//! because the layer allocates memory itself.
#![cfg(target_os = "linux")]

#[path = "import/builder.rs"]
#[allow(dead_code)]
mod builder;
#[path = "common/gpu.rs"]
#[allow(dead_code, reason = "the tests run without validation")]
mod gpu;
#[path = "common/scene.rs"]
mod scene;

use std::process::ExitCode;

use ash::vk;
use gpu::{TestDevice, gpu_tests, note};
use serde_json::json;
use throng::model::Model;
use throng::renderer::RendererSettings;

fn main() -> ExitCode {
    gpu::run_one_at_a_time(gpu_tests![
        twenty_thousand_frames_take_no_more_memory_than_one_thousand,
        texels_do_not_stay_in_memory_after_an_upload,
    ])
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

/// Returns a triangle with a texture of this size, of one colour, so that its file is small.
fn textured(side: u32) -> Model {
    let mut png = std::io::Cursor::new(Vec::new());
    image::RgbaImage::from_pixel(side, side, image::Rgba([90, 160, 220, 255]))
        .write_to(&mut png, image::ImageFormat::Png)
        .unwrap();
    let mut gltf = builder::Gltf::triangle();
    let view = gltf.view(png.get_ref());
    let tex_coords = gltf.f32s("VEC2", &[0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    gltf.json["images"] = json!([{"bufferView": view}]);
    gltf.json["textures"] = json!([{"source": 0}]);
    gltf.push("materials", json!({"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}));
    let primitive = &mut gltf.json["meshes"][0]["primitives"][0];
    primitive["material"] = json!(0);
    primitive["attributes"]["TEXCOORD_0"] = json!(tex_coords);
    gltf.load().unwrap()
}

/// Without the second upload, the texels of a lost device's models would have to stay in memory. They are decoded again.
fn texels_do_not_stay_in_memory_after_an_upload(device: &TestDevice) {
    const SIDE: u32 = 4096;
    const MOST_KEPT_BYTES: u64 = 32 << 20;
    let upload = |model: &Model| {
        let device = device.open(false);
        let settings = RendererSettings { samples: 1, shadow_map_size: None, ..RendererSettings::default() };
        let extent = vk::Extent2D { width: 64, height: 64 };
        drop(scene::renderer(&device, std::slice::from_ref(model), extent, settings));
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
