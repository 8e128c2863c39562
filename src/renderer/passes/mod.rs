//! The passes of a frame, one file each, with the shaders of the same name.

pub mod character_pass;
pub mod ground_pass;
pub mod shadow_pass;
pub mod skin_pass;
pub mod tone_map_pass;
pub mod upload_pass;
pub mod vertex_input;
pub mod visible_crowd;
