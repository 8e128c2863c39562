//! Skin (`skin.comp`): bind-pose vertices and joint matrices become this frame's transient vertex buffer.
//!
//! One dispatch for each batch and each of its model's runs of vertices ([`SkinRun`]), with a pipeline for each kind of
//! run that the models have, made once: what a run lacks (morph targets, tangents) is not in its shader, and the loop
//! over its influences is unrolled.

use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::Arc;

use ash::vk;

use super::visible_crowd::VisibleCrowd;
use crate::renderer::layouts::{FRAME_SET, Layouts, MODEL_SET, PAGE_SET, window_offsets};
use crate::renderer::resident::model::GpuModel;
use crate::renderer::resident::skin_runs::SkinRun;
use crate::renderer::slot::plan::Batch;
use crate::shader_types::SkinConstants;
use crate::vulkan::Result;
use crate::vulkan::device::Device;
use crate::vulkan::pipeline::Pipeline;
use crate::vulkan::pipeline_cache::PipelineCache;
use crate::vulkan::spirv;

/// `local_size_x` of `skin.comp`; `tests/shader_layout.rs` holds both together.
pub const VERTICES_PER_GROUP: u32 = 64;

/// What distinguishes the pipelines: the shader's specialization constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    with_tangents: bool,
    /// Of every vertex; 0: as each vertex says.
    influence_count: u32,
    with_morphs: bool,
}

impl Kind {
    fn of(model: &GpuModel, run: &SkinRun) -> Self {
        Self {
            with_tangents: model.size.has_tangents,
            influence_count: run.influence_count.unwrap_or(0),
            with_morphs: model.has_morphs,
        }
    }
}

/// The compute pipelines.
pub struct SkinPass {
    pipelines: BTreeMap<Kind, Pipeline>,
    /// Work groups that one dispatch may have, x and y.
    most_groups: [u32; 2],
}

impl SkinPass {
    /// Builds the pipelines that the models need. No dispatch has more than `most_groups`, x and y.
    ///
    /// # Errors
    /// What the driver says.
    pub fn new(
        device: &Arc<Device>,
        cache: &PipelineCache,
        layouts: &Layouts,
        models: &[GpuModel],
        most_groups: [u32; 2],
    ) -> Result<Self> {
        let mut pipelines = BTreeMap::new();
        for model in models {
            for run in &model.skin_runs {
                let kind = Kind::of(model, run);
                if let Entry::Vacant(place) = pipelines.entry(kind) {
                    let Kind { with_tangents, influence_count, with_morphs } = kind;
                    let constants = [u32::from(with_tangents), influence_count, u32::from(with_morphs)];
                    let name = format!("skin: {kind:?}");
                    let shader = (&spirv::SKIN_COMP, &constants[..]);
                    place.insert(Pipeline::compute(device, cache, &name, shader, &layouts.skin)?);
                }
            }
        }
        Ok(Self { pipelines, most_groups })
    }

    /// Skins all visible poses: x over a run's vertices, y over a batch's poses.
    pub fn cmd_skin(&self, crowd: &VisibleCrowd) {
        let VisibleCrowd { device, commands, layouts, models, plan, slot } = *crowd;
        let recorder = Recorder { device, commands, layout: layouts.skin.raw, most_groups: self.most_groups };
        let mut bound = vk::Pipeline::null();
        let mut bound_window = None;
        for batch in &plan.batches {
            let (Some(model), Some(page)) = (models.get(batch.model as usize), slot.pages.get(batch.page as usize))
            else {
                continue;
            };
            if bound_window != Some(batch.window) {
                recorder.bind_set(FRAME_SET, slot.set.raw, &window_offsets(batch.window));
                bound_window = Some(batch.window);
            }
            recorder.bind_set(MODEL_SET, model.set.raw, &[]);
            recorder.bind_set(PAGE_SET, page.set.raw, &[]);
            for run in &model.skin_runs {
                let Some(pipeline) = self.pipelines.get(&Kind::of(model, run)) else { continue };
                if pipeline.raw != bound {
                    recorder.bind_pipeline(pipeline);
                    bound = pipeline.raw;
                }
                recorder.dispatch_run(model, run, batch);
            }
        }
    }
}

/// A command buffer with the skin pass's pipeline layout.
struct Recorder<'a> {
    device: &'a Device,
    commands: vk::CommandBuffer,
    layout: vk::PipelineLayout,
    most_groups: [u32; 2],
}

impl Recorder<'_> {
    fn bind_pipeline(&self, pipeline: &Pipeline) {
        // SAFETY: the commands are being recorded; the pipeline is alive.
        unsafe { self.device.raw.cmd_bind_pipeline(self.commands, vk::PipelineBindPoint::COMPUTE, pipeline.raw) };
    }

    fn bind_set(&self, number: u32, set: vk::DescriptorSet, offsets: &[u32]) {
        // SAFETY: the commands are being recorded; the set is alive and matches the layout.
        unsafe {
            self.device.raw.cmd_bind_descriptor_sets(
                self.commands,
                vk::PipelineBindPoint::COMPUTE,
                self.layout,
                number,
                &[set],
                offsets,
            );
        }
    }

    /// One dispatch, or as many as the device's limits make of it.
    fn dispatch_run(&self, model: &GpuModel, run: &SkinRun, batch: &Batch) {
        let [most_groups, most_poses] = self.most_groups;
        let vertices_per_dispatch = most_groups.saturating_mul(VERTICES_PER_GROUP) as usize;
        for first_pose in (0..batch.pose_count).step_by(most_poses as usize) {
            let pose_count = (batch.pose_count - first_pose).min(most_poses);
            for first_vertex in (run.first_vertex..run.end_vertex).step_by(vertices_per_dispatch) {
                let end_vertex = run.end_vertex.min(first_vertex.saturating_add(vertices_per_dispatch as u32));
                let constants = SkinConstants {
                    first_vertex,
                    end_vertex,
                    skinned_vertex_offset: batch.first_vertex + first_pose * model.size.vertex_count,
                    skinned_vertex_stride: model.size.vertex_count,
                    palette_offset: batch.first_joint - batch.window.first_joint + first_pose * model.size.joint_count,
                    palette_stride: model.size.joint_count,
                    morph_weight_offset: batch.first_morph_weight - batch.window.first_morph_weight
                        + first_pose * model.size.morph_weight_count,
                    morph_weight_stride: model.size.morph_weight_count,
                };
                self.dispatch(&constants, [(end_vertex - first_vertex).div_ceil(VERTICES_PER_GROUP), pose_count]);
            }
        }
    }

    fn dispatch(&self, constants: &SkinConstants, [x, y]: [u32; 2]) {
        let (raw, stages) = (&self.device.raw, vk::ShaderStageFlags::COMPUTE);
        // SAFETY: the commands are being recorded; sets and pipeline are bound; the constants have the layout's size;
        // group counts are within the device's limits.
        unsafe {
            raw.cmd_push_constants(self.commands, self.layout, stages, 0, bytemuck::bytes_of(constants));
            raw.cmd_dispatch(self.commands, x, y, 1);
        }
    }
}
