//! `render`: writes one image, a contact sheet, a sequence of numbered images, or an animated PNG.
//!
//! In: a scene and the frames of a [`Sequence`]. Out: files whose format the name decides. A frame's image depends only on
//! its number, so parts of a sequence can be drawn by different machines. Names and formats are checked before a model is
//! loaded, and a file appears only when it is complete.

#![forbid(unsafe_code)]

mod destination;
pub mod sequence;
mod sheet;

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;

use super::gpu::{offscreen_device, offscreen_renderer};
use super::output::{check_folder_of, print, progress_bar};
use super::rebuild::{Losses, Rebuilding};
use super::scene::Scene;
use super::text::counted;
use crate::cli::RenderArgs;
use crate::vulkan::device::Device;
use destination::Destination;
pub use destination::{delay, encode_png};
use sequence::Sequence;

/// Checks the options that do not depend on files. [`run`] does so too.
pub fn check(args: &RenderArgs) -> Result<()> {
    Destination::new(args).map(|_| ())
}

pub fn run(args: &RenderArgs) -> Result<()> {
    let mut destination = Destination::new(args)?;
    check_folder_of(&args.out)?;
    if let Some(grid) = args.sheet {
        let (size, rgba, text) = sheet::draw(args, grid)?;
        destination.add(0, &rgba, size)?;
        return print(format!("{}: {text}\n", args.out.display()));
    }
    let mut scene = Scene::load(args.into())?;
    let mut sequence = Sequence::new(args, destination.is_film(), scene.crowd.loop_seconds());
    // Every part of a sequence has the same camera, whose image has room for the whole animation.
    if args.frames.is_some() || args.turntable.is_some() || destination.is_film() {
        scene.frame_throughout(args.crowd.time, args.turntable.is_some(), args.gpu.size.aspect());
    } else {
        sequence.start_seconds = scene.time_with_something(args.crowd.time, args.gpu.size.aspect());
    }
    let build = |scene: &mut Scene| offscreen_renderer(&offscreen_device(&args.gpu.device)?, &args.gpu, scene);
    let mut renderer = Rebuilding::new(Losses::new(Instant::now), build);
    // Fails before the output is opened.
    renderer.renderer(&mut scene)?;
    let frames = sequence.frames.clone();
    destination.open(args.gpu.size, frames.len() as u32)?;
    let progress = progress_bar(frames.len() as u64, "rendering {wide_bar} {pos}/{len} {eta} left");
    let first_camera = scene.camera;
    for frame in frames.clone() {
        scene.camera = first_camera;
        scene.follow(sequence.time_seconds(frame));
        scene.camera.orbit(sequence.yaw_radians(frame), 0.0);
        let drawn = renderer.run(&mut scene, |scene, renderer| {
            scene.draw_picture(renderer, sequence.time_seconds(frame), args.fps).map(|_| ())
        })?;
        destination.add(frame, drawn.wait_for_pixels()?, args.gpu.size)?;
        progress.inc(1);
    }
    destination.finish()?;
    progress.finish_and_clear();
    let visible: u32 = scene.crowd.visible_counts().iter().sum();
    let drawn = renderer.renderer(&mut scene)?;
    let part = if frames.len() > 1 { format!("frames {}..{}, ", frames.start, frames.end) } else { String::new() };
    let (out, instances) = (args.out.display(), counted(scene.crowd.instance_count(), "instance"));
    let device = &drawn.device().physical.name;
    let (skinning, upload) = (args.gpu.skinning.name(), drawn.upload_path().name());
    print(format!("{out}: {part}{visible} of {instances} visible, {device}, {skinning} skinning, {upload} upload\n"))?;
    renderer.finish()
}

/// Returns the first image as a PNG file, drawn by a device that exists.
pub fn image(scene: &mut Scene, args: &RenderArgs, device: &Arc<Device>) -> Result<Vec<u8>> {
    let mut renderer = offscreen_renderer(device, &args.gpu, scene)?;
    encode_png(scene.draw_picture(&mut renderer, args.crowd.time, args.fps)?, args.gpu.size)
}
