//! Barriers in one line each, for the frame function.

use ash::vk;

use super::device::Device;

/// Pipeline stages and what they do to memory: one side of a barrier.
#[derive(Debug, Clone, Copy)]
pub struct Access {
    /// Which stages.
    pub stages: vk::PipelineStageFlags2,
    /// Which of their accesses.
    pub access: vk::AccessFlags2,
}

impl Access {
    /// `access` in `stages`.
    #[must_use]
    pub const fn new(stages: vk::PipelineStageFlags2, access: vk::AccessFlags2) -> Self {
        Self { stages, access }
    }

    /// Ordered after `stages`, with no memory to make available: the source side of a write-after-read hazard.
    #[must_use]
    pub const fn execution(stages: vk::PipelineStageFlags2) -> Self {
        Self { stages, access: vk::AccessFlags2::NONE }
    }
}

/// All memory: `from` happens before `to`, and its writes are visible there.
pub fn cmd_memory_barrier(device: &Device, commands: vk::CommandBuffer, from: Access, to: Access) {
    let barrier = vk::MemoryBarrier2::default()
        .src_stage_mask(from.stages)
        .src_access_mask(from.access)
        .dst_stage_mask(to.stages)
        .dst_access_mask(to.access);
    let barriers = [barrier];
    let info = vk::DependencyInfo::default().memory_barriers(&barriers);
    // SAFETY: `commands` is being recorded, outside a render pass instance.
    unsafe { device.raw.cmd_pipeline_barrier2(commands, &info) };
}

/// One image changes layout between `from` and `to`. [`vk::ImageLayout::UNDEFINED`] as the old layout drops contents.
#[derive(Debug, Clone, Copy)]
pub struct ImageBarrier {
    /// The image; all its layers.
    pub image: vk::Image,
    /// Colour or depth.
    pub aspect: vk::ImageAspectFlags,
    /// First level and number of levels.
    pub levels: (u32, u32),
    /// Producer.
    pub from: (Access, vk::ImageLayout),
    /// Consumer.
    pub to: (Access, vk::ImageLayout),
}

impl ImageBarrier {
    /// The first level of a colour image.
    #[must_use]
    pub fn color(image: vk::Image, from: (Access, vk::ImageLayout), to: (Access, vk::ImageLayout)) -> Self {
        Self { image, aspect: vk::ImageAspectFlags::COLOR, levels: (0, 1), from, to }
    }

    /// A depth image.
    #[must_use]
    pub fn depth(image: vk::Image, from: (Access, vk::ImageLayout), to: (Access, vk::ImageLayout)) -> Self {
        Self { image, aspect: vk::ImageAspectFlags::DEPTH, levels: (0, 1), from, to }
    }

    fn info(&self) -> vk::ImageMemoryBarrier2<'static> {
        vk::ImageMemoryBarrier2::default()
            .image(self.image)
            .subresource_range(vk::ImageSubresourceRange {
                aspect_mask: self.aspect,
                base_mip_level: self.levels.0,
                level_count: self.levels.1,
                base_array_layer: 0,
                layer_count: 1,
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

/// Several image barriers in one command; no allocation.
pub fn cmd_image_barriers<const N: usize>(device: &Device, commands: vk::CommandBuffer, barriers: [ImageBarrier; N]) {
    let barriers = barriers.map(|barrier| barrier.info());
    let info = vk::DependencyInfo::default().image_memory_barriers(&barriers);
    // SAFETY: `commands` is being recorded, outside a render pass instance; the images are alive.
    unsafe { device.raw.cmd_pipeline_barrier2(commands, &info) };
}
