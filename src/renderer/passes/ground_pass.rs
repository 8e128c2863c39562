//! Ground and sky (`ground.vert`, `ground.frag`): drawn after the opaque characters, which hide most of it.

use std::sync::Arc;

use ash::vk;

use super::visible_crowd::VisibleCrowd;
use crate::renderer::layouts::{FRAME_SET, Layouts, window_offsets};
use crate::renderer::target::attachments::{DEPTH_FORMAT, HDR_FORMAT};
use crate::shader_types::StreamWindow;
use crate::vulkan::Result;
use crate::vulkan::device::Device;
use crate::vulkan::pipeline::{GraphicsPipelineInfo, Pipeline, VertexInput};
use crate::vulkan::pipeline_cache::PipelineCache;
use crate::vulkan::spirv;

/// The pipeline.
pub struct GroundPass {
    pipeline: Pipeline,
}

impl GroundPass {
    /// Builds the pipeline.
    ///
    /// # Errors
    /// What the driver says.
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
            constant: 0,
            vertex_input: VertexInput::default(),
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            layout: &layouts.scene,
            color_format: Some(HDR_FORMAT),
            // The sky lies on the far plane (depth 0) and must pass where nothing was drawn.
            depth: Some((DEPTH_FORMAT, vk::CompareOp::GREATER_OR_EQUAL, true)),
            samples,
            blend: None,
            // A hair further away than it is: what lies flat on the ground shows.
            depth_bias: Some((-16.0, -1.0)),
        };
        Ok(Self { pipeline: Pipeline::graphics(device, cache, &info)? })
    }

    /// Two triangles of ground, one of sky.
    pub fn cmd_draw(&self, crowd: &VisibleCrowd) {
        let VisibleCrowd { device, commands, layouts, slot, .. } = *crowd;
        const VERTEX_COUNT: u32 = 9;
        // SAFETY: `commands` is being recorded inside a rendering of matching formats; the set is alive.
        unsafe {
            device.raw.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, self.pipeline.raw);
            device.raw.cmd_bind_descriptor_sets(
                commands,
                vk::PipelineBindPoint::GRAPHICS,
                layouts.scene.raw,
                FRAME_SET,
                &[slot.set.raw],
                &window_offsets(StreamWindow::default()),
            );
            device.raw.cmd_set_cull_mode(commands, vk::CullModeFlags::NONE);
            device.raw.cmd_set_front_face(commands, vk::FrontFace::COUNTER_CLOCKWISE);
            device.raw.cmd_draw(commands, VERTEX_COUNT, 1, 0, 0);
        }
    }
}
