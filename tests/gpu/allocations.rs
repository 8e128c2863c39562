//! A steady frame creates nothing: no Vulkan object, no device memory, no descriptor set, and no allocation on any
//! thread of the process. A frame is steady if it needs no more memory than the first ones. The visible instances, their
//! levels of detail, their places and their clips may change all the time, and do so here.
//!
//! The allocator counts Rust's allocations of all threads, but not the driver's `malloc`. The validation layer, which allocates,
//! is on in the first case alone: it counts objects, and any message fails the test.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use throng::app::scene::Scene;
use throng::crowd::{ClipChoice, Crowd, CrowdSettings};
use throng::extras::{DebugView, Equipped};
use throng::model::Model;
use throng::renderer::{FrameOutcome, RendererSettings, Shadows, Skinning, UploadPath};
use throng::vulkan::device::Device;

use crate::common::gpu::{Gpu, Test, TestDevice, gpu_tests, in_own_processes, note};
use crate::common::{levels, scene};

pub fn tests() -> Vec<Test> {
    in_own_processes(&[], gpu_tests![steady_frames_make_nothing, the_sort_takes_no_room_for_models_and_levels])
}

struct CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The number of allocations of all threads since the process began.
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
static ALLOCATED_BYTES: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged; counting touches no memory of the caller.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        ALLOCATED_BYTES.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

const ASPECT: f32 = 64.0 / 36.0;
/// More than one task of culling and of writing instances takes.
const INSTANCES: u32 = 1100;
const STEADY_FRAMES: u32 = 40;

/// One model in forty is the walker, which makes the frames cheap to draw. One has morph targets.
fn models() -> Vec<Model> {
    let mut models = vec![scene::asset(scene::STRIP); 38];
    models.insert(4, scene::asset(scene::WALKER));
    models.push(scene::asset(scene::JELLY));
    models.iter_mut().for_each(|model| levels::give_levels(model, 2, &[0.01, 0.05]));
    models
}

/// Draws a frame from a camera that moves around, into and out of the crowd. Returns the number of visible instances.
fn draw_moving(scene: &mut Scene, renderer: &mut Equipped, frame: u32) -> u32 {
    scene.camera.orbit(0.2, 0.0);
    scene.camera.zoom(if frame % 20 < 10 { 0.8 } else { 1.0 / 0.8 });
    draw(scene, renderer, frame);
    scene.crowd.visible_counts().iter().sum()
}

fn draw(scene: &mut Scene, renderer: &mut Equipped, frame: u32) {
    // Every third frame is captured: the copy must not allocate either.
    let (outcome, _) = scene.draw(renderer, f64::from(frame) / 30.0, frame.is_multiple_of(3)).unwrap();
    assert!(outcome == FrameOutcome::Drawn);
}

