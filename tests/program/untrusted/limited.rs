//! Runs the program with one GiB of address space and two seconds of processor time.
//!
//! Processor time is limited instead of elapsed time, because tests share the machine. An allocation beyond the limit
//! aborts the program, and so does a run that takes too long. A run that exits by itself has kept both limits.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;

use crate::common::processor_time;

const ADDRESS_SPACE_KIB: u64 = 1 << 20;
/// The processor time to accept or refuse a file. A debug build takes three times as long.
const IMPORT_SECONDS: u64 = if cfg!(debug_assertions) { 6 } else { 2 };
/// The processor time of `pose`, which prints up to a million vertices.
const POSE_SECONDS: u64 = 20;

/// The result of a run.
#[derive(Debug)]
pub struct Ended {
    pub accepted: bool,
    pub stderr: String,
}

/// Runs `throng COMMAND FILE OPTIONS`. A command may be several words, such as `inspect --clips`.
///
/// It must accept the file (exit code 0), or refuse it with a message that names it (exit code 1). Its standard output is
/// discarded.
pub fn run(command: &str, file: &Path, options: &[&str]) -> Result<Ended, String> {
    let shown = format!("throng {command} {} {}", file.display(), options.join(" "));
    let seconds = if command.starts_with("pose") { POSE_SECONDS } else { IMPORT_SECONDS };
    let limits = format!("ulimit -v {ADDRESS_SPACE_KIB} && ulimit -t {seconds} && exec \"$@\"");
    let mut child = Command::new("sh")
        .args(["-c", &limits, "sh", env!("CARGO_BIN_EXE_throng")])
        .args(command.split(' '))
        .arg(file)
        .args(options)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{shown}: {error}"))?;
    let mut pipe = child.stderr.take().ok_or("no pipe")?;
    let (sender, said) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        // There is no receiver after a run that was stopped.
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    // The pipe closes when the process ends.
    let Some(stderr) = processor_time::receive(&said) else {
        let _ = child.kill();
        let _ = child.wait();
        return Err(format!("{shown}: waits forever"));
    };
    let status = child.wait().map_err(|error| format!("{shown}: {error}"))?;
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match status.code() {
        Some(0) => Ok(Ended { accepted: true, stderr }),
        Some(1) if stderr.starts_with("error: ") && stderr.contains(name) && !stderr.contains("panicked") => {
            Ok(Ended { accepted: false, stderr })
        }
        _ => Err(format!("{shown}: {status}: {stderr}")),
    }
}
