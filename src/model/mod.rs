//! The description of a character that all other layers share: from a model file, through [`import`], to a [`Model`].
//!
//! Frames do not change a model, apart from the morph weights that it holds ([`Skeleton::hold_morph`]). It knows neither glTF (only
//! `import` does) nor Vulkan. These invariants hold for every imported model, so that later layers need not check them.
//! [`Model::checked`] makes sure of those whose violation would be an index out of range:
//!
//! * skeleton nodes are sorted parent before child;
//! * every index (parent, palette node, joint, morph weight, vertex, material, image, timeline) is in range;
//! * every number used in arithmetic is finite, and every quaternion of the rest pose has unit length;
//! * each vertex has at least one influence, and its weights sum to one;
//! * joint indices in [`Geometry::influences`] refer to the [`PaletteLayout`], so that rigid, skinned, multi-skin and
//!   attached parts all take the same path through one palette.

pub mod bones;
mod checked;
pub mod clip;
pub mod geometry;
pub mod humanoid;
pub mod image;
pub mod import;
pub mod material;
mod measures;
pub mod names;
pub(crate) mod order;
pub mod skeleton;
pub mod source;
pub mod text;

pub use self::image::Image;
pub use bones::Bone;
pub use clip::{Clip, Interpolation, JOIN, MorphTrack, TOGETHER, Track};
pub use geometry::{CoarserLevel, DrawRange, Geometry, Influence, MorphDelta, Topology};
pub use humanoid::{Humanoid, Role};
pub use material::{AlphaMode, Filter, Material, MaterialTexture, Texture, TextureSampler, Wrap};
pub use skeleton::{FixedLocal, LocalPose, MorphedNode, NO_PARENT, PaletteLayout, Skeleton};
pub use source::{Casting, Extension, ExtensionSupport, FileCamera, ImageSource, Skin, SourceFile, SourcePrimitive};

/// One character (or prop): skeleton, clips, geometry and materials.
///
/// *Model space* is the space of the file's scene, which glTF calls world space.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// The file's name, for messages and reports.
    pub name: String,
    pub skeleton: Skeleton,
    /// All skins of the file by glTF index, including unused ones.
    pub skins: Vec<Skin>,
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
    /// The clips that are shown without a choice: by a single character the first of them, by a crowd all. If there are none, it
    /// is the first clip.
    pub first_clips: Vec<u32>,
    /// The roles of nodes that the file declares (VRM).
    pub humanoid: Option<Box<Humanoid>>,
    pub source: SourceFile,
    /// A sentence for each repair or omission during import.
    pub warnings: Vec<String>,
}

impl Model {
    /// Returns whether a morph target has a weight other than 0 at any time of a clip, in the rest pose, or because it is
    /// held. Many clips of faces hold all weights at 0.
    pub fn has_active_morphs(&self, clip: Option<&Clip>) -> bool {
        let tracks = clip.iter().flat_map(|clip| &clip.morph_weights).flat_map(|track| &track.values);
        let held = self.skeleton.held_morphs.iter().map(|(_, weight)| weight);
        tracks.chain(&self.skeleton.rest.morph_weights).chain(held).any(|weight| *weight != 0.0)
    }

    /// Returns the clip that joins all others, if they are parts of one take.
    pub fn take(&self) -> Option<u32> {
        let first = *self.first_clips.first()?;
        self.clips.get(first as usize).is_some_and(|clip| clip.name.as_deref() == Some(TOGETHER)).then_some(first)
    }

    pub fn morph_weight_count(&self) -> usize {
        self.skeleton.rest.morph_weights.len()
    }
}
