//! The rate of copies between device buffers. The skin pass, which writes vertices, cannot be faster.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use ash::vk;

use crate::vulkan::barrier::Access;
use crate::vulkan::buffer::{Buffer, BufferMemory};
use crate::vulkan::commands::submit_and_wait;
use crate::vulkan::device::Device;
use crate::vulkan::recorder::Recorder;

/// The sizes of a buffer. Smaller ones would fit into caches.
const SMALLEST_BYTES: u64 = 64 << 20;
const LARGEST_BYTES: u64 = 512 << 20;
/// The number of timed copies, enough to hide the time of a submission.
const COPIES: u32 = 4;

/// Returns the bytes that a copy from one device buffer to another moves in a second.
pub(super) fn copy_bytes_per_second(device: &Arc<Device>) -> Result<f64> {
    let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    let (heap_bytes, free_bytes) = device.physical.device_memory(&device.instance);
    // Both buffers together take at most half of the free memory.
    let most = (free_bytes.unwrap_or(heap_bytes) / 4).min(device.physical.max_buffer_bytes);
    let size_bytes = LARGEST_BYTES.min(most).min(device.physical.max_allocation_bytes).max(SMALLEST_BYTES);
    let buffer = |name| Buffer::new(device, name, size_bytes, usage, BufferMemory::Device);
    let (from, to) = (buffer("copy source")?, buffer("copy destination")?);
    let region = vk::BufferCopy { src_offset: 0, dst_offset: 0, size: from.size_bytes() };
    // This touches all pages of both buffers.
    let fill = |recorder: Recorder| {
        recorder.fill_buffer(&from, 0x3f80_0000);
        recorder.fill_buffer(&to, 0);
        Ok(())
    };
    // SAFETY: both buffers outlive the call.
    unsafe { submit_and_wait(device, "fill", fill) }?;
    let copy = |recorder: Recorder| {
        for _ in 0..COPIES {
            // The copy overwrites what the fill or the last copy wrote (WAW) and reads what was filled in (RAW).
            recorder.memory_barrier(Access::TRANSFER_WRITE, Access::TRANSFER_WRITE.and(Access::TRANSFER_READ));
            recorder.copy_buffer(&from, &to, region);
        }
        Ok(())
    };
    let started = Instant::now();
    // SAFETY: both buffers outlive the call.
    unsafe { submit_and_wait(device, "copy", copy) }?;
    let bytes = from.size_bytes() as f64 * f64::from(COPIES);
    Ok(bytes / started.elapsed().as_secs_f64().max(1e-9))
}
