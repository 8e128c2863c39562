//! The swapchain, for presentation.
//!
//! The rules (VK_KHR_surface, VK_KHR_swapchain): a window without area has no swapchain. SUBOPTIMAL still returns an image. A
//! render-finished semaphore belongs to a swapchain *image*, because only the next acquire of that image proves that
//! presentation has waited for it. Waiting for the device does not cover presentation. With `VK_EXT_swapchain_maintenance1`,
//! each presentation signals a fence, and the renderer keeps a replaced swapchain until then. Without it, the renderer keeps
//! the swapchain until some frames of the new one have finished (`renderer::output`).

use std::sync::Arc;

use ash::{khr, vk};

use super::device::Device;
use super::error::{Context, Error, Result};
use super::image::{Image, ImageInfo};
use super::surface::Surface;
use super::sync::{BinarySemaphore, Fence};

pub struct SwapchainImage {
    /// The image, which the swapchain owns.
    pub image: Image,
    /// Signalled when the frame that drew the image has finished. Presentation waits for it.
    pub render_finished: BinarySemaphore,
    /// Signalled when presentation has finished with the image and its semaphore. `None` where presentation has no fences.
    presented: Option<Fence>,
    /// Whether a presentation was queued that signals the fence.
    is_presenting: bool,
}

pub struct Swapchain {
    images: Vec<SwapchainImage>,
    extent: vk::Extent2D,
    transform: vk::SurfaceTransformFlagsKHR,
    raw: vk::SwapchainKHR,
    loader: khr::swapchain::Device,
    device: Arc<Device>,
    surface: Arc<Surface>,
}

impl Swapchain {
    /// Creates a swapchain of the window's current size. `window_extent` is used if the surface has no size (Wayland). Returns
    /// `None` if the window has no area, as when it is minimised on Windows.
    pub fn new(
        device: &Arc<Device>,
        surface: &Arc<Surface>,
        window_extent: vk::Extent2D,
        old: Option<&Self>,
    ) -> Result<Option<Self>> {
        let capabilities = capabilities_of(device, surface)?;
        // SAFETY: device and surface belong to the same, living instance.
        let formats = unsafe { surface.loader.get_physical_device_surface_formats(device.physical.raw, surface.raw) }
            .context("vkGetPhysicalDeviceSurfaceFormatsKHR")?;
        let extent = choose_extent(&capabilities, window_extent);
        if extent.width == 0 || extent.height == 0 {
            return Ok(None);
        }
        let format = choose_format(&formats)
            .ok_or(Error::call("choosing a surface format", vk::Result::ERROR_FORMAT_NOT_SUPPORTED))?;
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT;
        let max = if capabilities.max_image_count == 0 { u32::MAX } else { capabilities.max_image_count };
        let info = vk::SwapchainCreateInfoKHR::default()
            .surface(surface.raw)
            .min_image_count((capabilities.min_image_count + 1).min(max))
            .image_format(format.format)
            .image_color_space(format.color_space)
            .image_extent(extent)
            .image_array_layers(1)
            .image_usage(usage)
            .image_sharing_mode(vk::SharingMode::EXCLUSIVE)
            .pre_transform(capabilities.current_transform)
            .composite_alpha(choose_composite_alpha(capabilities.supported_composite_alpha))
            // The display limits the frame rate, without tearing. Every surface supports it. `bench` runs offscreen.
            .present_mode(vk::PresentModeKHR::FIFO)
            .clipped(true)
            .old_swapchain(old.map_or(vk::SwapchainKHR::null(), |old| old.raw));
        let loader = khr::swapchain::Device::new(&device.instance.raw, &device.raw);
        // SAFETY: the surface is alive. An old swapchain belongs to it, and this call retires it.
        let raw = unsafe { loader.create_swapchain(&info, None) }.context("vkCreateSwapchainKHR")?;
        device.register(raw, "swapchain");
        let mut swapchain = Self {
            images: Vec::new(),
            extent,
            transform: capabilities.current_transform,
            raw,
            loader,
            device: Arc::clone(device),
            surface: Arc::clone(surface),
        };
        // SAFETY: the swapchain was just made.
        let images = unsafe { swapchain.loader.get_swapchain_images(raw) }.context("vkGetSwapchainImagesKHR")?;
        for (index, image) in images.into_iter().enumerate() {
            let render_finished = BinarySemaphore::new(device, &format!("render finished {index}"))?;
            let presented = || Fence::new(device, &format!("presented {index}"));
            let presented = device.physical.has_present_fences.then(presented).transpose()?;
            let info = ImageInfo::color(format.format, extent, usage);
            let image = Image::with_view(device, &format!("swapchain image {index}"), image, info, None)?;
            swapchain.images.push(SwapchainImage { image, render_finished, presented, is_presenting: false });
        }
        Ok(Some(swapchain))
    }

    pub fn image(&self, index: u32) -> Option<&SwapchainImage> {
        self.images.get(index as usize)
    }

