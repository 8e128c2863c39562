//! (being written)

pub mod spirv;
