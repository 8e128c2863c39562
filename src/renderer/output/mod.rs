//! Where finished frames go: to a window's swapchain, or to an image for readback.
//!
//! In: the tone-mapped colour of a frame. Out: a presented image, or pixels in mapped memory.

pub mod attachments;

use std::sync::Arc;

use ash::vk;

use crate::renderer::error::{self, Setting};
use crate::vulkan::Result;
use crate::vulkan::barrier::{Access, COLOR_TARGET, ImageBarrier, TRANSFER_SOURCE, discarded};
use crate::vulkan::buffer::{Buffer, BufferMemory};
use crate::vulkan::device::Device;
use crate::vulkan::image::{Image, ImageInfo};
use crate::vulkan::recorder::Recorder;
use crate::vulkan::surface::Surface;
use crate::vulkan::swapchain::Swapchain;
use crate::vulkan::sync::{BinarySemaphore, TimelineSemaphore};

/// The format of offscreen images, with the byte order of PNG.
const OFFSCREEN_FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;
/// The size of a texel of these.
const TEXEL_BYTES: u64 = 4;

/// Core Vulkan cannot wait for presentation. After this many frames of a new swapchain, the last image of the old one is no
/// longer on the screen. Where presentation has fences, they say so instead.
const GRACE_FRAMES: u64 = 4;

pub enum Output {
    Offscreen(OffscreenImage),
    Window(WindowImages),
}

/// One image, and the buffer through which it is read back.
pub struct OffscreenImage {
    image: Image,
    readback: Buffer,
}

/// What a window system wants to be told right before each presentation.
pub type BeforePresent = Box<dyn Fn() + Send + Sync>;

pub struct WindowImages {
    surface: Arc<Surface>,
    swapchain: Option<Swapchain>,
    /// The replaced swapchains, each with the timeline value of the first frame of its successor.
    retired: Vec<(Swapchain, u64)>,
    extent: vk::Extent2D,
    stale: bool,
    before_present: BeforePresent,
}

impl Output {
    pub fn offscreen(device: &Arc<Device>, extent: vk::Extent2D) -> error::Result<Self> {
        let most = device.limits().max_image_dimension2_d;
        if extent.width > most || extent.height > most || extent.width == 0 || extent.height == 0 {
            return Err(error::Error::Unsupported {
                setting: Setting::ImageSize([extent.width, extent.height]),
                device: device.physical.name.clone(),
                supported: format!("1x1 to {most}x{most}"),
            });
        }
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        let info = ImageInfo::color(OFFSCREEN_FORMAT, extent, usage);
        let image = Image::new(device, "offscreen image", info)?;
        let size_bytes = u64::from(extent.width) * u64::from(extent.height) * TEXEL_BYTES;
        let usage = vk::BufferUsageFlags::TRANSFER_DST;
        let readback = Buffer::new(device, "readback", size_bytes, usage, BufferMemory::Readback)?;
        Ok(Self::Offscreen(OffscreenImage { image, readback }))
    }

    /// Returns an output for a window of this size, which calls `before_present` right before each presentation. The first
    /// frame creates the swapchain.
    pub fn window(surface: Arc<Surface>, extent: vk::Extent2D, before_present: BeforePresent) -> Self {
        Self::Window(WindowImages {
            surface,
            swapchain: None,
            retired: Vec::new(),
            extent,
            stale: true,
            before_present,
        })
    }

    /// Returns the size of the image, or the size that the window had when it was last resized.
    pub fn extent(&self) -> vk::Extent2D {
        match self {
            Self::Offscreen(offscreen) => offscreen.image.info().extent,
            Self::Window(window) => window.extent,
        }
    }

    pub fn size(&self) -> [u32; 2] {
        let vk::Extent2D { width, height } = self.extent();
        [width, height]
    }

    /// Returns width / height of the image.
    pub fn aspect(&self) -> f32 {
        let [width, height] = self.size().map(|side| side.max(1) as f32);
        width / height
    }

    /// Sets the new size of the window. The next frame replaces the swapchain. On Wayland, nothing else reports a new size.
    pub fn resize(&mut self, extent: vk::Extent2D) {
        if let Self::Window(window) = self {
            window.extent = extent;
            window.stale = true;
        }
    }

    /// Notes that the values of the timeline start again at 0. All frames have finished.
    pub(super) fn restart_timeline(&mut self) {
        if let Self::Window(window) = self {
            window.retired.iter_mut().for_each(|(_, first_of_successor)| *first_of_successor = 0);
        }
    }

