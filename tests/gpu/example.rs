//! `examples/one_character.rs` draws a character, without a validation message.

#[allow(dead_code, reason = "the example's `main` parses arguments")]
#[path = "../../examples/one_character.rs"]
mod one_character;

use std::path::Path;

use crate::common::gpu::{Gpu, Test, TestDevice, gpu_tests};

pub fn tests() -> Vec<Test> {
    gpu_tests![the_example_draws_a_character]
}

fn the_example_draws_a_character(device: &TestDevice) {
    let gpu = Gpu::new(device);
    let folder = tempfile::tempdir().unwrap();
    let image_path = folder.path().join("character.png");
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/walker.glb");
    one_character::draw(gpu.device(), &model, &image_path).unwrap();
    let image = image::open(&image_path).unwrap().to_rgb8();
    let covered = image.pixels().filter(|pixel| pixel.0 != [0; 3]).count();
    let pixels = image.pixels().count();
    // The walker covers a tenth of its picture.
    assert!((pixels / 20..pixels / 2).contains(&covered), "{covered} of {pixels} pixels are covered");
}
