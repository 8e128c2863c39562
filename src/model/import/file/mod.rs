//! From a path to the JSON text and the bytes that the file refers to.

mod container;
pub mod extensions;
pub mod source;
mod uri;

pub use container::{Container, check_json_size, read_model_file, read_regular_file, split};
pub use uri::{Files, UriFault};
