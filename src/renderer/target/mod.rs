//! Where finished frames go: a window's swapchain, or an image that can be read back.

pub mod attachments;

use std::sync::Arc;

use ash::vk;

use crate::vulkan::barrier::{
    Access, COLOR_TARGET, ImageBarrier, TRANSFER_SOURCE, cmd_image_barriers, cmd_memory_barrier, discarded,
};
use crate::vulkan::buffer::{Buffer, BufferMemory};
use crate::vulkan::device::Device;
use crate::vulkan::image::{Image, ImageInfo};
use crate::vulkan::swapchain::{Acquired, Surface, Swapchain};
use crate::vulkan::sync::{BinarySemaphore, TimelineSemaphore};
use crate::vulkan::{Error, Result};

/// Of offscreen images: bytes in the order that PNG wants.
const OFFSCREEN_FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;
const OFFSCREEN_TEXEL_BYTES: u64 = 4;

/// An image to draw this frame into.
#[derive(Debug, Clone, Copy)]
pub struct TargetImage {
    /// The image; its old contents are not wanted.
    pub image: vk::Image,
    /// View of it.
    pub view: vk::ImageView,
    /// Of it.
    pub extent: vk::Extent2D,
    /// Swapchain image index; 0 offscreen.
    pub index: u32,
}

/// A window or an image.
pub enum Target {
    /// Rendered, perhaps read back.
    Offscreen(OffscreenTarget),
    /// Presented.
    Window(WindowTarget),
}

/// One image and the buffer that it is copied to.
pub struct OffscreenTarget {
    image: Image,
    readback: Buffer,
}

/// A surface and its current swapchain.
pub struct WindowTarget {
    surface: Arc<Surface>,
    swapchain: Option<Swapchain>,
    /// Replaced swapchains with the timeline value after which nothing uses them.
    retired: Vec<(Swapchain, u64)>,
    extent: vk::Extent2D,
    stale: bool,
}

impl Target {
    /// An image of this size.
    ///
    /// # Errors
    /// No memory, or larger than the device's images may be.
    pub fn offscreen(device: &Arc<Device>, extent: vk::Extent2D) -> Result<Self> {
        let most = device.limits().max_image_dimension2_d;
        if extent.width > most || extent.height > most || extent.width == 0 || extent.height == 0 {
            return Err(Error::Unsupported {
                option: format!("--size {}x{}", extent.width, extent.height),
                device: device.physical.name.clone(),
                supported: format!("1x1 to {most}x{most}"),
            });
        }
        let info = ImageInfo {
            format: OFFSCREEN_FORMAT,
            extent,
            mip_levels: 1,
            samples: vk::SampleCountFlags::TYPE_1,
            usage: vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC,
            aspect: vk::ImageAspectFlags::COLOR,
        };
        let bytes = u64::from(extent.width) * u64::from(extent.height) * OFFSCREEN_TEXEL_BYTES;
        Ok(Self::Offscreen(OffscreenTarget {
            image: Image::new(device, "offscreen target", info)?,
            readback: Buffer::new(
                device,
                "readback",
                bytes,
                vk::BufferUsageFlags::TRANSFER_DST,
                BufferMemory::Readback,
            )?,
        }))
    }

    /// A window of this size. Its swapchain is made by the first frame.
    #[must_use]
    pub fn window(surface: Arc<Surface>, extent: vk::Extent2D) -> Self {
        Self::Window(WindowTarget { surface, swapchain: None, retired: Vec::new(), extent, stale: true })
    }

    /// Tells that the window has a new size. The swapchain is replaced before the next frame.
    pub fn resize(&mut self, extent: vk::Extent2D) {
        if let Self::Window(window) = self {
            window.extent = extent;
            window.stale = true;
        }
    }

    /// The next image to draw into and its format; `None`: skip this frame (the window has no area or no free image).
    /// `next_value` is the timeline value that this frame will signal.
    ///
    /// # Errors
    /// Surface or device lost, out of memory.
    pub fn acquire(
        &mut self,
        device: &Arc<Device>,
        available: &BinarySemaphore,
        timeline: &TimelineSemaphore,
        next_value: u64,
    ) -> Result<Option<(TargetImage, vk::Format)>> {
        match self {
            Self::Offscreen(target) => {
                let Image { raw: image, view, info, .. } = target.image;
                Ok(Some((TargetImage { image, view, extent: info.extent, index: 0 }, info.format)))
            }
            Self::Window(window) => window.acquire(device, available, timeline, next_value),
        }
    }

    /// Prepares the image for being drawn to.
    pub fn cmd_begin(&self, device: &Device, commands: vk::CommandBuffer, image: &TargetImage) {
        let last_use = match self {
            // The last frame's copy has read the image (WAR), its tone mapping has written it (WAW).
            Self::Offscreen(_) => Access::TRANSFER_READ.finished().and(Access::COLOR_WRITE),
            // Acquiring waits at this stage: the layout changes only once the image is ours.
            Self::Window(_) => Access::COLOR_WRITE.finished(),
        };
        cmd_image_barriers(device, commands, [ImageBarrier::color(image.image, discarded(last_use), COLOR_TARGET)]);
    }

