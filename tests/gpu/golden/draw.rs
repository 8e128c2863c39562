//! Draws what `throng render MODELS OPTIONS` draws, under validation.

use image::RgbaImage;
use throng::model::Model;
use throng::renderer::{RendererSettings, UploadPath};
use throng::view::Background;

use crate::common::gpu::{Gpu, TestDevice};
use crate::common::scene;

pub const WALKER: &str = "assets/walker.glb";
pub const STRIP: &str = "assets/simple_strip.gltf";
pub const JELLY: &str = "assets/jelly.gltf";
pub const SURFACES: &str = "tests/golden/surfaces.gltf";
pub const MIRRORED_AND_BLENDED: &str = "tests/golden/mirrored_and_blended.gltf";

/// Loads models and draws them. The image has 256x144 pixels unless the options say otherwise.
pub fn draw(device: &TestDevice, models: &[&str], options: &str) -> RgbaImage {
    let gpu = Gpu::new(device);
    let models: Vec<_> = models.iter().map(|name| scene::asset(name)).collect();
    draw_on(&gpu, &models, options)
}

/// Draws models on a device.
pub fn draw_on(gpu: &Gpu, models: &[Model], options: &str) -> RgbaImage {
    let size = if options.contains("--size") { "" } else { "--size 256x144" };
    let options = format!("{options} {size}");
    let args = scene::arguments(&options);
    let settings = RendererSettings {
        skinning: args.gpu.skinning,
        upload: Some(UploadPath::Direct),
        samples: args.gpu.quality.samples(),
        shadow_map_size: RendererSettings::default().shadow_map_size.filter(|_| args.gpu.quality.has_shadows()),
        transparent: args.crowd.look().background == Background::None,
        ..RendererSettings::default()
    };
    scene::draw(gpu.device(), models, &options, settings).0
}
