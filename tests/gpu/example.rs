//! The examples draw what the program draws, without a validation message.

#[allow(dead_code, reason = "the example's `main` parses arguments")]
#[path = "../../examples/a_crowd.rs"]
mod a_crowd;
#[allow(dead_code, reason = "the example's `main` parses arguments")]
#[path = "../../examples/one_character.rs"]
mod one_character;

use std::path::Path;

use throng::renderer::{RendererSettings, Shadows};

use super::golden;
use crate::common::flip::Flip;
use crate::common::gpu::{Gpu, list_gpu_tests};
use crate::common::scene;

list_gpu_tests![examples_draw_the_pictures_of_the_program];

fn assert_is_picture(gpu: &Gpu, image_path: &Path, model: &str, options: &str) {
    let image = image::open(image_path).unwrap().to_rgba8();
    let options = format!("--size 512x512 --ground off --background #000000 --lod-error 0 {options}");
    let settings = RendererSettings { samples: 1, shadows: Shadows::Off, ..RendererSettings::default() };
    let (expected, _) = scene::draw(gpu.device(), &[scene::asset(model)], &options, settings);
    let statistics = Flip::between(&expected, &image).statistics();
    assert!(statistics.within(golden::LIMITS), "{model}: {statistics:?}");
}

/// The jelly has morph targets, lines and points.
fn examples_draw_the_pictures_of_the_program(gpu: Gpu) {
    let folder = tempfile::tempdir().unwrap();
    let image_path = folder.path().join("picture.png");
    for model in [scene::WALKER, scene::JELLY] {
        one_character::draw(gpu.device(), Path::new(model), &image_path).unwrap();
        assert_is_picture(&gpu, &image_path, model, "--phase zero --time 0.4");
    }
    a_crowd::draw(gpu.device(), Path::new(scene::JELLY), &image_path).unwrap();
    assert_is_picture(&gpu, &image_path, scene::JELLY, "--instances 100 --clip all --seed 0 --variety 0 --time 1");
}
