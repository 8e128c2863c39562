//! A whole life of the renderer: instance, device, renderer, frames, readback, and the destruction of everything.
//!
//! It reaches as many call sites as a few cheap frames can: textures, morph targets and lines in the models, the staged
//! upload path, multisampling, shadows, all extras, and a crowd that grows between two frames.

use std::ffi::c_char;
use std::sync::Arc;

use anyhow::{Error, Result};
use ash::vk;
use throng::app::rebuild::{Losses, Rebuilding};
use throng::app::scene::Scene;
use throng::extras::{DebugView, Equipped, Show};
use throng::model::Model;
use throng::renderer::{FrameOutcome, Output, Renderer, RendererSettings, Shadows, UploadPath};
use throng::vulkan::device::Device;
use throng::vulkan::instance::{Instance, InstanceOptions};
use throng::vulkan::physical_device::PhysicalDevice;

use super::loader;
use crate::common::gpu::TestDevice;
use crate::common::scene;

pub const EXTENT: vk::Extent2D = vk::Extent2D { width: 32, height: 24 };
const CROWD: &str = "--size 32x24 --clip all --seed 7 --threads 1 --travel off";

pub struct Setting {
    pub device: String,
    pub models: Vec<Model>,
    pub scene: Scene,
}

pub struct Outcome {
    /// The error of the first step that failed and was tried again.
    pub failure: Option<Error>,
    /// The pixels of the last frame, and the number of skinned vertices that were read back; or the error.
    pub result: Result<(Vec<u8>, usize)>,
    pub messages: Vec<String>,
}

impl Outcome {
    /// Lives with an instance, and collects its messages after its end.
    pub fn of(
        surface_extensions: &[*const c_char],
        life: impl FnOnce(&Arc<Instance>, &mut Option<Error>) -> Result<(Vec<u8>, usize)>,
    ) -> Self {
        let (mut failure, mut messages) = (None, None);
        let result = instance(surface_extensions).and_then(|instance| {
            messages = Some(Arc::clone(&instance.validation_messages));
            life(&instance, &mut failure)
        });
        Self { failure, result, messages: messages.map_or_else(Vec::new, |messages| messages.all()) }
    }
}

impl Setting {
    /// The joint matrices of 500 strips do not fit into the first buffer of a stream.
    pub fn new(device: &TestDevice) -> Self {
        Self::with_models(device, vec![scene::asset(scene::STRIP), scene::asset(scene::JELLY)], 500)
    }

    pub fn with_models(device: &TestDevice, models: Vec<Model>, instances: u32) -> Self {
        let scene = scene::scene(&models, &format!("{CROWD} --instances {instances}"));
        Self { device: device.selector(), models, scene }
    }

    /// Draws offscreen. Each step that fails is tried once more.
    pub fn offscreen(&mut self) -> Outcome {
        let Self { device, models, scene } = self;
        Outcome::of(&[], |instance, failure| {
            let mut renderer = offscreen_renderer(instance, device, models)?;
            loader::end_construction();
            for frame in 0..FRAMES {
                attempt(failure, || draw(scene, &mut renderer, frame))?;
            }
            let vertex_count = attempt(failure, || Ok(renderer.read_skinned_vertices(0)?.len()))?;
            let pixels = attempt(failure, || Ok(renderer.wait_for_pixels()?.to_vec()))?;
            Ok((pixels, vertex_count))
        })
    }

    /// Draws offscreen with a renderer that is built again when its device is lost.
    pub fn rebuilding(&mut self, losses: Losses) -> Outcome {
        let Self { device, models, scene } = self;
        let mut rebuilding = Rebuilding::new(losses, |_| offscreen_renderer(&instance(&[])?, device, models));
        let pixels = (0..FRAMES).try_fold(Vec::new(), |_, frame| {
            let step = |scene: &mut Scene, renderer: &mut Equipped| {
                draw(scene, renderer, frame)?;
                Ok(renderer.wait()?)
            };
            Ok(rebuilding.run(scene, step)?.wait_for_pixels()?.to_vec())
        });
        // `Rebuilding` makes an error of the messages about each renderer.
        let result = pixels.and_then(|pixels| rebuilding.finish().map(|()| (pixels, 0)));
        Outcome { failure: None, result, messages: Vec::new() }
    }
}

/// Does a step, and once more after a failure, whose error it stores.
fn attempt<T>(failure: &mut Option<Error>, mut step: impl FnMut() -> Result<T>) -> Result<T> {
    step().or_else(|error| {
        failure.get_or_insert(error);
        step()
    })
}

fn offscreen_renderer(instance: &Arc<Instance>, device: &str, models: &[Model]) -> Result<Equipped> {
    let physical = PhysicalDevice::choose(instance, Some(device), None)?;
    let device = Device::new(instance, physical, false)?;
    let settings =
        RendererSettings { upload: Some(UploadPath::Staged), shadows: Shadows::Map(64), ..RendererSettings::default() };
    Ok(Renderer::new(&device, models, Output::offscreen(&device, EXTENT)?, settings)?.into())
}

/// Frame 0 shows the motion from nearby, frame 1 a debug view with bones and a selection. Later ones have another sun.
fn draw(scene: &mut Scene, renderer: &mut Equipped, frame: u32) -> Result<FrameOutcome> {
    let camera = scene.camera;
    scene.look.sun.azimuth_degrees = if frame < 2 { 0.0 } else { 10.0 };
    if frame == 0 {
        scene.camera.zoom(0.02);
    }
    let view = [DebugView::Motion, DebugView::Normals].get(frame as usize).copied().unwrap_or_default();
    scene.show = Show { view, bones: frame == 1, outlined: (frame == 1).then_some(0), ..Show::default() };
    if frame > 0 {
        scene::draw_triangle_over(renderer)?;
    }
    let drawn = scene.draw(renderer, f64::from(frame) * 0.3, frame + 1 == FRAMES);
    scene.camera = camera;
    Ok(drawn?.0)
}

const FRAMES: u32 = 3;

fn instance(surface_extensions: &[*const c_char]) -> Result<Arc<Instance>> {
    Ok(Instance::with_entry(loader::entry(), InstanceOptions { validation: true, surface_extensions })?)
}
