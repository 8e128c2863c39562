//! How much memory a crowd will take, before any of it is allocated. Pure arithmetic, no Vulkan.
//!
//! A driver says "out of memory" late, and some say nothing: a software driver's memory is the machine's, which may
//! then end the program. So what the frames of a crowd will hold is added up first. [`MemoryPlan::new`] follows what
//! the renderer does, object by object: buffers for each frame in flight with their room to grow
//! ([`stream_buffer`](super::slot::stream_buffer)), pages ([`plan`](super::slot::plan)), attachments. Alignment and the allocator's
//! blocks are left out, so the sum is a little low; a test holds it against what is really allocated.

use super::slot::stream_buffer::{grown_bytes, needed_bytes};
use super::target::attachments::{DEPTH_BYTES, HDR_BYTES};
use super::{Skinning, UploadPath};
use crate::shader_types::{InstanceData, JointMatrix};

/// What the visible instances of one model ask for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelDemand {
    /// Visible.
    pub instances: u64,
    /// Different ones among them: each has joint matrices, morph weights and skinned vertices of its own.
    pub poses: u64,
    /// Joint matrices of a pose.
    pub joints: u64,
    /// Morph weights of a pose.
    pub morph_weights: u64,
    /// Bytes that `skin.comp` writes for a pose.
    pub skinned_bytes: u64,
}

/// What is to be drawn, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demand {
    /// In the order of the models.
    pub models: Vec<ModelDemand>,
    /// Geometry and textures of all models, uploaded once.
    pub static_bytes: u64,
    /// Where vertices are skinned.
    pub skinning: Skinning,
    /// How what is streamed reaches the GPU.
    pub upload: UploadPath,
    /// 1 to 3.
    pub frames_in_flight: u64,
    /// Of the picture, in pixels.
    pub extent: [u64; 2],
    /// Samples per pixel.
    pub samples: u64,
    /// Side of the shadow map in texels.
    pub shadow_map_size: Option<u32>,
}

/// What the device allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLimits {
    /// `maxStorageBufferRange`: what shaders see of a stream at a time.
    pub storage_range_bytes: u64,
    /// `maxBufferSize`, and what offsets can reach: of one stream.
    pub buffer_bytes: u64,
    /// `maxMemoryAllocationSize`: of one image.
    pub allocation_bytes: u64,
    /// Of one page of the transient vertex buffer.
    pub page_bytes: u64,
}

/// Something that is larger than the device allows, however much memory there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooLarge {
    /// In the words of the messages.
    pub what: &'static str,
    /// Its size.
    pub bytes: u64,
    /// The C name of the limit.
    pub limit: &'static str,
    /// The limit.
    pub limit_bytes: u64,
    /// How many instances would fit; `None`: that is not what makes it large.
    pub most_instances: Option<u64>,
}

/// Bytes by what they are for, of all frames in flight together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryPlan {
    /// Joint matrices and morph weights, with room to grow.
    pub poses: u64,
    /// One element for each visible instance, with room to grow.
    pub instances: u64,
    /// The staged path's copies of both, in mapped memory.
    pub staging: u64,
    /// Pages of the transient vertex buffer.
    pub skinned_vertices: u64,
    /// Colour, depth, shadow map and target.
    pub images: u64,
    /// Geometry and textures.
    pub static_data: u64,
}

/// Pages for so many poses of each size, which never straddle two: all but the last are whole, and that one has room to
/// grow. A pose that is larger than a page counts as one: it will be refused.
fn paged_bytes(counts_and_sizes: impl Iterator<Item = (u64, u64)>, page: u64) -> u64 {
    let page = page.max(1);
    // Pages before the last one, and what of that is used.
    let (mut whole_pages, mut used) = (0_u64, 0_u64);
    for (count, size) in counts_and_sizes.filter(|&(_, size)| size > 0) {
        let size = size.min(page);
        let into_last = count.min((page - used) / size);
        used += into_last * size;
        let rest = count - into_last;
        if rest > 0 {
            let per_page = page / size;
            let new_pages = rest.div_ceil(per_page);
            whole_pages = whole_pages.saturating_add(new_pages);
            used = (rest - (new_pages - 1) * per_page) * size;
        }
    }
    whole_pages.saturating_mul(page).saturating_add((used + used / 4).min(page))
}

impl Demand {
    fn sum(&self, of: impl Fn(&ModelDemand) -> u64) -> u64 {
        self.models.iter().map(of).fold(0, u64::saturating_add)
    }

    /// Visible, of all models.
    #[must_use]
    pub fn instances(&self) -> u64 {
        self.sum(|model| model.instances)
    }

