//! Data that stays on the device. Geometry, materials and textures are uploaded once. The light of the surroundings is
//! computed on the device, once for each sky.

pub mod copies;
pub mod environment;
pub mod lighting;
pub mod material;
pub mod model;
pub mod sizes;
pub mod skin_runs;
pub mod texture;
mod upload;
