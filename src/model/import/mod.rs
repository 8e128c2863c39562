//! From a `.gltf` or `.glb` file to a [`Model`]: the only code that knows glTF.
//!
//! Files are untrusted. Whatever is in one, importing it ends soon, with a model that keeps every promise of
//! [`crate::model`] or with an [`ImportError`] that says where in the file it went wrong; never with a panic, a hang
//! or memory that the file does not account for. To that end:
//!
//! * `container` reads regular files only and splits a GLB; `uri` confines URIs to the model's folder;
//! * `document` parses the JSON into `gltf::json`'s serde structs and resolves the buffers; it is all that we take
//!   from the `gltf` crate, whose readers trust the file; `meshopt` and `draco` turn what is compressed into
//!   plain bytes;
//! * `accessor` proves that an accessor's elements lie inside the bytes that are there before it decodes one;
//! * `limits` holds what a model may cost at most, which grows with the bytes that its files really have;
//! * nothing recurses on the file's structure, and every index of the file is looked up by `get`.
//!
//! On that stand the readers: `nodes`, `skins` and `clips`, while `decode_ahead` has images decoded on other threads;
//! `materials` with `textures` and `images`; `geometry` with `attributes`, `instancing`, `influences`, `morphs`,
//! `topology`, `tangents`, `weld`, `placements` and `reorder`.
//!
//! A file that breaks a rule of the specification is an error if what is meant cannot be known, and repaired with a
//! warning if it can. Nothing is left out silently: see [`Model::warnings`].

mod accessor;
mod attributes;
mod clips;
mod container;
mod decode_ahead;
mod document;
mod draco;
mod error;
mod extensions;
mod geometry;
mod images;
mod influences;
mod instancing;
mod limits;
mod materials;
mod meshopt;
mod morphs;
mod nodes;
mod placements;
mod reorder;
mod skins;
mod source;
mod tangents;
mod textures;
mod topology;
mod uri;
mod weld;

use std::fmt;
use std::path::Path;

pub(crate) use container::read_regular_file;
pub use error::ImportError;

use super::{Clip, Model, Skin, SourceFile};
use decode_ahead::while_decoding;
use document::Document;
use error::Warnings;
use geometry::Scene;
use materials::Materials;
use nodes::NodeTree;
use uri::Files;

/// Which of a file's scenes is shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SceneChoice {
    /// The one that the file names, else the first; all nodes where the file has no scenes.
    #[default]
    Default,
    /// glTF index.
    Index(usize),
    /// The first of that name.
    Name(String),
}

impl fmt::Display for SceneChoice {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Default => f.write_str("by default"),
            Self::Index(index) => write!(f, "{index}"),
            Self::Name(name) => write!(f, "{name:?}"),
        }
    }
}

/// Imports the default scene of the model at `path`; buffers and images may be in other files in its folder or below.
///
/// # Errors
/// If the file cannot be read, is not glTF 2.0, contradicts itself, or requires an extension that is not supported.
pub fn load(path: &Path) -> Result<Model, ImportError> {
    load_scene(path, &SceneChoice::Default)
}

/// Imports one scene of the model at `path`.
///
/// # Errors
/// As [`load`], and if the file has no such scene.
pub fn load_scene(path: &Path, scene: &SceneChoice) -> Result<Model, ImportError> {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let read = container::read_model_file(path)
        .map_err(|source| ImportError::Read { file: path.display().to_string(), source })?;
    read.and_then(|bytes| import(&name, &bytes, Files::beside(path, bytes.len()), scene))
        .map_err(|fault| fault.in_file(&name))
}

/// Imports a model from memory, which must not refer to other files. `name` is for messages and reports.
///
/// # Errors
/// As [`load`].
pub fn load_glb(name: &str, bytes: &[u8]) -> Result<Model, ImportError> {
    load_glb_scene(name, bytes, &SceneChoice::Default)
}

/// Imports one scene of a model from memory.
///
/// # Errors
/// As [`load_scene`].
pub fn load_glb_scene(name: &str, bytes: &[u8], scene: &SceneChoice) -> Result<Model, ImportError> {
    import(name, bytes, Files::none(bytes.len()), scene).map_err(|fault| fault.in_file(name))
}

/// What needs no material: read while images are decoded.
struct Motion {
    tree: NodeTree,
    skins: Vec<Skin>,
    clips: Vec<Clip>,
}

impl Motion {
    fn read(document: &Document, scene: &SceneChoice, warnings: &mut Warnings) -> error::Result<Self> {
        let tree = NodeTree::read(document, scene, warnings)?;
        let skins = skins::read(document, &tree, warnings)?;
        let clips = clips::read(document, &tree, warnings)?;
        Ok(Self { tree, skins, clips })
    }
}

fn import(name: &str, bytes: &[u8], files: Files, scene: &SceneChoice) -> error::Result<Model> {
    let mut warnings = Warnings::default();
    let mut document = Document::open(&container::split(bytes)?, files, &mut warnings)?;
    let mut motion_warnings = Warnings::default();
    let read_motion = || Motion::read(&document, scene, &mut motion_warnings);
    let (motion, ahead) = while_decoding(&document, read_motion);
    let mut materials = Materials::read(&mut document, ahead, &mut warnings)?;
    warnings.append(motion_warnings);
    let Motion { tree, skins, clips } = motion?;
    let scene = Scene { document: &document, tree: &tree, skins: &skins };
    let (geometry, palette) = geometry::read(&scene, &mut materials, &mut warnings)?;
    if materials.list.is_empty() {
        materials.default();
    }
    Ok(Model {
        name: name.to_owned(),
        skeleton: tree.skeleton,
        skins,
        palette,
        geometry,
        materials: materials.list,
        images: materials.images,
        clips,
        source: SourceFile { bytes: document.file_bytes(), images: materials.image_sources, ..document.source },
        warnings: warnings.into_sentences(),
    })
}
