//! Throng draws crowds of skinned glTF characters, each in its own pose, with plain Vulkan 1.3.

// Files, drivers and users supply whatever they like: none of it may end the program.
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod animation;
pub mod app;
pub mod camera;
pub mod cli;
pub mod crowd;
pub mod model;
pub mod renderer;
pub mod shader_types;
pub mod vulkan;
