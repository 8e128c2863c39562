//! The model files below a folder.

use std::path::{Path, PathBuf};

/// Appends all glTF files below `folder`.
pub fn model_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match entry.extension().and_then(|extension| extension.to_str()) {
            _ if entry.is_dir() => model_files(&entry, files),
            Some("glb" | "gltf") => files.push(entry),
            _ => {}
        }
    }
}
