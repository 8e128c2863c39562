//! The renderer-neutral description of a character: what every other layer reads and nobody changes.
//!
//! A [`Model`] is built once by [`import`] and then immutable. It knows neither glTF (only `import` does) nor
//! Vulkan. Invariants that hold for every `Model`, whatever file it came from, so that no later layer has to check:
//!
//! * skeleton nodes are sorted parent before child;
//! * every index (parent, palette node, influence's joint, morph weight, vertex index, material, image, timeline) is in
//!   range;
//! * every number that reaches arithmetic is finite, every quaternion of the rest pose has unit length;
//! * the weights of each vertex sum to one over its influences, and each vertex has at least one;
//! * joint indices in [`Geometry::influences`] are rebased to [`PaletteLayout`]: rigid, skinned, multi-skin and
//!   attached parts all take the same path through one palette per model.

pub mod clip;
pub mod geometry;
pub mod import;
pub mod material;
pub mod skeleton;
pub mod source;
pub mod text;

pub use clip::{Clip, Interpolation, MorphTrack, Track};
pub use geometry::{DrawRange, Geometry, Influence, MorphDelta, SourcePrimitive, Topology};
pub use material::{AlphaMode, Filter, Image, Material, MaterialTexture, Texture, TextureSampler, Wrap};
pub use skeleton::{FixedLocal, LocalPose, MorphedNode, NO_PARENT, PaletteLayout, Skeleton, Skin};
pub use source::{Extension, ExtensionSupport, ImageSource, SourceFile};

/// One character (or prop): skeleton, clips, geometry and materials.
///
/// *Model space* is the space of the file's scene: what glTF calls world space when the file is shown alone.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// The file's name, for messages and reports.
    pub name: String,
    /// Every node that the scene or a skin reaches, parents before children.
    pub skeleton: Skeleton,
    /// All skins of the file, by glTF index, used by a mesh or not.
    pub skins: Vec<Skin>,
    /// What one instance streams each frame, beside its morph weights: one joint matrix for each entry.
    pub palette: PaletteLayout,
    /// All primitives of all mesh nodes as one vertex array and one index array.
    pub geometry: Geometry,
    /// Never empty: primitives without a material use glTF's default one.
    pub materials: Vec<Material>,
    /// Decoded images, by index in [`Texture::image`].
    pub images: Vec<Image>,
    /// All clips of the file, by glTF index.
    pub clips: Vec<Clip>,
    /// What the file says of itself.
    pub source: SourceFile,
    /// What was repaired, ignored or left out, one sentence each.
    pub warnings: Vec<String>,
}

impl Model {
    /// Morph weights that one instance streams each frame.
    #[must_use]
    pub fn morph_weight_count(&self) -> usize {
        self.skeleton.rest.morph_weights.len()
    }
}
