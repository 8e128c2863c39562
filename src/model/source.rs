//! Facts about the file of a model, for reports. Rendering does not use them.

use std::path::PathBuf;

/// The file that a model came from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceFile {
    /// The size of the file and of all files that it refers to, in bytes.
    pub bytes: u64,
    /// The other files that were read for the model: buffers and images, by absolute path, in order.
    pub files: Vec<PathBuf>,
    /// The name of the program that wrote it.
    pub generator: Option<String>,
    /// The copyright notice.
    pub copyright: Option<String>,
    /// The names of all scenes by glTF index.
    pub scenes: Vec<Option<String>>,
    /// The index of the default scene; `None` if there are no scenes, so that all nodes are shown.
    pub shown_scene: Option<u32>,
    /// All extensions in the file's lists, in their order.
    pub extensions: Vec<Extension>,
    /// The names of the cameras, which are not used.
    pub cameras: Vec<Option<String>>,
    /// The names of the lights of KHR_lights_punctual, which are not used.
    pub lights: Vec<Option<String>>,
    /// The origin of each image of [`Model::images`](super::Model::images).
    pub images: Vec<ImageSource>,
}

/// An extension of the format that the file uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    /// The name, such as `KHR_materials_unlit`.
    pub name: String,
    /// Whether the file cannot be shown correctly without it.
    pub required: bool,
    /// The degree of support by import.
    pub support: ExtensionSupport,
}

/// The degree of support for an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtensionSupport {
    /// Implemented.
    Honoured,
    /// Ignored; it affects only the appearance.
    NotDrawn,
    /// Ignored; the file has a fallback.
    Ignored,
}

/// The origin of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageSource {
    /// The glTF index.
    pub index: u32,
    /// The format according to the first bytes: `PNG`, `JPEG` or `WebP`.
    pub format: &'static str,
    /// The number of encoded bytes.
    pub bytes: u64,
}
