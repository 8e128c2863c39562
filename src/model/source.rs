//! Facts about the file that a model came from, for reports, and how its user wants it in a crowd.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;

use glam::{Affine3A, Vec3};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct SourceFile {
    /// The size of the file and of all files that it refers to, in bytes.
    pub bytes: u64,
    /// The other files that were read for the model: buffers and images, by absolute path, in order.
    pub files: Vec<PathBuf>,
    pub generator: Option<String>,
    pub copyright: Option<String>,
    /// The names of all scenes by glTF index.
    pub scenes: Vec<Option<String>>,
    /// The index of the default scene; `None` if there are no scenes, so that all nodes are shown.
    pub shown_scene: Option<u32>,
    /// All extensions in the file's lists, in their order.
    pub extensions: Vec<Extension>,
    /// The names of all meshes by glTF index, shown or not.
    pub meshes: Vec<Option<String>>,
    /// The nodes with a mesh that the scene shows, in order, if the program has looked for parts to hide.
    pub parts: Vec<Part>,
    /// The cameras by glTF index.
    pub cameras: Vec<FileCamera>,
    /// The names of all vertex attributes in the file, such as `COLOR_0`.
    pub attributes: BTreeSet<String>,
    /// The names of the lights of KHR_lights_punctual, which are not used.
    pub lights: Vec<Option<String>>,
    /// The origin of each image of [`Model::images`](super::Model::images).
    pub images: Vec<ImageSource>,
    /// Where the origin of model space is in the file. Not 0 for a body that import has brought near, in the space of the turned
    /// body for VRM 0.x.
    pub origin: Vec3,
    /// Where the origin of all mesh spaces is in the file.
    pub mesh_origin: Vec3,
    pub casting: Casting,
}

/// How a file is wanted in a crowd.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Casting {
    /// The height of its rest pose, if not that of all models or its own.
    pub height_metres: Option<f32>,
    /// How many instances it has where other files have one, at least 1.
    pub shares: u32,
}

impl Default for Casting {
    fn default() -> Self {
        Self { height_metres: None, shares: 1 }
    }
}

/// A node of the file with a mesh.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Part {
    pub name: String,
    pub triangles: usize,
    /// The start of the name of its first material.
    pub material: String,
    /// The size of its textures on the GPU. One that several parts use counts for each of them.
    pub texture_bytes: u64,
    pub is_hidden: bool,
    /// Whether its name says that it is no part of the picture.
    pub is_collider: bool,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct FileCamera {
    pub name: Option<String>,
    /// The first skeleton node that carries the camera. It looks along the node's -Z. `None` if the shown scene has none.
    pub node: Option<u32>,
    /// The angle between the lower and the upper edge of the image. `None` if the projection is orthographic.
    pub vertical_fov_radians: Option<f32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    /// The name, such as `KHR_materials_unlit`.
    pub name: String,
    /// Whether the file cannot be shown correctly without it.
    pub required: bool,
    pub support: ExtensionSupport,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtensionSupport {
    Honoured,
    /// Ignored; it affects only the appearance.
    NotDrawn,
    /// Ignored; the file has a fallback.
    Ignored,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageSource {
    pub index: u32,
    /// The format according to the first bytes: `PNG`, `JPEG` or `WebP`.
    pub format: &'static str,
    /// The number of encoded bytes.
    pub bytes: u64,
}

/// A primitive of the file at one mesh node, with our vertices for those of the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SourcePrimitive {
    /// The glTF index of the node.
    pub node: u32,
    /// The glTF index of the mesh.
    pub mesh: u32,
    /// The index of the primitive in its mesh.
    pub primitive: u32,
    /// The glTF index of the skin; `None` for a rigid mesh.
    pub skin: Option<u32>,
    pub has_normals: bool,
    /// Whether the file has tangents for it that a normal map needs.
    pub has_tangents: bool,
    /// Its part of [`Geometry::indices`](super::Geometry::indices), in full detail. It is within one draw range.
    pub indices: Range<u32>,
    /// Our vertex for each vertex of the file, in the file's order. Several may share one after welding.
    pub vertices: Vec<u32>,
}

/// One glTF skin; the arrays have equal length.
#[derive(Debug, Clone, Default)]
pub struct Skin {
    pub name: Option<String>,
    /// The skeleton node of each joint; a node may repeat.
    pub joints: Vec<u32>,
    /// The inverse bind matrices, from mesh space in the bind pose to joint space; identity if the file has none.
    pub joint_from_mesh: Vec<Affine3A>,
    /// The last element of each inverse bind matrix in the file. It must be 1 (glTF 2.0, 3.7.3.1), and calculations
    /// assume 1, but reports print this number.
    pub inverse_bind_w: Vec<f32>,
    pub has_inverse_binds: bool,
}
