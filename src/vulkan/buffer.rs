//! Buffers and their memory.

use std::mem::{MaybeUninit, align_of, size_of};
use std::sync::Arc;

use ash::vk;
use bytemuck::Pod;
use gpu_allocator::MemoryLocation;

use super::device::{Device, Memory};
use super::error::{Context, Error, Result};
use super::owned::Owned;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferMemory {
    /// Device memory. The GPU writes and reads it.
    Device,
    /// Mapped and coherent memory, device-local if the device has such a type. The CPU writes it and the GPU reads it. It is
    /// often write-combined, so the CPU must not read it.
    Upload,
    /// Mapped and coherent, cached if possible, and in the host's memory if possible: written by the CPU, copied by the GPU.
    Staging,
    /// Mapped, coherent and cached memory. The GPU writes it and the CPU reads it.
    Readback,
}

/// The alignment of mapped buffers. `minMemoryMapAlignment` is at least this large on every device.
const MAPPED_ALIGNMENT_BYTES: u64 = 64;

pub struct Buffer {
    pub(super) handle: Owned<vk::Buffer>,
    size_bytes: u64,
    memory: Memory,
}

impl Buffer {
    /// Creates a buffer of at least one byte.
    pub fn new(
        device: &Arc<Device>,
        name: &str,
        size_bytes: u64,
        usage: vk::BufferUsageFlags,
        memory: BufferMemory,
    ) -> Result<Self> {
        let size_bytes = size_bytes.max(1);
        Error::check_size(name, size_bytes, ("maxBufferSize", device.physical.max_buffer_bytes))?;
        let info = vk::BufferCreateInfo::default().size(size_bytes).usage(usage);
        // SAFETY: a valid create info.
        let raw = unsafe { device.raw.create_buffer(&info, None) }.context_for("vkCreateBuffer", name)?;
        // SAFETY: it was just made.
        let handle = unsafe { Owned::new(device, name, raw, ash::Device::destroy_buffer) };
        // SAFETY: as above.
        let mut requirements = unsafe { device.raw.get_buffer_memory_requirements(raw) };
        let location = match memory {
            BufferMemory::Device => MemoryLocation::GpuOnly,
            BufferMemory::Upload => MemoryLocation::CpuToGpu,
            // This location prefers memory types with HOST_CACHED.
            BufferMemory::Staging | BufferMemory::Readback => MemoryLocation::GpuToCpu,
        };
        if memory != BufferMemory::Device {
            // Rust's types may need more than Vulkan requires. Mapped memory starts at a multiple of 64.
            requirements.alignment = requirements.alignment.max(MAPPED_ALIGNMENT_BYTES);
        }
        if memory == BufferMemory::Staging {
            requirements.memory_type_bits = device.physical.host_memory_types(requirements.memory_type_bits);
        }
        let memory = device.allocate(name, requirements, location, true)?;
        let allocation = &memory.allocation;
        // SAFETY: the memory is fresh, large enough and of an allowed type.
        unsafe { device.raw.bind_buffer_memory(raw, allocation.memory(), allocation.offset()) }
            .context_for("vkBindBufferMemory", name)?;
        Ok(Self { handle, size_bytes, memory })
    }

    /// Makes room for this frame's data in a mapped buffer that the CPU writes and the GPU does not use. If it is too small, another
    /// one replaces it, of `new_bytes`. Returns whether it was replaced.
    pub fn make_room(
        buffer: &mut Option<Self>,
        device: &Arc<Device>,
        (name, usage): (&str, vk::BufferUsageFlags),
        (used_bytes, new_bytes): (u64, u64),
    ) -> Result<bool> {
        let is_too_small = buffer.as_ref().is_none_or(|buffer| buffer.size_bytes < used_bytes);
        if is_too_small {
            // The old buffer is freed first, because both together may not fit.
            *buffer = None;
            *buffer = Some(Self::new(device, name, new_bytes, usage, BufferMemory::Upload)?);
        }
        Ok(is_too_small)
    }

    /// Creates a mapped buffer with contents that do not change. Shaders read the mapped memory.
    pub fn filled<T: Pod>(device: &Arc<Device>, name: &str, usage: vk::BufferUsageFlags, data: &[T]) -> Result<Self> {
        let mut buffer = Self::new(device, name, size_of_val(data) as u64, usage, BufferMemory::Upload)?;
        // SAFETY: no command uses the new buffer yet.
        unsafe { buffer.mapped_for_writing(data.len()) }.write_copy_of_slice(data);
        Ok(buffer)
    }

    /// Returns the requested size, at least 1.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Returns whether the CPU caches the buffer's memory. Mapped memory that is not cached is write-combined.
    pub fn is_host_cached(&self) -> bool {
        self.memory.allocation.memory_properties().contains(vk::MemoryPropertyFlags::HOST_CACHED)
    }

    /// Returns the first `count` elements of a mapped buffer, for writing only: reads of write-combined memory are slow.
    /// The slice is empty if the buffer is not mapped or too small.
    ///
    /// # Safety
    /// The GPU does not access the buffer while the slice is in use.
    pub unsafe fn mapped_for_writing<T: Pod>(&mut self, count: usize) -> &mut [MaybeUninit<T>] {
        let fits = (count as u64).checked_mul(size_of::<T>() as u64).is_some_and(|bytes| bytes <= self.size_bytes);
        match self.memory.allocation.mapped_ptr() {
            Some(pointer) if fits && pointer.as_ptr().cast::<T>().is_aligned() => {
                debug_assert!(align_of::<T>() as u64 <= MAPPED_ALIGNMENT_BYTES);
                // SAFETY: mapped for as long as the buffer lives, large enough and aligned (both just checked);
                // `&mut self` makes this the only Rust reference; `MaybeUninit` asks nothing of the contents.
                unsafe { std::slice::from_raw_parts_mut(pointer.as_ptr().cast(), count) }
            }
            _ => &mut [],
        }
    }

    /// Returns the bytes of a mapped [`BufferMemory::Readback`] buffer. The slice is empty if the buffer is not mapped.
    ///
    /// # Safety
    /// The GPU does not write the buffer while the slice is in use.
    pub unsafe fn mapped_for_reading(&self) -> &[u8] {
        let bytes = self.memory.allocation.mapped_slice().unwrap_or(&[]);
        bytes.get(..self.size_bytes as usize).unwrap_or(bytes)
    }
}
