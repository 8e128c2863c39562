//! Skin (`skin.comp`): bind-pose vertices and joint matrices become this frame's transient vertex buffer.

use std::sync::Arc;

use ash::vk;

use super::gpu_model::GpuModel;
use super::layouts::{FRAME_SET, Layouts, MODEL_SET, PAGE_SET};
use super::visible_crowd::VisibleCrowd;
use crate::shader_types::SkinConstants;
use crate::vulkan::Result;
use crate::vulkan::device::Device;
use crate::vulkan::pipeline::Pipeline;
use crate::vulkan::pipeline_cache::PipelineCache;
use crate::vulkan::spirv;

/// `local_size_x` of `skin.comp`; `tests/shader_layout.rs` holds both together.
pub const VERTICES_PER_GROUP: u32 = 64;

/// The compute pipelines.
pub struct SkinPass {
    pipeline: Pipeline,
    /// Only where a model has tangents.
    with_tangents: Option<Pipeline>,
}

impl SkinPass {
    /// Builds the pipelines that the models need.
    ///
    /// # Errors
    /// What the driver says.
    pub fn new(device: &Arc<Device>, cache: &PipelineCache, layouts: &Layouts, models: &[GpuModel]) -> Result<Self> {
        let build =
            |name, constant| Pipeline::compute(device, cache, name, (&spirv::SKIN_COMP, constant), &layouts.skin);
        let any_tangents = models.iter().any(|model| model.size.has_tangents);
        Ok(Self {
            pipeline: build("skin", 0)?,
            with_tangents: any_tangents.then(|| build("skin with tangents", 1)).transpose()?,
        })
    }

    /// One dispatch for each batch: x over the model's vertices, y over the batch's poses.
    pub fn cmd_skin(&self, crowd: &VisibleCrowd) {
        let VisibleCrowd { device, commands, layouts, models, plan, slot } = *crowd;
        let layout = layouts.skin.raw;
        let bind = |set_number, set: vk::DescriptorSet| {
            // SAFETY: `commands` is being recorded; the sets are alive and match the layout.
            unsafe {
                device.raw.cmd_bind_descriptor_sets(
                    commands,
                    vk::PipelineBindPoint::COMPUTE,
                    layout,
                    set_number,
                    &[set],
                    &[],
                );
            }
        };
        let mut bound = vk::Pipeline::null();
        bind(FRAME_SET, slot.set.raw);
        let most_vertices = device.limits().max_compute_work_group_count[0].saturating_mul(VERTICES_PER_GROUP);
        for batch in &plan.batches {
            let (Some(model), Some(page)) = (models.get(batch.model as usize), slot.pages.get(batch.page as usize))
            else {
                continue;
            };
            let with_tangents = self.with_tangents.as_ref().filter(|_| model.size.has_tangents);
            let pipeline = with_tangents.unwrap_or(&self.pipeline).raw;
            if pipeline != bound {
                // SAFETY: as above.
                unsafe { device.raw.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline) };
                bound = pipeline;
            }
            bind(MODEL_SET, model.set.raw);
            bind(PAGE_SET, page.set.raw);
            let mut first_vertex = 0;
            while first_vertex < model.size.vertex_count {
                let vertex_count = (model.size.vertex_count - first_vertex).min(most_vertices);
                let constants = SkinConstants {
                    vertex_count: model.size.vertex_count,
                    first_instance: batch.first_instance,
                    first_vertex,
                };
                // SAFETY: as above; group counts are within the device's limits (here and in `FramePlan`).
                unsafe {
                    device.raw.cmd_push_constants(
                        commands,
                        layout,
                        vk::ShaderStageFlags::COMPUTE,
                        0,
                        bytemuck::bytes_of(&constants),
                    );
                    device.raw.cmd_dispatch(commands, vertex_count.div_ceil(VERTICES_PER_GROUP), batch.pose_count, 1);
                }
                first_vertex += vertex_count;
            }
        }
    }
}