    /// After drawing: hands the image to presentation, or copies it for reading back where `capture` is set.
    pub fn cmd_finish(&self, device: &Device, commands: vk::CommandBuffer, image: &TargetImage, capture: bool) {
        match self {
            Self::Window(_) => {
                // Nothing on this queue reads it; the semaphore that presentation waits for is signalled at this stage.
                let presented = (Access::COLOR_WRITE.finished(), vk::ImageLayout::PRESENT_SRC_KHR);
                cmd_image_barriers(device, commands, [ImageBarrier::color(image.image, COLOR_TARGET, presented)]);
            }
            Self::Offscreen(target) if capture => {
                // Tone mapping wrote the image, the copy reads it (RAW).
                cmd_image_barriers(device, commands, [ImageBarrier::color(image.image, COLOR_TARGET, TRANSFER_SOURCE)]);
                target.cmd_copy(device, commands);
            }
            Self::Offscreen(_) => {}
        }
    }

    /// What the frame's submission waits for before it draws to the image.
    #[must_use]
    pub fn waits_for_image(&self) -> bool {
        matches!(self, Self::Window(_))
    }

    /// What presentation waits for; `None` offscreen.
    #[must_use]
    pub fn render_finished(&self, image: &TargetImage) -> Option<vk::Semaphore> {
        match self {
            Self::Offscreen(_) => None,
            Self::Window(window) => {
                let images = &window.swapchain.as_ref()?.images;
                Some(images.get(image.index as usize)?.render_finished.raw)
            }
        }
    }

    /// Shows a drawn image.
    ///
    /// # Errors
    /// Surface or device lost.
    pub fn present(&mut self, image: &TargetImage) -> Result<()> {
        if let Self::Window(window) = self
            && let Some(swapchain) = &window.swapchain
        {
            window.stale |= swapchain.present(image.index)?;
        }
        Ok(())
    }

    /// The bytes of the last captured frame: RGBA, rows from the top. Empty for windows. The caller has waited.
    #[must_use]
    pub fn pixels(&self) -> &[u8] {
        match self {
            Self::Offscreen(target) => target.readback.mapped_for_reading(),
            Self::Window(_) => &[],
        }
    }
}

impl OffscreenTarget {
    fn cmd_copy(&self, device: &Device, commands: vk::CommandBuffer) {
        let extent = self.image.info.extent;
        let region = vk::BufferImageCopy::default()
            .image_subresource(vk::ImageSubresourceLayers {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                mip_level: 0,
                base_array_layer: 0,
                layer_count: 1,
            })
            .image_extent(vk::Extent3D { width: extent.width, height: extent.height, depth: 1 });
        // SAFETY: the buffer holds the whole image, which is in the layout named.
        unsafe {
            device.raw.cmd_copy_image_to_buffer(
                commands,
                self.image.raw,
                vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
                self.readback.raw,
                &[region],
            );
        }
        // The CPU reads the copy (RAW); the next captured frame overwrites it (WAW).
        let copied = Access::TRANSFER_WRITE;
        cmd_memory_barrier(device, commands, copied, Access::HOST_READ.and(copied));
    }
}

impl WindowTarget {
    fn acquire(
        &mut self,
        device: &Arc<Device>,
        available: &BinarySemaphore,
        timeline: &TimelineSemaphore,
        next_value: u64,
    ) -> Result<Option<(TargetImage, vk::Format)>> {
        let completed = timeline.value()?;
        self.retired.retain(|&(_, last_use)| last_use > completed);
        // Once more if the window changed between making the swapchain and asking for an image.
        for _ in 0..2 {
            if self.stale || self.swapchain.is_none() {
                self.replace_swapchain(device, next_value)?;
            }
            let Some(swapchain) = self.swapchain.as_ref().filter(|_| !self.stale) else { return Ok(None) };
            match swapchain.acquire(available)? {
                Acquired::Image(index, suboptimal) => {
                    self.stale |= suboptimal;
                    let image = swapchain.images.get(index as usize).map(|image| TargetImage {
                        image: image.raw,
                        view: image.view,
                        extent: swapchain.extent,
                        index,
                    });
                    return Ok(image.map(|image| (image, swapchain.format)));
                }
                Acquired::OutOfDate => self.stale = true,
                Acquired::TimedOut => return Ok(None),
            }
        }
        Ok(None)
    }

    fn replace_swapchain(&mut self, device: &Arc<Device>, next_value: u64) -> Result<()> {
        /// Presentation cannot be waited for in core Vulkan. By the time this many frames of the new swapchain are
        /// done, the old one's last image has long left the screen.
        const GRACE_FRAMES: u64 = 4;
        let old = self.swapchain.as_ref();
        let Some(new) = Swapchain::new(device, &self.surface, self.extent, old)? else {
            // No area: the old one stays, to be handed to its successor.
            self.stale = true;
            return Ok(());
        };
        if let Some(old) = self.swapchain.replace(new) {
            self.retired.push((old, next_value + GRACE_FRAMES));
        }
        self.stale = false;
        Ok(())
    }
}
