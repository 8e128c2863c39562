//! Semaphores and fences: one timeline that counts frames, a fence for each frame in flight, binary semaphores for the
//! window system.

use std::sync::Arc;

use ash::vk;

use super::device::Device;
use super::error::{Context, Result};

/// A counter that the GPU raises and the CPU waits for.
pub struct TimelineSemaphore {
    /// The handle.
    pub raw: vk::Semaphore,
    device: Arc<Device>,
}

impl TimelineSemaphore {
    /// Starts at 0.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(device: &Arc<Device>, name: &str) -> Result<Self> {
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: a valid create info.
        let raw = unsafe { device.raw.create_semaphore(&info, None) }.context("vkCreateSemaphore")?;
        device.register(raw, name);
        Ok(Self { raw, device: Arc::clone(device) })
    }

    /// Blocks until the counter is at least `value`.
    ///
    /// # Errors
    /// Device lost, or no answer for a minute, which is treated alike.
    pub fn wait(&self, value: u64) -> Result<()> {
        let (semaphores, values) = ([self.raw], [value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: the semaphore is alive.
        unsafe { self.device.raw.wait_semaphores(&info, PATIENCE_NANOSECONDS) }
            .map_err(lost_if_late)
            .context("vkWaitSemaphores")
    }

    /// The counter now.
    ///
    /// # Errors
    /// Device lost.
    pub fn value(&self) -> Result<u64> {
        // SAFETY: the semaphore is alive.
        unsafe { self.device.raw.get_semaphore_counter_value(self.raw) }.context("vkGetSemaphoreCounterValue")
    }
}

/// A value that a timeline is going to reach. Any thread may wait for it, and several at once.
#[derive(Clone)]
pub struct TimelinePoint {
    /// Where.
    pub semaphore: Arc<TimelineSemaphore>,
    /// When.
    pub value: u64,
}

impl TimelinePoint {
    /// Blocks until it is reached.
    ///
    /// # Errors
    /// As [`TimelineSemaphore::wait`].
    pub fn wait(&self) -> Result<()> {
        self.semaphore.wait(self.value)
    }
}

impl Drop for TimelineSemaphore {
    fn drop(&mut self) {
        // SAFETY: the GPU has finished with it (see `Device`).
        unsafe { self.device.raw.destroy_semaphore(self.raw, None) };
    }
}

/// Told by the GPU that one submission is done.
///
/// The timeline says the same; but synchronization validation (1.3.239) learns from fences alone that the CPU has
/// waited, and would report hazards between a frame and the one before in the same slot.
pub struct Fence {
    /// The handle.
    pub raw: vk::Fence,
    device: Arc<Device>,
}

impl Fence {
    /// Unsignalled.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(device: &Arc<Device>, name: &str) -> Result<Self> {
        // SAFETY: a valid create info.
        let raw = unsafe { device.raw.create_fence(&vk::FenceCreateInfo::default(), None) }.context("vkCreateFence")?;
        device.register(raw, name);
        Ok(Self { raw, device: Arc::clone(device) })
    }

    /// Blocks until it is signalled, and makes it unsignalled again. A submission must be going to signal it.
    ///
    /// # Errors
    /// Device lost.
    pub fn wait_and_reset(&self) -> Result<()> {
        let fences = [self.raw];
        // SAFETY: the fence is alive; after the wait no submission uses it.
        unsafe {
            self.device
                .raw
                .wait_for_fences(&fences, true, PATIENCE_NANOSECONDS)
                .map_err(lost_if_late)
                .context("vkWaitForFences")?;
            self.device.raw.reset_fences(&fences).context("vkResetFences")
        }
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        // SAFETY: the GPU has finished with it (see `Device`).
        unsafe { self.device.raw.destroy_fence(self.raw, None) };
    }
}

/// No frame takes this long: a GPU that does not answer is lost.
const PATIENCE_NANOSECONDS: u64 = 60_000_000_000;

fn lost_if_late(result: vk::Result) -> vk::Result {
    if result == vk::Result::TIMEOUT { vk::Result::ERROR_DEVICE_LOST } else { result }
}

/// A binary semaphore, for acquire and present.
pub struct BinarySemaphore {
    /// The handle.
    pub raw: vk::Semaphore,
    device: Arc<Device>,
}

impl BinarySemaphore {
    /// Unsignalled.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(device: &Arc<Device>, name: &str) -> Result<Self> {
        // SAFETY: a valid create info.
        let raw = unsafe { device.raw.create_semaphore(&vk::SemaphoreCreateInfo::default(), None) }
            .context("vkCreateSemaphore")?;
        device.register(raw, name);
        Ok(Self { raw, device: Arc::clone(device) })
    }
}

impl Drop for BinarySemaphore {
    fn drop(&mut self) {
        // SAFETY: neither the GPU nor the presentation engine uses it any more (see `Swapchain`).
        unsafe { self.device.raw.destroy_semaphore(self.raw, None) };
    }
}
