//! Data that is uploaded once and stays on the device: geometry, materials, textures. The light of the
//! surroundings is computed once instead.

pub mod environment;
pub mod material;
pub mod model;
pub mod skin_runs;
pub mod texture;
pub mod upload;
