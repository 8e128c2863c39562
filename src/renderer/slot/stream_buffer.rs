//! A stream: an array that the CPU writes in each frame and the GPU reads.
//!
//! In: the number of bytes of a frame. Out: mapped memory for the CPU, and a buffer for the GPU. On the direct path both
//! are the same buffer. On the staged path the upload pass copies one to the other. Each stream is one buffer, bound as a
//! whole: with 128 MiB, the smallest `maxStorageBufferRange` that Vulkan allows, a palette has 2.8 million joint matrices.

use std::mem::MaybeUninit;
use std::sync::Arc;

use ash::vk;
use bytemuck::Pod;

use crate::animation::MemoryKind;
use crate::renderer::error::{Error, Result};
use crate::renderer::memory::{FIRST_STREAM_BYTES, stream_buffer_bytes};
use crate::renderer::settings::UploadPath;
use crate::vulkan::buffer::{Buffer, BufferMemory};
use crate::vulkan::descriptors::Binding;
use crate::vulkan::device::Device;

/// The properties of a stream that do not change.
#[derive(Debug, Clone)]
pub struct StreamInfo {
    /// The name in captures and messages.
    pub name: String,
    /// How the stream reaches the GPU.
    pub path: UploadPath,
    /// Storage buffer or vertex buffer.
    pub usage: vk::BufferUsageFlags,
    /// The name of the device's limit in the Vulkan specification.
    pub limit: &'static str,
    /// The largest size.
    pub limit_bytes: u64,
}

/// One stream of one frame slot.
pub struct StreamBuffer {
    info: StreamInfo,
    /// `None` only after an attempt to enlarge it has failed.
    memory: Option<StreamMemory>,
    used_bytes: u64,
}

struct StreamMemory {
    mapped: Buffer,
    /// The buffer that shaders read on the staged path.
    device_local: Option<Buffer>,
}

impl StreamMemory {
    fn new(device: &Arc<Device>, info: &StreamInfo, size_bytes: u64) -> Result<Self> {
        let StreamInfo { name, path, usage, .. } = info;
        if *path == UploadPath::Direct {
            let mapped = Buffer::new(device, name, size_bytes, *usage, BufferMemory::Upload)?;
            return Ok(Self { mapped, device_local: None });
        }
        let (source, target) = (vk::BufferUsageFlags::TRANSFER_SRC, vk::BufferUsageFlags::TRANSFER_DST);
        let staging_name = format!("{name} (staging)");
        Ok(Self {
            mapped: Buffer::new(device, &staging_name, size_bytes, source, BufferMemory::Staging)?,
            device_local: Some(Buffer::new(device, name, size_bytes, *usage | target, BufferMemory::Device)?),
        })
    }
}

impl StreamBuffer {
    /// Creates a stream with room for a small crowd.
    ///
    /// # Errors
    /// No memory.
    pub fn new(device: &Arc<Device>, info: StreamInfo) -> Result<Self> {
        let memory = Some(StreamMemory::new(device, &info, FIRST_STREAM_BYTES)?);
        Ok(Self { info, memory, used_bytes: 0 })
    }

    /// Sets the size of this frame's data, and enlarges the buffer if necessary. Returns true if the buffer was replaced,
    /// so that descriptors must be written again. The GPU must have finished with the stream.
    ///
    /// # Errors
    /// No memory, or more than the device allows.
    pub fn ensure(&mut self, device: &Arc<Device>, used_bytes: u64, instance_count: u32) -> Result<bool> {
        self.used_bytes = used_bytes;
        if self.memory.as_ref().is_some_and(|memory| used_bytes <= memory.mapped.size_bytes) {
            return Ok(false);
        }
        let StreamInfo { ref name, limit, limit_bytes, .. } = self.info;
        if used_bytes > limit_bytes {
            // The name without the number of the slot.
            let name = name.trim_end_matches(char::is_numeric).trim_end();
            return Err(Error::StreamOverLimit {
                stream: name.to_owned(),
                instances: instance_count.into(),
                size_bytes: used_bytes,
                limit,
                limit_bytes,
            });
        }
        // The old buffer is freed first, because both together may not fit.
        self.memory = None;
        let size_bytes = stream_buffer_bytes(used_bytes, limit_bytes);
        self.memory = Some(StreamMemory::new(device, &self.info, size_bytes)?);
        Ok(true)
    }

    /// Returns the whole buffer, for a descriptor.
    #[must_use]
    pub fn binding(&self) -> Binding {
        Binding::Buffer(self.read_by_shaders().map_or_else(Default::default, Buffer::descriptor))
    }

    /// Returns the buffer that shaders read, or `None` after a failure.
    #[must_use]
    pub fn read_by_shaders(&self) -> Option<&Buffer> {
        self.memory.as_ref().map(|memory| memory.device_local.as_ref().unwrap_or(&memory.mapped))
    }

    /// Returns the memory for this frame's data, to be written once.
    ///
    /// # Safety
    /// The GPU has finished the slot's last frame, and the next one is not submitted while the slice is in use.
    pub unsafe fn elements<T: Pod>(&mut self) -> &mut [MaybeUninit<T>] {
        let count = (self.used_bytes / size_of::<T>() as u64) as usize;
        // SAFETY: the caller promises that the GPU does not access the buffer.
        self.memory.as_mut().map_or(&mut [], |memory| unsafe { memory.mapped.mapped_for_writing(count) })
    }

    /// Returns the kind of memory that [`Self::elements`] returns.
    #[must_use]
    pub fn memory_kind(&self) -> MemoryKind {
        let is_cached = self.memory.as_ref().is_none_or(|memory| memory.mapped.is_host_cached());
        if is_cached { MemoryKind::Cached } else { MemoryKind::WriteCombined }
    }

    /// Returns source, destination and size of the copy that the staged path needs, or `None` if there is none.
    #[must_use]
    pub fn pending_copy(&self) -> Option<(&Buffer, &Buffer, u64)> {
        let memory = self.memory.as_ref().filter(|_| self.used_bytes > 0)?;
        Some((&memory.mapped, memory.device_local.as_ref()?, self.used_bytes))
    }

    /// Returns the size of this frame's data.
    #[must_use]
    pub fn used_bytes(&self) -> u64 {
        self.used_bytes
    }
}
