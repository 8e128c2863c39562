//! Draws a crowd offscreen as `throng render` does, with renderer settings that the command line does not offer.

use std::sync::Arc;

use ash::vk;
use clap::Parser;
use glam::{Vec2, Vec3};
use image::RgbaImage;
use throng::app::scene::Scene;
use throng::cli::{Cli, Command, RenderArgs, Size};
use throng::extras::{Equipped, OverlayDraw, OverlayVertex};
use throng::model::Model;
use throng::renderer::{FrameOutcome, Output, Renderer, RendererSettings};
use throng::shader_types::InstanceData;
use throng::view::OrbitCamera;
use throng::vulkan::device::Device;

pub use super::assets::{JELLY, STRIP, WALKER, asset, models};
use super::crowd::instances_of;

/// Parses `throng render OPTIONS`. The models come from [`scene`], and the file name is unused.
pub fn arguments(options: &str) -> RenderArgs {
    let line = ["throng", "render", "--out", "unused.png"].into_iter().chain(options.split_whitespace());
    match Cli::try_parse_from(line).map(|cli| cli.command) {
        Ok(Some(Command::Render(args))) => args,
        other => panic!("{options}: {other:?}"),
    }
}

pub struct Shown {
    pub scene: Scene,
    pub renderer: Equipped,
}

impl Shown {
    /// Makes the scene of `throng render OPTIONS`, and a renderer of the size of the options.
    pub fn new(device: &Arc<Device>, models: &[Model], options: &str, settings: RendererSettings) -> Self {
        let Size { width, height } = arguments(options).gpu.size;
        let renderer = renderer(device, models, [width, height], settings);
        Self { scene: scene(models, options), renderer }
    }

    /// Draws a frame at each of these times. Returns the pixels of the last one.
    pub fn draw_at(&mut self, times_seconds: &[f64]) -> Vec<u8> {
        for (number, &seconds) in (1..).zip(times_seconds) {
            let (outcome, _) = self.scene.draw(&mut self.renderer, seconds, number == times_seconds.len()).unwrap();
            assert_eq!(outcome, FrameOutcome::Drawn);
        }
        self.renderer.wait_for_pixels().unwrap().to_vec()
    }
}

pub fn scene(models: &[Model], options: &str) -> Scene {
    let args = arguments(options);
    Scene::new(Arc::from(models), (&args).into()).unwrap_or_else(|error| panic!("{options}: {error}"))
}

pub fn renderer(device: &Arc<Device>, models: &[Model], size: [u32; 2], settings: RendererSettings) -> Equipped {
    plain_renderer(device, models, size, settings).into()
}

pub fn plain_renderer(device: &Arc<Device>, models: &[Model], size: [u32; 2], settings: RendererSettings) -> Renderer {
    let extent = vk::Extent2D { width: size[0], height: size[1] };
    let output = Output::offscreen(device, extent).expect("an offscreen output");
    Renderer::new(device, models, output, settings).unwrap_or_else(|error| panic!("{settings:?}: {error}"))
}

/// Returns what the GPU knows of each instance of a scene in which all are visible, in the order of their numbers.
pub fn instances(scene: &Scene) -> Vec<InstanceData> {
    let mut instances = instances_of(&scene.crowd);
    assert_eq!(instances.len(), scene.crowd.instance_count());
    instances.sort_unstable_by_key(|instance| instance.numbers[0]);
    instances
}

/// Draws a white triangle over the next frames, as a panel of a window would.
pub fn draw_triangle_over(renderer: &mut Equipped) -> throng::renderer::error::Result<()> {
    renderer.set_overlay_atlas([1, 1], &[255; 4])?;
    let triangles = renderer.overlay_mut();
    triangles.clear();
    let vertex = |position_pixels| OverlayVertex { position_pixels, tex_coords: [0.5; 2], color_unorm8: u32::MAX };
    triangles.vertices.extend([[2.0, 2.0], [12.0, 2.0], [2.0, 12.0]].map(vertex));
    triangles.indices.extend([0, 1, 2]);
    let clip = vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width: 16, height: 16 } };
    triangles.draws.push(OverlayDraw { clip, index_count: 3 });
    Ok(())
}

/// Returns the position of a point of the world in an image of this size, in pixels.
pub fn project(camera: &OrbitCamera, size: Vec2, world: Vec3) -> Vec2 {
    let clip = camera.clip_from_world(size.x / size.y).project_point3(world);
    (clip.truncate() * Vec2::new(0.5, -0.5) + 0.5) * size
}

/// Draws one picture as `throng render OPTIONS` does, with the size and the time of the options. Returns its scene too.
pub fn draw(device: &Arc<Device>, models: &[Model], options: &str, settings: RendererSettings) -> (RgbaImage, Scene) {
    let Size { width, height } = arguments(options).gpu.size;
    draw_with(&mut renderer(device, models, [width, height], settings), models, options)
}

/// Draws as [`draw`] does, with a renderer of the models that has the size of the options.
pub fn draw_with(renderer: &mut Equipped, models: &[Model], options: &str) -> (RgbaImage, Scene) {
    let (args, mut scene) = (arguments(options), scene(models, options));
    let Size { width, height } = args.gpu.size;
    scene.draw(renderer, args.crowd.time, true).unwrap();
    let pixels = renderer.wait_for_pixels().unwrap().to_vec();
    (RgbaImage::from_raw(width, height, pixels).unwrap(), scene)
}
