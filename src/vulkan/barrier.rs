//! The two sides of a barrier: which stages access which memory, or an image in which layout. [`Recorder`] records them.
//!
//! [`Recorder`]: super::recorder::Recorder

use ash::vk;
use vk::AccessFlags2 as A;
use vk::PipelineStageFlags2 as S;

use super::image::Image;

/// One side of a barrier: pipeline stages and their memory accesses.
#[derive(Debug, Clone, Copy)]
pub struct Access {
    pub stages: S,
    pub access: A,
}

impl Access {
    /// All commands and all memory. For measurements only: it keeps passes from overlapping.
    pub const EVERYTHING: Self =
        Self::new(S::ALL_COMMANDS, A::from_raw(A::MEMORY_READ.as_raw() | A::MEMORY_WRITE.as_raw()));
    /// Nothing to wait for: a new image.
    pub const NOTHING: Self = Self::new(S::NONE, A::NONE);
    pub const TRANSFER_READ: Self = Self::new(S::ALL_TRANSFER, A::TRANSFER_READ);
    pub const TRANSFER_WRITE: Self = Self::new(S::ALL_TRANSFER, A::TRANSFER_WRITE);
    pub const COMPUTE_WRITE: Self = Self::new(S::COMPUTE_SHADER, A::SHADER_STORAGE_WRITE);
    pub const COMPUTE_READ: Self = Self::new(S::COMPUTE_SHADER, A::SHADER_STORAGE_READ);
    pub const VERTEX_READ: Self = Self::new(S::VERTEX_SHADER, A::SHADER_STORAGE_READ);
    pub const ATTRIBUTE_READ: Self = Self::new(S::VERTEX_ATTRIBUTE_INPUT, A::VERTEX_ATTRIBUTE_READ);
    pub const HOST_READ: Self = Self::new(S::HOST, A::HOST_READ);
    pub const INDEX_READ: Self = Self::new(S::INDEX_INPUT, A::INDEX_READ);
    pub const UNIFORM_READ: Self = Self::new(S::FRAGMENT_SHADER, A::UNIFORM_READ);
    pub const SAMPLED_READ: Self = Self::new(S::FRAGMENT_SHADER, A::SHADER_SAMPLED_READ);
    pub const COLOR_WRITE: Self = Self::new(S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_WRITE);
    pub const DEPTH_WRITE: Self = Self::new(DEPTH_STAGES, A::DEPTH_STENCIL_ATTACHMENT_WRITE);
    pub const DEPTH_TEST: Self = Self::DEPTH_WRITE.and(Self::new(DEPTH_STAGES, A::DEPTH_STENCIL_ATTACHMENT_READ));

    pub const fn new(stages: S, access: A) -> Self {
        Self { stages, access }
    }

    /// Returns the stages without their accesses: the source side of a write-after-read hazard, which needs the order only.
    pub const fn finished(self) -> Self {
        Self { stages: self.stages, access: A::NONE }
    }

    pub const fn and(self, other: Self) -> Self {
        // ash's own `|` is not const.
        Self {
            stages: S::from_raw(self.stages.as_raw() | other.stages.as_raw()),
            access: A::from_raw(self.access.as_raw() | other.access.as_raw()),
        }
    }
}

const DEPTH_STAGES: S = S::from_raw(S::EARLY_FRAGMENT_TESTS.as_raw() | S::LATE_FRAGMENT_TESTS.as_raw());

pub type ImageUse = (Access, vk::ImageLayout);

pub const COLOR_TARGET: ImageUse = (Access::COLOR_WRITE, vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL);
pub const DEPTH_TARGET: ImageUse = (Access::DEPTH_TEST, vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL);
pub const SAMPLED: ImageUse = (Access::SAMPLED_READ, vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL);
pub const TRANSFER_SOURCE: ImageUse = (Access::TRANSFER_READ, vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
pub const TRANSFER_TARGET: ImageUse = (Access::TRANSFER_WRITE, vk::ImageLayout::TRANSFER_DST_OPTIMAL);

/// Returns the last use of an image whose contents are discarded.
pub const fn discarded(last_use: Access) -> ImageUse {
    (last_use, vk::ImageLayout::UNDEFINED)
}

/// One image changes from one use to another.
#[derive(Clone, Copy)]
pub struct ImageBarrier<'a> {
    pub image: &'a Image,
    /// The first level and the number of levels.
    pub levels: (u32, u32),
    pub from: ImageUse,
    pub to: ImageUse,
}

impl<'a> ImageBarrier<'a> {
    /// Returns a barrier for the first level of an image.
    pub fn new(image: &'a Image, from: ImageUse, to: ImageUse) -> Self {
        Self { image, levels: (0, 1), from, to }
    }

    pub(super) fn info(&self) -> vk::ImageMemoryBarrier2<'static> {
        vk::ImageMemoryBarrier2::default()
            .image(self.image.raw)
            .subresource_range(vk::ImageSubresourceRange {
                aspect_mask: self.image.info().aspect,
                base_mip_level: self.levels.0,
                level_count: self.levels.1,
                base_array_layer: 0,
                layer_count: vk::REMAINING_ARRAY_LAYERS,
            })
            .src_stage_mask(self.from.0.stages)
            .src_access_mask(self.from.0.access)
            .old_layout(self.from.1)
            .dst_stage_mask(self.to.0.stages)
            .dst_access_mask(self.to.0.access)
            .new_layout(self.to.1)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
    }
}
