//! From a path to the parsed JSON of a model file, and to the bytes of the files that it refers to.
//!
//! Everything here treats the file as hostile: it may be a pipe, end early, refer to files outside its folder, or hold
//! JSON that would take gigabytes once parsed.
//!
//! Reading order: `container` reads the file and separates JSON from binary data; `json` parses the JSON, and lets `extensions`
//! check the extension lists and `mend` repair elements; `roles` reads the humanoid of a VRM file; `uri` reads other files.

#![forbid(unsafe_code)]

mod container;
mod extensions;
pub mod json;
pub mod mend;
mod roles;
mod uri;

pub use container::{Container, kind_of, read_model_file, split};
pub use json::ParsedJson;
pub use roles::DeclaredRoles;
pub use uri::{Files, UriFault};
