//! Draws the visible instances for the camera or the light. In: the frame plan, the instances and the models on the GPU. Out:
//! one instanced draw for each batch and draw range of its model, with the indices of the batch's level of detail, and for
//! the light another one for the instances that only it draws.

use ash::vk;

use super::PassInput;
use super::vertex_input::{INSTANCE_BINDING, STATIC_BINDING};
use crate::crowd::{Batch, InstanceRange};
use crate::renderer::layouts::{FRAME_SET, LAST_PAGE_SET, MATERIAL_SET, MODEL_SET, PAGE_SET};
use crate::renderer::resident::model::{GpuDraw, IndexRange};
use crate::vulkan::pipeline::Pipeline;

/// The view from which the crowd is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eye {
    /// Draws the instances in the camera's view.
    Camera,
    /// Draws the instances in the camera's view, and those that cast a shadow into it.
    Light,
    /// Draws one of the instances in the camera's view, by its index in the instance buffer.
    One(u32),
}

impl Eye {
    /// Returns the instances of a batch.
    #[must_use]
    pub fn sees(self, batch: &Batch) -> [InstanceRange; 2] {
        match self {
            Self::Camera => [batch.seen, InstanceRange::default()],
            Self::Light => [batch.seen, batch.shadow_only],
            Self::One(index) => {
                let is_here = (batch.seen.first..batch.seen.first + batch.seen.count).contains(&index);
                [InstanceRange { first: index, count: is_here.into() }, InstanceRange::default()]
            }
        }
    }

    /// Returns the level of detail of a draw. A surface that casts its shadow with the side that the camera sees would shade
    /// itself in streaks if it had another level in the shadow map.
    #[must_use]
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

/// Draws all instances that `eye` sees. Call it inside [`rendering`](crate::vulkan::recorder::Recorder::rendering).
/// `pipeline_of` returns the pipeline of a draw, or `None` to omit the draw. All pipelines have the scene's layout, or
/// that of the motion view if there is a [`PassInput::last_page`].
pub fn record<'p>(input: &PassInput, eye: Eye, pipeline_of: impl Fn(&GpuDraw) -> Option<&'p Pipeline>) {
    let PassInput { recorder, layouts, models, plan, slot, last_page } = *input;
    let Some(instances) = slot.instances() else { return };
    let layout = if last_page.is_some() { &layouts.motion } else { &layouts.scene };
    recorder.bind_set(layout, FRAME_SET, &slot.set);
    if let Some((set, constants)) = last_page {
        recorder.bind_set(layout, LAST_PAGE_SET, set);
        recorder.push_constants(layout, &constants);
    }
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
        if last_page.is_none() {
            recorder.bind_set(layout, MODEL_SET, &model.set);
            recorder.push_constants(layout, &model.constants);
        }
        // Vertex skinning has no pages.
        if let Some(page) = slot.pages.get(batch.page as usize) {
            recorder.bind_set(layout, PAGE_SET, &page.set);
        }
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
