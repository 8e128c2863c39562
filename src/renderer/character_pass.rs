//! Characters (`character.vert`, `character.frag`): one instanced draw per batch and material.
//!
//! The vertex shader pulls skinned vertices from the page by instance and index, or, with `--skinning vertex`
//! (`character_skinning.vert`), skins them itself from the same palette.

use std::sync::Arc;

use ash::vk;

use super::attachments::{DEPTH_FORMAT, HDR_FORMAT};
use super::frame_slot::FrameSlot;
use super::gpu_model::{GpuDraw, GpuModel};
use super::layouts::{DRAW_STAGES, FRAME_SET, Layouts, MATERIAL_SET, MODEL_SET, PAGE_SET};
use super::plan::FramePlan;
use crate::vulkan::Result;
use crate::vulkan::device::Device;
use crate::vulkan::pipeline::{GraphicsPipelineInfo, Pipeline};
use crate::vulkan::pipeline_cache::PipelineCache;
use crate::vulkan::spirv;

/// Where vertices are skinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Skinning {
    /// Once per frame, by `skin.comp`.
    Compute,
    /// In the vertex shader, by every pass that draws.
    Vertex,
}

impl Skinning {
    /// As in options and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Vertex => "vertex",
        }
    }
}

/// Pipelines for opaque and for blended materials.
pub struct CharacterPass {
    opaque: Pipeline,
    blended: Pipeline,
}

impl CharacterPass {
    /// Builds the pipelines.
    ///
    /// # Errors
    /// What the driver says.
    pub fn new(
        device: &Arc<Device>,
        cache: &PipelineCache,
        layouts: &Layouts,
        samples: vk::SampleCountFlags,
        skinning: Skinning,
    ) -> Result<Self> {
        let vertex = match skinning {
            Skinning::Compute => &spirv::CHARACTER_VERT,
            Skinning::Vertex => &spirv::CHARACTER_SKINNING_VERT,
        };
        let build = |name, blend: bool| {
            // Reversed Z: nearer is greater. Blended surfaces are hidden by opaque ones but hide nothing.
            let depth = Some((DEPTH_FORMAT, vk::CompareOp::GREATER, !blend));
            let info = GraphicsPipelineInfo {
                name,
                vertex,
                fragment: Some(&spirv::CHARACTER_FRAG),
                fragment_constant: 0,
                layout: &layouts.scene,
                color_format: Some(HDR_FORMAT),
                depth,
                samples,
                blend,
                depth_bias: None,
            };
            Pipeline::graphics(device, cache, &info)
        };
        Ok(Self { opaque: build("characters", false)?, blended: build("blended characters", true)? })
    }

    /// Draws the opaque (`blend` false) or the blended parts of all visible instances.
    pub fn cmd_draw(&self, draws: &CharacterDraws, blend: bool) {
        draws.cmd_draw(if blend { &self.blended } else { &self.opaque }, blend);
    }
}

/// The draw calls of all visible instances, for whichever pass wants them: from the camera or from the light.
#[derive(Clone, Copy)]
pub struct CharacterDraws<'a> {
    /// The device.
    pub device: &'a Device,
    /// Being recorded.
    pub commands: vk::CommandBuffer,
    /// Of the pipelines that draw.
    pub layouts: &'a Layouts,
    /// By index in the plan.
    pub models: &'a [GpuModel],
    /// What is visible, and where its vertices are.
    pub plan: &'a FramePlan,
    /// Whose vertices and instances are drawn.
    pub slot: &'a FrameSlot,
}

impl CharacterDraws<'_> {
    /// Draws the opaque or the blended parts with a pipeline of the scene's layout, inside a rendering.
    pub fn cmd_draw(&self, pipeline: &Pipeline, blend: bool) {
        let Self { device, commands, layouts, models, plan, slot } = *self;
        if !models.iter().flat_map(|model| &model.draws).any(|draw| draw.blend == blend) {
            return;
        }
        // SAFETY: `commands` is being recorded inside a rendering of matching formats.
        unsafe { device.raw.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline.raw) };
        let recorder = Recorder { device, commands, layout: layouts.scene.raw };
        recorder.bind_set(FRAME_SET, slot.set.raw);
        for batch in &plan.batches {
            let Some(model) = models.get(batch.model as usize) else { continue };
            if !model.draws.iter().any(|draw| draw.blend == blend) {
                continue;
            }
            recorder.bind_set(MODEL_SET, model.set.raw);
            // There is no page when the vertex shader skins.
            if let Some(page) = slot.pages.get(batch.page as usize) {
                recorder.bind_set(PAGE_SET, page.set.raw);
            }
            // SAFETY: the buffer is alive and holds 32-bit indices.
            unsafe {
                device.raw.cmd_bind_index_buffer(commands, model.indices.raw, 0, vk::IndexType::UINT32);
            }
            for draw in model.draws.iter().filter(|draw| draw.blend == blend) {
                if let Some(material) = model.materials.get(draw.material) {
                    recorder.bind_set(MATERIAL_SET, material.raw);
                    recorder.draw(draw, batch.instance_count, batch.first_instance);
                }
            }
        }
    }
}

/// A command buffer with the scene's pipeline layout.
struct Recorder<'a> {
    device: &'a Device,
    commands: vk::CommandBuffer,
    layout: vk::PipelineLayout,
}

impl Recorder<'_> {
    fn bind_set(&self, number: u32, set: vk::DescriptorSet) {
        // SAFETY: the commands are being recorded; the set is alive and matches the layout.
        unsafe {
            self.device.raw.cmd_bind_descriptor_sets(
                self.commands,
                vk::PipelineBindPoint::GRAPHICS,
                self.layout,
                number,
                &[set],
                &[],
            );
        }
    }

    fn draw(&self, draw: &GpuDraw, instance_count: u32, first_instance: u32) {
        let (raw, commands) = (&self.device.raw, self.commands);
        // SAFETY: the commands are being recorded; indices and instances are within their buffers: the model's
        // invariants and the frame's plan say so.
        unsafe {
            raw.cmd_set_cull_mode(commands, draw.cull_mode);
            raw.cmd_set_front_face(commands, draw.front_face);
            raw.cmd_push_constants(commands, self.layout, DRAW_STAGES, 0, bytemuck::bytes_of(&draw.constants));
            raw.cmd_draw_indexed(commands, draw.index_count, instance_count, draw.first_index, 0, first_instance);
        }
    }
}
