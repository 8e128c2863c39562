//! The truth of a picture, and how far pictures are from it.
//!
//! A picture with one sample per pixel is noise at every edge, in full detail too. So levels of detail are not compared with
//! full detail, but with the truth: 16 times as many pixels, four samples each, in full detail, averaged in linear light.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use ash::vk;
use image::{Rgba, RgbaImage};
use throng::app::scene::Scene;
use throng::cli::{RenderArgs, Size};
use throng::extras::Equipped;
use throng::renderer::{Output, Renderer, RendererSettings, Shadows};
use throng::vulkan::device::Device;

use super::flip::Flip;

/// The number of the truth's pixels along each side of a pixel.
const ACROSS: u32 = 4;
const TRUE_SAMPLES: u32 = 4;

pub struct Setting {
    pub lod_error: f64,
    pub mean_flip: f32,
    /// The median time of a frame, in seconds.
    pub frame_seconds: f64,
}

/// Draws a scene at the time of the options with each error in turns, `rounds` times, and compares the pictures with the truth.
pub fn settings(
    device: &Arc<Device>,
    scene: &mut Scene,
    args: &RenderArgs,
    errors: &[f64],
    rounds: usize,
) -> Result<Vec<Setting>> {
    let size = args.gpu.size;
    let truth = truth(device, scene, args)?;
    let mut renderer = renderer(device, scene, args, size, args.gpu.quality.samples())?;
    let mut times = vec![Vec::new(); errors.len()];
    let mut pictures = Vec::new();
    for _ in 0..rounds.max(1) {
        pictures.clear();
        for (&error, times) in errors.iter().zip(&mut times) {
            draw(&mut renderer, scene, args, size, error)?;
            let start = Instant::now();
            pictures.push(draw(&mut renderer, scene, args, size, error)?);
            times.push(start.elapsed().as_secs_f64());
        }
    }
    let settings = errors.iter().zip(times).zip(&pictures).map(|((&lod_error, mut times), picture)| {
        times.sort_by(f64::total_cmp);
        let mean_flip = Flip::between(&truth, picture).statistics().mean;
        Setting { lod_error, mean_flip, frame_seconds: times[times.len() / 2] }
    });
    Ok(settings.collect())
}

fn truth(device: &Arc<Device>, scene: &mut Scene, args: &RenderArgs) -> Result<RgbaImage> {
    let size = args.gpu.size;
    let large = Size { width: ACROSS * size.width, height: ACROSS * size.height };
    let mut renderer = renderer(device, scene, args, large, TRUE_SAMPLES)?;
    Ok(average(&draw(&mut renderer, scene, args, large, 0.0)?))
}

fn renderer(device: &Arc<Device>, scene: &Scene, args: &RenderArgs, size: Size, samples: u32) -> Result<Equipped> {
    let extent = vk::Extent2D { width: size.width, height: size.height };
    // The map is that of the small picture.
    let Size { width, height } = args.gpu.size;
    let shadows = Shadows::from(args.gpu.quality.shadows).map_size(device, [width, height]);
    let shadows = shadows.map_or(Shadows::Off, Shadows::Map);
    let settings = RendererSettings { skinning: args.gpu.skinning, samples, shadows, ..RendererSettings::default() };
    Ok(Renderer::new(device, &scene.models, Output::offscreen(device, extent)?, settings)?.into())
}

fn draw(renderer: &mut Equipped, scene: &mut Scene, args: &RenderArgs, size: Size, error: f64) -> Result<RgbaImage> {
    scene.lod_error_pixels = error as f32;
    scene.draw(renderer, args.crowd.time, true)?;
    let pixels = renderer.wait_for_pixels()?.to_vec();
    RgbaImage::from_raw(size.width, size.height, pixels).context("a picture of the wrong size")
}

/// Averages squares of pixels in linear light. The picture is opaque.
fn average(large: &RgbaImage) -> RgbaImage {
    let linear: [f32; 256] = std::array::from_fn(|value| {
        let encoded = value as f32 / 255.0;
        if encoded <= 0.04045 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) }
    });
    let encode = |linear: f32| {
        let encoded = if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
        (255.0 * encoded).round() as u8
    };
    RgbaImage::from_fn(large.width() / ACROSS, large.height() / ACROSS, |x, y| {
        let mut sum = [0.0f32; 3];
        for (i, j) in (0..ACROSS).flat_map(|i| (0..ACROSS).map(move |j| (i, j))) {
            let pixel = large.get_pixel(ACROSS * x + i, ACROSS * y + j);
            (0..3).for_each(|k| sum[k] += linear[pixel[k] as usize]);
        }
        let [red, green, blue] = sum.map(|sum| encode(sum / (ACROSS * ACROSS) as f32));
        Rgba([red, green, blue, u8::MAX])
    })
}