    /// Bytes of one frame, and the window that shaders see them through: joint matrices, morph weights, instances.
    fn streams(&self, limits: MemoryLimits) -> [(&'static str, u64, Option<u64>); 3] {
        let matrices = self.sum(|model| model.poses.saturating_mul(model.joints));
        let weights = self.sum(|model| model.poses.saturating_mul(model.morph_weights));
        [
            ("palette", matrices.saturating_mul(size_of::<JointMatrix>() as u64), Some(limits.storage_range_bytes)),
            ("morph weights", weights.saturating_mul(size_of::<f32>() as u64), Some(limits.storage_range_bytes)),
            ("instance data", self.instances().saturating_mul(size_of::<InstanceData>() as u64), None),
        ]
    }

    fn pixels(&self) -> u64 {
        self.extent[0].saturating_mul(self.extent[1])
    }

    /// The first thing that cannot be, however much memory there is.
    #[must_use]
    pub fn too_large(&self, limits: MemoryLimits) -> Option<TooLarge> {
        let instances = self.instances();
        let over = |(what, bytes): (&'static str, u64), limit, limit_bytes, counts: bool| {
            (bytes > limit_bytes).then(|| TooLarge {
                what,
                bytes,
                limit,
                limit_bytes,
                most_instances: counts
                    .then(|| (u128::from(instances) * u128::from(limit_bytes) / u128::from(bytes)) as u64),
            })
        };
        let stream =
            |(what, used, window)| over((what, needed_bytes(used, window)), "maxBufferSize", limits.buffer_bytes, true);
        let colour = self.pixels().saturating_mul(self.samples).saturating_mul(HDR_BYTES);
        let image = || over(("colour image", colour), "maxMemoryAllocationSize", limits.allocation_bytes, false);
        self.streams(limits).into_iter().find_map(stream).or_else(image)
    }
}

impl MemoryPlan {
    /// What frames of this crowd will hold.
    #[must_use]
    pub fn new(demand: &Demand, limits: MemoryLimits) -> Self {
        let frames = demand.frames_in_flight;
        let [palette, weights, instances] = demand
            .streams(limits)
            .map(|(_, used, window)| grown_bytes(used, window, limits.buffer_bytes).saturating_mul(frames));
        let poses = palette.saturating_add(weights);
        let skinned = match demand.skinning {
            Skinning::Compute => {
                let poses = demand.models.iter().map(|model| (model.poses, model.skinned_bytes));
                paged_bytes(poses, limits.page_bytes)
            }
            Skinning::Vertex => 0,
        };
        let multisampled = if demand.samples > 1 { demand.samples * HDR_BYTES } else { 0 };
        // Colour and depth of the scene; the target and the buffer that it is read back through.
        let per_pixel = HDR_BYTES + multisampled + demand.samples * DEPTH_BYTES + 2 * TARGET_BYTES;
        let shadow_texels = demand.shadow_map_size.map_or(1, |side| u64::from(side).pow(2));
        Self {
            poses,
            instances,
            staging: if demand.upload == UploadPath::Staged { poses.saturating_add(instances) } else { 0 },
            skinned_vertices: skinned.saturating_mul(frames),
            images: demand.pixels().saturating_mul(per_pixel).saturating_add(shadow_texels * DEPTH_BYTES),
            static_data: demand.static_bytes,
        }
    }

    /// All of it.
    #[must_use]
    pub fn total(&self) -> u64 {
        [self.instances, self.staging, self.skinned_vertices, self.images, self.static_data]
            .into_iter()
            .fold(self.poses, u64::saturating_add)
    }

    /// What grows with the crowd.
    #[must_use]
    pub fn crowd(&self) -> u64 {
        [self.instances, self.staging, self.skinned_vertices].into_iter().fold(self.poses, u64::saturating_add)
    }
}

/// A pixel of the target.
const TARGET_BYTES: u64 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: MemoryLimits = MemoryLimits {
        storage_range_bytes: 128 << 20,
        buffer_bytes: 2 << 30,
        allocation_bytes: 2 << 30,
        page_bytes: 128 << 20,
    };

    /// So many of the bundled character, which has 25 joints and 5262 vertices.
    fn walkers(count: u64) -> Demand {
        Demand {
            models: vec![ModelDemand {
                instances: count,
                poses: count,
                joints: 25,
                morph_weights: 0,
                skinned_bytes: 5262 * 16,
            }],
            static_bytes: 1_000_000,
            skinning: Skinning::Compute,
            upload: UploadPath::Direct,
            frames_in_flight: 2,
            extent: [1280, 720],
            samples: 4,
            shadow_map_size: Some(2048),
        }
    }

