//! The bundled models.

use std::path::{Path, PathBuf};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use throng::model::{Image, Model, import};

pub const WALKER: &str = "assets/walker.glb";
pub const STRIP: &str = "assets/simple_strip.gltf";
pub const JELLY: &str = "assets/jelly.gltf";

pub fn models() -> [Model; 3] {
    [WALKER, STRIP, JELLY].map(asset)
}

pub fn path_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

pub fn asset(name: &str) -> Model {
    let path = path_of(name);
    import::load(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the path of a file in the folder that `THRONG_SAMPLE_MODELS` names. Without the variable, tests of these models are
/// reported as ignored; with it, a missing model fails.
pub fn sample_path(name: &str) -> PathBuf {
    PathBuf::from(std::env::var_os("THRONG_SAMPLE_MODELS").expect("THRONG_SAMPLE_MODELS")).join(name)
}

/// Returns the path of a file in the folder that `THRONG_WILD_MODELS` names, like [`sample_path`].
pub fn wild_path(name: &str) -> PathBuf {
    PathBuf::from(std::env::var_os("THRONG_WILD_MODELS").expect("THRONG_WILD_MODELS")).join(name)
}

pub fn sample(name: &str) -> Model {
    import::load(&sample_path(name)).unwrap_or_else(|error| panic!("{error}"))
}

pub fn sample_files(extensions: &[&str]) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![sample_path("")]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("a file").path();
            if path.is_dir() {
                folders.push(path);
            } else if extensions.iter().any(|&kind| path.extension().is_some_and(|own| own == kind)) {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(files.len() >= 70, "only {} models", files.len());
    files
}

/// Returns all files in the folder that `THRONG_INVALID_MODELS` names, and whether the Khronos validator finds no error in it.
pub fn invalid_files() -> Vec<(PathBuf, bool)> {
    let folder = PathBuf::from(std::env::var_os("THRONG_INVALID_MODELS").expect("THRONG_INVALID_MODELS"));
    let list = std::fs::read(folder.join("index.json")).unwrap();
    let list: Vec<serde_json::Value> = serde_json::from_slice(&list).unwrap();
    assert!(list.len() > 200, "only {} files", list.len());
    list.iter().map(|entry| (folder.join(entry["file"].as_str().unwrap()), entry["errors"] == 0)).collect()
}

/// Returns all sample models, with images of one texel: decoding the others takes longer than everything else.
pub fn samples() -> Vec<Model> {
    let load = |path: &PathBuf| {
        let mut model = import::load(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        model.images.iter_mut().for_each(|image| *image = Image::new("white", 1, 1, vec![255; 4]));
        model
    };
    sample_files(&["glb", "gltf", "vrm"]).par_iter().map(load).collect()
}
