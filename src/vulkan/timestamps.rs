//! GPU time of each pass, from timestamp queries.

use std::sync::Arc;

use ash::vk;

use super::device::Device;
use super::error::{Context, Error, Result};

/// A row of timestamps: `count` moments in a command buffer.
pub struct Timestamps {
    pool: vk::QueryPool,
    count: u32,
    nanoseconds_per_tick: f64,
    valid_mask: u64,
    written: bool,
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
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count);
        // SAFETY: a valid create info.
        let pool = unsafe { device.raw.create_query_pool(&info, None) }.context("vkCreateQueryPool")?;
        device.register(pool, name);
        Ok(Some(Self {
            pool,
            count,
            nanoseconds_per_tick: f64::from(device.limits().timestamp_period),
            valid_mask: if bits >= 64 { u64::MAX } else { (1 << bits) - 1 },
            written: false,
            device: Arc::clone(device),
        }))
    }

    /// Forgets the last frame's moments. Recorded before the first [`Self::cmd_write`] of a frame.
    pub fn cmd_reset(&mut self, commands: vk::CommandBuffer) {
        // SAFETY: `commands` is being recorded, outside a render pass instance.
        unsafe { self.device.raw.cmd_reset_query_pool(commands, self.pool, 0, self.count) };
        self.written = true;
    }

    /// The moment at which everything before has passed `stage`.
    pub fn cmd_write(&self, commands: vk::CommandBuffer, stage: vk::PipelineStageFlags2, index: u32) {
        // SAFETY: `commands` is being recorded; the pool was reset in it; the index is in range.
        unsafe { self.device.raw.cmd_write_timestamp2(commands, stage, self.pool, index.min(self.count - 1)) };
    }

    /// Milliseconds between neighbouring moments, into `intervals_ms` (one element fewer than there are moments).
    /// The frame that wrote them must be finished. False if nothing was written yet.
    ///
    /// # Errors
    /// Device lost.
    pub fn read(&self, intervals_ms: &mut [f64]) -> Result<bool> {
        const MOST: usize = 16;
        let count = (self.count as usize).min(MOST);
        if !self.written {
            return Ok(false);
        }
        let mut ticks = [0u64; MOST];
        // SAFETY: the pool is alive.
        let result = unsafe {
            self.device.raw.get_query_pool_results(self.pool, 0, &mut ticks[..count], vk::QueryResultFlags::TYPE_64)
        };
        match result {
            Ok(()) => {}
            // The frame was recorded but never submitted.
            Err(vk::Result::NOT_READY) => return Ok(false),
            Err(result) => return Err(Error::Call { call: "vkGetQueryPoolResults", result }),
        }
        for (interval, pair) in intervals_ms.iter_mut().zip(ticks[..count].windows(2)) {
            let elapsed = pair[1].wrapping_sub(pair[0]) & self.valid_mask;
            *interval = elapsed as f64 * self.nanoseconds_per_tick * 1e-6;
        }
        Ok(true)
    }
}

impl Drop for Timestamps {
    fn drop(&mut self) {
        // SAFETY: the GPU has finished with it (see `Device`).
        unsafe { self.device.raw.destroy_query_pool(self.pool, None) };
    }
}
