//! Device memory: how much each part of a crowd takes, computed before any of it is allocated. Pure arithmetic.
//!
//! In: models, counts and settings. Out: sizes of buffers for the renderer, a [`MemoryPlan`] for the user, and a refusal or
//! a warning if the device does not have that much. Drivers report "out of memory" late, and some never do: a software
//! driver uses the machine's own memory until the system ends the program. [`MemoryPlan::new`] adds up the renderer's
//! objects. It leaves out alignment, the padding of influences and the allocator's blocks, so the sum is slightly low; a test
//! compares it with the memory that is really allocated. All poses have full detail, which is the worst case: a camera may come
//! close to them all. No number of instances makes the arithmetic overflow.

use super::output::attachments::{DEPTH_BYTES, HDR_BYTES};
use super::resident::environment::ENVIRONMENT_BYTES;
use super::resident::model::index_bytes;
use super::settings::{RendererSettings, Skinning, UploadPath};
use crate::crowd::PoseSize;
use crate::model::{Geometry, Model};
use crate::shader_types::{
    BindVertex, GpuBone, GpuInfluence, GpuMorphDelta, InstanceData, JointMatrix, PaletteEntry, PoseRecord,
    SkinnedVertex, StaticVertex,
};
use crate::vulkan::device::Device;

/// The initial size of a stream: enough for a small crowd.
pub const FIRST_STREAM_BYTES: u64 = 64 << 10;
/// The size of a pixel of the output.
const TARGET_BYTES: u64 = 4;

/// Returns the size of a new buffer for a stream of `used_bytes`. It has room for half as much again, so that a slowly
/// growing crowd does not reallocate in each frame.
#[must_use]
pub fn stream_buffer_bytes(used_bytes: u64, limit_bytes: u64) -> u64 {
    if used_bytes <= FIRST_STREAM_BYTES {
        return FIRST_STREAM_BYTES;
    }
    used_bytes.saturating_add(used_bytes / 2).min(limit_bytes)
}

/// Returns the number of vertices of a new page that holds `used` vertices. The number in the last page changes with the
/// visible instances, so it has room for a quarter more. All other pages are as large as they can be.
#[must_use]
pub fn page_vertices(used: u64, is_last: bool, page_bytes: u64) -> u64 {
    let capacity = page_bytes / size_of::<SkinnedVertex>() as u64;
    if is_last { used.saturating_add(used / 4).min(capacity) } else { capacity }
}

/// Returns the size of the static geometry and the textures of a model on the device.
#[must_use]
pub fn static_bytes(model: &Model) -> u64 {
    let textures = model.images.iter().map(|image| texture_bytes(image.width, image.height));
    let skeleton = model.palette.len() * size_of::<PaletteEntry>() + model.bones.len() * size_of::<GpuBone>();
    geometry_bytes(&model.geometry) + skeleton as u64 + textures.sum::<u64>()
}

/// Returns the size of a texture with all of its mip levels, at four bytes per texel.
#[must_use]
pub fn texture_bytes(width: u32, height: u32) -> u64 {
    let levels = width.max(height).max(1).ilog2() + 1;
    let texels = |level: u32| u64::from((width >> level).max(1)) * u64::from((height >> level).max(1));
    4 * (0..levels).map(texels).sum::<u64>()
}

/// Returns the size of the static geometry of a model on the device, with all levels of detail.
#[must_use]
pub fn geometry_bytes(geometry: &Geometry) -> u64 {
    let vertices = geometry.vertex_count() * (size_of::<BindVertex>() + size_of::<StaticVertex>());
    let influences = geometry.influences.len() * size_of::<GpuInfluence>();
    let morph_deltas = geometry.morph_deltas.len() * size_of::<GpuMorphDelta>();
    // Tangents are packed. Their morph deltas have three numbers, and exist only if there are tangents.
    let has_tangents = usize::from(!geometry.tangents.is_empty());
    let tangents =
        geometry.tangents.len() * size_of::<u32>() + has_tangents * geometry.morph_deltas.len() * size_of::<[f32; 3]>();
    let coarser_indices: usize = geometry.coarser_levels.iter().map(|level| level.indices.len()).sum();
    let indices = (geometry.indices.len() + coarser_indices) * index_bytes(geometry);
    let coarser_vertices: usize = geometry.coarser_levels.iter().map(|level| level.vertex_count as usize).sum();
    let skin_order = (geometry.vertex_count() + coarser_vertices) * size_of::<u32>();
    (vertices + influences + morph_deltas + tangents + indices + skin_order) as u64
}

