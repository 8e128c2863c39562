//! The program as its users see it: exit codes, messages, files, and the JSON contracts.
//!
//! Exit code 0 means success, 1 failure with one line per cause on standard error, 2 wrong usage. No run panics, which
//! `common::program` asserts. Each theme has a file in `tests/program/cli/`.

mod bench;
mod bench_crowds;
mod crowd;
mod files;
mod outputs;
mod pictures;
mod posed;
mod usage;

use std::path::PathBuf;

use serde_json::Value;

use crate::common::assets::path_of;
use crate::common::program::{Finished, Place, Running};

impl Place {
    pub fn file(&self, name: &str) -> PathBuf {
        self.working_folder().join(name)
    }

    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.file(folder)).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub fn report(&self, name: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.file(name)).unwrap()).unwrap()
    }

    pub fn run(&self, arguments: &str) -> Finished {
        Running::start(&mut self.command(arguments)).finish()
    }

    pub fn succeed(&self, arguments: &str) -> String {
        let finished = self.run(arguments);
        assert_eq!(finished.code, 0, "throng {arguments}: {}", finished.stderr);
        finished.stdout
    }

    pub fn json(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.succeed(arguments)).unwrap()
    }

    /// Runs a command that must fail with this exit code and an empty standard output. Returns its standard error.
    pub fn fail(&self, code: i32, arguments: &str) -> String {
        let finished = self.run(arguments);
        assert_eq!(finished.code, code, "throng {arguments}: {finished:?}");
        assert_eq!(finished.stdout, "", "throng {arguments}");
        finished.stderr
    }
}

/// Returns the path of a bundled model. Unlike the bundled character, the others have few vertices, so they load at once.
pub fn bundled(name: &str) -> String {
    path_of("assets").join(name).to_str().unwrap().to_owned()
}

pub fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        Value::Object(entries) => entries.values().flat_map(numbers).collect(),
        value => value.as_f64().into_iter().collect(),
    }
}
