//! The model files of a crowd as the command line names them.
//!
//! In: arguments such as `Fox.glb`, `horse.glb@1.6`, `dog.glb*5` and `models/`. Out: files, each with what is wanted of it
//! ([`Casting`]). The arguments stay as they were typed, so that a command line can be printed again.

use std::path::{Path, PathBuf};

use crate::model::Casting;

/// The largest number of files of a folder that are shown, and the largest share of a file.
const MOST_FILES: usize = 1000;
const MOST_SHARES: u32 = 1000;

/// Returns whether a file has the name of a model.
pub fn is_model(path: &Path) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    matches!(extension.as_deref(), Some("glb" | "gltf" | "vrm"))
}

/// Returns the model files of a folder in the order of their names. A folder that cannot be listed has none.
pub fn models_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| is_model(path)).collect();
    files.sort();
    files.truncate(MOST_FILES);
    files
}

/// Returns the files that arguments name: a folder stands for the models in it.
pub fn named_files(arguments: &[PathBuf]) -> Vec<(PathBuf, Casting)> {
    let named = arguments.iter().map(|argument| cast(argument));
    let files = |(path, casting): (PathBuf, Casting)| {
        let inside = if path.is_dir() { models_in(&path) } else { Vec::new() };
        // An empty folder stays, for a message about it.
        let files = if inside.is_empty() { vec![path] } else { inside };
        files.into_iter().map(move |file| (file, casting))
    };
    named.flat_map(files).collect()
}

/// Returns the file of an argument, without `@HEIGHT` and `*SHARE` behind its name. A file whose own name ends like this is
/// itself.
fn cast(argument: &Path) -> (PathBuf, Casting) {
    let (mut path, mut casting) = (argument.to_owned(), Casting::default());
    while !path.exists() {
        let Some(text) = path.to_str() else { break };
        let Some((file, sign)) = text.rfind(['@', '*']).map(|at| text.split_at(at)) else { break };
        let number = &sign[1..];
        let metres = number.parse::<f32>().ok().filter(|metres| *metres > 0.0 && metres.is_finite());
        let shares = number.parse::<u32>().ok().filter(|shares| (1..=MOST_SHARES).contains(shares));
        match (sign.starts_with('@'), metres, shares) {
            (true, Some(_), _) => casting.height_metres = metres,
            (false, _, Some(shares)) => casting.shares = shares,
            _ => break,
        }
        path = PathBuf::from(file);
    }
    if path.exists() { (path, casting) } else { (argument.to_owned(), Casting::default()) }
}
