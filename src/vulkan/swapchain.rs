//! Surface and swapchain: what presentation needs, and how it ends.
//!
//! Rules followed here (VK_KHR_surface, VK_KHR_swapchain): a zero extent can have no swapchain; SUBOPTIMAL still gives
//! an image; a render-finished semaphore belongs to a swapchain *image*, because only acquiring that image again proves
//! that presentation has waited for it; and waiting for the device does not cover presentation, so a replaced swapchain
//! is kept by the renderer until frames of the new one are done (`renderer::target`).

use std::sync::Arc;

use ash::{khr, vk};
use raw_window_handle::{HasDisplayHandle, HasWindowHandle};

use super::device::Device;
use super::error::{Context, Error, Result};
use super::image::create_view;
use super::instance::Instance;
use super::sync::BinarySemaphore;

/// A window's surface.
pub struct Surface {
    /// The handle.
    pub raw: vk::SurfaceKHR,
    /// Its functions.
    pub loader: khr::surface::Instance,
    _instance: Arc<Instance>,
}

impl Surface {
    /// Makes the surface of a window. The window must outlive it: who owns both drops the surface first.
    ///
    /// # Errors
    /// No window handle, or the driver cannot draw to this window system.
    pub fn new(instance: &Arc<Instance>, window: &(impl HasDisplayHandle + HasWindowHandle)) -> Result<Self> {
        let no_handle = |_| Error::Call { call: "window handle", result: vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR };
        let display = window.display_handle().map_err(no_handle)?.as_raw();
        let handle = window.window_handle().map_err(no_handle)?.as_raw();
        // SAFETY: the handles are those of a living window, which outlives the surface (see above).
        let raw = unsafe { ash_window::create_surface(instance.entry(), instance.raw(), display, handle, None) }
            .context("vkCreateSurfaceKHR")?;
        let loader = khr::surface::Instance::new(instance.entry(), instance.raw());
        Ok(Self { raw, loader, _instance: Arc::clone(instance) })
    }
}

impl Drop for Surface {
    fn drop(&mut self) {
        // SAFETY: swapchains hold an `Arc` of this surface, so none is left.
        unsafe { self.loader.destroy_surface(self.raw, None) };
    }
}

/// One image of a swapchain.
pub struct SwapchainImage {
    /// Owned by the swapchain.
    pub raw: vk::Image,
    /// View of it.
    pub view: vk::ImageView,
    /// Signalled when the frame that drew it is done; waited for by presentation.
    pub render_finished: BinarySemaphore,
}

/// What acquiring gave.
pub enum Acquired {
    /// Index of the image; whether the swapchain should be replaced after presenting.
    Image(u32, bool),
    /// The swapchain no longer fits the window: replace it and try again. No semaphore was touched.
    OutOfDate,
    /// No image came in time: skip the frame.
    TimedOut,
}

/// A swapchain with its images.
pub struct Swapchain {
    /// Images, views and semaphores, by image index.
    pub images: Vec<SwapchainImage>,
    /// Of the images.
    pub extent: vk::Extent2D,
    /// Of the images.
    pub format: vk::Format,
    raw: vk::SwapchainKHR,
    loader: khr::swapchain::Device,
    device: Arc<Device>,
    _surface: Arc<Surface>,
}

impl Swapchain {
    /// Makes a swapchain of the window's current size; `window_extent` is used where the surface leaves it open
    /// (Wayland). `None` while the window has no area.
    ///
    /// # Errors
    /// Surface or device lost, out of memory.
    pub fn new(
        device: &Arc<Device>,
        surface: &Arc<Surface>,
        window_extent: vk::Extent2D,
        old: Option<&Self>,
    ) -> Result<Option<Self>> {
        let physical = device.physical.raw;
        // SAFETY: device and surface belong to the same, living instance.
        let (capabilities, formats) = unsafe {
            (
                surface
                    .loader
                    .get_physical_device_surface_capabilities(physical, surface.raw)
                    .context("vkGetPhysicalDeviceSurfaceCapabilitiesKHR")?,
                surface
                    .loader
                    .get_physical_device_surface_formats(physical, surface.raw)
                    .context("vkGetPhysicalDeviceSurfaceFormatsKHR")?,
            )
        };
        let extent = choose_extent(&capabilities, window_extent);
        if extent.width == 0 || extent.height == 0 {
            return Ok(None);
        }
        let format = choose_format(&formats)
            .ok_or(Error::Call { call: "choosing a surface format", result: vk::Result::ERROR_FORMAT_NOT_SUPPORTED })?;
        let most = if capabilities.max_image_count == 0 { u32::MAX } else { capabilities.max_image_count };
        let info = vk::SwapchainCreateInfoKHR::default()
            .surface(surface.raw)
            .min_image_count((capabilities.min_image_count + 1).min(most))
            .image_format(format.format)
            .image_color_space(format.color_space)
            .image_extent(extent)
            .image_array_layers(1)
            .image_usage(vk::ImageUsageFlags::COLOR_ATTACHMENT)
            .image_sharing_mode(vk::SharingMode::EXCLUSIVE)
            .pre_transform(capabilities.current_transform)
            .composite_alpha(choose_composite_alpha(capabilities.supported_composite_alpha))
            // Paced by the display, without tearing; every surface has it. `bench` runs offscreen, unthrottled.
            .present_mode(vk::PresentModeKHR::FIFO)
            .clipped(true)
            .old_swapchain(old.map_or(vk::SwapchainKHR::null(), |old| old.raw));
        let loader = khr::swapchain::Device::new(device.instance().raw(), &device.raw);
        // SAFETY: the surface is alive; an old swapchain belongs to it and is retired by this call.
        let raw = unsafe { loader.create_swapchain(&info, None) }.context("vkCreateSwapchainKHR")?;
        device.register(raw, "swapchain");
        let mut swapchain = Self {
            images: Vec::new(),
            extent,
            format: format.format,
            raw,
            loader,
            device: Arc::clone(device),
            _surface: Arc::clone(surface),
        };
        // SAFETY: the swapchain was just made.
        let images = unsafe { swapchain.loader.get_swapchain_images(raw) }.context("vkGetSwapchainImagesKHR")?;
        for (index, image) in images.into_iter().enumerate() {
            let render_finished = BinarySemaphore::new(device, &format!("render finished {index}"))?;
            let view = create_view(device, image, format.format, vk::ImageAspectFlags::COLOR, 1)?;
            device.register(view, &format!("swapchain image {index}"));
            swapchain.images.push(SwapchainImage { raw: image, view, render_finished });
        }
        Ok(Some(swapchain))
    }

