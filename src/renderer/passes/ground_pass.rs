//! The ground (`ground.vert`, `ground.frag`) and the sky (`sky.vert`, `sky.frag`).
//!
//! In: camera, light, look and shadow map. Out: colour and depth. The pass follows the opaque characters, so the depth test
//! rejects most of its fragments.

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

/// The pipelines of ground and sky. One shader for both would be slower: Mesa's lavapipe runs both sides of a branch.
pub struct GroundPass {
    ground: Pipeline,
    sky: Pipeline,
}

impl GroundPass {
    /// Builds both pipelines.
    ///
    /// # Errors
    /// The driver cannot build a pipeline.
    pub fn new(
        device: &Arc<Device>,
        cache: &PipelineCache,
        layouts: &Layouts,
        samples: vk::SampleCountFlags,
    ) -> Result<Self> {
        let build = |name, vertex, fragment, depth_bias| {
            let info = GraphicsPipelineInfo {
                name,
                vertex,
                fragment: Some(fragment),
                constants: &[],
                vertex_input: VertexInput::default(),
                topology: vk::PrimitiveTopology::TRIANGLE_LIST,
                polygon_mode: vk::PolygonMode::FILL,
                layout: &layouts.scene,
                color_format: Some(HDR_FORMAT),
                // The sky lies on the far plane (depth 0) and must pass where the depth buffer is clear.
                depth: Some((DEPTH_FORMAT, vk::CompareOp::GREATER_OR_EQUAL, true)),
                samples,
                blend: None,
                depth_bias,
            };
            Pipeline::graphics(device, cache, &info)
        };
        // Slightly further away than the real ground, so that characters lying on it stay visible.
        let ground_bias = Some((-16.0, -1.0));
        Ok(Self {
            ground: build("ground", &spirv::GROUND_VERT, &spirv::GROUND_FRAG, ground_bias)?,
            sky: build("sky", &spirv::SKY_VERT, &spirv::SKY_FRAG, None)?,
        })
    }

    /// Draws nine rectangles of ground and one triangle of sky, or those of them that `look` has.
    pub fn record(&self, input: &PassInput, look: Look) {
        input.recorder.bind_set(&input.layouts.scene, FRAME_SET, &input.slot.set);
        input.recorder.set_culling(vk::CullModeFlags::NONE, vk::FrontFace::COUNTER_CLOCKWISE);
        if look.ground {
            input.recorder.bind_pipeline(&self.ground);
            input.recorder.draw(0..54);
        }
        // The ground hides most of the sky.
        if look.background == Background::Sky {
            input.recorder.bind_pipeline(&self.sky);
            input.recorder.draw(0..3);
        }
    }
}
