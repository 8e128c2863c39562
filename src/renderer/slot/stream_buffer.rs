//! What the CPU streams to the GPU each frame: joint matrices, morph weights, instances.
//!
//! Each is one buffer, however large the crowd. Shaders see a window of it where it is a storage buffer, since
//! `maxStorageBufferRange` may be as little as 128 MiB: the descriptor has the window's size, and each batch moves it by a
//! dynamic offset ([`FramePlan`](super::plan::FramePlan) says where to).

use std::mem::MaybeUninit;
use std::sync::Arc;

use ash::vk;
use bytemuck::Pod;

use crate::vulkan::buffer::{Buffer, BufferMemory};
use crate::vulkan::descriptors::Binding;
use crate::vulkan::device::Device;
use crate::vulkan::physical_device::PhysicalDevice;
use crate::vulkan::{Error, Result};

/// How joint matrices and instances reach the memory that shaders read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UploadPath {
    /// Written straight into mapped memory that shaders read: device-local where such memory exists.
    Direct,
    /// Written into a mapped staging buffer, copied to device memory at the start of the frame.
    Staged,
}

impl UploadPath {
    /// What `--upload auto` means on a device.
    #[must_use]
    pub fn best_for(device: &PhysicalDevice) -> Self {
        if device.has_large_mappable_device_memory() { Self::Direct } else { Self::Staged }
    }

    /// As in options and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Staged => "staged",
        }
    }
}

/// Dynamic offsets have 32 bits.
pub const LARGEST_BYTES: u64 = u32::MAX as u64;
/// Room at first: enough for a small crowd.
const FIRST_BYTES: u64 = 64 << 10;

/// Bytes that `used_bytes` need: what is larger than one window has a whole one behind its end, since a window has the
/// same size wherever it begins.
#[must_use]
pub fn needed_bytes(used_bytes: u64, window_bytes: Option<u64>) -> u64 {
    used_bytes.saturating_add(window_bytes.filter(|&window_bytes| used_bytes > window_bytes).unwrap_or(0))
}

/// Size of the buffer that is made for `used_bytes`: half as much again, so that a slowly growing crowd does not
/// reallocate each frame.
#[must_use]
pub fn grown_bytes(used_bytes: u64, window_bytes: Option<u64>, limit_bytes: u64) -> u64 {
    if needed_bytes(used_bytes, window_bytes) <= FIRST_BYTES {
        return FIRST_BYTES;
    }
    let grown = used_bytes.saturating_add(used_bytes / 2);
    match window_bytes {
        Some(window_bytes) if used_bytes <= window_bytes => grown.min(window_bytes),
        _ => needed_bytes(grown, window_bytes).min(limit_bytes),
    }
}

/// An array that the CPU writes anew each frame and shaders read.
pub struct StreamBuffer {
    name: String,
    path: UploadPath,
    /// Of a storage buffer: what one binding shows at a time. `None`: vertex input, which knows no such limit.
    window_bytes: Option<u64>,
    /// `None` only if making it larger has failed.
    memory: Option<StreamMemory>,
    used_bytes: u64,
}

struct StreamMemory {
    mapped: Buffer,
    /// Staged path only: what shaders read.
    device_local: Option<Buffer>,
}

impl StreamMemory {
    fn new(
        device: &Arc<Device>,
        name: &str,
        path: UploadPath,
        usage: vk::BufferUsageFlags,
        size_bytes: u64,
    ) -> Result<Self> {
        if path == UploadPath::Direct {
            let mapped = Buffer::new(device, name, size_bytes, usage, BufferMemory::Upload)?;
            return Ok(Self { mapped, device_local: None });
        }
        let (source, target) = (vk::BufferUsageFlags::TRANSFER_SRC, vk::BufferUsageFlags::TRANSFER_DST);
        let staging_name = format!("{name} (staging)");
        Ok(Self {
            mapped: Buffer::new(device, &staging_name, size_bytes, source, BufferMemory::Staging)?,
            device_local: Some(Buffer::new(device, name, size_bytes, usage | target, BufferMemory::Device)?),
        })
    }
}

