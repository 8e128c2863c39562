//! Tone mapping (`tone_map.frag`): from the HDR colour target to what the display or the file takes.

use std::sync::Arc;

use ash::vk;

use crate::renderer::target::attachments::{Attachments, cmd_set_viewport};
use crate::vulkan::Result;
use crate::vulkan::descriptors::{Binding, DescriptorSet, DescriptorSetLayout};
use crate::vulkan::device::Device;
use crate::vulkan::image::Sampler;
use crate::vulkan::pipeline::{GraphicsPipelineInfo, Pipeline, PipelineLayout, VertexInput};
use crate::vulkan::pipeline_cache::PipelineCache;
use crate::vulkan::spirv;
use crate::vulkan::swapchain::encodes_srgb;

/// Pipeline for one target format, and the set that points to the HDR target.
pub struct ToneMapPass {
    pipeline: Pipeline,
    layout: PipelineLayout,
    set: DescriptorSet,
    sampler: Sampler,
    _set_layout: DescriptorSetLayout,
}

impl ToneMapPass {
    /// Builds the pipeline for targets of `format`.
    ///
    /// # Errors
    /// What the driver says.
    pub fn new(
        device: &Arc<Device>,
        cache: &PipelineCache,
        format: vk::Format,
        attachments: &Attachments,
    ) -> Result<Self> {
        let set_layout = DescriptorSetLayout::new(
            device,
            "tone map set layout",
            &[(vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::ShaderStageFlags::FRAGMENT)],
        )?;
        let layout = PipelineLayout::new(device, "tone map pipeline layout", &[&set_layout], None)?;
        let info = GraphicsPipelineInfo {
            name: "tone map",
            vertex: &spirv::TONE_MAP_VERT,
            fragment: Some(&spirv::TONE_MAP_FRAG),
            constant: u32::from(!encodes_srgb(format)),
            vertex_input: VertexInput::default(),
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            layout: &layout,
            color_format: Some(format),
            depth: None,
            samples: vk::SampleCountFlags::TYPE_1,
            blend: None,
            depth_bias: None,
        };
        let pipeline = Pipeline::graphics(device, cache, &info)?;
        // Texels are fetched one to one: the sampler's settings do not matter.
        let sampler = Sampler::new(device, "tone map sampler", &vk::SamplerCreateInfo::default())?;
        let set = DescriptorSet::new(device, "tone map set", &set_layout, &[binding(&sampler, attachments)])?;
        Ok(Self { pipeline, layout, set, sampler, _set_layout: set_layout })
    }

    /// Points to new attachments, after a resize. No frame may be in flight.
    pub fn set_attachments(&self, attachments: &Attachments) {
        self.set.write(&[binding(&self.sampler, attachments)]);
    }

    /// Draws the whole of `target`, whose old contents are dropped.
    pub fn cmd_draw(&self, device: &Device, commands: vk::CommandBuffer, target: vk::ImageView, extent: vk::Extent2D) {
        let colors = [vk::RenderingAttachmentInfo::default()
            .image_view(target)
            .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
            .load_op(vk::AttachmentLoadOp::DONT_CARE)
            .store_op(vk::AttachmentStoreOp::STORE)];
        let info = vk::RenderingInfo::default()
            .render_area(vk::Rect2D { offset: vk::Offset2D::default(), extent })
            .layer_count(1)
            .color_attachments(&colors);
        // SAFETY: `commands` is being recorded; images are alive and in the layouts named (the frame's barriers).
        unsafe { device.raw.cmd_begin_rendering(commands, &info) };
        cmd_set_viewport(device, commands, extent, false);
        // SAFETY: as above, inside the rendering begun.
        unsafe {
            device.raw.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, self.pipeline.raw);
            device.raw.cmd_bind_descriptor_sets(
                commands,
                vk::PipelineBindPoint::GRAPHICS,
                self.layout.raw,
                0,
                &[self.set.raw],
                &[],
            );
            device.raw.cmd_set_cull_mode(commands, vk::CullModeFlags::NONE);
            device.raw.cmd_set_front_face(commands, vk::FrontFace::COUNTER_CLOCKWISE);
            device.raw.cmd_draw(commands, 3, 1, 0, 0);
            device.raw.cmd_end_rendering(commands);
        }
    }
}

fn binding(sampler: &Sampler, attachments: &Attachments) -> Binding {
    Binding::Texture(vk::DescriptorImageInfo {
        sampler: sampler.raw,
        image_view: attachments.hdr.view,
        image_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
    })
}
