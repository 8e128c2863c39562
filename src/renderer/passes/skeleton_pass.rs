//! The skeleton (`skeleton.vert`, `skeleton.frag`): the bones and joint axes of every visible instance.
//!
//! In: the bones of each model, the palette and the instances. Out: colour, over everything that was drawn before. The pass
//! clears depth first, so that bones hide each other but nothing hides them. Each batch takes one draw without indices:
//! its vertices are the corners of all bones of the model, its instances those of the crowd.

use ash::vk;

use super::{PassInput, vertex_input};
use crate::renderer::layouts::{FRAME_SET, Layouts, MODEL_SET};
use crate::renderer::output::attachments::{DEPTH_FORMAT, HDR_FORMAT};
use crate::vulkan::Result;
use crate::vulkan::pipeline::{GraphicsPipelineInfo, Pipeline, PipelineBuilder};
use crate::vulkan::spirv;

/// The number of vertices of a bone: eight triangles of an octahedron, and three triangles for each of three axes.
/// `skeleton.vert` has the same number.
pub const VERTICES_PER_BONE: u32 = 24 + 3 * 9;

/// The pipeline of the skeleton.
pub struct SkeletonPass {
    pipeline: Option<Pipeline>,
    samples: vk::SampleCountFlags,
}

impl SkeletonPass {
    /// Returns a pass without a pipeline.
    #[must_use]
    pub fn new(samples: vk::SampleCountFlags) -> Self {
        Self { pipeline: None, samples }
    }

    /// Builds the pipeline if it does not exist yet.
    ///
    /// # Errors
    /// The driver cannot build the pipeline.
    pub fn prepare(&mut self, builder: &PipelineBuilder, layouts: &Layouts) -> Result<()> {
        if self.pipeline.is_some() {
            return Ok(());
        }
        let info = GraphicsPipelineInfo {
            fragment: Some(&spirv::SKELETON_FRAG),
            vertex_input: vertex_input::INSTANCES,
            color_format: Some(HDR_FORMAT),
            depth: Some((DEPTH_FORMAT, vk::CompareOp::GREATER, true)),
            samples: self.samples,
            ..GraphicsPipelineInfo::new("skeleton", &layouts.scene, &spirv::SKELETON_VERT)
        };
        self.pipeline = Some(builder.graphics(&info)?);
        Ok(())
    }

    /// Clears depth and draws all bones. [`Self::prepare`] has built the pipeline.
    pub fn record(&self, input: &PassInput, extent: vk::Extent2D) {
        let PassInput { recorder, layouts, models, plan, slot, .. } = *input;
        let (Some(pipeline), Some(instances)) = (&self.pipeline, slot.instances()) else { return };
        recorder.clear_depth(extent, 0.0);
        recorder.bind_pipeline(pipeline);
        recorder.bind_set(&layouts.scene, FRAME_SET, &slot.set);
        recorder.bind_vertex_buffer(vertex_input::INSTANCE_BINDING, instances, 0);
        recorder.set_culling(vk::CullModeFlags::NONE, vk::FrontFace::COUNTER_CLOCKWISE);
        for batch in plan.batches.iter().filter(|batch| batch.seen.count > 0) {
            let Some(model) = models.get(batch.model as usize).filter(|model| model.bone_count > 0) else { continue };
            recorder.bind_set(&layouts.scene, MODEL_SET, &model.set);
            let vertex_count = model.bone_count.saturating_mul(VERTICES_PER_BONE);
            recorder.draw_instances(vertex_count, (batch.seen.first, batch.seen.count));
        }
    }
}
