//! A whole life of the renderer: instance, device, renderer, frames, readback, and the destruction of everything.
//!
//! It reaches as many call sites as a few cheap frames can: textures, morph targets and lines in the models, the staged
//! upload path, multisampling, shadows, a debug view with bones, and a crowd that grows between two frames.

use std::ffi::c_char;
use std::sync::Arc;

use anyhow::Result;
use ash::vk;
use throng::app::rebuild::{Losses, Rebuilding};
use throng::app::scene::Scene;
use throng::model::Model;
use throng::renderer::{FrameOutcome, Output, Renderer, RendererSettings, Shadows, UploadPath};
use throng::view::{DebugView, Visualization};
use throng::vulkan::device::Device;
use throng::vulkan::instance::{Instance, InstanceOptions};
use throng::vulkan::physical_device::PhysicalDevice;

use super::loader;
use crate::common::gpu::TestDevice;
use crate::common::scene;

pub const EXTENT: vk::Extent2D = vk::Extent2D { width: 32, height: 24 };
const ASPECT: f32 = 32.0 / 24.0;
/// The joint matrices of this many strips do not fit into the first buffer of a stream.
const CROWD: &str = "--size 32x24 --instances 500 --clip all --seed 7 --threads 1 --travel off";

/// The device, the models and the scene of all lives.
pub struct Setting {
    /// The device, as the option `--device` names it.
    pub device: String,
    pub models: Vec<Model>,
    pub scene: Scene,
}

/// The end of a life.
pub struct Outcome {
    /// The pixels of the last frame, and the number of skinned vertices that were read back; or the error.
    pub result: Result<(Vec<u8>, usize)>,
    /// The messages of the validation layer.
    pub messages: Vec<String>,
}

impl Outcome {
    /// Lives with an instance, and collects its messages after its end.
    pub fn of(
        surface_extensions: &[*const c_char],
        life: impl FnOnce(&Arc<Instance>) -> Result<(Vec<u8>, usize)>,
    ) -> Self {
        let mut messages = None;
        let result = instance(surface_extensions).and_then(|instance| {
            messages = Some(Arc::clone(instance.validation_messages()));
            life(&instance)
        });
        Self { result, messages: messages.map_or_else(Vec::new, |messages| messages.all()) }
    }
}

impl Setting {
    pub fn new(device: &TestDevice) -> Self {
        Self::with_models(device, ["assets/simple_strip.gltf", "assets/jelly.gltf"].map(scene::asset).to_vec())
    }

    pub fn with_models(device: &TestDevice, models: Vec<Model>) -> Self {
        let scene = scene::scene(&models, CROWD);
        Self { device: device.selector(), models, scene }
    }

    /// Draws offscreen. With `retries`, each step that fails is tried once more.
    pub fn offscreen(&mut self, retries: bool) -> Outcome {
        let Self { device, models, scene } = self;
        Outcome::of(&[], |instance| {
            let mut renderer = offscreen_renderer(instance, device, models)?;
            for frame in 0..FRAMES {
                attempt(retries, || draw(scene, &mut renderer, frame))?;
            }
            let vertex_count = attempt(retries, || Ok(renderer.read_skinned_vertices(0)?.len()))?;
            let pixels = attempt(retries, || Ok(renderer.wait_for_pixels()?.to_vec()))?;
            Ok((pixels, vertex_count))
        })
    }

    /// Draws offscreen with a renderer that is built again when its device is lost.
    pub fn rebuilding(&mut self, losses: Losses) -> Outcome {
        let Self { device, models, scene } = self;
        let mut rebuilding = Rebuilding::new(losses, |_| offscreen_renderer(&instance(&[])?, device, models));
        let pixels = (0..FRAMES).try_fold(Vec::new(), |_, frame| {
            let step = |scene: &mut Scene, renderer: &mut Renderer| {
                draw(scene, renderer, frame)?;
                Ok(renderer.wait()?)
            };
            Ok(rebuilding.run(scene, step)?.wait_for_pixels()?.to_vec())
        });
        // `Rebuilding` makes an error of the messages about each renderer.
        let result = pixels.and_then(|pixels| rebuilding.finish().map(|()| (pixels, 0)));
        Outcome { result, messages: Vec::new() }
    }
}

/// Does a step, and once more after a failure if `retries` is set.
fn attempt<T>(retries: bool, mut step: impl FnMut() -> Result<T>) -> Result<T> {
    step().or_else(|error| if retries { step() } else { Err(error) })
}

fn offscreen_renderer(instance: &Arc<Instance>, device: &str, models: &[Model]) -> Result<Renderer> {
    let physical = PhysicalDevice::choose(instance, Some(device), None)?;
    let device = Device::new(instance, physical, false)?;
    let output = Output::offscreen(&device, EXTENT)?;
    renderer(&device, models, output)
}

pub fn renderer(device: &Arc<Device>, models: &[Model], output: Output) -> Result<Renderer> {
    let settings =
        RendererSettings { upload: Some(UploadPath::Staged), shadows: Shadows::Map(64), ..RendererSettings::default() };
    Ok(Renderer::new(device, models, output, settings)?)
}

/// Draws frame 0 from nearby, frame 1 in a debug view, and the later ones in light. Each has another sun.
pub fn draw(scene: &mut Scene, renderer: &mut Renderer, frame: u32) -> Result<FrameOutcome> {
    let camera = scene.camera;
    scene.look.sun.azimuth_degrees = 10.0 * frame as f32;
    if frame == 0 {
        scene.camera.zoom(0.02);
    }
    let view = if frame == 1 { DebugView::Normals } else { DebugView::Lit };
    scene.visualization = Visualization { view, skeleton: frame == 1 };
    let drawn = scene.draw(renderer, f64::from(frame) * 0.3, ASPECT, frame + 1 == FRAMES);
    scene.camera = camera;
    Ok(drawn?.0)
}

pub const FRAMES: u32 = 3;

/// Creates a validating instance from the failing loader.
fn instance(surface_extensions: &[*const c_char]) -> Result<Arc<Instance>> {
    Ok(Instance::with_entry(loader::entry(), InstanceOptions { validation: true, surface_extensions })?)
}
