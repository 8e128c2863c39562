//! A steady frame makes nothing: no Vulkan object, no device memory, no descriptor set, and no allocation on any thread
//! of the process. Steady means that no frame shows more than the first ones did; what is visible may change all the
//! time, and does here.
//!
//! A test binary of its own with a single test, because the allocator counts what all threads do. It counts Rust's
//! allocations; what the driver takes from `malloc` is the driver's business. The validation layer runs in the first
//! part, where objects are counted and its messages fail the test as everywhere; in the second part it is off.

#[path = "common/allocations.rs"]
mod allocations;
#[path = "common/gpu.rs"]
mod gpu;
#[path = "common/scene.rs"]
mod scene;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use allocations::{ALLOCATIONS, CountingAllocator};
use ash::vk;
use gpu::Gpu;
use throng::app::scene::Scene;
use throng::model::Model;
use throng::renderer::{FrameOutcome, Renderer, RendererSettings, Skinning, UploadPath};
use throng::vulkan::device::Device;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const EXTENT: vk::Extent2D = vk::Extent2D { width: 64, height: 36 };
const ASPECT: f32 = 64.0 / 36.0;
const INSTANCES: u32 = 200;
const STEADY_FRAMES: u32 = 100;
const FRAMES_IN_FLIGHT: usize = 2;

/// One model in forty is the walker: vertices enough to count, few enough for a debug build to draw 900 frames of them.
fn models() -> Vec<Model> {
    let mut models = vec![scene::asset("assets/simple_strip.gltf"); 39];
    models.insert(4, scene::asset("assets/walker.glb"));
    models
}

/// Draws a frame from a camera that goes round the crowd and in and out of it; returns how many instances it saw.
fn draw_moving(scene: &mut Scene, renderer: &mut Renderer, frame: u32) -> u32 {
    scene.camera.orbit(0.1, 0.0);
    scene.camera.zoom(if frame % 40 < 20 { 0.9 } else { 1.0 / 0.9 });
    draw(scene, renderer, frame);
    scene.crowd.visible_counts().iter().sum()
}

fn draw(scene: &mut Scene, renderer: &mut Renderer, frame: u32) {
    // Now and then a frame is captured: the copy must not cost an allocation either.
    let (outcome, _) = scene.draw(renderer, f64::from(frame) / 60.0, ASPECT, frame.is_multiple_of(3)).unwrap();
    assert!(outcome == FrameOutcome::Drawn);
}

/// What 100 steady frames have made: Vulkan objects and device allocations, and allocations of the process.
fn made_by_steady_frames(device: &Arc<Device>, scene: &mut Scene, settings: RendererSettings) -> (u64, usize) {
    let mut renderer = scene::renderer(device, &scene.models, EXTENT, settings);
    let first_camera = scene.camera;
    // Two frames of every slot with all instances: nothing that follows needs more room. Then a round of moving ones,
    // for what each of rayon's threads sets up when it first takes a job.
    for frame in 0..2 * FRAMES_IN_FLIGHT as u32 {
        draw(scene, &mut renderer, frame);
        assert_eq!(scene.crowd.visible_counts().iter().sum::<u32>(), INSTANCES, "the first camera shows all");
    }
    (0..10).for_each(|frame| {
        draw_moving(scene, &mut renderer, frame);
    });

    let created = device.created_count();
    let allocations = ALLOCATIONS.load(Ordering::Relaxed);
    let mut fewest_visible = INSTANCES;
    for frame in 10..10 + STEADY_FRAMES {
        fewest_visible = fewest_visible.min(draw_moving(scene, &mut renderer, frame));
    }
    let made = (device.created_count() - created, ALLOCATIONS.load(Ordering::Relaxed) - allocations);
    assert!(fewest_visible < INSTANCES / 2, "the frames must differ in what is visible: {fewest_visible}");
    scene.camera = first_camera;
    made
}

#[test]
fn steady_frames_make_nothing() {
    // One scene for all, because its pool takes this thread in, which a thread can be only once.
    let options = format!("--size 64x36 --instances {INSTANCES} --clip all --threads 2");
    let mut scene = scene::scene(&models(), &options);
    // This thread is one of the pool's, so this reaches them all: on a busy machine some might not have started yet.
    assert_eq!(rayon::current_num_threads(), 2, "this thread belongs to the scene's pool");
    rayon::broadcast(|_| ());

    for validation in [true, false] {
        for (skinning, upload) in [
            (Skinning::Compute, UploadPath::Direct),
            (Skinning::Compute, UploadPath::Staged),
            (Skinning::Vertex, UploadPath::Direct),
            (Skinning::Vertex, UploadPath::Staged),
        ] {
            let settings = RendererSettings {
                skinning,
                upload: Some(upload),
                samples: 1,
                shadow_map_size: Some(256),
                frames_in_flight: FRAMES_IN_FLIGHT,
                ..RendererSettings::default()
            };
            let what = format!("{skinning:?}, {upload:?}");
            if validation {
                let gpu = Gpu::new();
                let (created, _) = made_by_steady_frames(gpu.device(), &mut scene, settings);
                assert_eq!(created, 0, "Vulkan objects and device allocations: {what}");
            } else {
                let made = made_by_steady_frames(&gpu::device(false), &mut scene, settings);
                assert_eq!(made, (0, 0), "Vulkan objects, allocations: {what}");
            }
        }
    }
}
