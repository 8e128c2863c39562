//! The ground (`ground.vert`, `ground.frag`) and the sky (`sky.vert`, `sky.frag`).
//!
//! In: camera, light, look and shadow map. Out: colour and depth. The pass follows the opaque characters, so the depth test
//! rejects most of its fragments.

use ash::vk;

use super::{Building, PassInput};
use crate::renderer::layouts::{FRAME_SET, LIGHT_SET};
use crate::renderer::output::attachments::{DEPTH_FORMAT, HDR_FORMAT};
use crate::shader_types::SpecializationConstants;
use crate::view::{Background, Ground, Look};
use crate::vulkan::Result;
use crate::vulkan::pipeline::{GraphicsPipelineInfo, Pipeline};
use crate::vulkan::spirv;

/// The value of `GROUND_IS_SHADED` that leaves out the ground itself.
const SHADOWS_ALONE: u32 = 2;
/// The number of rectangles of the ground along each axis. `ground.vert` has the same number.
pub const STEPS_PER_AXIS: u32 = 5;

pub struct GroundPass {
    ground: Pipeline,
    /// The ground that shadows may reach; `None` without shadows.
    shaded_ground: Option<Pipeline>,
    shadows: Option<Pipeline>,
    sky: Pipeline,
}

impl GroundPass {
    pub fn new(building: Building, has_shadows: bool) -> Result<Self> {
        let Building { builder, layouts, samples, .. } = building;
        let build = |name, (vertex, fragment), constants: SpecializationConstants, depth_bias| {
            builder.graphics(&GraphicsPipelineInfo {
                fragment: Some(fragment),
                constants: &constants.words(),
                color_format: Some(HDR_FORMAT),
                // The sky lies on the far plane (depth 0) and must pass where the depth buffer is clear.
                depth: Some((DEPTH_FORMAT, vk::CompareOp::GREATER_OR_EQUAL, true)),
                samples,
                depth_bias,
                ..GraphicsPipelineInfo::new(name, &layouts.scene, vertex)
            })
        };
        // Slightly further away than the real ground, so that characters lying on it stay visible.
        let ground_bias = Some((-16.0, -1.0));
        let ground = |name, ground_is_shaded: u32| {
            let constants = SpecializationConstants { ground_is_shaded, ..SpecializationConstants::default() };
            build(name, (&spirv::GROUND_VERT, &spirv::GROUND_FRAG), constants, ground_bias)
        };
        Ok(Self {
            ground: ground("ground", 0)?,
            shaded_ground: has_shadows.then(|| ground("shaded ground", 1)).transpose()?,
            shadows: has_shadows.then(|| ground("shadows on the ground", SHADOWS_ALONE)).transpose()?,
            sky: build("sky", (&spirv::SKY_VERT, &spirv::SKY_FRAG), SpecializationConstants::default(), None)?,
        })
    }

    /// Draws the rectangles of the ground, or the shadows on it, and one triangle of sky, or those of them that `look` has.
    pub fn record(&self, input: &PassInput, look: Look) {
        input.recorder.bind_set(&input.layouts.scene, FRAME_SET, &input.slot.set);
        input.recorder.bind_set(&input.layouts.scene, LIGHT_SET, &input.lighting.set);
        input.recorder.set_culling(vk::CullModeFlags::NONE, vk::FrontFace::COUNTER_CLOCKWISE);
        // Shadows may reach the rectangle in the middle.
        const VERTICES: u32 = 6;
        const END: u32 = STEPS_PER_AXIS * STEPS_PER_AXIS * VERTICES;
        const MIDDLE: u32 = STEPS_PER_AXIS * STEPS_PER_AXIS / 2 * VERTICES;
        if look.draws_ground() {
            input.recorder.bind_pipeline(&self.ground);
            input.recorder.draw(0..MIDDLE, (0, 1));
            input.recorder.draw(MIDDLE + VERTICES..END, (0, 1));
            input.recorder.bind_pipeline(self.shaded_ground.as_ref().unwrap_or(&self.ground));
            input.recorder.draw(MIDDLE..MIDDLE + VERTICES, (0, 1));
        } else if let Some(shadows) = self.shadows.as_ref().filter(|_| look.ground == Ground::Shadow) {
            input.recorder.bind_pipeline(shadows);
            input.recorder.draw(MIDDLE..MIDDLE + VERTICES, (0, 1));
        }
        // The ground hides most of the sky.
        if look.background == Background::Sky {
            input.recorder.bind_pipeline(&self.sky);
            input.recorder.draw(0..3, (0, 1));
        }
    }
}