    /// Acquires an image. `available` is signalled when the image may be drawn to. Returns the index of the image, or `None` if
    /// there was none in time; and whether the swapchain no longer fits the window and must be replaced.
    ///
    /// # Safety
    /// `available` is unsignalled, and the frame that last waited for it has finished.
    pub unsafe fn acquire(
        &self,
        available: &BinarySemaphore,
        window_extent: vk::Extent2D,
    ) -> Result<(Option<u32>, bool)> {
        // A window that is hidden may get no image, and its program must still see events.
        const TIMEOUT_NANOSECONDS: u64 = 1_000_000_000;
        // SAFETY: the caller makes the promise.
        let result = unsafe {
            self.loader.acquire_next_image(self.raw, TIMEOUT_NANOSECONDS, available.raw(), vk::Fence::null())
        };
        match result {
            // The semaphore will be signalled, so even a suboptimal image must be drawn and presented.
            Ok((index, suboptimal)) => Ok((Some(index), suboptimal && !self.fits(window_extent)?)),
            // There is no image, and the semaphore stays as it was.
            Err(vk::Result::ERROR_OUT_OF_DATE_KHR) => Ok((None, true)),
            Err(vk::Result::TIMEOUT | vk::Result::NOT_READY) => Ok((None, false)),
            Err(result) => Err(Error::call("vkAcquireNextImageKHR", result)),
        }
    }

    /// Returns whether the surface still has the swapchain's size and transform. A suboptimal swapchain is replaced only if
    /// it has not: some window systems call every swapchain suboptimal, and a new one would be no better.
    fn fits(&self, window_extent: vk::Extent2D) -> Result<bool> {
        let capabilities = capabilities_of(&self.device, &self.surface)?;
        let extent = choose_extent(&capabilities, window_extent);
        Ok((extent, capabilities.current_transform) == (self.extent, self.transform))
    }

    /// Presents image `index` after its `render_finished` semaphore. Returns whether the swapchain no longer fits the window.
    ///
    /// # Safety
    /// The image is acquired, and the commands that draw it and signal its semaphore are submitted.
    pub unsafe fn present(&mut self, index: u32, window_extent: vk::Extent2D) -> Result<bool> {
        let Some(image) = self.images.get_mut(index as usize) else { return Ok(true) };
        let (waits, swapchains, indices) = ([image.render_finished.raw()], [self.raw], [index]);
        let mut info =
            vk::PresentInfoKHR::default().wait_semaphores(&waits).swapchains(&swapchains).image_indices(&indices);
        let (fences, mut fence_info);
        if let Some(presented) = &image.presented {
            if std::mem::take(&mut image.is_presenting) {
                // The image was acquired again, so this does not wait.
                presented.wait_and_reset()?;
            }
            fences = [presented.raw()];
            fence_info = vk::SwapchainPresentFenceInfoEXT::default().fences(&fences);
            info = info.push_next(&mut fence_info);
        }
        let queue = self.device.queue();
        // SAFETY: the caller makes the promise. The guard locks the queue. The fence is not signalled.
        let result = unsafe { self.loader.queue_present(*queue, &info) };
        // A presentation that the window system refuses is still queued: it waits for its semaphore and signals its
        // fence. One that fails for another reason is not.
        image.is_presenting =
            matches!(result, Ok(_) | Err(vk::Result::ERROR_OUT_OF_DATE_KHR | vk::Result::ERROR_SURFACE_LOST_KHR));
        match result {
            Ok(suboptimal) => Ok(suboptimal && !self.fits(window_extent)?),
            Err(vk::Result::ERROR_OUT_OF_DATE_KHR) => Ok(true),
            Err(result) => Err(Error::call("vkQueuePresentKHR", result)),
        }
    }

    /// Returns whether presentation has finished with all images and semaphores. `None` where presentation has no fences.
    pub fn is_presented(&self) -> Option<bool> {
        self.device.physical.has_present_fences.then(|| self.wait_for_presentation(0))
    }

    /// Waits until presentation has finished with all images, but not longer than this for each. Returns whether it has.
    fn wait_for_presentation(&self, nanoseconds: u64) -> bool {
        let fences =
            self.images.iter().filter(|image| image.is_presenting).filter_map(|image| image.presented.as_ref());
        // Nothing is presented on a lost device.
        fences.map(|fence| fence.wait(nanoseconds)).all(|result| result != Err(vk::Result::TIMEOUT))
    }
}

impl Drop for Swapchain {
    fn drop(&mut self) {
        // Far longer than a presentation takes. The fences of a window that is gone may never be signalled.
        const PATIENCE_NANOSECONDS: u64 = 1_000_000_000;
        self.wait_for_presentation(PATIENCE_NANOSECONDS);
        // The views go before their images.
        self.images.clear();
        // SAFETY: the renderer has waited for the frames that used the images (`renderer::output`).
        unsafe { self.loader.destroy_swapchain(self.raw, None) };
    }
}

fn capabilities_of(device: &Device, surface: &Surface) -> Result<vk::SurfaceCapabilitiesKHR> {
    // SAFETY: device and surface belong to the same, living instance.
    unsafe { surface.loader.get_physical_device_surface_capabilities(device.physical.raw, surface.raw) }
        .context("vkGetPhysicalDeviceSurfaceCapabilitiesKHR")
}

fn choose_extent(capabilities: &vk::SurfaceCapabilitiesKHR, window: vk::Extent2D) -> vk::Extent2D {
    // On Wayland the swapchain decides the size of the window.
    const UNDEFINED_BY_SURFACE: u32 = u32::MAX;
    if capabilities.current_extent.width != UNDEFINED_BY_SURFACE {
        return capabilities.current_extent;
    }
    if window.width == 0 || window.height == 0 {
        return vk::Extent2D::default();
    }
    let (min, max) = (capabilities.min_image_extent, capabilities.max_image_extent);
    vk::Extent2D {
        width: window.width.max(min.width).min(max.width),
        height: window.height.max(min.height).min(max.height),
    }
}

/// Returns the best format. UNORM formats come first: the shader then encodes sRGB, with the same result on every driver.
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
