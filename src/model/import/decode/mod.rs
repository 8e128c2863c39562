//! From the JSON text to plain numbers: parsing, decompression and bounds-checked accessors.

mod accessor;
mod document;
mod draco;
mod meshopt;

pub use accessor::Accessor;
pub use document::{Document, NOWHERE};
