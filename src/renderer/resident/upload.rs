//! Uploads: copies the static data of a model to device memory.
//!
//! In: arrays and images on the CPU. Out: buffers and images on the device. An [`Uploader`] records all copies into one
//! command buffer, and submits them together. It submits earlier if the staging buffers grow beyond [`MAX_STAGED_BYTES`],
//! which few models reach.

use std::sync::Arc;

use ash::vk;
use bytemuck::Pod;

use crate::vulkan::barrier::Access;
use crate::vulkan::buffer::{Buffer, BufferMemory};
use crate::vulkan::commands::CommandPool;
use crate::vulkan::device::Device;
use crate::vulkan::recorder::Recorder;
use crate::vulkan::{Error, Result};

/// The largest sum of staging buffers, unless a single array is larger.
const MAX_STAGED_BYTES: u64 = 256 << 20;

/// Records the uploads of one model.
pub struct Uploader {
    device: Arc<Device>,
    commands: CommandPool,
    staging: Vec<Buffer>,
    staged_bytes: u64,
}

impl Uploader {
    pub fn new(device: &Arc<Device>, name: &str) -> Result<Self> {
        let commands = CommandPool::new(device, name)?;
        // SAFETY: the command buffer is new. Staging buffers live in `self`, and callers own the destinations. If either
        // is dropped early, the commands are never submitted.
        unsafe { commands.begin() }?;
        Ok(Self { device: Arc::clone(device), commands, staging: Vec::new(), staged_bytes: 0 })
    }

    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Creates a device buffer and records the copy of `data` to it.
    pub fn buffer<T: Pod>(&mut self, name: &str, data: &[T], usage: vk::BufferUsageFlags) -> Result<Buffer> {
        let size_bytes = size_of_val(data) as u64;
        if usage.contains(vk::BufferUsageFlags::STORAGE_BUFFER) {
            let limit_bytes = u64::from(self.device.limits().max_storage_buffer_range);
            Error::check_size(name, size_bytes, ("maxStorageBufferRange", limit_bytes))?;
        }
        let usage = usage | vk::BufferUsageFlags::TRANSFER_DST;
        let buffer = Buffer::new(&self.device, name, size_bytes, usage, BufferMemory::Device)?;
        if !data.is_empty() {
            let region = vk::BufferCopy { src_offset: 0, dst_offset: 0, size: size_bytes };
            let (recorder, staging) = self.stage(name, bytemuck::cast_slice(data))?;
            recorder.copy_buffer(staging, &buffer, region);
        }
        Ok(buffer)
    }

    /// Copies `bytes` to a staging buffer. Returns it with a recorder for the copy to the device.
    pub fn stage(&mut self, name: &str, bytes: &[u8]) -> Result<(Recorder<'_>, &Buffer)> {
        let size_bytes = bytes.len() as u64;
        if self.staged_bytes > 0 && self.staged_bytes.saturating_add(size_bytes) > MAX_STAGED_BYTES {
            self.submit()?;
            // SAFETY: the GPU has executed the commands. The rest is as in `new`.
            unsafe { self.commands.begin() }?;
        }
        let name = format!("{name} (staging)");
        let usage = vk::BufferUsageFlags::TRANSFER_SRC;
        let mut staging = Buffer::new(&self.device, &name, size_bytes, usage, BufferMemory::Staging)?;
        // SAFETY: no command uses the new buffer yet.
        unsafe { staging.mapped_for_writing::<u8>(bytes.len()) }.write_copy_of_slice(bytes);
        self.staged_bytes += size_bytes;
        self.staging.push(staging);
        // SAFETY: as in `new`; recording has begun.
        let recorder = unsafe { self.commands.recorder() };
        Ok((recorder, &self.staging[self.staging.len() - 1]))
    }

    /// Submits the recorded copies and waits for them.
    pub fn finish(mut self) -> Result<()> {
        self.submit()
    }

    fn submit(&mut self) -> Result<()> {
        // SAFETY: as in `new`; recording has begun.
        let recorder = unsafe { self.commands.recorder() };
        // All later frames read the buffers (RAW). A wait on the CPU orders the copies before them, but does not make the
        // writes visible to them. Images have their own barriers.
        let readers = Access::COMPUTE_READ
            .and(Access::VERTEX_READ)
            .and(Access::ATTRIBUTE_READ)
            .and(Access::INDEX_READ)
            .and(Access::UNIFORM_READ);
        recorder.memory_barrier(Access::TRANSFER_WRITE, readers);
        // SAFETY: recording has begun, in `new` or in `stage`.
        unsafe { self.commands.submit_and_wait() }?;
        self.staging.clear();
        self.staged_bytes = 0;
        Ok(())
    }
}
