//! The meshes of the scene as one vertex array, one index array and draw ranges.

mod attributes;
mod builder;
mod influences;
mod instancing;
mod morphs;
mod placements;
mod reorder;
mod tangents;
mod topology;
mod weld;

pub use builder::{Scene, read};