    /// Asks for an image; `available` is signalled when it may be drawn to.
    ///
    /// # Errors
    /// Surface or device lost.
    pub fn acquire(&self, available: &BinarySemaphore) -> Result<Acquired> {
        const PATIENCE_NANOSECONDS: u64 = 1_000_000_000;
        // SAFETY: the semaphore is unsignalled: the frame that last waited for it is done.
        let result =
            unsafe { self.loader.acquire_next_image(self.raw, PATIENCE_NANOSECONDS, available.raw, vk::Fence::null()) };
        match result {
            Ok((index, suboptimal)) => Ok(Acquired::Image(index, suboptimal)),
            Err(vk::Result::ERROR_OUT_OF_DATE_KHR) => Ok(Acquired::OutOfDate),
            Err(vk::Result::TIMEOUT | vk::Result::NOT_READY) => Ok(Acquired::TimedOut),
            Err(result) => Err(Error::Call { call: "vkAcquireNextImageKHR", result }),
        }
    }

    /// Shows image `index` once its `render_finished` is signalled. True: replace the swapchain before the next frame.
    ///
    /// # Errors
    /// Surface or device lost.
    pub fn present(&self, index: u32) -> Result<bool> {
        let Some(image) = self.images.get(index as usize) else { return Ok(true) };
        let (waits, swapchains, indices) = ([image.render_finished.raw], [self.raw], [index]);
        let info =
            vk::PresentInfoKHR::default().wait_semaphores(&waits).swapchains(&swapchains).image_indices(&indices);
        let queue = self.device.queue();
        // SAFETY: the image was acquired and its drawing submitted; the guard keeps others from the queue.
        match unsafe { self.loader.queue_present(*queue, &info) } {
            Ok(suboptimal) => Ok(suboptimal),
            Err(vk::Result::ERROR_OUT_OF_DATE_KHR) => Ok(true),
            Err(result) => Err(Error::Call { call: "vkQueuePresentKHR", result }),
        }
    }
}

impl Drop for Swapchain {
    fn drop(&mut self) {
        // SAFETY: the renderer has waited for the frames that used the images (`renderer::target`).
        unsafe {
            for image in &self.images {
                self.device.raw.destroy_image_view(image.view, None);
            }
            self.loader.destroy_swapchain(self.raw, None);
        }
    }
}

fn choose_extent(capabilities: &vk::SurfaceCapabilitiesKHR, window: vk::Extent2D) -> vk::Extent2D {
    // Wayland: the swapchain decides the window's size.
    const SURFACE_LEAVES_IT_OPEN: u32 = u32::MAX;
    if capabilities.current_extent.width != SURFACE_LEAVES_IT_OPEN {
        return capabilities.current_extent;
    }
    let (min, max) = (capabilities.min_image_extent, capabilities.max_image_extent);
    vk::Extent2D {
        width: window.width.max(min.width).min(max.width),
        height: window.height.max(min.height).min(max.height),
    }
}

/// Plain eight-bit formats first: the shader encodes sRGB itself, which is the same on every driver.
fn choose_format(formats: &[vk::SurfaceFormatKHR]) -> Option<vk::SurfaceFormatKHR> {
    let srgb = |format: &&vk::SurfaceFormatKHR| format.color_space == vk::ColorSpaceKHR::SRGB_NONLINEAR;
    let preferred =
        [vk::Format::B8G8R8A8_UNORM, vk::Format::R8G8B8A8_UNORM, vk::Format::B8G8R8A8_SRGB, vk::Format::R8G8B8A8_SRGB];
    preferred
        .iter()
        .find_map(|&wanted| formats.iter().filter(srgb).find(|format| format.format == wanted))
        .or_else(|| formats.first())
        .copied()
}

/// Whether writing to images of this format encodes sRGB by itself.
#[must_use]
pub fn encodes_srgb(format: vk::Format) -> bool {
    matches!(format, vk::Format::B8G8R8A8_SRGB | vk::Format::R8G8B8A8_SRGB | vk::Format::A8B8G8R8_SRGB_PACK32)
}

fn choose_composite_alpha(supported: vk::CompositeAlphaFlagsKHR) -> vk::CompositeAlphaFlagsKHR {
    use vk::CompositeAlphaFlagsKHR as Alpha;
    [Alpha::OPAQUE, Alpha::INHERIT, Alpha::PRE_MULTIPLIED, Alpha::POST_MULTIPLIED]
        .into_iter()
        .find(|&alpha| supported.contains(alpha))
        .unwrap_or(Alpha::OPAQUE)
}
