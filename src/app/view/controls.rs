//! The controls of the panel as plain values.
//!
//! In: the state. Out: values that the panel's widgets may change. The state then applies the differences, so widgets do not
//! need to know how anything is done.

use crate::crowd::{ClipChoice, Layout};
use crate::renderer::{Skinning, UploadPath};
use crate::view::{DebugView, Look};

/// Everything that the panel can change.
#[derive(Debug, Clone, PartialEq)]
pub struct Controls {
    /// Whether the animation stands still.
    pub is_paused: bool,
    /// The time in the clip, from 0 to [`Self::duration_seconds`].
    pub time_seconds: f64,
    /// The length of the longest clip that is played; 0 if nothing moves. Not to be changed.
    pub duration_seconds: f64,
    /// The seconds of animation for each second.
    pub speed: f64,
    /// Whether the clip starts again at its end. Otherwise the animation pauses there.
    pub repeats: bool,
    /// The clip.
    pub clip: ClipChoice,
    /// The settings of the crowd.
    pub crowd: CrowdControls,
    /// The debug view.
    pub view: DebugView,
    /// Whether the skeleton is drawn.
    pub skeleton: bool,
    /// The joint whose weights are shown.
    pub joint: Option<String>,
    /// Background, ground, exposure and sun.
    pub look: Look,
    /// The largest error of a level of detail in pixels.
    pub lod_error_pixels: f32,
    /// The settings that need a new renderer.
    pub drawing: DrawingControls,
}

/// The settings of a crowd. A change places all instances again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CrowdControls {
    /// The number of instances.
    pub instances: u32,
    /// The way in which they are placed.
    pub layout: Layout,
    /// The seed of all random choices.
    pub seed: u64,
    /// How much instances differ, 0 to 1.
    pub variety: f32,
    /// Whether instances that walk go somewhere.
    pub travel: bool,
}

/// The settings that need a new renderer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawingControls {
    /// The stage that skins vertices.
    pub skinning: Skinning,
    /// How streams reach the GPU; `None` is the device's choice.
    pub upload: Option<UploadPath>,
    /// The number of samples per pixel.
    pub samples: u32,
    /// Whether shadows are drawn.
    pub shadows: bool,
}
