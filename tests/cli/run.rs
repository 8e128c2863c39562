//! Runs to the end, and what is expected of all of them.

use std::path::{Path, PathBuf};

use crate::program::{Finished, Place, Running};

impl Place {
    /// A file in the working folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.working_folder().join(name)
    }

    pub fn run(&self, arguments: &str) -> Finished {
        Running::start(&mut self.command(arguments)).finish()
    }

    /// Runs what must succeed; its standard output.
    pub fn succeed(&self, arguments: &str) -> String {
        let finished = self.run(arguments);
        assert_eq!(finished.code, 0, "throng {arguments}: {}", finished.stderr);
        finished.stdout
    }

    /// Runs what must fail with this exit code; its standard error. Nothing may be on standard output.
    pub fn fail(&self, code: i32, arguments: &str) -> String {
        let finished = self.run(arguments);
        assert_eq!(finished.code, code, "throng {arguments}: {finished:?}");
        assert_eq!(finished.stdout, "", "throng {arguments}");
        finished.stderr
    }
}

/// A file of this repository.
pub fn repository_file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