    #[test]
    fn each_part_is_what_it_is_made_of() {
        let plan = MemoryPlan::new(&walkers(1000), LIMITS);
        // 1,200,000 bytes a frame and half as much again; morph weights keep the room that they start with.
        assert_eq!(plan.poses, 2 * (1_800_000 + (64 << 10)));
        // 64,000 bytes fit into what is there from the start.
        assert_eq!(plan.instances, 2 * (64 << 10));
        assert_eq!(plan.staging, 0);
        // 84,192,000 bytes and a quarter.
        assert_eq!(plan.skinned_vertices, 2 * 105_240_000);
        let pixels = 1280 * 720;
        assert_eq!(plan.images, pixels * (8 + 4 * 8 + 4 * 4 + 4 + 4) + 2048 * 2048 * 4);
        assert_eq!(plan.total(), plan.crowd() + plan.images + plan.static_data);

        let staged = MemoryPlan::new(&Demand { upload: UploadPath::Staged, ..walkers(1000) }, LIMITS);
        assert_eq!(staged.total(), plan.total() + plan.poses + plan.instances);
        let vertex = MemoryPlan::new(&Demand { skinning: Skinning::Vertex, ..walkers(1000) }, LIMITS);
        assert_eq!(vertex.total(), plan.total() - plan.skinned_vertices);
        let plain = Demand { samples: 1, shadow_map_size: None, ..walkers(1000) };
        assert_eq!(MemoryPlan::new(&plain, LIMITS).images, pixels * (8 + 4 + 4 + 4) + 4);
    }

    #[test]
    fn shared_poses_are_counted_once() {
        let mut demand = walkers(1000);
        let all = MemoryPlan::new(&demand, LIMITS);
        demand.models[0].poses = 100;
        let shared = MemoryPlan::new(&demand, LIMITS);
        assert_eq!(shared.instances, all.instances);
        assert_eq!(shared.skinned_vertices, 2 * 10_524_000);
        assert!(shared.poses < all.poses / 5);
    }

    #[test]
    fn pages_are_whole_but_for_the_last() {
        let page = 1000;
        let paged = |poses: &[(u64, u64)]| paged_bytes(poses.iter().copied(), page);
        assert_eq!(paged(&[]), 0);
        assert_eq!(paged(&[(0, 100), (4, 100), (7, 0)]), 500);
        assert_eq!(paged(&[(9, 100)]), 1000);
        assert_eq!(paged(&[(24, 100)]), 2500);
        // One to a page, in which 400 bytes are of no use; small ones still find room in the last.
        assert_eq!(paged(&[(3, 600)]), 2000 + 750);
        assert_eq!(paged(&[(3, 600), (1, 100)]), 2000 + 875);
        assert_eq!(paged(&[(3, 600), (5, 100)]), 3000 + 125);
        assert_eq!(paged(&[(2, 5000)]), 2000);
        assert_eq!(paged(&[(u64::MAX, 1000)]), u64::MAX);
    }

    #[test]
    fn streams_and_images_have_limits_of_their_own() {
        // 2,147,483,648 bytes less one window, for matrices of 1,200 bytes an instance.
        assert_eq!(walkers(1_600_000).too_large(LIMITS), None);
        let too_large = walkers(2_000_000).too_large(LIMITS).unwrap();
        assert_eq!((too_large.what, too_large.bytes), ("palette", 2_400_000_000 + (128 << 20)));
        assert!(too_large.most_instances.unwrap() < 1_700_000);
        let mut shared = walkers(40_000_000);
        shared.models[0].poses = 1;
        assert_eq!(shared.too_large(LIMITS).unwrap().what, "instance data");
        let large = Demand { extent: [16_384, 16_384], ..walkers(1) };
        let too_large = large.too_large(LIMITS).unwrap();
        assert_eq!((too_large.bytes, too_large.most_instances), (16_384 * 16_384 * 4 * 8, None));
        // Exactly at the limit.
        assert_eq!(Demand { samples: 1, ..large }.too_large(LIMITS), None);
    }

    #[test]
    fn no_number_is_too_large_for_the_arithmetic() {
        let most = ModelDemand {
            instances: u64::MAX,
            poses: u64::MAX,
            joints: u64::MAX,
            morph_weights: u64::MAX,
            skinned_bytes: u64::MAX,
        };
        let demand = Demand { models: vec![most; 3], extent: [u64::MAX; 2], ..walkers(1) };
        assert_eq!(MemoryPlan::new(&demand, LIMITS).total(), u64::MAX);
        assert!(demand.too_large(LIMITS).is_some());
    }
}
