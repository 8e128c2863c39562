//! The outline of one instance (`outline.vert`, `outline.frag`, and the depth of `shadow.vert`): how a program shows which
//! character is selected.
//!
//! In: the instance, among those that the camera sees. Out: first its depth alone, in an image of the output's size. Then, over
//! the tone-mapped picture, a line around the pixels that it covers, also where other characters hide it. The pass is built
//! when a program first selects an instance. `render` and `bench` never do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ash::vk;

use super::PassInput;
use super::crowd_draw::{self, Eye};
use super::shadow_pass::{CasterKey, caster_key, caster_pipeline};
use crate::model::Topology;
use crate::renderer::layouts::Layouts;
use crate::renderer::output::attachments::DEPTH_FORMAT;
use crate::renderer::resident::model::{GpuDraw, GpuModel};
use crate::renderer::settings::Skinning;
use crate::shader_types::{SpecializationConstants, material_features};
use crate::vulkan::Result;
use crate::vulkan::descriptors::{Binding, DescriptorSet, DescriptorSetLayout};
use crate::vulkan::device::Device;
use crate::vulkan::image::{Image, ImageInfo, Sampler};
use crate::vulkan::pipeline::{Blend, GraphicsPipelineInfo, Pipeline, PipelineBuilder, PipelineLayout};
use crate::vulkan::recorder::{Recorder, Rendering};
use crate::vulkan::spirv;
use crate::vulkan::swapchain::encodes_srgb;

/// The pipelines of the silhouette and of the line, and the image between them.
pub struct OutlinePass {
    /// The depth of the instance.
    pub silhouette: Image,
    casters: BTreeMap<CasterKey, Pipeline>,
    line: Pipeline,
    layout: PipelineLayout,
    set: DescriptorSet,
    skinning: Skinning,
    /// The format of the images that the line is drawn to.
    pub format: vk::Format,
    sampler: Sampler,
    _set_layout: DescriptorSetLayout,
}

impl OutlinePass {
    /// Builds the pipelines that the models need.
    ///
    /// # Errors
    /// No memory, or the driver cannot build a pipeline.
    pub fn new(
        builder: &PipelineBuilder,
        layouts: &Layouts,
        (skinning, models): (Skinning, &[GpuModel]),
        (extent, format): (vk::Extent2D, vk::Format),
    ) -> Result<Self> {
        let device = builder.device();
        let set_layout = DescriptorSetLayout::new(
            device,
            "outline set layout",
            &[(vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::ShaderStageFlags::FRAGMENT)],
        )?;
        let bind_point = vk::PipelineBindPoint::GRAPHICS;
        let layout = PipelineLayout::new(device, "outline pipeline layout", bind_point, &[&set_layout], None)?;
        let line = builder.graphics(&GraphicsPipelineInfo {
            fragment: Some(&spirv::OUTLINE_FRAG),
            constants: &SpecializationConstants {
                encodes_srgb: (!encodes_srgb(format)).into(),
                ..SpecializationConstants::default()
            }
            .words(),
            color_format: Some(format),
            blend: Some(Blend::Premultiplied),
            ..GraphicsPipelineInfo::new("outline", &layout, &spirv::OUTLINE_VERT)
        })?;
        let draws = models.iter().flat_map(|model| &model.draws).filter(|draw| has_silhouette(draw));
        let keys: BTreeSet<CasterKey> = draws.map(|draw| key(draw, skinning)).collect();
        let caster = |key| Ok((key, caster_pipeline(builder, layouts, "silhouette", key)?));
        let casters = keys.into_iter().map(caster).collect::<Result<_>>()?;
        let silhouette = image(device, extent)?;
        let sampler = Sampler::clamped(device, "outline sampler", vk::Filter::NEAREST)?;
        let set = DescriptorSet::new(device, "outline set", &set_layout, &[Binding::Texture(&silhouette, &sampler)])?;
        Ok(Self { silhouette, casters, line, layout, set, skinning, format, sampler, _set_layout: set_layout })
    }

    /// Replaces the image, after a resize.
    ///
    /// # Errors
    /// No memory.
    ///
    /// # Safety
    /// No frame is in flight.
    pub unsafe fn resize(&mut self, device: &Arc<Device>, extent: vk::Extent2D) -> Result<()> {
        self.silhouette = image(device, extent)?;
        // SAFETY: the caller promises that no frame uses the set.
        unsafe { self.set.write(&[Binding::Texture(&self.silhouette, &self.sampler)]) };
        Ok(())
    }

    /// Draws the depth of an instance, by its index among those that the camera sees, into the cleared image.
    pub fn record_silhouette(&self, input: &PassInput, instance: u32) {
        let depth = Some(&self.silhouette);
        let rendering = Rendering { depth, keeps_depth: true, y_up: true, ..Rendering::default() };
        input.recorder.rendering(rendering, || {
            crowd_draw::record(input, Eye::One(instance), |draw| {
                if has_silhouette(draw) { self.casters.get(&key(draw, self.skinning)) } else { None }
            });
        });
    }

    /// Draws the line over the picture, inside a rendering.
    pub fn record_line(&self, recorder: Recorder) {
        recorder.bind_pipeline(&self.line);
        recorder.bind_set(&self.layout, 0, &self.set);
        recorder.set_culling(vk::CullModeFlags::NONE, vk::FrontFace::COUNTER_CLOCKWISE);
        recorder.draw(0..3);
    }
}

fn image(device: &Arc<Device>, extent: vk::Extent2D) -> Result<Image> {
    let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | vk::ImageUsageFlags::SAMPLED;
    let info = ImageInfo { aspect: vk::ImageAspectFlags::DEPTH, ..ImageInfo::color(DEPTH_FORMAT, extent, usage) };
    Image::new(device, "silhouette", info)
}

fn has_silhouette(draw: &GpuDraw) -> bool {
    draw.topology == Topology::Triangles
}

fn key(draw: &GpuDraw, skinning: Skinning) -> CasterKey {
    let (features, variant) = caster_key(draw, skinning);
    (features | material_features::SILHOUETTE, variant)
}
