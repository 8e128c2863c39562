//! The rate of copies between device buffers: the yardstick of the skin pass, which writes vertices.
//!
//! The yardstick of the animation is measured with the frames ([`Session::measure`](super::session::Session::measure)),
//! because the time of a store depends on the last reader of the memory.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use ash::vk;

use super::summary::median_of;
use crate::vulkan::barrier::Access;
use crate::vulkan::buffer::{Buffer, BufferMemory};
use crate::vulkan::commands::submit_and_wait;
use crate::vulkan::device::Device;
use crate::vulkan::recorder::Recorder;
use crate::vulkan::timestamps::Timestamps;

/// A size far beyond last-level caches.
const LARGEST_BYTES: u64 = 512 << 20;
/// Smaller buffers would fit into caches.
const SMALLEST_BYTES: u64 = 64 << 20;
/// The number of timed copies.
const COPIES: usize = 3;

/// A measured copy from one device buffer to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct CopyRate {
    pub(super) bytes_per_second: f64,
    /// The size of each of the two buffers.
    pub(super) buffer_bytes: u64,
}

/// Measures copies from one device buffer to another, by timestamps if the device has them.
///
/// # Errors
/// There is no memory for the smallest buffers, or the device is lost.
pub(super) fn copy_rate(device: &Arc<Device>) -> Result<CopyRate> {
    let [from, to] = buffers(device)?;
    let region = vk::BufferCopy { src_offset: 0, dst_offset: 0, size: from.size_bytes() };
    // This touches all pages of both buffers.
    let fill = |recorder: Recorder| {
        recorder.fill_buffer(&from, 0x3f80_0000);
        recorder.fill_buffer(&to, 0);
        Ok(())
    };
    // SAFETY: both buffers outlive the call.
    unsafe { submit_and_wait(device, "fill", fill) }?;
    let mut timestamps = Timestamps::new(device, "copy", 2)?;
    let (mut by_clock, mut by_gpu) = (Vec::new(), Vec::new());
    // Timestamps are read one submission later, so there is one copy more.
    for _ in 0..=COPIES {
        let started = Instant::now();
        let copy = |recorder: Recorder| {
            timestamps.iter().for_each(|timestamps| timestamps.cmd_begin(recorder));
            let write = |index| {
                timestamps
                    .iter()
                    .for_each(|timestamps| timestamps.cmd_write(recorder, vk::PipelineStageFlags2::COPY, index));
            };
            // The copy overwrites what the fill or the last copy wrote (WAW) and reads what was filled in (RAW).
            recorder.memory_barrier(Access::TRANSFER_WRITE, Access::TRANSFER_WRITE.and(Access::TRANSFER_READ));
            write(0);
            recorder.copy_buffer(&from, &to, region);
            write(1);
            Ok(())
        };
        // SAFETY: the buffers and the timestamps outlive the call.
        unsafe { submit_and_wait(device, "copy", copy) }?;
        by_clock.push(started.elapsed().as_secs_f64());
        timestamps.iter_mut().for_each(Timestamps::submitted);
        let mut interval_ms = [0.0];
        // SAFETY: every submission was waited for.
        if timestamps.as_ref().is_some_and(|timestamps| unsafe { timestamps.read(&mut interval_ms) }) {
            by_gpu.push(interval_ms[0] * 1e-3);
        }
    }
    let seconds = median_of(if by_gpu.is_empty() { by_clock } else { by_gpu });
    Ok(CopyRate { bytes_per_second: from.size_bytes() as f64 / seconds.max(1e-9), buffer_bytes: from.size_bytes() })
}

/// Allocates two buffers of 512 MiB, halved until memory suffices.
fn buffers(device: &Arc<Device>) -> Result<[Buffer; 2]> {
    let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    let (heap_bytes, free_bytes) = device.physical.device_memory(device.instance());
    // Both buffers together take at most half of the free memory.
    let most = (free_bytes.unwrap_or(heap_bytes) / 4).min(device.physical.max_buffer_bytes);
    let most = most.min(device.physical.max_allocation_bytes);
    let mut size_bytes = LARGEST_BYTES;
    loop {
        let buffer = |name| Buffer::new(device, name, size_bytes, usage, BufferMemory::Device);
        let is_smallest = size_bytes <= SMALLEST_BYTES;
        if size_bytes <= most || is_smallest {
            match buffer("copy source").and_then(|from| Ok([from, buffer("copy destination")?])) {
                Err(_) if !is_smallest => {}
                result => return Ok(result?),
            }
        }
        size_bytes /= 2;
    }
}
