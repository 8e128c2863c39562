//! From a `.gltf` or `.glb` file to a [`Model`]: the only code that knows glTF.
//!
//! Files are untrusted. Whatever is in one, importing it ends soon, with a model that keeps every promise of
//! [`crate::model`] or with an [`ImportError`] that says where in the file it went wrong; never with a panic, a hang
//! or memory that the file does not account for. To that end:
//!
//! * [`file`] reads regular files only, splits a GLB, and confines URIs to the model's folder;
//! * [`decode`] parses the JSON into `gltf::json`'s serde structs, which are all that we take from the `gltf` crate (its
//!   readers trust the file), decompresses what is compressed, and proves that an accessor's elements lie inside the bytes
//!   that are there before it decodes one;
//! * `limits` holds what a model may cost at most, which grows with the bytes that its files really have;
//! * nothing recurses on the file's structure, and every index of the file is looked up by `get`.
//!
//! On that stand the readers: [`motion`] (nodes, skins, clips), [`material`] and [`geometry`].
//!
//! A file that breaks a rule of the specification is an error if what is meant cannot be known, and repaired with a
//! warning if it can. Nothing is left out silently: see [`Model::warnings`].

mod decode;
mod error;
mod file;
mod geometry;
mod limits;
mod material;
mod motion;

use std::path::Path;

pub use error::ImportError;
pub(crate) use file::read_regular_file;
pub use motion::SceneChoice;

use super::{Clip, Model, Skin, SourceFile};
use decode::Document;
use error::Warnings;
use file::Files;
use geometry::Scene;
use material::{Materials, while_decoding};
use motion::{NodeTree, clips, skins};

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
    let read =
        file::read_model_file(path).map_err(|source| ImportError::Read { file: path.display().to_string(), source })?;
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
    let mut document = Document::open(&file::split(bytes)?, files, &mut warnings)?;
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