    /// Returns the index of the next image, or `None` if the window has no area or no free image and the frame must be
    /// skipped. `next_value` is the timeline value that this frame will signal.
    ///
    /// # Safety
    /// The caller keeps the promise of [`Swapchain::acquire`].
    pub unsafe fn acquire(
        &mut self,
        device: &Arc<Device>,
        available: &BinarySemaphore,
        timeline: &TimelineSemaphore,
        next_value: u64,
    ) -> Result<Option<u32>> {
        let Self::Window(window) = self else { return Ok(Some(0)) };
        let completed = timeline.value()?;
        // The images are no longer drawn to once a frame of the successor has finished. Presentation may take longer.
        window.retired.retain(|(swapchain, first_of_successor)| match swapchain.is_presented() {
            Some(is_presented) => completed < *first_of_successor || !is_presented,
            None => completed < first_of_successor + GRACE_FRAMES,
        });
        // Twice, because the window may change between the creation of the swapchain and the acquire.
        for _ in 0..2 {
            if window.stale || window.swapchain.is_none() {
                window.replace_swapchain(device, next_value)?;
            }
            let Some(swapchain) = window.swapchain.as_ref().filter(|_| !window.stale) else { return Ok(None) };
            // SAFETY: the caller makes the promise. An attempt without an image does not change the semaphore.
            let (image, is_stale) = unsafe { swapchain.acquire(available, window.extent) }?;
            window.stale |= is_stale;
            if image.is_some() || !is_stale {
                return Ok(image);
            }
        }
        Ok(None)
    }

    pub fn image(&self, index: u32) -> Option<&Image> {
        match self {
            Self::Offscreen(offscreen) => Some(&offscreen.image),
            Self::Window(window) => Some(&window.swapchain.as_ref()?.image(index)?.image),
        }
    }

    /// Changes the image to a colour attachment.
    pub fn begin(&self, recorder: Recorder, image: &Image) {
        let last_use = match self {
            // The last frame's copy has read the image (WAR), and its tone mapping has written it (WAW).
            Self::Offscreen(_) => Access::TRANSFER_READ.finished().and(Access::COLOR_WRITE),
            // The submission waits for the acquired image at this stage, so the layout changes after that.
            Self::Window(_) => Access::COLOR_WRITE.finished(),
        };
        recorder.image_barriers([ImageBarrier::new(image, discarded(last_use), COLOR_TARGET)]);
    }

    /// Changes the drawn image for presentation. Offscreen, copies it for readback if `capture` is set.
    pub fn finish(&self, recorder: Recorder, image: &Image, capture: bool) {
        match self {
            Self::Offscreen(offscreen) if capture => {
                // Tone mapping wrote the image, the copy reads it (RAW).
                recorder.image_barriers([ImageBarrier::new(image, COLOR_TARGET, TRANSFER_SOURCE)]);
                recorder.copy_image_to_buffer(image, &offscreen.readback, image.first_level());
                // The CPU reads the copy (RAW), and the next captured frame overwrites it (WAW).
                recorder.memory_barrier(Access::TRANSFER_WRITE, Access::HOST_READ.and(Access::TRANSFER_WRITE));
            }
            Self::Offscreen(_) => {}
            Self::Window(_) => {
                // Nothing on this queue reads the image any more: the layout changes after the drawing (WAW), and before the
                // stage that signals presentation.
                let presented = (Access::COLOR_WRITE.finished(), vk::ImageLayout::PRESENT_SRC_KHR);
                recorder.image_barriers([ImageBarrier::new(image, COLOR_TARGET, presented)]);
            }
        }
    }

    /// Returns the semaphore that presentation waits for, or `None` offscreen, where the submission waits for no image either.
    pub fn render_finished(&self, index: u32) -> Option<vk::Semaphore> {
        match self {
            Self::Offscreen(_) => None,
            Self::Window(window) => Some(window.swapchain.as_ref()?.image(index)?.render_finished.raw()),
        }
    }

    /// Presents a drawn image.
    ///
    /// # Safety
    /// The caller keeps the promise of [`Swapchain::present`].
    pub unsafe fn present(&mut self, index: u32) -> Result<()> {
        if let Self::Window(window) = self
            && let Some(swapchain) = &mut window.swapchain
        {
            (window.before_present)();
            // Even a window that no longer fits shows the image, and gets a new swapchain afterwards.
            // SAFETY: the caller makes the promise.
            window.stale |= unsafe { swapchain.present(index, window.extent) }?;
        }
        Ok(())
    }

    /// Returns the bytes of the last captured frame: RGBA, rows from the top. Those of a window are not read back.
    ///
    /// # Safety
    /// No frame is in flight while the slice is in use.
    pub unsafe fn pixels(&self) -> &[u8] {
        match self {
            // SAFETY: the caller promises that no frame writes the buffer.
            Self::Offscreen(offscreen) => unsafe { offscreen.readback.mapped_for_reading() },
            Self::Window(_) => &[],
        }
    }
}

impl WindowImages {
    fn replace_swapchain(&mut self, device: &Arc<Device>, next_value: u64) -> Result<()> {
        let old = self.swapchain.as_ref();
        let Some(new) = Swapchain::new(device, &self.surface, self.extent, old)? else {
            // No area: the old swapchain stays until it has a successor.
            self.stale = true;
            return Ok(());
        };
        if let Some(old) = self.swapchain.replace(new) {
            self.retired.push((old, next_value));
        }
        self.stale = false;
        Ok(())
    }
}
