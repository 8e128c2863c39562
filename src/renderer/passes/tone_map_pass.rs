//! Tone mapping (`tone_map.frag`): converts linear HDR colour to the range of a display.
//!
//! In: the resolved HDR colour. Out: the output's image, a window's or an offscreen one.

use ash::vk;

use crate::renderer::output::attachments::Attachments;
use crate::shader_types::{SpecializationConstants, ToneMapConstants, material_features};
use crate::vulkan::Result;
use crate::vulkan::descriptors::{Binding, DescriptorSet, DescriptorSetLayout};
use crate::vulkan::image::{Image, Sampler};
use crate::vulkan::pipeline::{GraphicsPipelineInfo, Pipeline, PipelineBuilder, PipelineLayout};
use crate::vulkan::recorder::{Recorder, Rendering};
use crate::vulkan::spirv;
use crate::vulkan::swapchain::encodes_srgb;

/// The pipeline for one format of the output, and the descriptor set of the HDR colour.
pub struct ToneMapPass {
    pipeline: Pipeline,
    layout: PipelineLayout,
    set: DescriptorSet,
    sampler: Sampler,
}

impl ToneMapPass {
    /// Builds the pipeline for targets of `format`. `transparent` keeps alpha; otherwise images are opaque.
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
        let features = if transparent { material_features::TRANSPARENT } else { 0 };
        let info = GraphicsPipelineInfo {
            fragment: Some(&spirv::TONE_MAP_FRAG),
            constants: &SpecializationConstants { features, ..output_constants(format) }.words(),
            color_format: Some(format),
            ..GraphicsPipelineInfo::new("tone map", &layout, &spirv::TONE_MAP_VERT)
        };
        let pipeline = builder.graphics(&info)?;
        let sampler = Sampler::clamped(device, "tone map sampler", vk::Filter::NEAREST)?;
        let set =
            DescriptorSet::new(device, "tone map set", &set_layout, &[Binding::Texture(&attachments.hdr, &sampler)])?;
        Ok(Self { pipeline, layout, set, sampler })
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

/// Returns the constants of shaders that write to an output of this format: they encode sRGB if the format does not.
pub fn output_constants(format: vk::Format) -> SpecializationConstants {
    SpecializationConstants { encodes_srgb: (!encodes_srgb(format)).into(), ..SpecializationConstants::default() }
}
