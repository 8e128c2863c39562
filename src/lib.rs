//! Throng draws crowds of skinned glTF characters, each in its own pose, with plain Vulkan 1.3.

pub mod animation;
pub mod app;
pub mod camera;
pub mod cli;
pub mod crowd;
pub mod model;
pub mod renderer;
pub mod shader_types;
pub mod vulkan;
