//! The sample models.

use std::path::{Path, PathBuf};

/// Returns the paths of all glTF files in the folder `THRONG_SAMPLE_MODELS`, sorted.
pub fn sample_models() -> Vec<PathBuf> {
    fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.extension().and_then(|extension| extension.to_str()) {
                _ if entry.is_dir() => collect(&entry, files),
                Some("glb" | "gltf") => files.push(entry),
                _ => {}
            }
        }
    }
    let mut files = Vec::new();
    collect(Path::new(&std::env::var_os("THRONG_SAMPLE_MODELS").expect("THRONG_SAMPLE_MODELS")), &mut files);
    files.sort();
    files
}
