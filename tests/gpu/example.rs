//! `examples/one_character.rs` draws a character, without a validation message.

#[allow(dead_code, reason = "the example's `main` parses arguments")]
#[path = "../../examples/one_character.rs"]
mod one_character;

use std::path::Path;

use throng::renderer::{RendererSettings, Shadows};

use super::golden;
use crate::common::flip::Flip;
use crate::common::gpu::{Gpu, TestDevice, list_gpu_tests};
use crate::common::scene;

list_gpu_tests![the_example_draws_the_picture_of_the_program];

fn the_example_draws_the_picture_of_the_program(device: &TestDevice) {
    let gpu = Gpu::new(device);
    let folder = tempfile::tempdir().unwrap();
    let image_path = folder.path().join("character.png");
    one_character::draw(gpu.device(), Path::new(scene::WALKER), &image_path).unwrap();
    let image = image::open(&image_path).unwrap().to_rgba8();
    let models = [scene::asset(scene::WALKER)];
    let options = "--size 512x512 --ground off --background #000000 --lod-error 0 --phase zero --time 0.4";
    let settings = RendererSettings { samples: 1, shadows: Shadows::Off, ..RendererSettings::default() };
    let (expected, _) = scene::draw(gpu.device(), &models, options, settings);
    let statistics = Flip::between(&expected, &image).statistics();
    assert!(statistics.within(golden::LIMITS), "{statistics:?}");
}
