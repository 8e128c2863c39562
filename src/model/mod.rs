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
pub mod clip;
pub mod geometry;
pub mod humanoid;
pub mod image;
pub mod import;
pub mod material;
pub mod names;
pub(crate) mod order;
pub mod skeleton;
pub mod text;

use std::collections::BTreeSet;
use std::path::PathBuf;

pub use self::image::Image;
pub use bones::Bone;
pub use clip::{Clip, Interpolation, MorphTrack, Track};
pub use geometry::{CoarserLevel, DrawRange, Geometry, Influence, MorphDelta, SourcePrimitive, Topology};
pub use humanoid::{Humanoid, Role};
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
    /// The roles of nodes that the file declares (VRM).
    pub humanoid: Option<Box<Humanoid>>,
    /// Facts about the file, for reports.
    pub source: SourceFile,
    /// A sentence for each repair or omission during import.
    pub warnings: Vec<String>,
}

impl Model {
    /// Returns whether a morph target has a weight other than 0 at any time of a clip, in the rest pose, or because it is
    /// held. Many clips of faces hold all weights at 0.
    #[must_use]
    pub fn has_active_morphs(&self, clip: Option<&Clip>) -> bool {
        let tracks = clip.iter().flat_map(|clip| &clip.morph_weights).flat_map(|track| &track.values);
        let held = self.skeleton.held_morphs.iter().map(|(_, weight)| weight);
        tracks.chain(&self.skeleton.rest.morph_weights).chain(held).any(|weight| *weight != 0.0)
    }

    /// Returns the model if all arrays that refer to each other fit together.
    ///
    /// # Errors
    /// Says which invariant does not hold.
    pub fn checked(self) -> Result<Self, &'static str> {
        let Self { skeleton, palette, geometry, materials, images, clips, .. } = &self;
        let Skeleton { parents, rest, names, source_nodes, in_scene, fixed_locals, .. } = skeleton;
        let below = |index: u32, count: usize| (index as usize) < count;
        let (nodes, vertices) = (skeleton.len(), geometry.vertex_count());
        let are_starts = |starts: &[u32], values: usize| {
            starts.len() == vertices + 1 && starts.is_sorted() && starts.last() == Some(&(values as u32))
        };
        let mut end = 0;
        let follows = |range: &DrawRange| {
            let first = std::mem::replace(&mut end, range.first_index.saturating_add(range.index_count));
            range.first_index == first && below(range.material, materials.len())
        };
        let mut textures = materials.iter().flat_map(Material::textures);
        let is_track =
            |clip: &Clip, node: u32, timeline: u32| below(node, nodes) && below(timeline, clip.timelines.len());
        let invariants = [
            (
                "nodes come after their parents",
                parents.iter().zip(0..).all(|(&parent, node)| parent == NO_PARENT || parent < node),
            ),
            (
                "the arrays of nodes are equally long",
                [rest.len(), rest.rotations.len(), rest.scales.len(), names.len(), source_nodes.len(), in_scene.len()]
                    == [nodes; 6]
                    && fixed_locals.iter().all(|fixed| below(fixed.node, nodes)),
            ),
            (
                "palette entries follow nodes",
                palette.nodes.iter().all(|&node| below(node, nodes))
                    && [palette.joint_from_mesh.len(), palette.is_joint.len()] == [palette.len(); 2],
            ),
            (
                "the arrays of vertices are equally long",
                [geometry.normals.len(), geometry.tex_coords.len(), geometry.colors.len()] == [vertices; 3]
                    && [0, vertices].contains(&geometry.tangents.len()),
            ),
            (
                "influences belong to vertices and palette entries",
                are_starts(&geometry.influence_starts, geometry.influences.len())
                    && geometry.influences.iter().all(|influence| below(influence.joint, palette.len())),
            ),
            (
                "morph deltas belong to vertices and weights",
                are_starts(&geometry.morph_delta_starts, geometry.morph_deltas.len())
                    && geometry.morph_deltas.iter().all(|delta| below(delta.weight_index, rest.morph_weights.len())),
            ),
            (
                "draw ranges have materials and partition the indices of vertices",
                geometry.draw_ranges.iter().all(follows)
                    && end as usize == geometry.indices.len()
                    && geometry.indices.iter().all(|&index| below(index, vertices)),
            ),
            (
                "morph weights have names",
                skeleton.morph_names.len() == rest.morph_weights.len()
                    && skeleton.held_morphs.iter().all(|(index, _)| below(*index, rest.morph_weights.len())),
            ),
            ("textures have images", textures.all(|slot| below(slot.texture.image, images.len()))),
            (
                "tracks have nodes and timelines",
                clips.iter().all(|clip| {
                    clip.translations.iter().all(|track| is_track(clip, track.node, track.timeline))
                        && clip.rotations.iter().all(|track| is_track(clip, track.node, track.timeline))
                        && clip.scales.iter().all(|track| is_track(clip, track.node, track.timeline))
                        && clip.morph_weights.iter().all(|track| below(track.timeline, clip.timelines.len()))
                }),
            ),
        ];
        match invariants.iter().find(|(_, holds)| !holds) {
            Some((invariant, _)) => Err(invariant),
            None => Ok(self),
        }
    }

    /// Returns the number of morph weights of a pose.
    #[must_use]
    pub fn morph_weight_count(&self) -> usize {
        self.skeleton.rest.morph_weights.len()
    }
}

/// Facts about the file that a model came from, for reports.
#[derive(Debug, Clone, Default, PartialEq)]
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
    /// The number of meshes in the file, shown or not.
    pub mesh_count: usize,
    /// The cameras by glTF index.
    pub cameras: Vec<FileCamera>,
    /// The names of all vertex attributes in the file, such as `COLOR_0`.
    pub attributes: BTreeSet<String>,
    /// The names of the lights of KHR_lights_punctual, which are not used.
    pub lights: Vec<Option<String>>,
    /// The origin of each image of [`Model::images`].
    pub images: Vec<ImageSource>,
}

/// A camera of the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FileCamera {
    /// The name.
    pub name: Option<String>,
    /// The first skeleton node that carries the camera. It looks along the node's -Z. `None` if the shown scene has no such
    /// node.
    pub node: Option<u32>,
    /// The angle between the lower and the upper edge of the image. `None` if the projection is orthographic.
    pub vertical_fov_radians: Option<f32>,
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
