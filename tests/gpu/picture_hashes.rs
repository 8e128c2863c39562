//! Prints a hash of each picture of a list that covers all views, both ways of skinning, and all that a frame may add.
//!
//! `cargo test --test gpu -- --ignored --nocapture picture_hashes`, before and after a change that must not change pictures:
//! `diff` of both outputs, on one machine and with one driver, is the proof.

use ash::vk;
use sha2::{Digest, Sha256};
use throng::app::scene::Scene;
use throng::cli::Size;
use throng::crowd::ClipChoice;
use throng::extras::{DebugView, Equipped};
use throng::model::Model;
use throng::renderer::{RendererSettings, Skinning, UploadPath};

use crate::common::gpu::{Gpu, TestDevice, list_gpu_tests};
use crate::common::{levels, scene};
use crate::gpu::golden;

list_gpu_tests![print_picture_hashes [ignored if true]];

const CROWD: &str = "--size 160x90 --instances 30 --clip all --seed 7";

fn print_hash(device: &TestDevice, name: &str, bytes: &[u8]) {
    let hash = Sha256::digest(bytes);
    let start = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>();
    println!("[{}] {start} {name}", device.name);
}

/// What is done to a scene and its renderer before the first frame.
type Preparation = fn(&mut Scene, &mut Equipped);

/// In the middle of a crossfade in the last frame.
fn fade(scene: &mut Scene, _: &mut Equipped) {
    scene.crowd.crossfade(&ClipChoice::Name("Run".to_owned()), 0.5, 0.2).unwrap();
}

/// With an outline, and a triangle of a panel.
fn select(scene: &mut Scene, renderer: &mut Equipped) {
    scene.show.outlined = Some(3);
    scene::draw_triangle_over(renderer).unwrap();
}

/// Draws two frames, a twentieth of a second apart, and prints the hash of the second one.
fn print_picture(
    (device, gpu): (&TestDevice, &Gpu),
    models: &[Model],
    options: &str,
    settings: RendererSettings,
    prepare: Preparation,
) {
    let Size { width, height } = scene::arguments(options).gpu.size;
    let mut scene = scene::scene(models, options);
    let mut renderer = scene::renderer(gpu.device(), models, vk::Extent2D { width, height }, settings);
    prepare(&mut scene, &mut renderer);
    for seconds in [0.55, 0.6] {
        scene.draw(&mut renderer, seconds, seconds == 0.6).unwrap();
    }
    let RendererSettings { skinning, upload, samples, frames_in_flight, page_bytes, .. } = settings;
    let kind = format!("{skinning:?}, {upload:?}, {samples} samples, {frames_in_flight} frames, {page_bytes} bytes");
    print_hash(device, &format!("{options}: {kind}"), renderer.wait_for_pixels().unwrap());
}

fn print_picture_hashes(device: &TestDevice) {
    let gpu = Gpu::new(device);
    for skinning in ["compute", "vertex"] {
        for (name, models, options) in golden::IMAGES {
            let models: Vec<_> = models.iter().map(|name| scene::asset(name)).collect();
            let picture = golden::draw_on(&gpu, &models, &format!("{options} --skinning {skinning}"));
            print_hash(device, &format!("golden {name}, {skinning}"), &picture);
        }
    }
    let plain = RendererSettings { samples: 1, upload: Some(UploadPath::Direct), ..RendererSettings::default() };
    let mut models = scene::models();
    models[0].geometry.with_dual_quaternions = true;
    models.iter_mut().for_each(|model| levels::give_levels(model, 2, &[0.02, 0.03, 0.045]));
    let staged = RendererSettings { upload: Some(UploadPath::Staged), page_bytes: 1, ..plain };
    let [four, one] = [RendererSettings { samples: 4, ..plain }, RendererSettings { frames_in_flight: 1, ..plain }];
    let vertex = RendererSettings { skinning: Skinning::Vertex, ..plain };
    let of = (device, &gpu);
    let nothing: Preparation = |_, _| {};
    for settings in [plain, vertex, staged, four, one, RendererSettings { skinning: Skinning::Vertex, ..one }] {
        let prepare = if settings.frames_in_flight == 1 { select } else { nothing };
        for options in ["", "--lod-error 0.4 --camera 20,8,1", "--skeleton on --debug-view weights", "--share-poses 2"]
        {
            print_picture(of, &models, &format!("{CROWD} {options}"), settings, prepare);
        }
        let walker = [scene::asset(scene::WALKER)];
        print_picture(of, &walker, "--size 160x90 --instances 9 --clip Walk", settings, fade);
    }
    for settings in [plain, vertex] {
        for view in
            DebugView::ALL.into_iter().filter(|&view| view != DebugView::Motion || settings.skinning == plain.skinning)
        {
            print_picture(of, &models, &format!("{CROWD} --debug-view {}", view.name()), settings, nothing);
        }
        print_picture(of, &models, &format!("{CROWD} --joint upper"), settings, nothing);
    }
}
