//! The errors of the renderer: those of Vulkan, and crowds, images and settings that a device cannot draw.

use std::fmt::{Display, Formatter};

use crate::crowd::PlanError;
use crate::vulkan;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Vulkan(#[from] vulkan::Error),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(
        "the {stream} of {instances} visible instances takes {size_bytes} bytes, but the device's {limit} is {limit_bytes}"
    )]
    StreamOverLimit {
        stream: String,
        instances: u64,
        size_bytes: u64,
        /// The name of the limit in the Vulkan specification.
        limit: &'static str,
        limit_bytes: u64,
    },
    #[error("image '{name}': {problem}")]
    Image { name: String, problem: String },
    /// A view of skinned vertices, with a skinning that keeps none.
    #[error("{0} needs the skinned vertices of the last frame, and the vertex shader keeps none")]
    NoSkinnedVertices(&'static str),
    /// The device does not support the value of a setting.
    #[error("{device} does not support {setting}; it supports: {supported}")]
    Unsupported { setting: Setting, device: String, supported: String },
}

/// A setting that devices limit, with its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    ImageSize([u32; 2]),
    Samples(u32),
    View(&'static str),
}

impl Display for Setting {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::ImageSize([width, height]) => write!(f, "an image of {width}x{height} pixels"),
            Self::Samples(count) => write!(f, "{count} samples per pixel"),
            Self::View(name) => f.write_str(name),
        }
    }
}
