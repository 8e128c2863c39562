//! The sample models.

use std::path::{Path, PathBuf};

/// Returns the paths of all sample models, sorted.
pub fn paths() -> Vec<PathBuf> {
    fn collect(folder: &Path, out: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, out);
            } else if path.extension().is_some_and(|extension| extension == "glb" || extension == "gltf") {
                out.push(path);
            }
        }
    }
    let mut out = Vec::new();
    collect(&PathBuf::from(std::env::var_os("THRONG_SAMPLE_MODELS").expect("THRONG_SAMPLE_MODELS")), &mut out);
    out.sort();
    out
}
