//! What a model's file says of itself: nothing that is drawn, and all that a person asks before using one.

/// The file that a model came from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceFile {
    /// Bytes of the file and of all files read for it.
    pub bytes: u64,
    /// The program that wrote it, as it says itself.
    pub generator: Option<String>,
    /// Whose it is.
    pub copyright: Option<String>,
    /// Names of all scenes, by glTF index.
    pub scenes: Vec<Option<String>>,
    /// Which of them is shown; `None` where there is none, so that all nodes are.
    pub shown_scene: Option<u32>,
    /// All extensions that the file lists, in its order.
    pub extensions: Vec<Extension>,
    /// Names of cameras; none is used.
    pub cameras: Vec<Option<String>>,
    /// Names of the lights of KHR_lights_punctual; none is lit.
    pub lights: Vec<Option<String>>,
    /// What the model's images were decoded from, by index in [`Model::images`](super::Model::images).
    pub images: Vec<ImageSource>,
}

/// An extension of the format that the file uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    /// `KHR_…`
    pub name: String,
    /// Without it the file must not be shown.
    pub required: bool,
    /// What becomes of it here.
    pub support: ExtensionSupport,
}

/// What becomes of an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtensionSupport {
    /// Read, and honoured.
    Honoured,
    /// It changes the looks alone, and is left out.
    NotDrawn,
    /// Left out; the file has something to fall back on.
    Ignored,
}

/// Where an image came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageSource {
    /// glTF index.
    pub index: u32,
    /// `PNG`, `JPEG`, `WebP`, as its first bytes tell.
    pub format: &'static str,
    /// Encoded.
    pub bytes: u64,
}