/// The limits of a device that concern the size of buffers and images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLimits {
    /// The largest stream that shaders read: `maxStorageBufferRange`, or less if buffers must be smaller.
    pub storage_bytes: u64,
    /// `maxBufferSize`: the largest stream of vertex attributes.
    pub buffer_bytes: u64,
    /// `maxMemoryAllocationSize`: the largest image.
    pub allocation_bytes: u64,
    /// The largest page of the transient vertex buffer.
    pub page_bytes: u64,
}

impl MemoryLimits {
    /// Returns the limits for models of which the largest has `largest_pose` vertices. A page has room for at least one
    /// pose, so a large model makes pages larger. With vertex skinning there are no pages and the limit does not apply.
    #[must_use]
    pub fn new(device: &Device, settings: &RendererSettings, largest_pose: u64) -> Self {
        let physical = &device.physical;
        let storage_range = u64::from(device.limits().max_storage_buffer_range);
        let page_bytes = match settings.skinning {
            Skinning::Vertex => u64::MAX,
            Skinning::Compute => settings
                .page_bytes
                .max(largest_pose.saturating_mul(size_of::<SkinnedVertex>() as u64))
                .min(storage_range)
                .min(physical.max_allocation_bytes)
                .min(physical.max_buffer_bytes),
        };
        Self {
            storage_bytes: storage_range.min(settings.limit_caps.storage_range_bytes).min(physical.max_buffer_bytes),
            buffer_bytes: physical.max_buffer_bytes,
            allocation_bytes: physical.max_allocation_bytes,
            page_bytes,
        }
    }
}

/// The visible instances and poses of one model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelDemand {
    /// The number of visible instances.
    pub instances: u64,
    /// The number of visible poses.
    pub poses: u64,
    /// The number of joint matrices of a pose.
    pub joints: u64,
    /// The number of morph weights of a pose.
    pub morph_weights: u64,
    /// The number of bytes that `skin.comp` writes for a pose in full detail.
    pub skinned_bytes: u64,
}

/// A crowd, and how it is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demand {
    /// One element for each model.
    pub models: Vec<ModelDemand>,
    /// The size of the static geometry and textures of all models.
    pub static_bytes: u64,
    /// The stage that skins vertices.
    pub skinning: Skinning,
    /// How streams reach the GPU.
    pub upload: UploadPath,
    /// The number of frames in flight, 1 to 3.
    pub frames_in_flight: u64,
    /// Width and height of the image in pixels.
    pub extent: [u64; 2],
    /// The number of samples per pixel.
    pub samples: u64,
    /// The side of the shadow map in texels; `None`: no shadows.
    pub shadow_map_size: Option<u32>,
}

/// The size of a crowd on the device in bytes, by purpose, for all frames in flight together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryPlan {
    /// Joint matrices, morph weights and pose records, with room to grow.
    pub poses: u64,
    /// Instances, with room to grow.
    pub instances: u64,
    /// The staged path's copies of the streams.
    pub staging: u64,
    /// The pages of the transient vertex buffer.
    pub skinned_vertices: u64,
    /// Colour, depth, shadow map, output, and the light of the surroundings.
    pub images: u64,
    /// Geometry and textures.
    pub static_data: u64,
}

/// A crowd that the device cannot hold, with figures and advice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotEnoughMemory(String);

/// A buffer or an image that is larger than the device allows.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TooLarge {
    name: &'static str,
    bytes: u64,
    /// The name of the limit in the Vulkan specification.
    limit: &'static str,
    limit_bytes: u64,
    /// The number of instances that fit; `None` if the size does not depend on it.
    max_instances: Option<u64>,
}

impl Demand {
    /// Returns the demand of a crowd with these numbers of visible instances and poses of each model.
    #[must_use]
    pub fn new(
        device: &Device,
        settings: &RendererSettings,
        models: &[Model],
        (instance_counts, pose_counts): (&[u32], &[u32]),
        extent: [u32; 2],
    ) -> Self {
        let counts = instance_counts.iter().zip(pose_counts);
        let of_model = |(model, (&instances, &poses)): (&Model, (&u32, &u32))| {
            let size = PoseSize::of(model);
            ModelDemand {
                instances: instances.into(),
                poses: poses.into(),
                joints: size.joint_count.into(),
                morph_weights: size.morph_weight_count.into(),
                skinned_bytes: size.skinned_bytes(size.vertex_count(0)),
            }
        };
        Self {
            models: models.iter().zip(counts).map(of_model).collect(),
            static_bytes: models.iter().map(static_bytes).sum(),
            skinning: settings.skinning,
            upload: settings.upload.unwrap_or_else(|| UploadPath::best_for(&device.physical)),
            frames_in_flight: settings.frames_in_flight as u64,
            extent: extent.map(u64::from),
            samples: settings.samples.into(),
            shadow_map_size: settings.shadow_map_size,
        }
    }

    fn sum(&self, of: impl Fn(&ModelDemand) -> u64) -> u64 {
        self.models.iter().map(of).fold(0, u64::saturating_add)
    }

