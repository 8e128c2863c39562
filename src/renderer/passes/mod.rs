//! The passes of a frame, one file each, with shaders of the same name.
//!
//! In: [`PassInput`]: the frame's plan, and its data on the GPU. Out: recorded commands. No barrier is here: those between
//! passes are in [`frame`](super::frame), and those of the output's image in [`output`](super::output).

pub mod character_pass;
pub mod crowd_draw;
pub mod debug_view_pass;
pub mod ground_pass;
pub mod outline_pass;
pub mod overlay_pass;
pub mod shadow_pass;
pub mod skeleton_pass;
pub mod skin_pass;
pub mod tone_map_pass;
pub mod vertex_input;

use super::history::LastPage;
use super::layouts::Layouts;
use super::resident::model::GpuModel;
use super::slot::FrameSlot;
use crate::crowd::FramePlan;
use crate::vulkan::recorder::Recorder;

/// The input of all passes of a frame.
#[derive(Clone, Copy)]
pub struct PassInput<'a> {
    /// The commands of the frame.
    pub recorder: Recorder<'a>,
    /// The pipeline layouts.
    pub layouts: &'a Layouts,
    /// The models, by index in the plan.
    pub models: &'a [GpuModel],
    /// The batches of visible poses and instances.
    pub plan: &'a FramePlan,
    /// The streams and pages of the frame.
    pub slot: &'a FrameSlot,
    /// A page of the last frame, for pipelines with the layout of the motion view.
    pub last_page: Option<LastPage<'a>>,
}
