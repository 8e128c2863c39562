//! The description of a character that all other layers share: from a model file, through [`import`], to a [`Model`].
//!
//! A model is immutable. It knows neither glTF (only `import` does) nor Vulkan. These invariants hold for every model,
//! so that later layers need not check them:
//!
//! * skeleton nodes are sorted parent before child;
//! * every index (parent, palette node, joint, morph weight, vertex, material, image, timeline) is in range;
//! * every number used in arithmetic is finite, and every quaternion of the rest pose has unit length;
//! * each vertex has at least one influence, and its weights sum to one;
//! * joint indices in [`Geometry::influences`] refer to the [`PaletteLayout`], so that rigid, skinned, multi-skin and
//!   attached parts all take the same path through one palette.

pub mod bones;
pub mod clip;
pub mod geometry;
pub mod image;
pub mod import;
pub mod material;
pub(crate) mod order;
pub mod skeleton;
pub mod text;

use std::path::PathBuf;

pub use self::image::Image;
pub use bones::Bone;
pub use clip::{Clip, Interpolation, MorphTrack, Track};
pub use geometry::{CoarserLevel, DrawRange, Geometry, Influence, MorphDelta, SourcePrimitive, Topology};
pub use material::{AlphaMode, Filter, Material, MaterialTexture, Texture, TextureSampler, Wrap};
pub use skeleton::{FixedLocal, LocalPose, MorphedNode, NO_PARENT, PaletteLayout, Skeleton, Skin};

/// One character (or prop): skeleton, clips, geometry and materials.
///
/// *Model space* is the space of the file's scene, which glTF calls world space.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// The file's name, for messages and reports.
    pub name: String,
    /// The nodes of the scene and of all skins, with their ancestors, parents before children.
    pub skeleton: Skeleton,
    /// All skins of the file by glTF index, including unused ones.
    pub skins: Vec<Skin>,
    /// The layout of the palette: each pose has one joint matrix for each entry.
    pub palette: PaletteLayout,
    /// The bones of the skins in use, for drawing the skeleton.
    pub bones: Vec<Bone>,
    /// All primitives of all mesh nodes as one vertex array and one index array.
    pub geometry: Geometry,
    /// All materials; never empty, because primitives without a material use glTF's default one.
    pub materials: Vec<Material>,
    /// Encoded images, to which [`Texture::image`] refers.
    pub images: Vec<Image>,
    /// All clips of the file by glTF index.
    pub clips: Vec<Clip>,
    /// Facts about the file, for reports.
    pub source: SourceFile,
    /// A sentence for each repair or omission during import.
    pub warnings: Vec<String>,
}

impl Model {
    /// Returns the number of morph weights of a pose.
    #[must_use]
    pub fn morph_weight_count(&self) -> usize {
        self.skeleton.rest.morph_weights.len()
    }
}

/// Facts about the file that a model came from, for reports.
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
    /// The origin of each image of [`Model::images`].
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
