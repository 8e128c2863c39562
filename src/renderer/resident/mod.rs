//! Data that is uploaded once and stays on the device: geometry, materials, textures.

pub mod material;
pub mod model;
pub mod skin_runs;
pub mod texture;
pub mod upload;
