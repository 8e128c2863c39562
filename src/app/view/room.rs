//! The largest crowd that the device has room for, computed again only when something has changed.

use std::sync::Arc;

use crate::app::gpu::{forecast, largest_crowd};
use crate::app::text::thousands;
use crate::cli::{GpuArgs, QualityArgs, Size, UploadChoice};
use crate::model::Model;
use crate::renderer::Skinning;
use crate::renderer::memory::format_bytes;
use crate::vulkan::device::Device;

/// Everything that decides how large a crowd may be.
type Key = (*const Model, Skinning, UploadChoice, QualityArgs, Size);

/// The last result.
#[derive(Default)]
pub struct Room {
    known: Option<(Key, u32)>,
}

impl Room {
    /// Returns the largest number of instances.
    pub fn most_instances(&mut self, device: &Device, args: &GpuArgs, models: &Arc<[Model]>, size: Size) -> u32 {
        let key = (models.as_ptr(), args.skinning, args.upload, args.quality, size);
        match self.known {
            Some((known, most)) if known == key => most,
            _ => {
                let most = largest_crowd(device, args, models, size);
                self.known = Some((key, most));
                most
            }
        }
    }
}

/// Describes the memory that a number of instances would take.
pub fn describe(
    device: &Device,
    args: &GpuArgs,
    models: &[Model],
    (instances, most): (u32, u32),
    size: Size,
) -> String {
    let needed = format_bytes(forecast(device, args, models, instances, size).bytes);
    let (heap, free) = device.physical.device_memory(device.instance());
    let available = format_bytes(free.unwrap_or(heap));
    format!("up to {needed} of {available} device memory; {} fit", thousands(u64::from(most)))
}
