//! Runs the program as its user does: a folder to stand in, arguments, what it prints and the exit code.
//!
//! Each [`Place`] has a working folder and a cache folder of its own, so that no test sees what another left behind,
//! and no display, unless a test gives it one. A run that takes too long is killed and fails the test; whatever the
//! program was asked, it must end by itself, not by a signal, and never with a panic.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use throng::vulkan::instance::SUBMIT_VALIDATION_VARIABLE;

/// Far more than any run here takes, on a slow and busy machine too.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// An empty folder to run in.
pub struct Place {
    folder: TempDir,
}

/// What a finished run left.
#[derive(Debug)]
pub struct Finished {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    pub fn new() -> Self {
        let (variable, value) = SUBMIT_VALIDATION_VARIABLE;
        assert_eq!(
            std::env::var(variable).as_deref(),
            Ok(value),
            "run the tests with cargo: .cargo/config.toml sets it"
        );
        let place = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(place.working_folder()).unwrap();
        place
    }

    pub fn working_folder(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Where the program keeps its pipeline caches.
    pub fn cache_folder(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    /// The program with these arguments, separated by spaces.
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

/// A started program. Killed if a test ends before it.
pub struct Running {
    child: Child,
    description: String,
    deadline: Instant,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

impl Running {
    pub fn start(command: &mut Command) -> Self {
        let description = format!("{command:?}");
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{description}: {error}"));
        Self {
            stdout: read_to_end(child.stdout.take().unwrap()),
            stderr: read_to_end(child.stderr.take().unwrap()),
            deadline: Instant::now() + PATIENCE,
            child,
            description,
        }
    }

    /// Waits for the end. The pipes close when the process ends, so waiting for them needs no polling.
    pub fn finish(mut self) -> Finished {
        let mut rest = |of: &Receiver<String>| {
            of.recv_timeout(self.deadline.saturating_duration_since(Instant::now())).unwrap_or_else(|_| {
                let _ = self.child.kill();
                panic!("{} was still running after {PATIENCE:?}", self.description)
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
        // Neither does anything to a process that has been waited for.
        let ended = self.child.try_wait();
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            // The program may be the cause of the test's failure.
            let stderr = self.stderr.recv_timeout(PATIENCE).unwrap_or_default();
            eprintln!("{}: before it was killed here: {ended:?}; it said: {stderr}", self.description);
        }
    }
}

fn read_to_end(mut pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        // Nobody listens any more when the test has failed.
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}