/// Returns how many Vulkan objects and device allocations, and how many allocations of the process, the steady frames made.
fn made_by_steady_frames(device: &Arc<Device>, scene: &mut Scene, settings: RendererSettings) -> (u64, usize) {
    let mut renderer = scene::renderer(device, &scene.models, [64, 36], settings);
    let first_camera = scene.camera;
    scene.crowd.set_clip(&ClipChoice::All).unwrap();
    // An instance is selected, which the moving camera does not always see, and there is a panel.
    scene.show.outlined = Some(0);
    scene::draw_triangle_over(&mut renderer).unwrap();
    // Draw two frames of every slot with all instances in full detail: later frames need no more room. Then draw frames with
    // a moving camera, which also sets up rayon's threads.
    let lod_error_pixels = std::mem::replace(&mut scene.lod_error_pixels, 0.0);
    for frame in 0..2 * (settings.frames_in_flight as u32 + 1) {
        draw(scene, &mut renderer, frame);
        assert_eq!(scene.crowd.visible_counts().iter().sum::<u32>(), INSTANCES, "the first camera shows all");
    }
    scene.lod_error_pixels = lod_error_pixels;
    // All instances blend for a second, which ends in the midst of the frames that are counted.
    scene.crowd.crossfade(&ClipChoice::None, 0.0, 1.0).unwrap();
    (0..10).for_each(|frame| {
        draw_moving(scene, &mut renderer, frame);
    });

    assert!(scene.crowd.is_blending());
    let created = device.created_count();
    let allocations = ALLOCATIONS.load(Ordering::Relaxed);
    let mut fewest_visible = INSTANCES;
    let (mut fewest_skinned, mut most_skinned) = (u64::MAX, 0);
    for frame in 10..10 + STEADY_FRAMES {
        let visible = draw_moving(scene, &mut renderer, frame);
        fewest_visible = fewest_visible.min(visible);
        // For each visible instance.
        let skinned = renderer.byte_counts().skinned_vertices / u64::from(visible.max(1));
        (fewest_skinned, most_skinned) = (fewest_skinned.min(skinned), most_skinned.max(skinned));
    }
    let made = (device.created_count() - created, ALLOCATIONS.load(Ordering::Relaxed) - allocations);
    assert!(!scene.crowd.is_blending());
    assert!(fewest_visible < INSTANCES / 2, "the frames must differ in what is visible: {fewest_visible}");
    if settings.skinning == Skinning::Compute {
        assert!(most_skinned >= 2 * fewest_skinned, "levels must change: {fewest_skinned} to {most_skinned} bytes");
    }
    scene.camera = first_camera;
    made
}

/// A table with an entry for each model, each pair of levels and each part of the crowd would take 11 MB.
fn the_sort_takes_no_room_for_models_and_levels(_: &TestDevice) {
    let [one, hundred] = [1, 100].map(|model_count| {
        let mut models = vec![scene::asset(scene::STRIP); model_count];
        models.iter_mut().for_each(|model| levels::give_levels(model, 2, &[0.01; 12]));
        let settings = CrowdSettings { instance_count: 20_000, clip: ClipChoice::None, ..CrowdSettings::default() };
        let models = Arc::from(models);
        let before = ALLOCATED_BYTES.load(Ordering::Relaxed);
        Crowd::new(models, &settings).unwrap();
        ALLOCATED_BYTES.load(Ordering::Relaxed) - before
    });
    note!("{one} bytes for a crowd of one model, {hundred} for a crowd of 100");
    assert!(hundred < one + 2_000_000, "{hundred} bytes instead of {one}");
}

fn steady_frames_make_nothing(device: &TestDevice) {
    // Use one scene for all cases: its pool includes this thread, and a thread can be in only one pool.
    let options = format!("--size 64x36 --instances {INSTANCES} --clip all --travel on --threads 2 --lod-error 0.02");
    let mut scene = scene::scene(&models(), &options);
    scene.frame_throughout(0.0, false, ASPECT);
    // This thread is in the pool, so the broadcast reaches all of its threads. On a busy machine some may start late.
    assert_eq!(rayon::current_num_threads(), 2, "this thread belongs to the scene's pool");
    rayon::broadcast(|_| ());

    use {Skinning::*, UploadPath::*};
    for (validation, skinning, upload, view) in [
        (true, Compute, Staged, DebugView::Motion),
        (false, Compute, Direct, DebugView::Lit),
        (false, Compute, Staged, DebugView::Motion),
        (false, Vertex, Direct, DebugView::Lit),
        (false, Vertex, Staged, DebugView::Lit),
    ] {
        scene.show.view = view;
        let plain = RendererSettings { samples: 1, shadows: Shadows::Map(256), ..RendererSettings::default() };
        let settings = RendererSettings { skinning, upload: Some(upload), ..plain };
        let what = format!("{skinning:?}, {upload:?}, {view:?}");
        if validation {
            let gpu = Gpu::from(device);
            let (created, _) = made_by_steady_frames(gpu.device(), &mut scene, settings);
            assert_eq!(created, 0, "Vulkan objects and device allocations: {what}");
        } else {
            let made = made_by_steady_frames(&device.open(false), &mut scene, settings);
            assert_eq!(made, (0, 0), "Vulkan objects, allocations: {what}");
        }
    }
}
