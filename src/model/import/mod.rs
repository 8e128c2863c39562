//! From the path of a `.gltf` or `.glb` file to a [`Model`]. No other code knows glTF.
//!
//! Files are untrusted. Every import ends soon, either with a model that keeps every promise of [`crate::model`], or
//! with an [`ImportError`] that names the part of the file at fault. It never panics or hangs, and the bytes of the
//! files bound its memory. One rule decides about a file that violates the specification: what is broken is repaired if its
//! meaning is certain, left out if it is not, and named in a warning ([`Model::warnings`]). The file is an error only if
//! nothing in it can be drawn, or if its structure cannot be trusted: its JSON, buffers, tree of nodes and sizes.
//!
//! Data flows through five rooms, which is also the reading order:
//!
//! 1. `file`: from a path to parsed JSON, in the serde structs of `gltf::json`. Nothing else of the `gltf` crate is used,
//!    because its readers trust the file.
//! 2. `decode`: from accessors to plain numbers, decompressed and bounds-checked.
//! 3. `motion`: from nodes, skins and animations to the skeleton and clips.
//! 4. `material`: from materials and textures to parameters and decoded images.
//! 5. `geometry`: from meshes to vertices, triangles and the palette layout.
//!
//! All rooms use `error`, for messages that name the JSON path, and `limits`, for the number of things that a file of a given
//! size may contain. No code recurses over the structure of the file, and every index in it is looked up with `get`.

mod decode;
mod error;
mod far;
mod file;
mod geometry;
mod limits;
mod material;
mod motion;

use std::path::Path;

pub use error::{Fault, ImportError};
pub use motion::SceneChoice;

use super::bones::bones;
use super::humanoid::turn_round;
use super::{Model, SourceFile};
use decode::Document;
use error::Warnings;
use file::Files;
use geometry::Scene;
use material::{Materials, while_decoding};
use motion::{NodeTree, clips, humanoid, skins};

/// Imports the default scene of the model at `path`. Buffers and images may be in other files in or below its folder.
///
/// # Errors
/// Fails if the file cannot be read, is not glTF 2.0, contradicts itself, or requires an unsupported extension.
pub fn load(path: &Path) -> Result<Model, ImportError> {
    load_scene(path, &SceneChoice::Default)
}

pub fn load_scene(path: &Path, scene: &SceneChoice) -> Result<Model, ImportError> {
    read_file(path, |name, bytes, files| import(name, bytes, files, scene, true))
}

fn read_file(path: &Path, read: impl FnOnce(&str, &[u8], Files) -> error::Result<Model>) -> Result<Model, ImportError> {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let model = file::read_model_file(path).and_then(|bytes| read(&name, &bytes, Files::next_to(path, bytes.len())));
    model.map_err(|fault| match fault {
        Fault::Read(_) => ImportError { file: path.display().to_string(), fault },
        _ => fault.in_file(&name),
    })
}

/// Imports a model from memory. It must not refer to other files. `name` appears in messages and reports.
pub fn load_glb(name: &str, bytes: &[u8]) -> Result<Model, ImportError> {
    load_glb_scene(name, bytes, &SceneChoice::Default)
}

pub fn load_glb_scene(name: &str, bytes: &[u8], scene: &SceneChoice) -> Result<Model, ImportError> {
    import(name, bytes, Files::none(bytes.len()), scene, true).map_err(|fault| fault.in_file(name))
}

/// Imports the model at `path` without its materials, for the clips of other models: its skin says what touches the floor.
pub fn load_unpainted(path: &Path) -> Result<Model, ImportError> {
    read_file(path, |name, bytes, files| import(name, bytes, files, &SceneChoice::Default, false))
}

/// Imports the skeleton and the clips of the file at `path`, for other models. Its meshes and images are not read.
pub fn load_clips(path: &Path) -> Result<Model, ImportError> {
    read_file(path, import_clips)
}

fn import_clips(name: &str, bytes: &[u8], files: Files) -> error::Result<Model> {
    let mut warnings = Warnings::default();
    let container = file::split(bytes, &mut warnings)?;
    let document = Document::open(&container, files, &mut warnings)?;
    let (tree, motion) = read_motion(&document, &SceneChoice::Default, &mut warnings)?;
    if motion.clips.iter().all(|clip| clip.timelines.is_empty()) {
        warnings.take_fault()?;
    }
    let mut model = Model {
        name: name.to_owned(),
        skeleton: tree.skeleton,
        source: SourceFile { bytes: document.files.bytes_read(), files: document.files.paths(), ..document.source },
        warnings: warnings.into_sentences(),
        ..motion
    };
    far::bring_near(&mut model, container.json);
    Ok(model)
}

/// Reads the nodes, and the parts of a model that need no material. They are read while images are decoded.
fn read_motion(document: &Document, scene: &SceneChoice, warnings: &mut Warnings) -> error::Result<(NodeTree, Model)> {
    let mut tree = NodeTree::read(document, scene, warnings)?;
    let skins = skins::read(document, &tree, warnings)?;
    let mut clips = clips::read(document, &tree, warnings)?;
    let humanoid = humanoid::read(document.roles.as_ref(), &tree, warnings);
    if humanoid.as_ref().is_some_and(|humanoid| humanoid.is_turned()) {
        turn_round(&mut tree.skeleton, &mut clips);
    }
    Ok((tree, Model { skins, clips, humanoid, ..Model::default() }))
}

fn import(name: &str, bytes: &[u8], files: Files, scene: &SceneChoice, is_painted: bool) -> error::Result<Model> {
    let mut warnings = Warnings::default();
    let container = file::split(bytes, &mut warnings)?;
    let mut document = Document::open(&container, files, &mut warnings)?;
    if !is_painted {
        document.root.materials.iter_mut().for_each(|material| *material = Default::default());
    }
    let mut motion_warnings = Warnings::default();
    let (motion, ahead) = while_decoding(&mut document, |document| read_motion(document, scene, &mut motion_warnings));
    let mut materials = Materials::read(&mut document, ahead, &mut warnings)?;
    warnings.append(motion_warnings);
    let (tree, motion) = motion?;
    let scene = Scene { document: &document, tree: &tree, skins: &motion.skins };
    let (geometry, palette) = geometry::read(&scene, &mut materials, &mut warnings)?;
    if materials.list.is_empty() {
        materials.default();
    }
    let source = SourceFile {
        bytes: document.files.bytes_read(),
        files: document.files.paths(),
        images: materials.image_sources,
        cameras: tree.place_cameras(&document),
        ..document.source
    };
    let mut model = Model {
        name: name.to_owned(),
        skeleton: tree.skeleton,
        palette,
        geometry,
        materials: materials.list,
        images: materials.images,
        source,
        warnings: warnings.into_sentences(),
        ..motion
    };
    far::bring_near(&mut model, container.json);
    model.bones = bones(&model.skeleton, &model.palette, &model.geometry);
    let broken = |invariant| Fault::NotGltf(format!("it was read wrongly: it is not true that {invariant}"));
    model.checked().map_err(broken)
}
