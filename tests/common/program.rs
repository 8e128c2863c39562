//! Runs the program as a user does, with a working folder and arguments, and returns its output and exit code.
//!
//! Each [`Place`] has its own working folder, so that tests do not influence each other. There is no
//! display unless a test provides one. A run that takes too much processor time, or waits forever, is killed and fails
//! the test. The program must always exit by itself, without a signal and without a panic.

use std::cell::RefCell;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::processor_time;

/// The limit of a run's processor time: far more than any run here takes.
const PROCESSOR_SECONDS: u64 = 300;

pub struct Place {
    folder: TempDir,
}

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

    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_throng"));
        command
            .args(arguments.split_whitespace())
            .current_dir(self.working_folder())
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
    stdout: Output,
    stderr: Output,
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
            stdout: Output::of(child.stdout.take().unwrap()),
            stderr: Output::of(child.stderr.take().unwrap()),
            child,
            description,
        }
    }

    /// Waits until the program has taken this much processor time, in hundredths of a second.
    #[cfg(target_os = "linux")]
    pub fn wait_for_ticks(&self, ticks: u64) {
        while processor_time::ticks_of(self.child.id()) < ticks {
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    /// Waits until the program takes at most one percent of a core for two seconds. Before that it may end a frame.
    #[cfg(target_os = "linux")]
    pub fn wait_for_rest(&self) {
        const PERIOD: Duration = Duration::from_secs(2);
        let ticks_of_a_period = |_| {
            let (before, start) = (processor_time::ticks_of(self.child.id()), Instant::now());
            while let Some(rest) = PERIOD.checked_sub(start.elapsed()) {
                std::thread::park_timeout(rest);
            }
            processor_time::ticks_of(self.child.id()) - before
        };
        let ticks: Vec<u64> = (0..5).map(ticks_of_a_period).take_while(|&ticks| ticks > 2).collect();
        assert!(ticks.len() < 5, "{} does not rest: {ticks:?} hundredths of a second", self.description);
    }

    pub fn wait_for_stderr(&self, text: &str) {
        while !self.stderr.text().contains(text) {
            assert_eq!(self.stderr.read(), Some(true), "{}: no {text} in: {}", self.description, self.stderr.text());
        }
    }

    /// Waits for the exit. The pipes close when the process ends, so this needs no polling.
    pub fn finish(mut self) -> Finished {
        for output in [&self.stdout, &self.stderr] {
            while output.read().unwrap_or_else(|| panic!("{} waits forever", self.description)) {}
        }
        let (stdout, stderr) = (self.stdout.text(), self.stderr.text());
        let status = self.child.wait().unwrap();
        let code = status.code().unwrap_or_else(|| panic!("{}: {status}: {stderr}", self.description));
        assert!(!stderr.contains("panicked"), "{}: {stderr}", self.description);
        Finished { code, stdout, stderr }
    }
}

#[cfg(unix)]
impl Running {
    /// Sends a signal: `SIGINT` is Ctrl-C. Events that are sent between `SIGSTOP` and `SIGCONT` arrive all at once.
    pub fn signal(&self, signal: i32) {
        // SAFETY: the process is a child that was not waited for, so its number is still its own.
        let result = unsafe { libc::kill(self.child.id() as i32, signal) };
        assert_eq!(result, 0, "{}", self.description);
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
            while self.stderr.read() == Some(true) {}
            let stderr = self.stderr.text();
            eprintln!("{}: before it was killed here: {ended:?}; it said: {stderr}", self.description);
        }
    }
}

struct Output {
    /// The pieces, and an empty one at the end.
    pieces: Receiver<Vec<u8>>,
    bytes: RefCell<Vec<u8>>,
}

impl Output {
    fn of(mut pipe: impl Read + Send + 'static) -> Self {
        let (sender, pieces) = channel();
        std::thread::spawn(move || {
            let mut piece = vec![0; 1 << 16];
            loop {
                let count = pipe.read(&mut piece).unwrap_or(0);
                // The receiver is gone if the test has failed.
                if sender.send(piece[..count].to_vec()).is_err() || count == 0 {
                    return;
                }
            }
        });
        Self { pieces, bytes: RefCell::default() }
    }

    /// Waits for the next piece. Returns false at the end, and `None` if the program waits forever.
    fn read(&self) -> Option<bool> {
        let piece = processor_time::receive(&self.pieces)?;
        self.bytes.borrow_mut().extend_from_slice(&piece);
        Some(!piece.is_empty())
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.borrow()).into_owned()
    }
}
