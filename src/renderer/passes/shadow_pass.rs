//! Shadows (`shadow.vert`): the crowd's depth as the light sees it, from the vertices that are skinned already.
//!
//! One orthographic map; the app says what it covers. It is the same image for all frames in flight: barriers order
//! them. Blended materials, lines and points cast no shadow, masked materials cast that of their whole surface.

use std::sync::Arc;

use ash::vk;

use super::character_pass::Skinning;
use super::vertex_input;
use super::visible_crowd::{Eye, VisibleCrowd};
use crate::model::Topology;
use crate::renderer::layouts::Layouts;
use crate::renderer::resident::model::GpuDraw;
use crate::renderer::target::attachments::{DEPTH_FORMAT, cmd_set_viewport};
use crate::vulkan::Result;
use crate::vulkan::descriptors::Binding;
use crate::vulkan::device::Device;
use crate::vulkan::image::{Image, ImageInfo, Sampler};
use crate::vulkan::pipeline::{GraphicsPipelineInfo, Pipeline};
use crate::vulkan::pipeline_cache::PipelineCache;
use crate::vulkan::spirv;

/// Shadow map and pipeline. Without shadows the map is one texel, cleared to "all light arrives" like any other.
pub struct ShadowPass {
    /// The map.
    pub map: Image,
    sampler: Sampler,
    pipeline: Pipeline,
    casts: bool,
}

impl ShadowPass {
    /// A map of `size` texels squared; `None`: no shadows.
    ///
    /// # Errors
    /// No memory, or what the driver says.
    pub fn new(
        device: &Arc<Device>,
        cache: &PipelineCache,
        layouts: &Layouts,
        skinning: Skinning,
        size: Option<u32>,
    ) -> Result<Self> {
        let side = size.unwrap_or(1).clamp(1, device.limits().max_image_dimension2_d);
        let info = ImageInfo {
            format: DEPTH_FORMAT,
            extent: vk::Extent2D { width: side, height: side },
            mip_levels: 1,
            samples: vk::SampleCountFlags::TYPE_1,
            usage: vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | vk::ImageUsageFlags::SAMPLED,
            aspect: vk::ImageAspectFlags::DEPTH,
        };
        // Blending four comparisons is optional for depth formats; without it edges are harder.
        let filter = if device.filters_linearly(DEPTH_FORMAT) { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
        let sampler = vk::SamplerCreateInfo::default()
            .mag_filter(filter)
            .min_filter(filter)
            .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
            .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE)
            .compare_enable(true)
            // Nearer to the light is greater: what is at least as near as the map's depth is lit.
            .compare_op(vk::CompareOp::GREATER_OR_EQUAL);
        let pipeline = GraphicsPipelineInfo {
            name: "shadows",
            vertex: match skinning {
                Skinning::Compute => &spirv::SHADOW_VERT,
                Skinning::Vertex => &spirv::SHADOW_SKINNING_VERT,
            },
            fragment: None,
            constant: 0,
            vertex_input: vertex_input::INSTANCES,
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            layout: &layouts.scene,
            color_format: None,
            depth: Some((DEPTH_FORMAT, vk::CompareOp::GREATER, true)),
            samples: vk::SampleCountFlags::TYPE_1,
            blend: None,
            // Away from the light is less. The slope's part covers surfaces that the light grazes.
            depth_bias: Some((0.0, -1.5)),
        };
        Ok(Self {
            map: Image::new(device, "shadow map", info)?,
            sampler: Sampler::new(device, "shadow sampler", &sampler)?,
            pipeline: Pipeline::graphics(device, cache, &pipeline)?,
            casts: size.is_some(),
        })
    }

    /// Side of the map in texels; `None`: no shadows.
    #[must_use]
    pub fn map_size(&self) -> Option<u32> {
        self.casts.then_some(self.map.info.extent.width)
    }

    /// For the frame's descriptor set.
    #[must_use]
    pub fn binding(&self) -> Binding {
        Binding::Texture(vk::DescriptorImageInfo {
            sampler: self.sampler.raw,
            image_view: self.map.view,
            image_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
        })
    }

    /// Clears the map and draws all opaque parts of the crowd into it.
    pub fn cmd_draw(&self, crowd: &VisibleCrowd) {
        let VisibleCrowd { device, commands, .. } = *crowd;
        let nothing_in_the_way =
            vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth: 0.0, stencil: 0 } };
        let depth = vk::RenderingAttachmentInfo::default()
            .image_view(self.map.view)
            .image_layout(vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)
            .clear_value(nothing_in_the_way);
        let extent = self.map.info.extent;
        let info = vk::RenderingInfo::default()
            .render_area(vk::Rect2D { offset: vk::Offset2D::default(), extent })
            .layer_count(1)
            .depth_attachment(&depth);
        // SAFETY: `commands` is being recorded; the map is alive and in the layout named (the frame's barriers).
        unsafe { device.raw.cmd_begin_rendering(commands, &info) };
        if self.casts {
            cmd_set_viewport(device, commands, extent, true);
            crowd.cmd_draw(Eye::Light, |draw| casts_shadow(draw).then_some(&self.pipeline));
        }
        // SAFETY: ends the rendering begun above.
        unsafe { device.raw.cmd_end_rendering(commands) };
    }
}

/// Lines and points are too thin for a map of this kind.
fn casts_shadow(draw: &GpuDraw) -> bool {
    draw.topology == Topology::Triangles && !draw.is_blended()
}
