//! Instance, device and renderer, from the command line's options.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use ash::vk;
use raw_window_handle::{HasDisplayHandle, HasWindowHandle};

use super::scene::Scene;
use crate::cli::{DeviceArgs, GpuArgs, Size, Switch};
use crate::model::Model;
use crate::renderer::memory::{Demand, MemoryLimits, MemoryPlan};
use crate::renderer::{Renderer, RendererSettings, Target};
use crate::vulkan::device::Device;
use crate::vulkan::instance::{Instance, InstanceOptions};
use crate::vulkan::physical_device::PhysicalDevice;
use crate::vulkan::swapchain::Surface;

/// A device that draws to images.
///
/// # Errors
/// No loader, no driver, no device.
pub fn offscreen_device(args: &DeviceArgs) -> Result<Arc<Device>> {
    let instance = Instance::new(InstanceOptions { validation: args.validation, surface_extensions: &[] })?;
    let physical = PhysicalDevice::choose(&instance, args.device.as_deref(), None)?;
    Ok(Device::new(&instance, physical, false)?)
}

/// Where frames follow each other without a break the CPU prepares one while the GPU draws another. A software driver
/// draws on the same cores, and nothing is gained by doing both at once: threads that animate would stand still for
/// milliseconds while it has their cores (within frames on two cores: 44 ns for a joint of mannequiny instead of 9).
#[must_use]
pub fn frames_in_flight(device: &Device) -> usize {
    if device.physical.is_cpu() { 1 } else { 2 }
}

/// A renderer that draws this scene to images. Who reads each image back before the next frame needs one frame in
/// flight.
///
/// # Errors
/// No device, no memory, or options that the device does not support.
pub fn offscreen_renderer(args: &GpuArgs, scene: &mut Scene, frames_in_flight: usize) -> Result<Renderer> {
    let device = offscreen_device(&args.device)?;
    check_memory(&device, args, scene, frames_in_flight)?;
    offscreen_renderer_on(&device, args, &scene.models, frames_in_flight)
}

/// As above, of a device and for crowds whose memory has been looked at: see [`check_memory`].
///
/// # Errors
/// No memory, or options that the device does not support.
pub fn offscreen_renderer_on(
    device: &Arc<Device>,
    args: &GpuArgs,
    models: &[Model],
    frames_in_flight: usize,
) -> Result<Renderer> {
    let target = Target::offscreen(device, extent(args.size))?;
    renderer(device, args, models, target, frames_in_flight)
}

/// Adds up what the scene's frames take, as the camera stands; warns where that is more than there is.
///
/// # Errors
/// Where something is larger than the device allows.
pub fn check_memory(device: &Device, args: &GpuArgs, scene: &mut Scene, frames_in_flight: usize) -> Result<MemoryPlan> {
    let settings = settings(args, frames_in_flight);
    let models = Arc::clone(&scene.models);
    let visible = scene.visible_counts(args.size.aspect(), settings.shadow_map_size.is_some());
    let demand = Demand::new(device, &settings, &models, visible, [args.size.width, args.size.height]);
    let largest_pose = models.iter().map(|model| model.geometry.vertex_count() as u64).max().unwrap_or(0);
    let (plan, warning) = MemoryPlan::check(device, &demand, MemoryLimits::new(device, &settings, largest_pose))?;
    if let Some(warning) = warning {
        tracing::warn!("{warning}");
    }
    Ok(plan)
}

/// A renderer that presents this scene to a window, which must outlive it.
///
/// # Errors
/// As above, or no device that can present.
pub fn window_renderer(
    args: &GpuArgs,
    scene: &mut Scene,
    window: &(impl HasDisplayHandle + HasWindowHandle),
    size: Size,
) -> Result<Renderer> {
    let display = window.display_handle()?;
    let extensions = ash_window::enumerate_required_extensions(display.as_raw())
        .map_err(|result| anyhow::anyhow!("this window system cannot be drawn to with Vulkan ({result})"))?;
    let instance =
        Instance::new(InstanceOptions { validation: args.device.validation, surface_extensions: extensions })?;
    let surface = Arc::new(Surface::new(&instance, window)?);
    let physical =
        PhysicalDevice::choose(&instance, args.device.device.as_deref(), Some((&surface.loader, surface.raw)))?;
    let device = Device::new(&instance, physical, true)?;
    check_memory(&device, &GpuArgs { size, ..args.clone() }, scene, frames_in_flight(&device))?;
    let target = Target::window(surface, extent(size));
    renderer(&device, args, &scene.models, target, frames_in_flight(&device))
}

/// Ends a renderer, and fails if the validation layer has said anything: the last objects' destruction included.
///
/// # Errors
/// The messages.
pub fn finish(renderer: Renderer) -> Result<()> {
    let messages = Arc::clone(renderer.device().instance().validation_messages());
    drop(renderer);
    let messages = messages.all();
    if let Some(first) = messages.first() {
        bail!("{} validation message(s); the first: {first}", messages.len());
    }
    Ok(())
}

fn renderer(
    device: &Arc<Device>,
    args: &GpuArgs,
    models: &[Model],
    target: Target,
    frames_in_flight: usize,
) -> Result<Renderer> {
    let cache_folder = cache_folder();
    let settings = RendererSettings { cache_folder: cache_folder.as_deref(), ..settings(args, frames_in_flight) };
    Ok(Renderer::new(device, models, target, settings)?)
}

fn settings(args: &GpuArgs, frames_in_flight: usize) -> RendererSettings<'static> {
    RendererSettings {
        skinning: args.skinning.into(),
        upload: args.upload.path(),
        samples: args.quality.msaa,
        frames_in_flight,
        shadow_map_size: RendererSettings::default().shadow_map_size.filter(|_| args.quality.shadows == Switch::On),
        ..RendererSettings::default()
    }
}

/// Where the platform keeps caches; `None`: this one has no such place, and nothing is kept.
fn cache_folder() -> Option<PathBuf> {
    dirs::cache_dir().map(|folder| folder.join("throng"))
}

fn extent(size: Size) -> vk::Extent2D {
    vk::Extent2D { width: size.width, height: size.height }
}
