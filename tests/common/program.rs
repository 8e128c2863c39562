//! Runs the program as a user does, with a working folder and arguments, and returns its output and exit code.
//!
//! Each [`Place`] has its own working folder and cache folder, so that tests do not influence each other. There is no
//! display unless a test provides one. A run that takes too much processor time, or waits forever, is killed and fails
//! the test. The program must always exit by itself, without a signal and without a panic.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use tempfile::TempDir;

#[path = "processor_time.rs"]
pub mod processor_time;

/// The limit of a run's processor time: far more than any run here takes.
const PROCESSOR_SECONDS: u64 = 300;

/// An empty folder to run in.
pub struct Place {
    folder: TempDir,
}

/// The result of a finished run.
#[derive(Debug)]
pub struct Finished {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    pub fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(place.working_folder()).unwrap();
        place
    }

    pub fn working_folder(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Returns the folder in which the program keeps its pipeline caches.
    pub fn cache_folder(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    /// Returns the command with these arguments, separated by spaces.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_throng"));
        command
            .args(arguments.split_whitespace())
            .current_dir(self.working_folder())
            .env("XDG_CACHE_HOME", self.cache_folder())
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("WAYLAND_SOCKET");
        command
    }
}

/// A running program. It is killed if the test ends first.
pub struct Running {
    child: Child,
    description: String,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

impl Running {
    pub fn start(command: &mut Command) -> Self {
        let description = format!("{command:?}");
        processor_time::limit(command, PROCESSOR_SECONDS);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{description}: {error}"));
        Self {
            stdout: read_to_end(child.stdout.take().unwrap()),
            stderr: read_to_end(child.stderr.take().unwrap()),
            child,
            description,
        }
    }

    /// Presses Ctrl-C.
    #[cfg(unix)]
    #[allow(dead_code, reason = "only one test binary does")]
    pub fn interrupt(&self) {
        // SAFETY: the process is a child that was not waited for, so its number is still its own.
        let result = unsafe { libc::kill(self.child.id() as i32, libc::SIGINT) };
        assert_eq!(result, 0, "{}", self.description);
    }

    /// Waits for the exit. The pipes close when the process ends, so this needs no polling.
    pub fn finish(mut self) -> Finished {
        let mut rest = |of: &Receiver<String>| {
            processor_time::receive(of).unwrap_or_else(|| {
                let _ = self.child.kill();
                panic!("{} waits forever", self.description)
            })
        };
        let (stdout, stderr) = (rest(&self.stdout), rest(&self.stderr));
        let status = self.child.wait().unwrap();
        let code = status.code().unwrap_or_else(|| panic!("{}: {status}: {stderr}", self.description));
        assert!(!stderr.contains("panicked"), "{}: {stderr}", self.description);
        Finished { code, stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // These calls do nothing to a process that has already been waited for.
        let ended = self.child.try_wait();
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            // The program may be the cause of the test's failure.
            let stderr = self.stderr.recv().unwrap_or_default();
            eprintln!("{}: before it was killed here: {ended:?}; it said: {stderr}", self.description);
        }
    }
}

fn read_to_end(mut pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        // The receiver is gone if the test has failed.
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}
