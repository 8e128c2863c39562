//! GPU time of each pass, from timestamp queries.
//!
//! The device copies moments into mapped memory itself. `vkGetQueryPoolResults` would do, but drivers may wait in it for
//! more than was asked for: Mesa's lavapipe waits for all that was submitted, which leaves no two frames in flight. The
//! copy is made when a pool is used again, so that nothing has to wait for it: a frame's moments can be read when the
//! next frame that uses the same pool is finished.

use std::cell::Cell;
use std::sync::Arc;

use ash::vk;

use super::barrier::Access;
use super::buffer::{Buffer, BufferMemory};
use super::device::Device;
use super::error::{Context, Result};
use super::recorder::Recorder;

/// Bytes of a moment.
const TICKS_BYTES: u64 = size_of::<u64>() as u64;

/// A row of timestamps: `count` moments in a command buffer.
pub struct Timestamps {
    pool: vk::QueryPool,
    /// Ticks, as copied from the pool.
    moments: Buffer,
    count: u32,
    nanoseconds_per_tick: f64,
    valid_mask: u64,
    /// The pool has moments of a frame.
    written: Cell<bool>,
    /// So have the mapped ones.
    copied: Cell<bool>,
    device: Arc<Device>,
}

impl Timestamps {
    /// `None` where the queue has no timestamps.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(device: &Arc<Device>, name: &str, count: u32) -> Result<Option<Self>> {
        let bits = device.physical.timestamp_valid_bits;
        if bits == 0 {
            return Ok(None);
        }
        let size_bytes = u64::from(count) * TICKS_BYTES;
        let moments =
            Buffer::new(device, name, size_bytes, vk::BufferUsageFlags::TRANSFER_DST, BufferMemory::Readback)?;
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count);
        // SAFETY: a valid create info.
        let pool = unsafe { device.raw.create_query_pool(&info, None) }.context("vkCreateQueryPool")?;
        device.register(pool, name);
        Ok(Some(Self {
            pool,
            moments,
            count,
            nanoseconds_per_tick: f64::from(device.limits().timestamp_period),
            valid_mask: if bits >= 64 { u64::MAX } else { (1 << bits) - 1 },
            written: Cell::new(false),
            copied: Cell::new(false),
            device: Arc::clone(device),
        }))
    }

    /// Hands the moments of the last frame, which must be finished, to the CPU, and forgets them. Recorded before the
    /// first [`Self::cmd_write`] of a frame.
    pub fn cmd_begin(&self, recorder: Recorder) {
        let commands = recorder.raw();
        let (raw, pool, moments) = (&self.device.raw, self.pool, self.moments.raw);
        if self.written.get() {
            // Not `WAIT`: a finished frame's moments are there, and one that was never submitted has none to wait for.
            let flags = vk::QueryResultFlags::TYPE_64;
            // SAFETY: `commands` is being recorded, outside a render pass instance; the buffer has room for all.
            unsafe { raw.cmd_copy_query_pool_results(commands, pool, 0, self.count, moments, 0, TICKS_BYTES, flags) };
            // The CPU reads the copy (RAW).
            recorder.memory_barrier(Access::TRANSFER_WRITE, Access::HOST_READ);
            self.copied.set(true);
        }
        // SAFETY: `commands` is being recorded, outside a render pass instance.
        unsafe { raw.cmd_reset_query_pool(commands, pool, 0, self.count) };
        self.written.set(true);
    }

    /// The moment at which everything before has passed `stage`.
    pub fn cmd_write(&self, recorder: Recorder, stage: vk::PipelineStageFlags2, index: u32) {
        let commands = recorder.raw();
        // SAFETY: `commands` is being recorded; the pool was reset in it; the index is in range.
        unsafe { self.device.raw.cmd_write_timestamp2(commands, stage, self.pool, index.min(self.count - 1)) };
    }

    /// Milliseconds between neighbouring moments, into `intervals_ms` (one element fewer than there are moments), of the
    /// frame before the one that last used these timestamps, which must be finished, too. False if there is none.
    ///
    /// # Safety
    /// The GPU has finished the last frame that used these timestamps.
    pub unsafe fn read(&self, intervals_ms: &mut [f64]) -> bool {
        if !self.copied.get() {
            return false;
        }
        // SAFETY: the caller has waited for the frame whose commands copied the timestamps.
        let (moments, _) = unsafe { self.moments.mapped_for_reading() }.as_chunks();
        for (interval_ms, pair) in intervals_ms.iter_mut().zip(moments.windows(2)) {
            let [from, to] = [pair[0], pair[1]].map(u64::from_ne_bytes);
            let elapsed = to.wrapping_sub(from) & self.valid_mask;
            *interval_ms = elapsed as f64 * self.nanoseconds_per_tick * 1e-6;
        }
        true
    }
}

impl Drop for Timestamps {
    fn drop(&mut self) {
        // SAFETY: the GPU has finished with it (see `Device`).
        unsafe { self.device.raw.destroy_query_pool(self.pool, None) };
    }
}