    fn instances(&self) -> u64 {
        self.sum(|model| model.instances)
    }

    /// Returns the name, the size in one frame, the name of the limit, and the limit of each stream.
    fn streams(&self, limits: MemoryLimits) -> [(&'static str, u64, &'static str, u64); 4] {
        let matrices = self.sum(|model| model.poses.saturating_mul(model.joints));
        let weights = self.sum(|model| model.poses.saturating_mul(model.morph_weights));
        let records = self.sum(|model| model.poses);
        let bytes = |count: u64, size: usize| count.saturating_mul(size as u64);
        let storage = ("maxStorageBufferRange", limits.storage_bytes);
        [
            ("palette", bytes(matrices, size_of::<JointMatrix>()), storage.0, storage.1),
            ("morph weights", bytes(weights, size_of::<f32>()), storage.0, storage.1),
            ("pose records", bytes(records, size_of::<PoseRecord>()), storage.0, storage.1),
            ("instance data", bytes(self.instances(), size_of::<InstanceData>()), "maxBufferSize", limits.buffer_bytes),
        ]
    }

    fn pixels(&self) -> u64 {
        self.extent[0].saturating_mul(self.extent[1])
    }

    /// Returns the first buffer or image that is larger than the device allows.
    fn too_large(&self, limits: MemoryLimits) -> Option<TooLarge> {
        let stream = |(name, bytes, limit, limit_bytes): (&'static str, u64, &'static str, u64)| {
            let max_instances = || u128::from(self.instances()) * u128::from(limit_bytes) / u128::from(bytes);
            (bytes > limit_bytes).then(|| TooLarge {
                name,
                bytes,
                limit,
                limit_bytes,
                max_instances: Some(max_instances() as u64),
            })
        };
        let bytes = self.pixels().saturating_mul(self.samples).saturating_mul(HDR_BYTES);
        let image = TooLarge {
            name: "colour image",
            bytes,
            limit: "maxMemoryAllocationSize",
            limit_bytes: limits.allocation_bytes,
            max_instances: None,
        };
        let image = (bytes > limits.allocation_bytes).then_some(image);
        self.streams(limits).into_iter().find_map(stream).or(image)
    }
}

/// Returns the size of the pages for poses of these counts and sizes. A pose that is larger than a page counts as one page:
/// the frame plan refuses it.
fn paged_bytes(counts_and_sizes: impl Iterator<Item = (u64, u64)>, page: u64) -> u64 {
    let page = page.max(1);
    // The number of pages before the last one, and the used bytes of the last one.
    let (mut full_pages, mut used) = (0_u64, 0_u64);
    for (count, size) in counts_and_sizes.filter(|&(_, size)| size > 0) {
        let size = size.min(page);
        let into_last = count.min((page - used) / size);
        used += into_last * size;
        let rest = count - into_last;
        if rest > 0 {
            let per_page = page / size;
            let new_pages = rest.div_ceil(per_page);
            full_pages = full_pages.saturating_add(new_pages);
            used = (rest - (new_pages - 1) * per_page) * size;
        }
    }
    full_pages.saturating_mul(page).saturating_add(used.saturating_add(used / 4).min(page))
}

impl MemoryPlan {
    /// Returns the memory that the frames of a crowd take.
    #[must_use]
    pub fn new(demand: &Demand, limits: MemoryLimits) -> Self {
        let frames = demand.frames_in_flight;
        let [palette, weights, records, instances] = demand
            .streams(limits)
            .map(|(_, used, _, limit_bytes)| stream_buffer_bytes(used, limit_bytes).saturating_mul(frames));
        let poses = palette.saturating_add(weights).saturating_add(records);
        let skinned = match demand.skinning {
            Skinning::Compute => {
                let poses = demand.models.iter().map(|model| (model.poses, model.skinned_bytes));
                paged_bytes(poses, limits.page_bytes)
            }
            Skinning::Vertex => 0,
        };
        let multisampled = if demand.samples > 1 { demand.samples * HDR_BYTES } else { 0 };
        // Colour and depth of the scene, the output, and the buffer through which the output is read back.
        let per_pixel = HDR_BYTES + multisampled + demand.samples * DEPTH_BYTES + 2 * TARGET_BYTES;
        let shadow_texels = demand.shadow_map_size.map_or(1, |side| u64::from(side).pow(2));
        Self {
            poses,
            instances,
            staging: if demand.upload == UploadPath::Staged { poses.saturating_add(instances) } else { 0 },
            skinned_vertices: skinned.saturating_mul(frames),
            images: (demand.pixels().saturating_mul(per_pixel))
                .saturating_add(shadow_texels * DEPTH_BYTES + ENVIRONMENT_BYTES),
            static_data: demand.static_bytes,
        }
    }

