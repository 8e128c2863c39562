//! Everything that moves: the node tree, skins with the palette, and clips.

pub mod clips;
mod nodes;
mod scene;
pub mod skins;

pub use nodes::{NodeTree, make_unit};
pub use scene::SceneChoice;
pub use skins::Palette;
