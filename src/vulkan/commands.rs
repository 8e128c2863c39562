//! Command pools, and one-time submissions.

use std::sync::Arc;

use ash::vk;

use super::device::Device;
use super::error::{Context, Result};
use super::owned::Owned;
use super::recorder::Recorder;

pub struct CommandPool {
    commands: vk::CommandBuffer,
    pool: Owned<vk::CommandPool>,
    name: String,
}

impl CommandPool {
    pub fn new(device: &Arc<Device>, name: &str) -> Result<Self> {
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(device.physical.queue_family.unwrap_or(0))
            .flags(vk::CommandPoolCreateFlags::TRANSIENT);
        // SAFETY: the family exists: the device was made with it.
        let pool = unsafe { device.raw.create_command_pool(&info, None) }.context_for("vkCreateCommandPool", name)?;
        // SAFETY: it was just made.
        let pool = unsafe { Owned::new(device, name, pool, ash::Device::destroy_command_pool) };
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool.raw)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        // SAFETY: the pool was just made.
        let buffers = unsafe { device.raw.allocate_command_buffers(&info) };
        let buffers = buffers.context_for("vkAllocateCommandBuffers", name)?;
        let commands = buffers.into_iter().next().unwrap_or_default();
        device.register(commands, name);
        Ok(Self { commands, pool, name: name.to_owned() })
    }

    pub fn raw(&self) -> vk::CommandBuffer {
        self.commands
    }

    /// Resets the command buffer and begins recording.
    ///
    /// # Safety
    /// The GPU has finished the last submission of the buffer. Every object that is recorded lives until the GPU has
    /// executed the commands, and so do the resources of recorded descriptor sets. Vulkan allows the commands and their
    /// order, and none is recorded after [`Self::end`].
    pub unsafe fn begin(&self) -> Result<Recorder<'_>> {
        // SAFETY: the caller has waited for the last submission.
        unsafe { self.pool.device.raw.reset_command_pool(self.pool.raw, vk::CommandPoolResetFlags::empty()) }
            .context_for("vkResetCommandPool", &self.name)?;
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the buffer is in the initial state.
        unsafe { self.pool.device.raw.begin_command_buffer(self.commands, &info) }
            .context_for("vkBeginCommandBuffer", &self.name)?;
        // SAFETY: the buffer is in the recording state. The caller makes the other promises.
        Ok(unsafe { self.recorder() })
    }

    /// Returns a recorder for the commands that [`Self::begin`] has begun, to continue with them.
    ///
    /// # Safety
    /// Recording has begun and not ended. The promise of [`Self::begin`] continues.
    pub unsafe fn recorder(&self) -> Recorder<'_> {
        // SAFETY: the caller makes the promise.
        unsafe { Recorder::new(&self.pool.device, self.commands) }
    }

    /// Ends recording, submits the commands, and waits until the GPU has executed them.
    ///
    /// # Safety
    /// Recording has begun and not ended.
    pub unsafe fn submit_and_wait(&self) -> Result<()> {
        // SAFETY: the caller makes the promise.
        unsafe { self.end() }?;
        let buffers = [vk::CommandBufferSubmitInfo::default().command_buffer(self.commands)];
        let submit = vk::SubmitInfo2::default().command_buffer_infos(&buffers);
        let (device, queue) = (&self.pool.device, self.pool.device.queue());
        // SAFETY: the guard locks the queue. The recorded objects live until the wait below returns.
        unsafe { device.raw.queue_submit2(*queue, &[submit], vk::Fence::null()) }
            .context_for("vkQueueSubmit2", &self.name)?;
        // SAFETY: as above.
        unsafe { device.raw.queue_wait_idle(*queue) }.context_for("vkQueueWaitIdle", &self.name)
    }

    /// Ends recording.
    ///
    /// # Safety
    /// Recording has begun and not ended.
    pub unsafe fn end(&self) -> Result<()> {
        // SAFETY: the caller makes the promise.
        unsafe { self.pool.device.raw.end_command_buffer(self.commands) }.context_for("vkEndCommandBuffer", &self.name)
    }
}

/// Records commands, submits them, and waits until the GPU has executed them: for loading and readback, never in a frame.
///
/// # Safety
/// Every recorded object lives until this function returns, and Vulkan allows the commands and their order.
pub unsafe fn submit_and_wait(
    device: &Arc<Device>,
    name: &str,
    record: impl FnOnce(Recorder<'_>) -> Result<()>,
) -> Result<()> {
    let pool = CommandPool::new(device, name)?;
    // SAFETY: the command buffer is new. The caller makes the other promises.
    record(unsafe { pool.begin() }?)?;
    // SAFETY: recording has begun above.
    unsafe { pool.submit_and_wait() }
}
