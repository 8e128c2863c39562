//! Prints a hash of each picture of a list that covers all views, both ways of skinning, and all that a frame may add.
//!
//! `cargo test --test gpu -- --ignored --nocapture picture_hashes`, before and after a change that must not change pictures:
//! `diff` of both outputs, on one machine and with one driver, is the proof.

use sha2::{Digest, Sha256};
use throng::crowd::ClipChoice;
use throng::extras::DebugView;
use throng::model::Model;
use throng::renderer::{RendererSettings, Skinning, UploadPath};

use crate::common::gpu::{Gpu, TestDevice, list_gpu_tests};
use crate::common::levels;
use crate::common::scene::{self, Shown};
use crate::gpu::golden;

list_gpu_tests![print_picture_hashes [ignored if true]];

const CROWD: &str = "--size 160x90 --instances 30 --clip all --seed 7";

fn print_hash(device: &TestDevice, name: &str, bytes: &[u8]) {
    let hash = Sha256::digest(bytes);
    let start = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>();
    println!("[{}] {start} {name}", device.name);
}

/// A change before the first frame.
type Preparation = fn(&mut Shown);
const NOTHING: Preparation = |_| ();
/// In the middle of a crossfade in the last frame.
const FADE: Preparation = |shown| shown.scene.crowd.crossfade(&ClipChoice::Name("Run".to_owned()), 0.5, 0.2).unwrap();
/// With an outline, and a triangle of a panel.
const SELECT: Preparation = |shown| {
    shown.scene.show.outlined = Some(3);
    scene::draw_triangle_over(&mut shown.renderer).unwrap();
};

fn print_picture_hashes(device: &TestDevice) {
    let gpu = Gpu::from(device);
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
    // Draws two frames, a twentieth of a second apart, and prints the hash of the second one.
    let print = |models: &[Model], options: &str, settings: RendererSettings, prepare: Preparation| {
        let mut shown = Shown::new(gpu.device(), models, options, settings);
        prepare(&mut shown);
        print_hash(device, &format!("{options}: {settings:?}"), &shown.draw_at(&[0.55, 0.6]));
    };
    for settings in [plain, vertex, staged, four, one, RendererSettings { skinning: Skinning::Vertex, ..one }] {
        let prepare = if settings.frames_in_flight == 1 { SELECT } else { NOTHING };
        for options in ["", "--lod-error 0.4 --camera 20,8,1", "--skeleton on --debug-view weights", "--share-poses 2"]
        {
            print(&models, &format!("{CROWD} {options}"), settings, prepare);
        }
        let walker = [scene::asset(scene::WALKER)];
        print(&walker, "--size 160x90 --instances 9 --clip Walk", settings, FADE);
    }
    for settings in [plain, vertex] {
        let has_view = |view: &DebugView| *view != DebugView::Motion || settings.skinning == Skinning::Compute;
        for view in DebugView::ALL.into_iter().filter(has_view) {
            print(&models, &format!("{CROWD} --debug-view {}", view.name()), settings, NOTHING);
        }
        print(&models, &format!("{CROWD} --joint upper"), settings, NOTHING);
    }
}
