//! Tone mapping (`tone_map.frag`): converts linear HDR colour to the range of a display.
//!
//! In: the resolved HDR colour. Out: the output's image, a window's or an offscreen one.

use std::sync::Arc;

use ash::vk;

use crate::shader_types::{SpecializationConstants, ToneMapConstants, material_features};
use crate::vulkan::Result;
use crate::vulkan::descriptors::{Binding, DescriptorSet, DescriptorSetLayout};
use crate::vulkan::device::Device;
use crate::vulkan::image::{Image, Sampler};
use crate::vulkan::pipeline::{GraphicsPipelineInfo, Pipeline, PipelineBuilder, PipelineLayout};
use crate::vulkan::recorder::{Recorder, Rendering};
use crate::vulkan::spirv;
use crate::vulkan::swapchain::encodes_srgb;

/// The image that a pass over the whole picture samples, without a filter, and the layout of its pipelines.
pub struct SampledImage {
    /// The layout: one set with the image, and the push constants.
    pub layout: PipelineLayout,
    set: DescriptorSet,
    sampler: Sampler,
}

impl SampledImage {
    /// Creates the layout and the set. `stage` reads the push constants of this size.
    pub fn new(
        device: &Arc<Device>,
        name: &str,
        image: &Image,
        (stage, push_constant_bytes): (vk::ShaderStageFlags, usize),
    ) -> Result<Self> {
        let binding = (vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::ShaderStageFlags::FRAGMENT);
        let set_layout = DescriptorSetLayout::new(device, &format!("{name} set layout"), &[binding])?;
        let layout_name = format!("{name} pipeline layout");
        let layout = PipelineLayout::new(device, &layout_name, stage, &[&set_layout], push_constant_bytes)?;
        let sampler = Sampler::clamped(device, &format!("{name} sampler"), vk::Filter::NEAREST)?;
        let binding = Binding::Texture(image, &sampler);
        let set = DescriptorSet::new(device, &format!("{name} set"), &set_layout, &[binding])?;
        Ok(Self { layout, set, sampler })
    }

    /// Replaces the image, after a resize.
    ///
    /// # Safety
    /// No frame is in flight.
    pub unsafe fn replace(&self, image: &Image) {
        // SAFETY: the caller promises that no frame uses the set.
        unsafe { self.set.write(&[Binding::Texture(image, &self.sampler)]) };
    }

    pub fn bind(&self, recorder: Recorder, pipeline: &Pipeline) {
        recorder.bind_pipeline(pipeline);
        recorder.bind_set(&self.layout, 0, &self.set);
        recorder.set_culling(vk::CullModeFlags::NONE, vk::FrontFace::COUNTER_CLOCKWISE);
    }
}

/// The pipeline for one format of the output, and the HDR colour.
pub struct ToneMapPass {
    pipeline: Pipeline,
    /// The HDR colour.
    pub input: SampledImage,
}

impl ToneMapPass {
    /// Builds the pipeline for targets of `format`. `transparent` keeps alpha; otherwise images are opaque.
    pub fn new(builder: &PipelineBuilder, format: vk::Format, transparent: bool, hdr: &Image) -> Result<Self> {
        let push_constants = (vk::ShaderStageFlags::FRAGMENT, size_of::<ToneMapConstants>());
        let input = SampledImage::new(builder.device(), "tone map", hdr, push_constants)?;
        let features = if transparent { material_features::TRANSPARENT } else { 0 };
        let pipeline = builder.graphics(&GraphicsPipelineInfo {
            fragment: Some(&spirv::TONE_MAP_FRAG),
            constants: &SpecializationConstants { features, ..output_constants(format) }.words(),
            color_format: Some(format),
            ..GraphicsPipelineInfo::new("tone map", &input.layout, &spirv::TONE_MAP_VERT)
        })?;
        Ok(Self { pipeline, input })
    }

    /// Draws to the whole of `output`, whose old contents are discarded. `exposure` is a factor of radiance. `record_over`
    /// draws over the result, in the same rendering.
    pub fn record(&self, recorder: Recorder, output: &Image, exposure: f32, record_over: impl FnOnce()) {
        let rendering = Rendering { color: Some(output), ..Rendering::default() };
        recorder.rendering(rendering, || {
            self.input.bind(recorder, &self.pipeline);
            recorder.push_constants(&self.input.layout, &ToneMapConstants { exposure });
            recorder.draw(0..3, (0, 1));
            record_over();
        });
    }
}

/// Returns the constants of shaders that write to an output of this format: they encode sRGB if the format does not.
pub fn output_constants(format: vk::Format) -> SpecializationConstants {
    SpecializationConstants { encodes_srgb: (!encodes_srgb(format)).into(), ..SpecializationConstants::default() }
}
