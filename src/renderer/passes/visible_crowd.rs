//! What skinning, shadows and the main pass all work on: the visible instances of a frame.

use ash::vk;

use super::vertex_input::{INSTANCE_BINDING, SURFACE_BINDING};
use crate::renderer::layouts::{FRAME_SET, Layouts, MATERIAL_SET, MODEL_SET, PAGE_SET, window_offsets};
use crate::renderer::resident::model::{GpuDraw, GpuModel};
use crate::renderer::slot::FrameSlot;
use crate::renderer::slot::plan::{FramePlan, InstanceRange};
use crate::shader_types::StreamWindow;
use crate::vulkan::device::Device;
use crate::vulkan::pipeline::Pipeline;

/// Who looks at the crowd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eye {
    /// Sees those instances that are in view.
    Camera,
    /// Sees those, too, and others that throw a shadow into the view.
    Light,
}

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
    /// Draws each part of all instances that `eye` sees with the pipeline, of the scene's layout, that `pipeline_of` has
    /// for it; parts for which there is none are left out. Inside a rendering.
    pub fn cmd_draw<'p>(&self, eye: Eye, pipeline_of: impl Fn(&GpuDraw) -> Option<&'p Pipeline>) {
        let Self { device, commands, layouts, models, plan, slot } = *self;
        if !models.iter().flat_map(|model| &model.draws).any(|draw| pipeline_of(draw).is_some()) {
            return;
        }
        let recorder = Recorder { device, commands, layout: layouts.scene.raw };
        let mut bound_window = None;
        recorder.bind_vertices(INSTANCE_BINDING, slot.instances.raw());
        let mut bound = vk::Pipeline::null();
        for batch in &plan.batches {
            let Some(model) = models.get(batch.model as usize) else { continue };
            let ranges = [batch.seen, if eye == Eye::Light { batch.shadows_only } else { InstanceRange::default() }];
            if !model.draws.iter().any(|draw| pipeline_of(draw).is_some()) {
                continue;
            }
            if bound_window != Some(batch.window) {
                recorder.bind_window(slot.set.raw, batch.window);
                bound_window = Some(batch.window);
            }
            recorder.bind_set(MODEL_SET, model.set.raw, &[]);
            // There is no page when the vertex shader skins.
            if let Some(page) = slot.pages.get(batch.page as usize) {
                recorder.bind_set(PAGE_SET, page.set.raw, &[]);
            }
            recorder.bind_vertices(SURFACE_BINDING, model.surface.raw);
            // SAFETY: the buffer is alive and holds 32-bit indices.
            unsafe {
                device.raw.cmd_bind_index_buffer(commands, model.indices.raw, 0, vk::IndexType::UINT32);
            }
            for draw in &model.draws {
                let (Some(pipeline), Some(material)) = (pipeline_of(draw), model.materials.sets.get(draw.material))
                else {
                    continue;
                };
                if pipeline.raw != bound {
                    recorder.bind_pipeline(pipeline);
                    bound = pipeline.raw;
                }
                recorder.bind_set(MATERIAL_SET, material.raw, &[]);
                for range in ranges.into_iter().filter(|range| range.count > 0) {
                    recorder.draw(draw, range);
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
    fn bind_pipeline(&self, pipeline: &Pipeline) {
        // SAFETY: the commands are being recorded inside a rendering of matching formats; the pipeline is alive.
        unsafe { self.device.raw.cmd_bind_pipeline(self.commands, vk::PipelineBindPoint::GRAPHICS, pipeline.raw) };
    }

    /// The frame's set, as a batch sees it.
    fn bind_window(&self, set: vk::DescriptorSet, window: StreamWindow) {
        self.bind_set(FRAME_SET, set, &window_offsets(window));
        let (raw, stages, bytes) = (&self.device.raw, vk::ShaderStageFlags::VERTEX, bytemuck::bytes_of(&window));
        // SAFETY: the commands are being recorded; the constants have the layout's size.
        unsafe { raw.cmd_push_constants(self.commands, self.layout, stages, 0, bytes) };
    }

    fn bind_set(&self, number: u32, set: vk::DescriptorSet, offsets: &[u32]) {
        // SAFETY: the commands are being recorded; the set is alive and matches the layout.
        unsafe {
            self.device.raw.cmd_bind_descriptor_sets(
                self.commands,
                vk::PipelineBindPoint::GRAPHICS,
                self.layout,
                number,
                &[set],
                offsets,
            );
        }
    }

    fn bind_vertices(&self, binding: u32, buffer: vk::Buffer) {
        // SAFETY: the commands are being recorded; the buffer is alive and was made for vertices.
        unsafe { self.device.raw.cmd_bind_vertex_buffers(self.commands, binding, &[buffer], &[0]) };
    }

    fn draw(&self, draw: &GpuDraw, instances: InstanceRange) {
        let (raw, commands) = (&self.device.raw, self.commands);
        // SAFETY: the commands are being recorded; indices and instances are within their buffers: the model's
        // invariants and the frame's plan say so.
        unsafe {
            raw.cmd_set_cull_mode(commands, draw.cull_mode);
            raw.cmd_set_front_face(commands, draw.front_face);
            let InstanceRange { first, count } = instances;
            raw.cmd_draw_indexed(commands, draw.index_count, count, draw.first_index, 0, first);
        }
    }
}
