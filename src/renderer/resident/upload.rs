//! Uploads: copies static data to device memory through staging buffers.

use std::sync::Arc;

use ash::vk;
use bytemuck::Pod;

use crate::vulkan::barrier::Access;
use crate::vulkan::buffer::{Buffer, BufferMemory};
use crate::vulkan::commands::submit_and_wait;
use crate::vulkan::device::Device;
use crate::vulkan::{Error, Result};

/// A device buffer with `data` in it; waits for the copy.
pub(super) fn upload<T: Pod>(
    device: &Arc<Device>,
    name: &str,
    data: &[T],
    usage: vk::BufferUsageFlags,
) -> Result<Buffer> {
    let size_bytes = size_of_val(data) as u64;
    let limit_bytes = u64::from(device.limits().max_storage_buffer_range);
    if usage.contains(vk::BufferUsageFlags::STORAGE_BUFFER) && size_bytes > limit_bytes {
        return Err(Error::OverLimit {
            what: name.to_owned(),
            size_bytes,
            limit: "maxStorageBufferRange",
            limit_bytes,
            advice: "use a model with fewer vertices".to_owned(),
        });
    }
    let buffer =
        Buffer::new(device, name, size_bytes, usage | vk::BufferUsageFlags::TRANSFER_DST, BufferMemory::Device)?;
    if !data.is_empty() {
        let staging = staging_buffer(device, name, bytemuck::cast_slice(data))?;
        submit_and_wait(device, name, |recorder| {
            let region = vk::BufferCopy { src_offset: 0, dst_offset: 0, size: size_bytes };
            recorder.copy_buffer(&staging, &buffer, region);
            // All later frames read the buffer (RAW). A wait on the CPU orders the copy before them, but does not make its
            // writes visible to them.
            let readers = Access::COMPUTE_AND_VERTEX_READ
                .and(Access::ATTRIBUTE_READ)
                .and(Access::INDEX_READ)
                .and(Access::UNIFORM_READ);
            recorder.memory_barrier(Access::TRANSFER_WRITE, readers);
            Ok(())
        })?;
    }
    Ok(buffer)
}

/// A mapped buffer with `bytes` in it, to copy from.
pub(super) fn staging_buffer(device: &Arc<Device>, name: &str, bytes: &[u8]) -> Result<Buffer> {
    let name = format!("{name} (staging)");
    let usage = vk::BufferUsageFlags::TRANSFER_SRC;
    let mut staging = Buffer::new(device, &name, bytes.len() as u64, usage, BufferMemory::Staging)?;
    // SAFETY: no command uses the new buffer yet.
    unsafe { staging.mapped_for_writing::<u8>(bytes.len()) }.write_copy_of_slice(bytes);
    Ok(staging)
}
