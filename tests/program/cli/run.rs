//! Runs the program to its end and checks the exit code.

use std::path::{Path, PathBuf};

use crate::common::program::{Finished, Place, Running};

impl Place {
    /// Returns the path of a file in the working folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.working_folder().join(name)
    }

    pub fn run(&self, arguments: &str) -> Finished {
        Running::start(&mut self.command(arguments)).finish()
    }

    /// Runs a command that must succeed. Returns its standard output.
    pub fn succeed(&self, arguments: &str) -> String {
        let finished = self.run(arguments);
        assert_eq!(finished.code, 0, "throng {arguments}: {}", finished.stderr);
        finished.stdout
    }

    /// Runs a command that must fail with this exit code and an empty standard output. Returns its standard error.
    pub fn fail(&self, code: i32, arguments: &str) -> String {
        let finished = self.run(arguments);
        assert_eq!(finished.code, code, "throng {arguments}: {finished:?}");
        assert_eq!(finished.stdout, "", "throng {arguments}");
        finished.stderr
    }
}

/// Returns the path of a file in this repository.
pub fn repository_file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
