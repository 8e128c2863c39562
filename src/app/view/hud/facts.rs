//! The facts that the panel shows and cannot change.

use crate::model::Model;

use super::figures::Figures;

/// The facts of a frame.
pub struct Facts<'a> {
    /// The models of the crowd.
    pub models: &'a [Model],
    /// The names of the files that can be opened, and the one that is shown alone.
    pub files: &'a [String],
    /// The index of the file that is shown, unless several are.
    pub file: Option<usize>,
    /// The times of the last frames.
    pub figures: &'a Figures,
    /// Device, memory, visible instances and triangles, one line each.
    pub lines: &'a [String],
    /// The upload path that the device's memory types suggest.
    pub automatic_upload: &'static str,
    /// The side of the shadow map in texels, if there is one.
    pub shadow_map_size: Option<u32>,
    /// The largest crowd for which the device has room.
    pub most_instances: u32,
    /// Returns the device memory that a number of instances would take.
    pub memory: &'a dyn Fn(u32) -> String,
    /// The selected character, one line each. Empty without one.
    pub selected: &'a [String],
    /// Returns the name of the joint at a point of the picture in pixels.
    pub joint_at: &'a dyn Fn([f32; 2]) -> Option<String>,
    /// The last message: an error, or the name of a written file.
    pub notice: Option<&'a Notice>,
}

/// A message to the user.
#[derive(Debug, Clone)]
pub struct Notice {
    /// The text.
    pub text: String,
    /// Whether something has failed.
    pub is_error: bool,
}
