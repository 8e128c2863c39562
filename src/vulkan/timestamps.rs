//! The GPU time of each pass, from timestamp queries.
//!
//! The device copies timestamps to mapped memory, because some drivers wait in `vkGetQueryPoolResults` for everything that
//! was submitted. The copy is recorded when the pool is used again, so nothing waits for it. The timestamps of a frame can be
//! read when the next frame with the same pool has finished.

use std::sync::Arc;

use ash::vk;

use super::barrier::Access;
use super::buffer::{Buffer, BufferMemory};
use super::device::Device;
use super::error::{Context, Result};
use super::owned::Owned;
use super::recorder::Recorder;

const TICKS_BYTES: u64 = size_of::<u64>() as u64;

pub struct Timestamps {
    pool: Owned<vk::QueryPool>,
    /// The copied timestamps, in ticks.
    copies: Buffer,
    count: u32,
    nanoseconds_per_tick: f64,
    valid_mask: u64,
    /// Whether the pool has the timestamps of a submitted frame.
    written: bool,
    /// Whether the mapped memory has those of an earlier one.
    copied: bool,
}

impl Timestamps {
    /// Creates `count` timestamps. Returns `None` if the queue has no timestamps.
    pub fn new(device: &Arc<Device>, name: &str, count: u32) -> Result<Option<Self>> {
        let bits = device.physical.timestamp_valid_bits();
        if bits == 0 {
            return Ok(None);
        }
        let size_bytes = u64::from(count) * TICKS_BYTES;
        let copies = Buffer::new(device, name, size_bytes, vk::BufferUsageFlags::TRANSFER_DST, BufferMemory::Readback)?;
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count);
        // SAFETY: a valid create info.
        let pool = unsafe { device.raw.create_query_pool(&info, None) }.context_for("vkCreateQueryPool", name)?;
        // SAFETY: it was just made.
        let pool = unsafe { Owned::new(device, name, pool, ash::Device::destroy_query_pool) };
        Ok(Some(Self {
            pool,
            copies,
            count,
            nanoseconds_per_tick: f64::from(device.limits().timestamp_period),
            valid_mask: if bits >= 64 { u64::MAX } else { (1 << bits) - 1 },
            written: false,
            copied: false,
        }))
    }

    /// Copies out the timestamps of the last frame, which has finished, and resets the query pool. Recorded before the first
    /// [`Self::cmd_write`] of a frame.
    pub fn cmd_begin(&self, recorder: Recorder) {
        let commands = recorder.raw();
        let (raw, pool, copies) = (&self.pool.device.raw, self.pool.raw, self.copies.handle.raw);
        if self.written {
            // Without `WAIT`: a finished frame has all of its timestamps.
            let flags = vk::QueryResultFlags::TYPE_64;
            // SAFETY: `commands` is being recorded, outside a render pass instance; the buffer has room for all.
            unsafe { raw.cmd_copy_query_pool_results(commands, pool, 0, self.count, copies, 0, TICKS_BYTES, flags) };
            // The CPU reads the copy (RAW).
            recorder.memory_barrier(Access::TRANSFER_WRITE, Access::HOST_READ);
        }
        // SAFETY: `commands` is being recorded, outside a render pass instance.
        unsafe { raw.cmd_reset_query_pool(commands, pool, 0, self.count) };
    }

    /// Records that the commands since [`Self::cmd_begin`] were submitted. Timestamps of commands that never were must not be
    /// copied: their queries were never reset.
    pub(crate) fn submitted(&mut self) {
        self.copied = self.written;
        self.written = true;
    }

    /// Writes the time at which all earlier commands have passed `stage`.
    pub fn cmd_write(&self, recorder: Recorder, stage: vk::PipelineStageFlags2, index: u32) {
        let (raw, commands) = (&self.pool.device.raw, recorder.raw());
        // SAFETY: the promise of the recorder. `cmd_begin` has reset the pool, and the index is in range.
        unsafe { raw.cmd_write_timestamp2(commands, stage, self.pool.raw, index.min(self.count - 1)) };
        // A barrier without effect: some drivers take the time only when they reach the next barrier.
        recorder.memory_barrier(Access::NOTHING, Access::NOTHING);
    }

    /// Writes the milliseconds between neighbouring timestamps to `intervals_ms`, which has one element fewer than there are
    /// timestamps. They belong to the frame before the last one. Returns false if there is no such frame.
    ///
    /// # Safety
    /// The GPU has finished the last frame that used these timestamps.
    pub unsafe fn read(&self, intervals_ms: &mut [f64]) -> bool {
        if !self.copied {
            return false;
        }
        // SAFETY: the caller has waited for the frame whose commands copied the timestamps.
        let (timestamps, _) = unsafe { self.copies.mapped_for_reading() }.as_chunks();
        for (interval_ms, pair) in intervals_ms.iter_mut().zip(timestamps.windows(2)) {
            let [from, to] = [pair[0], pair[1]].map(u64::from_ne_bytes);
            let elapsed = to.wrapping_sub(from) & self.valid_mask;
            *interval_ms = elapsed as f64 * self.nanoseconds_per_tick * 1e-6;
        }
        true
    }

    /// Returns how many timestamps of the last submitted frame the GPU has written, up to the first one that is missing.
    /// `None` if the driver does not say. It does not wait, and it may be called after the device was lost.
    pub fn written_count(&self) -> Option<usize> {
        if !self.written {
            return None;
        }
        // A timestamp, and whether it is available.
        let mut results = vec![[0_u64; 2]; self.count as usize];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
        // SAFETY: the pool is alive, and the submitted commands reset its queries.
        match unsafe { self.pool.device.raw.get_query_pool_results(self.pool.raw, 0, &mut results, flags) } {
            Ok(()) | Err(vk::Result::NOT_READY) => {
                Some(results.iter().take_while(|[_, available]| *available != 0).count())
            }
            Err(_) => None,
        }
    }
}
