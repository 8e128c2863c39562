//! The passes of a frame, one file each, with shaders of the same name.
//!
//! In: [`PassInput`]: the frame's plan, and its data on the GPU. Out: recorded commands. No barrier is here: those between
//! passes are in [`frame`](super::frame), that of the upload is in `slot`, and those of the output's image in
//! [`output`](super::output).

pub mod character_pass;
pub mod crowd_draw;
pub mod ground_pass;
pub mod shadow_pass;
pub mod skin_pass;
pub mod tone_map_pass;
pub mod vertex_input;

use ash::vk;

use super::layouts::Layouts;
use super::resident::lighting::Lighting;
use super::resident::model::GpuModel;
use super::settings::Skinning;
use super::slot::FrameSlot;
use crate::crowd::FramePlan;
use crate::vulkan::pipeline::PipelineBuilder;
use crate::vulkan::recorder::Recorder;

#[derive(Clone, Copy)]
pub struct PassInput<'a> {
    pub recorder: Recorder<'a>,
    pub layouts: &'a Layouts,
    pub lighting: &'a Lighting,
    /// The models, by index in the plan.
    pub models: &'a [GpuModel],
    /// The batches of visible poses and instances.
    pub plan: &'a FramePlan,
    pub slot: &'a FrameSlot,
    pub extent: vk::Extent2D,
}

/// What passes are built from.
#[derive(Clone, Copy)]
pub struct Building<'a> {
    pub builder: &'a PipelineBuilder,
    pub layouts: &'a Layouts,
    /// The models, which decide the pipelines that are needed.
    pub models: &'a [GpuModel],
    pub skinning: Skinning,
    pub samples: vk::SampleCountFlags,
}
