//! Draws the visible instances for the camera or the light. In: the frame plan, the instances and the models on the GPU. Out:
//! one instanced draw for each batch and draw range of its model, and for the light another one for the instances that only
//! it draws.

use ash::vk;

use super::PassInput;
use super::vertex_input::{INSTANCE_BINDING, STATIC_BINDING};
use crate::crowd::InstanceRange;
use crate::renderer::layouts::{FRAME_SET, MATERIAL_SET, MODEL_SET, PAGE_SET};
use crate::renderer::resident::model::{GpuDraw, GpuModel};
use crate::vulkan::pipeline::Pipeline;

/// The view from which the crowd is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eye {
    /// Draws the instances in the camera's view.
    Camera,
    /// Draws the instances in the camera's view, and those that cast a shadow into it.
    Light,
}

/// Draws all instances that `eye` sees. Call it inside [`rendering`](crate::vulkan::recorder::Recorder::rendering).
/// `pipeline_of` returns the pipeline of a draw, or `None` to omit the draw. All pipelines have the scene's layout.
pub fn record<'p>(input: &PassInput, eye: Eye, pipeline_of: impl Fn(&GpuModel, &GpuDraw) -> Option<&'p Pipeline>) {
    let PassInput { recorder, layouts, models, plan, slot } = *input;
    let Some(instances) = slot.instances() else { return };
    recorder.bind_set(&layouts.scene, FRAME_SET, &slot.set);
    recorder.bind_vertex_buffer(INSTANCE_BINDING, instances);
    let mut bound_pipeline = vk::Pipeline::null();
    for batch in &plan.batches {
        let Some(model) = models.get(batch.model as usize) else { continue };
        if !model.draws.iter().any(|draw| pipeline_of(model, draw).is_some()) {
            continue;
        }
        recorder.bind_set(&layouts.scene, MODEL_SET, &model.set);
        // Vertex skinning has no pages.
        if let Some(page) = slot.pages.get(batch.page as usize) {
            recorder.bind_set(&layouts.scene, PAGE_SET, &page.set);
        }
        recorder.bind_vertex_buffer(STATIC_BINDING, &model.static_vertices);
        recorder.bind_index_buffer(&model.indices);
        for draw in &model.draws {
            let (Some(pipeline), Some(material)) = (pipeline_of(model, draw), model.materials.sets.get(draw.material))
            else {
                continue;
            };
            if pipeline.raw != bound_pipeline {
                recorder.bind_pipeline(pipeline);
                bound_pipeline = pipeline.raw;
            }
            recorder.bind_set(&layouts.scene, MATERIAL_SET, material);
            recorder.set_culling(draw.cull_mode, draw.front_face);
            let shadow_only = if eye == Eye::Light { batch.shadow_only } else { InstanceRange::default() };
            for range in [batch.seen, shadow_only].into_iter().filter(|range| range.count > 0) {
                recorder.draw_indexed((draw.first_index, draw.index_count), (range.first, range.count));
            }
        }
    }
}
