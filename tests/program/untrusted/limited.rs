//! Runs the program with one GiB of address space and two seconds of processor time.
//!
//! Processor time is limited instead of elapsed time, because tests share the machine. An allocation beyond the limit
//! aborts the program, and so does a run that takes too long. A run that exits by itself has kept both limits.

use std::path::Path;
use std::process::Command;

use crate::common::program::{Finished, Running};

const ADDRESS_SPACE_KIB: u64 = 1 << 20;
/// The processor time to accept or refuse a file. A debug build takes three times as long.
const IMPORT_SECONDS: u64 = if cfg!(debug_assertions) { 6 } else { 2 };
/// The processor time of `pose`, which prints up to a million vertices.
const POSE_SECONDS: u64 = 20;

/// Runs `throng ARGUMENTS FILE…` without its standard output. It must accept the files (exit code 0), or refuse some with a
/// message that names them (exit code 1).
pub fn run(arguments: &str, files: &[impl AsRef<Path>]) -> Finished {
    let seconds = if arguments.starts_with("pose") { POSE_SECONDS } else { IMPORT_SECONDS };
    let limits = format!("ulimit -v {ADDRESS_SPACE_KIB} && ulimit -t {seconds} && exec \"$@\" > /dev/null");
    let mut command = Command::new("sh");
    command.args(["-c", &limits, "sh", env!("CARGO_BIN_EXE_throng")]).args(arguments.split(' '));
    command.args(files.iter().map(AsRef::as_ref));
    let finished = Running::start(&mut command).finish();
    let Finished { code, stderr, .. } = &finished;
    let mut names = files.iter().map(|file| file.as_ref().file_name().unwrap().to_str().unwrap());
    let is_refused = stderr.lines().any(|line| line.starts_with("error: ")) && names.any(|name| stderr.contains(name));
    assert!(*code == 0 || (*code == 1 && is_refused), "{command:?}: {code}: {stderr}");
    finished
}
