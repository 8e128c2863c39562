//! The model files that the panel offers: those of the command line, those that were dropped on the window, and the others
//! in their folders. Nothing is written to disk: the program remembers folders as long as it runs.

use std::path::{Path, PathBuf};

use crate::app::output::folder_of;
use crate::cli::files::{is_model, models_in, named_files};
use crate::model::{Model, import};

/// A list of files without repetitions, each with its name. Files of several folders also have the names of these.
#[derive(Debug, Default)]
pub struct Library {
    pub paths: Vec<PathBuf>,
    pub names: Vec<String>,
}

impl Library {
    /// Returns a library of these files, and of those in their folders.
    pub fn new(paths: &[PathBuf]) -> Self {
        let mut library = Self::default();
        named_files(paths).iter().for_each(|(path, _)| library.add(path));
        library
    }

    /// Adds a file and those in its folder.
    pub fn add(&mut self, path: &Path) {
        let others =
            models_in(folder_of(path)).into_iter().filter_map(|other| Some(path.with_file_name(other.file_name()?)));
        for path in std::iter::once(path.to_owned()).chain(others) {
            if !self.paths.contains(&path) {
                self.paths.push(path);
            }
        }
        let is_one_folder = self.paths.windows(2).all(|pair| pair[0].parent() == pair[1].parent());
        let levels = if is_one_folder { 1 } else { 2 };
        let last_names = |path: &PathBuf| {
            let above = path.iter().count().saturating_sub(levels);
            path.iter().skip(above).collect::<PathBuf>().to_string_lossy().into_owned()
        };
        self.names = self.paths.iter().map(last_names).collect();
    }

    /// Returns the index of the file that is shown, unless several are.
    pub fn index_of(&self, shown: &[PathBuf]) -> Option<usize> {
        let [path] = shown else { return None };
        self.paths.iter().position(|known| known == path)
    }
}

/// Returns whether a file holds clips for other models: it is a .vrma file, or a model file that has clips and no mesh.
pub fn is_clip_file(path: &Path) -> bool {
    let is_animation = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("vrma"));
    let has_only_clips = |model: Model| model.source.meshes.is_empty() && !model.clips.is_empty();
    is_animation || is_model(path) && import::load_clips(path).is_ok_and(has_only_clips)
}
