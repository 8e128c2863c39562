//! The device memory of a crowd, computed before any of it is allocated. Pure arithmetic.
//!
//! In: models, counts and settings. Out: a [`Forecast`], which refuses a crowd that the device cannot hold and says how many
//! instances fit. Drivers report "out of memory" late, and some never do. All poses have full detail, because a camera may come
//! close to them all. The spare room of buffers and of the allocator is left out.

use super::output::attachments::{DEPTH_BYTES, HDR_BYTES};
use super::resident::environment::ENVIRONMENT_BYTES;
use super::resident::sizes::static_bytes;
use super::settings::{RendererSettings, Skinning, UploadPath};
use crate::crowd::{PoseSize, VERTICES_PER_LINE};
use crate::model::Model;
use crate::shader_types::{InstanceData, JointMatrix, PoseRecord, SkinnedVertex};
use crate::vulkan::device::Device;

/// The limits of a device that concern the size of buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLimits {
    /// The largest stream that shaders read.
    pub storage_bytes: u64,
    /// The largest page of the transient vertex buffer.
    pub page_bytes: u64,
}

impl MemoryLimits {
    /// Returns the limits for models of which the largest has `largest_pose` vertices, for which a page has room.
    pub fn new(device: &Device, settings: &RendererSettings, largest_pose: u64) -> Self {
        let physical = &device.physical;
        let storage_range = u64::from(device.limits().max_storage_buffer_range);
        let page_bytes = match settings.skinning {
            Skinning::Vertex => u64::MAX,
            Skinning::Compute => {
                let largest = storage_range.min(physical.max_allocation_bytes).min(physical.max_buffer_bytes);
                settings.page_bytes.max(largest_pose.saturating_mul(size_of::<SkinnedVertex>() as u64)).min(largest)
            }
        };
        Self {
            storage_bytes: storage_range.min(settings.limit_caps.storage_range_bytes).min(physical.max_buffer_bytes),
            page_bytes,
        }
    }
}

/// A resource of the device that a crowd may exhaust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// The largest heap of the device's own memory.
    DeviceMemory,
    /// `maxStorageBufferRange`, for the joint matrices.
    Palette,
    /// `maxStorageBufferRange`, for the instances.
    Instances,
}

impl Resource {
    fn name(self) -> &'static str {
        ["of device memory", "for the palette", "for the instance buffer"][self as usize]
    }
}

/// The memory that a crowd takes of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forecast {
    /// The device memory of the frames in flight, images and models.
    pub device_bytes: u64,
    /// The resource of which the fewest instances fit.
    pub resource: Resource,
    pub needed_bytes: u64,
    pub available_bytes: u64,
    pub instances: u64,
    /// The number of instances like these that fit.
    pub fitting_instances: u64,
}

/// A crowd that the device cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{} visible instances need {} MiB {}; the device's limit is {} MiB",
    .0.instances, .0.needed_bytes >> 20, .0.resource.name(), .0.available_bytes >> 20)]
pub struct TooLarge(pub Forecast);

/// What a program adds to frames takes memory as well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Additions {
    /// The number of slots beside those of the frames in flight.
    pub slots: u64,
    /// The bytes of the device's own memory.
    pub bytes: u64,
}

impl Forecast {
    /// Adds up what a crowd takes, given the numbers of visible instances and poses of each model, and what the program adds.
    pub fn new(
        device: &Device,
        settings: &RendererSettings,
        models: &[Model],
        (instance_counts, pose_counts): (&[u32], &[u32]),
        [width, height]: [u32; 2],
        additions: Additions,
    ) -> Self {
        let instances: u64 = instance_counts.iter().map(|&count| u64::from(count)).sum();
        let instance_bytes = instances * size_of::<InstanceData>() as u64;
        let (mut palette, mut other_streams, mut skinned) = (0, 0, 0);
        for (size, &poses) in models.iter().map(PoseSize::of).zip(pose_counts) {
            let poses = u64::from(poses);
            palette += poses * u64::from(size.level(0).joint_count) * size_of::<JointMatrix>() as u64;
            let weights = u64::from(size.morph_weight_count) * size_of::<f32>() as u64;
            other_streams += poses * (weights + size_of::<PoseRecord>() as u64);
            skinned += poses * size.skinned_bytes(size.level(0).vertex_count.next_multiple_of(VERTICES_PER_LINE));
        }
        let staged = settings.upload.unwrap_or_else(|| UploadPath::best_for(&device.physical)) == UploadPath::Staged;
        let copies = if staged { 2 } else { 1 };
        let skinned = if settings.skinning == Skinning::Compute { skinned } else { 0 };
        let slots = settings.slot_count() as u64 + additions.slots;
        let crowd = (copies * (palette + other_streams + instance_bytes) + skinned) * slots;

        let samples = u64::from(settings.samples);
        // Colour and depth of the scene, the output of four bytes, and the buffer through which it is read back.
        let colors = if samples > 1 { samples + 1 } else { 1 };
        let per_pixel = colors * HDR_BYTES + samples * DEPTH_BYTES + 2 * 4;
        let shadow_texels = settings.shadows.map_size(device, [width, height]).map_or(1, |side| u64::from(side).pow(2));
        let fixed = (u64::from(width) * u64::from(height))
            .saturating_mul(per_pixel)
            .saturating_add(shadow_texels * DEPTH_BYTES + ENVIRONMENT_BYTES)
            .saturating_add(additions.bytes)
            .saturating_add(models.iter().map(static_bytes).sum());

        let limits = MemoryLimits::new(device, settings, 0);
        let (heap_bytes, _) = device.physical.device_memory(&device.instance);
        let of = |resource, fixed: u64, crowd: u64, available_bytes: u64| {
            let room = u128::from(instances) * u128::from(available_bytes.saturating_sub(fixed));
            let fitting_instances = (room / u128::from(crowd.max(1))).min(u64::MAX.into()) as u64;
            let needed_bytes = fixed.saturating_add(crowd);
            Self { device_bytes: 0, resource, needed_bytes, available_bytes, instances, fitting_instances }
        };
        let memory = of(Resource::DeviceMemory, fixed, crowd, heap_bytes);
        let palette = of(Resource::Palette, 0, palette, limits.storage_bytes);
        let instances = of(Resource::Instances, 0, instance_bytes, limits.storage_bytes);
        let scarcest = [memory, palette, instances].into_iter().min_by_key(|one| one.fitting_instances);
        Self { device_bytes: memory.needed_bytes, ..scarcest.unwrap_or(memory) }
    }

    /// Refuses a crowd that the device cannot hold. The sum is the worst case, so it may be half as much again as the memory.
    ///
    /// # Errors
    /// The crowd takes more.
    pub fn check(self) -> Result<Self, TooLarge> {
        let slack = if self.resource == Resource::DeviceMemory { self.available_bytes / 2 } else { 0 };
        if self.needed_bytes <= self.available_bytes.saturating_add(slack) { Ok(self) } else { Err(TooLarge(self)) }
    }
}
