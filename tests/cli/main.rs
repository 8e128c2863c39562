//! The binary as its users meet it: exit codes, messages, files, and the JSON contracts.
//!
//! 0 is done, 1 is failed with the error chain on standard error (one line per cause), 2 is wrong usage; nothing ever
//! panics ([`program`] asserts that of every run). One file per theme below `tests/cli/`.

#[path = "../common/program.rs"]
mod program;

mod bench;
mod files;
mod pictures;
mod run;
mod usage;
