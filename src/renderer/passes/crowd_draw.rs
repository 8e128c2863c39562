//! Draws the visible instances for the camera or the light. In: the frame plan, the instances and the models on the GPU. Out:
//! one instanced draw for each batch and draw range of its model, with the indices of the batch's level of detail, and for
//! the light another one for the instances that only it draws.

use ash::vk;

use super::PassInput;
use super::vertex_input::{INSTANCE_BINDING, STATIC_BINDING};
use crate::crowd::{Batch, InstanceRange};
use crate::renderer::layouts::{FRAME_SET, MATERIAL_SET, VERTICES_SET};
use crate::renderer::resident::model::{GpuDraw, GpuModel, IndexRange};
use crate::vulkan::pipeline::{Pipeline, PipelineLayout};

/// The view from which the crowd is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eye {
    /// Draws the instances in the camera's view.
    Camera,
    /// Draws the instances in the camera's view, and those that cast a shadow into it.
    Light,
}

impl Eye {
    /// Returns the instances of a batch.
    pub fn sees(self, batch: &Batch) -> [InstanceRange; 2] {
        match self {
            Self::Camera => [batch.seen, InstanceRange::default()],
            Self::Light => [batch.seen, batch.shadow_only],
        }
    }

    /// Returns the level of detail of a draw. A surface that casts its shadow with the side that the camera sees would shade
    /// itself in streaks if it had another level in the shadow map.
    pub fn level(self, batch: &Batch, draw: &GpuDraw) -> u32 {
        let levels = batch.levels;
        if self == Self::Light && draw.casts_with_far_side { levels.light } else { levels.camera }
    }

    /// Returns the faces of a draw that are left out.
    fn cull_mode(self, draw: &GpuDraw) -> vk::CullModeFlags {
        match self {
            Self::Light if draw.casts_with_far_side => vk::CullModeFlags::FRONT,
            _ => draw.cull_mode,
        }
    }
}

/// Draws all instances that `eye` sees, with pipelines of the scene's layout. Call it inside
/// [`rendering`](crate::vulkan::recorder::Recorder::rendering). `pipeline_of` returns the pipeline of a draw, or `None` to omit
/// the draw.
pub fn record<'p>(input: &PassInput, eye: Eye, pipeline_of: impl Fn(&GpuDraw) -> Option<&'p Pipeline>) {
    let PassInput { recorder, layouts, slot, .. } = *input;
    let bind_vertices = |batch: &Batch, model: &GpuModel| {
        // Vertex skinning has no pages: it skins the model's own vertices.
        let vertices = slot.pages.get(batch.page as usize).map_or(&model.set, |page| &page.set);
        recorder.bind_set(&layouts.scene, VERTICES_SET, vertices);
    };
    record_with(input, &layouts.scene, eye, bind_vertices, pipeline_of);
}

/// Draws as [`record`] does, with pipelines of another layout. `bind_vertices` binds what they need of a batch and its model.
pub fn record_with<'p>(
    input: &PassInput,
    layout: &PipelineLayout,
    eye: Eye,
    bind_vertices: impl Fn(&Batch, &GpuModel),
    pipeline_of: impl Fn(&GpuDraw) -> Option<&'p Pipeline>,
) {
    let PassInput { recorder, models, plan, slot, .. } = *input;
    let Some(instances) = slot.instances() else { return };
    recorder.bind_set(layout, FRAME_SET, &slot.set);
    recorder.bind_vertex_buffer(INSTANCE_BINDING, instances, 0);
    let mut bound_pipeline: Option<&Pipeline> = None;
    for batch in &plan.batches {
        let Some(model) = models.get(batch.model as usize) else { continue };
        let seen = eye.sees(batch);
        let indices = |draw: &GpuDraw| draw.indices(eye.level(batch, draw));
        let is_drawn = |draw: &GpuDraw| indices(draw).count > 0 && pipeline_of(draw).is_some();
        if seen.iter().all(|range| range.count == 0) || !model.draws.iter().any(is_drawn) {
            continue;
        }
        bind_vertices(batch, model);
        recorder.bind_vertex_buffer(STATIC_BINDING, &model.static_vertices, 0);
        recorder.bind_index_buffer(&model.indices, model.index_type);
        for draw in model.draws.iter().filter(|draw| is_drawn(draw)) {
            let (Some(pipeline), Some(material)) = (pipeline_of(draw), model.materials.sets.get(draw.material)) else {
                continue;
            };
            if !bound_pipeline.is_some_and(|bound| std::ptr::eq(bound, pipeline)) {
                recorder.bind_pipeline(pipeline);
                bound_pipeline = Some(pipeline);
            }
            recorder.bind_set(layout, MATERIAL_SET, material);
            recorder.set_culling(eye.cull_mode(draw), draw.front_face);
            let IndexRange { first, count } = indices(draw);
            for range in seen.into_iter().filter(|range| range.count > 0) {
                recorder.draw_indexed((first, count), (range.first, range.count));
            }
        }
    }
}
