//! Creates instance, device and renderer from the command line's options.

use std::ops::Deref;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use ash::vk;
use raw_window_handle::HasDisplayHandle;
use winit::window::Window;

use super::scene::Scene;
use super::text::counted;
use crate::cli::{DeviceArgs, GpuArgs, QualityArgs, Size, UploadChoice};
use crate::extras::{Equipped, Show};
use crate::model::Model;
use crate::renderer::memory::Forecast;
use crate::renderer::{Output, Renderer, RendererSettings, ShaderOverride, Shadows, Skinning};
use crate::view::Background;
use crate::vulkan::device::Device;
use crate::vulkan::instance::{Instance, InstanceOptions};
use crate::vulkan::physical_device::PhysicalDevice;
use crate::vulkan::surface::Surface;

pub fn offscreen_device(args: &DeviceArgs) -> Result<Arc<Device>> {
    let instance = Instance::new(InstanceOptions { validation: args.validation, surface_extensions: &[] })?;
    let physical = PhysicalDevice::choose(&instance, args.device.as_deref(), None)?;
    Ok(Device::new(&instance, physical, false)?)
}

/// Returns the number of frames in flight: two, so that the CPU prepares a frame while the GPU draws another one.
///
/// A driver that draws on the CPU's cores gets one: threads that animate would wait for these cores.
pub fn frames_in_flight(device: &Device) -> usize {
    if device.physical.is_cpu() { 1 } else { 2 }
}

/// Creates a renderer that draws a scene to images. One frame is in flight, because each image is read back before the next
/// frame. With the background `none` the images are transparent.
pub fn offscreen_renderer(device: &Arc<Device>, args: &GpuArgs, scene: &mut Scene) -> Result<Equipped> {
    let transparent = scene.look.background == Background::None;
    let settings = settings(args.skinning, args.upload, args.quality, 1);
    let settings = RendererSettings { transparent, ..settings };
    check_memory(device, &settings, args.size, scene, false)?;
    offscreen_renderer_on(device, settings, args.size, &scene.models)
}

/// Creates a renderer on a device that [`check_memory`] found large enough.
pub fn offscreen_renderer_on(
    device: &Arc<Device>,
    settings: RendererSettings,
    size: Size,
    models: &[Model],
) -> Result<Equipped> {
    Ok(Renderer::new(device, models, Output::offscreen(device, extent(size))?, settings)?.into())
}

/// Adds up what the scene's frames take of the device for the present camera. It is an error if the device cannot hold them.
pub fn check_memory(
    device: &Device,
    settings: &RendererSettings,
    size: Size,
    scene: &mut Scene,
    is_window: bool,
) -> Result<()> {
    let (models, instances) = (Arc::clone(&scene.models), scene.crowd.instance_count() as u64);
    let image = [size.width, size.height];
    let additions = scene.show.additions(&models, instances, image, is_window);
    let visible = scene.visible_counts(size.aspect(), settings.shadows != Shadows::Off);
    Forecast::new(device, settings, &models, visible, image, additions).check()?;
    Ok(())
}

/// Returns what a number of instances would take in a window, if all were visible.
pub fn forecast(
    device: &Device,
    settings: &RendererSettings,
    models: &[Model],
    show: &Show,
    instances: u32,
    size: Size,
) -> Forecast {
    let model_count = models.len().max(1) as u32;
    let counts: Vec<u32> =
        (0..model_count).map(|model| instances / model_count + u32::from(model < instances % model_count)).collect();
    let image = [size.width, size.height];
    let additions = show.additions(models, instances.into(), image, true);
    Forecast::new(device, settings, models, (&counts, &counts), image, additions)
}

/// Builds a window's renderer again, for other models or settings. The window stays. After an error the renderer is as it was.
pub fn rebuild_for_window(
    renderer: &mut Equipped,
    args: &GpuArgs,
    shaders: &[ShaderOverride],
    scene: &mut Scene,
    size: Size,
) -> Result<()> {
    let settings = window_settings(args, shaders, renderer.device());
    check_memory(renderer.device(), &settings, size, scene, true)?;
    Ok(renderer.rebuild(&scene.models, settings)?)
}

pub fn window_renderer(
    args: &GpuArgs,
    shaders: &[ShaderOverride],
    scene: &mut Scene,
    window: &Arc<Window>,
    size: Size,
) -> Result<Equipped> {
    let display = window.display_handle()?;
    let extensions = ash_window::enumerate_required_extensions(display.as_raw())
        .map_err(|result| anyhow!("Vulkan cannot draw to this window system ({result})"))?;
    let instance =
        Instance::new(InstanceOptions { validation: args.device.validation, surface_extensions: extensions })?;
    let surface = Arc::new(Surface::new(&instance, window)?);
    let physical = PhysicalDevice::choose(&instance, args.device.device.as_deref(), Some(&surface))?;
    let device = Device::new(&instance, physical, true)?;
    let settings = window_settings(args, shaders, &device);
    check_memory(&device, &settings, size, scene, true)?;
    let notified = Arc::clone(window);
    // Wayland then asks for the next frame when the screen can show it.
    let before_present = Box::new(move || notified.pre_present_notify());
    Ok(Renderer::new(&device, &scene.models, Output::window(surface, extent(size), before_present), settings)?.into())
}

/// Returns the settings of a renderer for a window, with the values of `auto`. A software driver draws on the cores of the
/// processor, so it starts with one sample per pixel, unless the options say otherwise.
pub fn window_settings<'a>(args: &GpuArgs, shaders: &'a [ShaderOverride], device: &Device) -> RendererSettings<'a> {
    let mut settings = settings(args.skinning, args.upload, args.quality, frames_in_flight(device));
    settings.shaders = shaders;
    if device.physical.is_cpu() {
        settings.samples = args.quality.msaa.unwrap_or(1);
    }
    settings
}

/// Destroys a renderer, then checks that the validation layer has reported nothing.
pub fn finish(renderer: impl Deref<Target = Renderer>) -> Result<()> {
    let messages = Arc::clone(&renderer.device().instance.validation_messages);
    drop(renderer);
    let messages = messages.all();
    if let Some(first) = messages.first() {
        bail!("{}; the first: {first}", counted(messages.len(), "validation message"));
    }
    Ok(())
}

/// Returns the settings of a renderer without those that depend on a window or a scene.
pub fn settings(
    skinning: Skinning,
    upload: UploadChoice,
    quality: QualityArgs,
    frames_in_flight: usize,
) -> RendererSettings<'static> {
    let (samples, shadows) = (quality.samples(), quality.shadows.into());
    RendererSettings { skinning, upload, samples, frames_in_flight, shadows, ..RendererSettings::default() }
}

fn extent(size: Size) -> vk::Extent2D {
    vk::Extent2D { width: size.width, height: size.height }
}
