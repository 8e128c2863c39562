//! What memory alone can do, measured in the same process as the frames: a figure is worth more next to its limit.
//!
//! The skin pass writes vertices, so its yardstick is a copy from one device buffer to another. Animation writes joint
//! matrices, and what storing them takes depends on who has read the memory since: its yardstick are frames in which
//! they are only stored ([`measure`](super::measure)).

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use ash::vk;

use super::summary::median_of;
use crate::vulkan::barrier::Access;
use crate::vulkan::buffer::{Buffer, BufferMemory};
use crate::vulkan::commands::submit_and_wait;
use crate::vulkan::device::Device;

/// Larger than caches.
const SIZE_BYTES: u64 = 64 << 20;
const TRIES: usize = 3;

/// Bytes per second of device-to-device buffer copies, many to a submission so that submitting does not count.
///
/// # Errors
/// No memory, device lost.
pub(super) fn copy_rate(device: &Arc<Device>) -> Result<f64> {
    const COPIES: u32 = 8;
    let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    let from = Buffer::new(device, "copy source", SIZE_BYTES, usage, BufferMemory::Device)?;
    let to = Buffer::new(device, "copy destination", SIZE_BYTES, usage, BufferMemory::Device)?;
    submit_and_wait(device, "fill", |recorder| {
        recorder.fill_buffer(&from, 0x3f80_0000);
        recorder.fill_buffer(&to, 0);
        Ok(())
    })?;
    let mut rates = Vec::new();
    for _ in 0..TRIES {
        let started = Instant::now();
        submit_and_wait(device, "copy", |recorder| {
            let region = vk::BufferCopy { src_offset: 0, dst_offset: 0, size: SIZE_BYTES };
            for _ in 0..COPIES {
                // Each copy overwrites what the one before wrote (WAW); the first also reads what was filled in (RAW).
                recorder.memory_barrier(Access::TRANSFER_WRITE, Access::TRANSFER_WRITE.and(Access::TRANSFER_READ));
                recorder.copy_buffer(&from, &to, region);
            }
            Ok(())
        })?;
        rates.push(f64::from(COPIES) * SIZE_BYTES as f64 / started.elapsed().as_secs_f64());
    }
    Ok(median_of(rates))
}