    /// Returns the sum of all parts.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.crowd().saturating_add(self.images).saturating_add(self.static_data)
    }

    /// Returns the sum of the parts that grow with the crowd.
    #[must_use]
    pub fn crowd(&self) -> u64 {
        [self.instances, self.staging, self.skinned_vertices].into_iter().fold(self.poses, u64::saturating_add)
    }

    /// Returns the plan of a crowd, and a warning if a heap of `heap_bytes` may not have enough memory for it. `free_bytes` is
    /// the free part of the heap, if the driver reports it. Otherwise 80 % of the heap count as available.
    ///
    /// Drivers choose the reported sizes of heaps, and a software driver often reports less than the machine has. So a
    /// shortage is a warning, and an error only if the crowd needs more than one and a half times the heap.
    ///
    /// # Errors
    /// A buffer or an image is larger than the device allows, or the sum is far larger than the heap.
    pub fn check(
        demand: &Demand,
        limits: MemoryLimits,
        (heap_bytes, free_bytes): (u64, Option<u64>),
    ) -> Result<(Self, Option<String>), NotEnoughMemory> {
        if let Some(too_large) = demand.too_large(limits) {
            return Err(NotEnoughMemory(too_large.message(demand.instances())));
        }
        let plan = Self::new(demand, limits);
        match plan.warning(demand, heap_bytes, free_bytes) {
            Some(warning) if plan.total() > heap_bytes.saturating_add(heap_bytes / 2) => Err(NotEnoughMemory(warning)),
            warning => Ok((plan, warning)),
        }
    }

    /// Returns a message with figures and advice if the crowd needs more memory than there is.
    fn warning(&self, demand: &Demand, heap_bytes: u64, free_bytes: Option<u64>) -> Option<String> {
        let (available, state) = match free_bytes {
            Some(free) if free < heap_bytes => (free, "free"),
            Some(_) => (heap_bytes, "available"),
            // The driver does not say how much is free. Other programs and the driver itself have the rest.
            None => (heap_bytes / 5 * 4, "available"),
        };
        let total = self.total();
        if total <= available {
            return None;
        }
        let parts = [
            (self.skinned_vertices, "skinned vertices in full detail"),
            (self.poses, "joint matrices"),
            (self.instances, "instances"),
            (self.staging, "staging buffers"),
            (self.images, "images"),
            (self.static_data, "models"),
        ];
        let parts: Vec<String> = parts
            .into_iter()
            .filter(|(part, _)| part.saturating_mul(100) >= total)
            .map(|(part, name)| format!("{name} {}", format_bytes(part)))
            .collect();
        Some(format!(
            "the crowd needs about {} of device memory ({}), but only {} are {state}; {}",
            format_bytes(total),
            parts.join(", "),
            format_bytes(available),
            self.advice(demand, available)
        ))
    }

    /// Returns the options that reduce the demand, the most effective one first.
    fn advice(&self, demand: &Demand, available: u64) -> String {
        if self.images > self.crowd() {
            let msaa = if demand.samples > 1 { "--msaa 1 or " } else { "" };
            return format!("{msaa}a smaller --size takes less");
        }
        let mut advice = Vec::new();
        if demand.skinning == Skinning::Compute && self.skinned_vertices > 0 {
            advice.push(format!("--skinning vertex takes {} less", format_bytes(self.skinned_vertices)));
        }
        advice.push("--share-poses HZ takes less".to_owned());
        let room = available.saturating_sub(self.total().saturating_sub(self.crowd()));
        let fitting = u128::from(demand.instances()) * u128::from(room) / u128::from(self.crowd().max(1));
        if fitting > 0 {
            advice.push(format!("about {fitting} visible --instances fit"));
        }
        advice.join(", ")
    }
}

impl TooLarge {
    fn message(&self, instances: u64) -> String {
        let (owner, advice) = match self.max_instances {
            Some(max) => (
                format!(" of {instances} visible instances"),
                format!("at most {max} visible --instances fit, or more with --share-poses HZ"),
            ),
            None => (String::new(), "a smaller --size or --msaa 1 takes less".to_owned()),
        };
        format!(
            "the {}{owner} takes {}, but the device's {} is {}; {advice}",
            self.name,
            format_bytes(self.bytes),
            self.limit,
            format_bytes(self.limit_bytes),
        )
    }
}

/// Formats a number of bytes in the largest binary unit of which there is at least one.
#[must_use]
pub fn format_bytes(count: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match UNITS.iter().find(|(shift, _)| count >> shift > 0) {
        Some((shift, unit)) => format!("{:.1} {unit}", count as f64 / (1_u64 << shift) as f64),
        None => format!("{count} byte{}", if count == 1 { "" } else { "s" }),
    }
}
