//! From nodes, skins and animations to a skeleton, its skins, and its clips: everything that the animation evaluates.
//!
//! All of it is checked here, so that evaluation need not check anything: nodes are sorted parent before child, every
//! index is in range, every track has the right number of values, and rotations have unit length.
//!
//! Reading order: `scene` decides which nodes are shown; `nodes` sorts them into the skeleton; `skins` reads inverse
//! bind matrices and builds the palette; `clips` reads keyframes.

#![forbid(unsafe_code)]

pub mod clips;
pub mod humanoid;
mod nodes;
mod scene;
pub mod skins;

pub use nodes::NodeTree;
pub use scene::SceneChoice;
pub use skins::Palette;
