//! Semaphores and fences: a timeline that counts frames, binary semaphores for the window system, and fences for an old
//! validation layer and for presentation.

use std::sync::Arc;

use ash::vk;

use super::device::Device;
use super::error::{Context, Result};
use super::owned::Owned;

fn semaphore(device: &Arc<Device>, name: &str, kind: vk::SemaphoreType) -> Result<Owned<vk::Semaphore>> {
    let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(kind);
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
    // SAFETY: a valid create info.
    let raw = unsafe { device.raw.create_semaphore(&info, None) }.context_for("vkCreateSemaphore", name)?;
    // SAFETY: it was just made. Before it is dropped, presentation has finished with it too (see `Swapchain`).
    Ok(unsafe { Owned::new(device, name, raw, ash::Device::destroy_semaphore) })
}

pub struct BinarySemaphore(Owned<vk::Semaphore>);

impl BinarySemaphore {
    pub fn new(device: &Arc<Device>, name: &str) -> Result<Self> {
        semaphore(device, name, vk::SemaphoreType::BINARY).map(Self)
    }

    pub fn raw(&self) -> vk::Semaphore {
        self.0.raw
    }
}

/// A timeline semaphore: a counter that the GPU increases and the CPU waits for.
pub struct TimelineSemaphore(Owned<vk::Semaphore>);

impl TimelineSemaphore {
    /// Creates a timeline that starts at 0.
    pub fn new(device: &Arc<Device>, name: &str) -> Result<Self> {
        semaphore(device, name, vk::SemaphoreType::TIMELINE).map(Self)
    }

    pub fn raw(&self) -> vk::Semaphore {
        self.0.raw
    }

    /// Waits until the counter is at least `value`.
    ///
    /// # Errors
    /// Device lost. A timeout counts as a lost device.
    pub fn wait(&self, value: u64) -> Result<()> {
        let (semaphores, values) = ([self.0.raw], [value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: the semaphore is alive.
        unsafe { self.0.device.raw.wait_semaphores(&info, timeout_nanoseconds(&self.0.device)) }
            .map_err(lost_if_late)
            .context("vkWaitSemaphores")
    }

    pub fn value(&self) -> Result<u64> {
        // SAFETY: the semaphore is alive.
        unsafe { self.0.device.raw.get_semaphore_counter_value(self.0.raw) }.context("vkGetSemaphoreCounterValue")
    }
}

/// A fence that a submission or a presentation signals.
///
/// The fences of submissions are for validation only, because the timeline already orders the frames. But synchronization
/// validation 1.3.239 understands waits for fences only, and without them reports hazards between two frames of the same slot.
pub struct Fence(Owned<vk::Fence>);

impl Fence {
    pub fn new(device: &Arc<Device>, name: &str) -> Result<Self> {
        // SAFETY: a valid create info.
        let raw = unsafe { device.raw.create_fence(&vk::FenceCreateInfo::default(), None) }
            .context_for("vkCreateFence", name)?;
        // SAFETY: it was just made.
        Ok(Self(unsafe { Owned::new(device, name, raw, ash::Device::destroy_fence) }))
    }

    pub fn raw(&self) -> vk::Fence {
        self.0.raw
    }

    /// Waits until the fence is signalled, and resets it.
    ///
    /// # Errors
    /// Device lost. A timeout counts as a lost device.
    pub fn wait_and_reset(&self) -> Result<()> {
        self.wait(timeout_nanoseconds(&self.0.device)).map_err(lost_if_late).context("vkWaitForFences")?;
        // SAFETY: the fence is alive. Nothing uses it after the wait.
        unsafe { self.0.device.raw.reset_fences(&[self.0.raw]) }.context("vkResetFences")
    }

    /// Waits until the fence is signalled, but not longer than a number of nanoseconds.
    ///
    /// # Errors
    /// Timeout, or device lost.
    pub(super) fn wait(&self, nanoseconds: u64) -> ash::prelude::VkResult<()> {
        // SAFETY: the fence is alive.
        unsafe { self.0.device.raw.wait_for_fences(&[self.0.raw], true, nanoseconds) }
    }
}

/// Returns the timeout of all waits for the device, which is treated as lost if it takes longer for a frame: a minute for a
/// GPU, and an hour for a processor, whose frames take as long as other programs keep it busy.
fn timeout_nanoseconds(device: &Device) -> u64 {
    const MINUTE_NANOSECONDS: u64 = 60_000_000_000;
    if device.physical.is_cpu() { 60 * MINUTE_NANOSECONDS } else { MINUTE_NANOSECONDS }
}

fn lost_if_late(result: vk::Result) -> vk::Result {
    if result == vk::Result::TIMEOUT { vk::Result::ERROR_DEVICE_LOST } else { result }
}
