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
mod run;
mod usage;

pub use run::numbers;
