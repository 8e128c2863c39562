//! Draws the visible instances for the camera or the light. In: the frame plan, the instances and the models on the GPU. Out:
//! one instanced draw for each batch and draw range of its model, with the indices of the batch's level of detail, and for
//! the light another one for the instances that only it draws.

use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::Arc;

use ash::vk;

use super::vertex_input::{INSTANCE_BINDING, STATIC_BINDING, primitive};
use super::{Building, PassInput};
use crate::crowd::{Batch, InstanceRange};
use crate::renderer::layouts::{FRAME_SET, MATERIAL_SET, VERTICES_SET};
use crate::renderer::resident::copies::Copies;
use crate::renderer::resident::model::{GpuDraw, GpuModel, IndexRange};
use crate::shader_types::{SpecializationConstants, material_features};
use crate::vulkan::Result;
use crate::vulkan::pipeline::{GraphicsPipelineInfo, Pipeline, PipelineLayout};

/// The view from which the crowd is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eye {
    /// Draws the instances in the camera's view.
    Camera,
    /// Draws the instances in the camera's view, and those that cast a shadow into it.
    Light,
}

impl Eye {
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

/// The pipelines with which a pass draws the models: one for each topology and each set of specialization constants.
pub struct CrowdPipelines {
    /// The pipelines of each draw of each model, and of its copies; `None` if the pass omits the draw.
    of_models: Vec<Vec<Option<[Arc<Pipeline>; 2]>>>,
}

impl CrowdPipelines {
    /// Builds the pipelines that the models need. `constants_of` returns the specialization constants of a draw, or `None` to
    /// omit it. `info_of` returns everything else but the topology, given the features. Constants of its own follow the others.
    pub fn new<'p>(
        building: Building<'p>,
        constants_of: impl Fn(&GpuDraw) -> Option<SpecializationConstants>,
        info_of: impl Fn(u32) -> GraphicsPipelineInfo<'p>,
    ) -> Result<Self> {
        let mut built = BTreeMap::new();
        let mut build = |draw: &GpuDraw, constants: SpecializationConstants| -> Result<Arc<Pipeline>> {
            let pipeline = match built.entry((draw.topology, constants)) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(missing) => {
                    let info = info_of(constants.features);
                    missing.insert(Arc::new(building.builder.graphics(&GraphicsPipelineInfo {
                        name: &format!("{}: {:?}, {constants:?}", info.name, draw.topology),
                        constants: &[&constants.words()[..], info.constants].concat(),
                        topology: primitive(draw.topology),
                        ..info
                    })?))
                }
            };
            Ok(Arc::clone(pipeline))
        };
        let draws_copies = std::ptr::eq(info_of(0).layout, &building.layouts.scene);
        let mut pipelines_of = |draw: &GpuDraw| {
            let Some(constants) = constants_of(draw) else { return Ok(None) };
            let more = if draws_copies && draw.has_copies() { material_features::COPIES } else { 0 };
            let of_copies = SpecializationConstants { features: constants.features | more, ..constants };
            Ok(Some([build(draw, constants)?, build(draw, of_copies)?]))
        };
        let of_models = building.models.iter().map(|model| model.draws.iter().map(&mut pipelines_of).collect());
        Ok(Self { of_models: of_models.collect::<Result<_>>()? })
    }
}

/// Draws all instances that `eye` sees, with pipelines of the scene's layout. Call it inside
/// [`rendering`](crate::vulkan::recorder::Recorder::rendering).
pub fn record(input: &PassInput, eye: Eye, pipelines: &CrowdPipelines) {
    let PassInput { recorder, layouts, slot, .. } = *input;
    let bind_vertices = |batch: &Batch, model: &GpuModel| {
        // Vertex skinning has no pages: it skins the model's own vertices.
        let vertices = slot.pages.get(batch.page as usize).map_or(&model.set, |page| &page.set);
        recorder.bind_set(&layouts.scene, VERTICES_SET, vertices);
    };
    record_with(input, &layouts.scene, eye, bind_vertices, pipelines);
}

/// Draws as [`record`] does, with pipelines of another layout. `bind_vertices` binds what they need of a batch and its model.
pub fn record_with(
    input: &PassInput,
    layout: &PipelineLayout,
    eye: Eye,
    bind_vertices: impl Fn(&Batch, &GpuModel),
    pipelines: &CrowdPipelines,
) {
    let PassInput { recorder, layouts, models, plan, slot, .. } = *input;
    // Other pipelines read the instance from attributes alone.
    let draws_copies = std::ptr::eq(layout, &layouts.scene);
    let Some(instances) = slot.instances() else { return };
    recorder.bind_set(layout, FRAME_SET, &slot.set);
    recorder.bind_vertex_buffer(INSTANCE_BINDING, instances);
    let mut bound_pipeline: Option<&Pipeline> = None;
    for batch in &plan.batches {
        let index = batch.model as usize;
        let Some((model, pipelines)) = models.get(index).zip(pipelines.of_models.get(index)) else { continue };
        let seen = eye.sees(batch);
        let drawn = model.draws.iter().zip(pipelines).filter_map(|(draw, pipelines)| {
            let level = eye.level(batch, draw);
            Some((draw, pipelines.as_ref()?, level)).filter(|_| draw.indices(level).count > 0)
        });
        let mut drawn = drawn.peekable();
        if seen.iter().all(|range| range.count == 0) || drawn.peek().is_none() {
            continue;
        }
        bind_vertices(batch, model);
        recorder.bind_vertex_buffer(STATIC_BINDING, &model.static_vertices);
        recorder.bind_index_buffer(&model.indices, model.index_type);
        for (draw, pipelines, level) in drawn {
            let Some(material) = model.materials.sets.get(draw.material) else { continue };
            recorder.bind_set(layout, MATERIAL_SET, material);
            recorder.set_culling(eye.cull_mode(draw), draw.front_face);
            for range in seen.into_iter().filter(|range| range.count > 0) {
                let copies = if draws_copies { Copies::fitting(&draw.copies, level, range) } else { None };
                let pipeline = &*pipelines[usize::from(copies.is_some())];
                if !bound_pipeline.is_some_and(|bound| std::ptr::eq(bound, pipeline)) {
                    recorder.bind_pipeline(pipeline);
                    bound_pipeline = Some(pipeline);
                }
                if let Some(copies) = copies {
                    copies.record(recorder, layouts, range);
                } else {
                    let IndexRange { first, count } = draw.indices(level);
                    recorder.draw_indexed((first, count), 0, (range.first, range.count));
                }
            }
        }
    }
}