impl StreamBuffer {
    /// Room for a small crowd.
    ///
    /// # Errors
    /// No memory.
    pub fn new(device: &Arc<Device>, name: String, path: UploadPath, window_bytes: Option<u64>) -> Result<Self> {
        let mut stream = Self { name, path, window_bytes, memory: None, used_bytes: 0 };
        stream.memory = Some(StreamMemory::new(device, &stream.name, path, stream.usage(), FIRST_BYTES)?);
        Ok(stream)
    }

    /// Makes room for `used_bytes`; true if the buffer was replaced, so that descriptors must be written again.
    ///
    /// # Errors
    /// No memory, or beyond a limit of the device.
    pub fn ensure(&mut self, device: &Arc<Device>, used_bytes: u64, instance_count: u32) -> Result<bool> {
        self.used_bytes = used_bytes;
        let needed_bytes = needed_bytes(used_bytes, self.window_bytes);
        if self.memory.as_ref().is_some_and(|memory| needed_bytes <= memory.mapped.size_bytes) {
            return Ok(false);
        }
        let limit_bytes = device.physical.max_buffer_bytes.min(LARGEST_BYTES);
        if needed_bytes > limit_bytes {
            return Err(Error::OverLimit {
                // Without the slot's number.
                what: format!(
                    "the {} of {instance_count} visible instances",
                    self.name.trim_end_matches(char::is_numeric).trim_end()
                ),
                size_bytes: needed_bytes,
                limit: "maxBufferSize",
                limit_bytes,
                advice: format!("at most {} fit", u64::from(instance_count) * limit_bytes / needed_bytes),
            });
        }
        // The old one goes first: both together may not fit.
        let size_bytes = grown_bytes(used_bytes, self.window_bytes, limit_bytes);
        self.memory = None;
        self.memory = Some(StreamMemory::new(device, &self.name, self.path, self.usage(), size_bytes)?);
        Ok(true)
    }

    fn usage(&self) -> vk::BufferUsageFlags {
        match self.window_bytes {
            Some(_) => vk::BufferUsageFlags::STORAGE_BUFFER,
            None => vk::BufferUsageFlags::VERTEX_BUFFER,
        }
    }

    /// The first window, for a descriptor set with dynamic offsets.
    #[must_use]
    pub fn binding(&self) -> Binding {
        let window = |buffer: &Buffer| {
            let range = self.window_bytes.unwrap_or(vk::WHOLE_SIZE).min(buffer.size_bytes);
            vk::DescriptorBufferInfo { range, ..buffer.descriptor() }
        };
        Binding::Buffer(self.read_by_shaders().map_or_else(Default::default, window))
    }

    /// For vertex input.
    #[must_use]
    pub fn raw(&self) -> vk::Buffer {
        self.read_by_shaders().map_or_else(vk::Buffer::null, |buffer| buffer.raw)
    }

    fn read_by_shaders(&self) -> Option<&Buffer> {
        self.memory.as_ref().map(|memory| memory.device_local.as_ref().unwrap_or(&memory.mapped))
    }

    /// This frame's part, to be written once.
    pub fn elements<T: Pod>(&mut self) -> &mut [MaybeUninit<T>] {
        let count = (self.used_bytes / size_of::<T>() as u64) as usize;
        self.memory.as_mut().map_or(&mut [], |memory| memory.mapped.mapped_for_writing(count))
    }

    /// The copy that the staged path needs: source, destination, bytes.
    #[must_use]
    pub fn pending_copy(&self) -> Option<(vk::Buffer, vk::Buffer, u64)> {
        let memory = self.memory.as_ref().filter(|_| self.used_bytes > 0)?;
        Some((memory.mapped.raw, memory.device_local.as_ref()?.raw, self.used_bytes))
    }

    /// Bytes of this frame.
    #[must_use]
    pub fn used_bytes(&self) -> u64 {
        self.used_bytes
    }
}
