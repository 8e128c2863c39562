//! From the parsed file to plain numbers: buffers, decompression and bounds-checked accessors.
//!
//! A file refers to its numbers by *accessors*, which refer to *buffer views*, which are ranges of *buffers*. All three
//! may lie about their sizes. The other readers only see an [`Accessor`], whose bounds have been checked.
//!
//! Reading order: `document` holds the parsed file and its buffers; `accessor` turns bytes into numbers; `meshopt` and
//! `draco` decompress buffer views and meshes.

mod accessor;
mod document;
mod draco;
mod meshopt;

pub use accessor::Accessor;
pub use document::Document;
