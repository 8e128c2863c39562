//! What skinning, shadows and the main pass all work on: the visible instances of a frame.

use ash::vk;

use super::frame_slot::FrameSlot;
use super::gpu_model::{GpuDraw, GpuModel};
use super::layouts::{DRAW_STAGES, FRAME_SET, Layouts, MATERIAL_SET, MODEL_SET, PAGE_SET};
use super::plan::FramePlan;
use crate::model::Topology;
use crate::vulkan::device::Device;
use crate::vulkan::pipeline::Pipeline;

/// All visible instances of a frame, and what it takes to skin and draw them: from the camera or from the light.
#[derive(Clone, Copy)]
pub struct VisibleCrowd<'a> {
    /// The device.
    pub device: &'a Device,
    /// Being recorded.
    pub commands: vk::CommandBuffer,
    /// Of the pipelines.
    pub layouts: &'a Layouts,
    /// By index in the plan.
    pub models: &'a [GpuModel],
    /// Batches of visible instances.
    pub plan: &'a FramePlan,
    /// Their joint matrices, placements and vertices.
    pub slot: &'a FrameSlot,
}

impl VisibleCrowd<'_> {
    /// Draws the opaque or the blended parts of a topology with a pipeline of the scene's layout, inside a rendering.
    pub fn cmd_draw(&self, pipeline: &Pipeline, topology: Topology, blend: bool) {
        let Self { device, commands, layouts, models, plan, slot } = *self;
        let wanted = |draw: &&GpuDraw| draw.topology == topology && draw.blend == blend;
        if !models.iter().flat_map(|model| &model.draws).any(|draw| wanted(&draw)) {
            return;
        }
        // SAFETY: `commands` is being recorded inside a rendering of matching formats.
        unsafe { device.raw.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline.raw) };
        let recorder = Recorder { device, commands, layout: layouts.scene.raw };
        recorder.bind_set(FRAME_SET, slot.set.raw);
        for batch in &plan.batches {
            let Some(model) = models.get(batch.model as usize) else { continue };
            if !model.draws.iter().any(|draw| wanted(&draw)) {
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
            for draw in model.draws.iter().filter(wanted) {
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
