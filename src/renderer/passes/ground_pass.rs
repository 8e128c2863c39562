//! Ground and sky (`ground.vert`, `ground.frag`).
//!
//! In: camera, light and shadow map. Out: colour and depth. The pass follows the opaque characters, so the depth test
//! rejects most of its fragments.

use std::ops::Range;
use std::sync::Arc;

use ash::vk;

use super::PassInput;
use crate::renderer::layouts::{FRAME_SET, Layouts};
use crate::renderer::target::attachments::{DEPTH_FORMAT, HDR_FORMAT};
use crate::view::{Background, Look};
use crate::vulkan::Result;
use crate::vulkan::device::Device;
use crate::vulkan::pipeline::{GraphicsPipelineInfo, Pipeline, VertexInput};
use crate::vulkan::pipeline_cache::PipelineCache;
use crate::vulkan::spirv;

/// The pipeline of ground and sky.
pub struct GroundPass {
    pipeline: Pipeline,
}

impl GroundPass {
    /// Builds the pipeline.
    ///
    /// # Errors
    /// The driver cannot build the pipeline.
    pub fn new(
        device: &Arc<Device>,
        cache: &PipelineCache,
        layouts: &Layouts,
        samples: vk::SampleCountFlags,
    ) -> Result<Self> {
        let info = GraphicsPipelineInfo {
            name: "ground and sky",
            vertex: &spirv::GROUND_VERT,
            fragment: Some(&spirv::GROUND_FRAG),
            constants: &[],
            vertex_input: VertexInput::default(),
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            layout: &layouts.scene,
            color_format: Some(HDR_FORMAT),
            // The sky lies on the far plane (depth 0) and must pass where the depth buffer is clear.
            depth: Some((DEPTH_FORMAT, vk::CompareOp::GREATER_OR_EQUAL, true)),
            samples,
            blend: None,
            // Slightly further away than the real ground, so that characters lying on it stay visible.
            depth_bias: Some((-16.0, -1.0)),
        };
        Ok(Self { pipeline: Pipeline::graphics(device, cache, &info)? })
    }

    /// Draws two triangles of ground and one triangle of sky, or those of them that `look` has.
    pub fn record(&self, input: &PassInput, look: Look) {
        const GROUND: Range<u32> = 0..6;
        const SKY: Range<u32> = 6..9;
        let has_sky = look.background == Background::Sky;
        let vertices = match (look.ground, has_sky) {
            (true, true) => GROUND.start..SKY.end,
            (true, false) => GROUND,
            (false, true) => SKY,
            (false, false) => return,
        };
        input.recorder.bind_pipeline(&self.pipeline);
        input.recorder.bind_set(&input.layouts.scene, FRAME_SET, &input.slot.set);
        input.recorder.set_culling(vk::CullModeFlags::NONE, vk::FrontFace::COUNTER_CLOCKWISE);
        input.recorder.draw(vertices);
    }
}
