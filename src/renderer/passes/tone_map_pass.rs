//! Tone mapping (`tone_map.frag`): converts linear HDR colour to the range of a display.
//!
//! In: the resolved HDR colour. Out: the output's image, a window's or an offscreen one.

use ash::vk;

use crate::renderer::output::attachments::Attachments;
use crate::shader_types::{SpecializationConstants, ToneMapConstants, material_features};
use crate::vulkan::Result;
use crate::vulkan::descriptors::{Binding, DescriptorSet, DescriptorSetLayout};
use crate::vulkan::image::{Image, Sampler};
use crate::vulkan::pipeline::{GraphicsPipelineInfo, Pipeline, PipelineBuilder, PipelineLayout, VertexInput};
use crate::vulkan::recorder::{Recorder, Rendering};
use crate::vulkan::spirv;
use crate::vulkan::swapchain::encodes_srgb;

/// The pipeline for one format of the output, and the descriptor set of the HDR colour.
pub struct ToneMapPass {
    pipeline: Pipeline,
    layout: PipelineLayout,
    set: DescriptorSet,
    sampler: Sampler,
    _set_layout: DescriptorSetLayout,
}

impl ToneMapPass {
    /// Builds the pipeline for targets of `format`. `transparent` keeps alpha; otherwise images are opaque.
    ///
    /// # Errors
    /// The driver cannot build the pipeline.
    pub fn new(
        builder: &PipelineBuilder,
        format: vk::Format,
        transparent: bool,
        attachments: &Attachments,
    ) -> Result<Self> {
        let device = builder.device();
        let set_layout = DescriptorSetLayout::new(
            device,
            "tone map set layout",
            &[(vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::ShaderStageFlags::FRAGMENT)],
        )?;
        let layout = PipelineLayout::new(
            device,
            "tone map pipeline layout",
            vk::PipelineBindPoint::GRAPHICS,
            &[&set_layout],
            Some((vk::ShaderStageFlags::FRAGMENT, size_of::<ToneMapConstants>())),
        )?;
        let info = GraphicsPipelineInfo {
            name: "tone map",
            vertex: &spirv::TONE_MAP_VERT,
            fragment: Some(&spirv::TONE_MAP_FRAG),
            constants: &SpecializationConstants {
                features: if transparent { material_features::TRANSPARENT } else { 0 },
                encodes_srgb: (!encodes_srgb(format)).into(),
                ..SpecializationConstants::default()
            }
            .words(),
            vertex_input: VertexInput::default(),
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            polygon_mode: vk::PolygonMode::FILL,
            layout: &layout,
            color_format: Some(format),
            depth: None,
            samples: vk::SampleCountFlags::TYPE_1,
            blend: None,
            depth_bias: None,
        };
        let pipeline = builder.graphics(&info)?;
        let sampler = vk::SamplerCreateInfo::default()
            .max_lod(vk::LOD_CLAMP_NONE)
            .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
            .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE);
        let sampler = Sampler::new(device, "tone map sampler", &sampler)?;
        let set =
            DescriptorSet::new(device, "tone map set", &set_layout, &[Binding::Texture(&attachments.hdr, &sampler)])?;
        Ok(Self { pipeline, layout, set, sampler, _set_layout: set_layout })
    }

    /// Replaces the attachments, after a resize.
    ///
    /// # Safety
    /// No frame is in flight.
    pub unsafe fn set_attachments(&self, attachments: &Attachments) {
        // SAFETY: the caller promises that no frame uses the set.
        unsafe { self.set.write(&[Binding::Texture(&attachments.hdr, &self.sampler)]) };
    }

    /// Draws to the whole of `output`, whose old contents are discarded. `exposure` is a factor of radiance. `record_over`
    /// draws over the result, in the same rendering.
    pub fn record(&self, recorder: Recorder, output: &Image, exposure: f32, record_over: impl FnOnce()) {
        let rendering = Rendering { color: Some(output), ..Rendering::default() };
        recorder.rendering(rendering, || {
            recorder.bind_pipeline(&self.pipeline);
            recorder.bind_set(&self.layout, 0, &self.set);
            recorder.set_culling(vk::CullModeFlags::NONE, vk::FrontFace::COUNTER_CLOCKWISE);
            recorder.push_constants(&self.layout, &ToneMapConstants { exposure });
            recorder.draw(0..3);
            record_over();
        });
    }
}
