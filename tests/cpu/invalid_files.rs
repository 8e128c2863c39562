//! Files are untrusted. Every broken or unusual model in the folder `THRONG_INVALID_MODELS` is either imported, or
//! refused with a message that names it. No file may panic or take long.
//!
//! The files are imported in this process, so hundreds of them take seconds. An abort (stack overflow, huge allocation)
//! ends the test binary, which also fails.

use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::Value;
use throng::model::import;

use crate::common::processor_time;

/// The limit of processor time per file. The largest file takes a hundredth of it.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// Files that are refused although the Khronos validator finds no error in them, and the reason.
const REFUSED_BY_POLICY: [(&str, &str); 1] =
    [("base/asset/min_version_valid.gltf", "it asks for glTF 2.1 or later (3.2), and 2.0 is what is known here")];
/// The share of the files without an error that must be accepted.
const ACCEPTED_SHARE: f64 = 0.95;

/// The outcome of an import.
enum Outcome {
    Accepted,
    Refused(String),
    Panicked,
}

fn import(path: &Path) -> Outcome {
    match catch_unwind(|| import::load(path).map(|_model| ()).map_err(|error| error.to_string())) {
        Ok(Ok(())) => Outcome::Accepted,
        Ok(Err(message)) => Outcome::Refused(message),
        Err(_) => Outcome::Panicked,
    }
}

/// Reads the corpus: each file with its number of errors according to the Khronos validator.
fn corpus() -> Vec<(PathBuf, u64)> {
    let folder = PathBuf::from(std::env::var_os("THRONG_INVALID_MODELS").expect("THRONG_INVALID_MODELS"));
    let index = folder.join("index.json");
    let text = std::fs::read(&index).unwrap_or_else(|error| panic!("{}: {error}", index.display()));
    let list: Vec<Value> = serde_json::from_slice(&text).unwrap();
    let file = |entry: &Value| {
        let path = folder.join(entry["file"].as_str().unwrap());
        assert!(path.is_file(), "{} is missing", path.display());
        (path, entry["errors"].as_u64().unwrap_or(0))
    };
    list.iter().map(file).collect()
}

#[test]
#[cfg_attr(not(invalid_models), ignore = "set THRONG_INVALID_MODELS to the folder of invalid models")]
fn no_file_panics_hangs_or_is_refused_without_its_name() {
    let corpus = corpus();
    assert!(corpus.len() > 200, "only {} files", corpus.len());
    // The thread turns a hang into a failure of the test.
    let (sender, outcomes) = channel();
    let paths: Vec<PathBuf> = corpus.iter().map(|(path, _)| path.clone()).collect();
    std::thread::spawn(move || {
        for path in paths {
            let started = processor_time::of_this_process();
            let outcome = import(&path);
            if sender.send((outcome, processor_time::of_this_process() - started)).is_err() {
                return;
            }
        }
    });

    let (mut accepted, mut refused, mut sound, mut wrong) = (0, 0, Sound::default(), Vec::new());
    let mut slowest = (Duration::ZERO, String::new());
    for (path, error_count) in &corpus {
        let shown = path.display().to_string();
        let (outcome, took) = next_outcome(&outcomes).unwrap_or_else(|| panic!("{shown}: no end in sight"));
        if took > TIME_LIMIT {
            wrong.push(format!("{shown}: took {took:?}"));
        }
        slowest = slowest.max((took, shown.clone()));
        if *error_count == 0 {
            sound.add(&shown, &outcome);
        }
        match outcome {
            Outcome::Panicked => wrong.push(format!("{shown}: panicked")),
            Outcome::Accepted => accepted += 1,
            Outcome::Refused(message) => {
                let name = path.file_name().unwrap().to_str().unwrap();
                if !message.contains(name) {
                    wrong.push(format!("{shown}: the message does not name the file: {message}"));
                }
                refused += 1;
            }
        }
    }
    println!(
        "{accepted} accepted, {refused} refused, of {}; the slowest took {:?}: {}",
        corpus.len(),
        slowest.0,
        slowest.1
    );
    wrong.extend(sound.faults());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(accepted > 0 && refused > 0, "{accepted} accepted, {refused} refused: the corpus has both kinds");
}

/// Waits for the next outcome, for ten times the limit, so that a slow file is reported with its time.
fn next_outcome<T>(outcomes: &Receiver<T>) -> Option<T> {
    let started = processor_time::of_this_process();
    while processor_time::of_this_process() - started < 10 * TIME_LIMIT {
        match outcomes.recv_timeout(Duration::from_secs(1)) {
            Err(RecvTimeoutError::Timeout) => {}
            outcome => return outcome.ok(),
        }
    }
    None
}

/// The outcomes of the files without an error.
#[derive(Default)]
struct Sound {
    accepted: usize,
    /// The path and the message of each refused file.
    refused: Vec<(String, String)>,
}

impl Sound {
    fn add(&mut self, shown: &str, outcome: &Outcome) {
        match outcome {
            Outcome::Refused(message) => self.refused.push((shown.to_owned(), message.clone())),
            Outcome::Accepted | Outcome::Panicked => self.accepted += 1,
        }
    }

    /// Prints the table and returns the violations of the policy.
    fn faults(&self) -> Vec<String> {
        let count = self.accepted + self.refused.len();
        let share = self.accepted as f64 / count as f64;
        println!("without an error: {count} files, {} accepted, {:.1} %", self.accepted, 100.0 * share);
        let policy = |shown: &str| REFUSED_BY_POLICY.iter().find(|(path, _)| shown.ends_with(path));
        let mut faults = Vec::new();
        for (shown, message) in &self.refused {
            match policy(shown) {
                Some((_, why)) => println!("  {message}\n    refused because {why}"),
                None => faults.push(format!("{shown}: has no error and is refused: {message}")),
            }
        }
        for (path, _) in REFUSED_BY_POLICY {
            if !self.refused.iter().any(|(shown, _)| shown.ends_with(path)) {
                faults.push(format!("{path}: is in the list of policies but accepted or missing"));
            }
        }
        if share < ACCEPTED_SHARE {
            faults.push(format!("only {share:.3} of the files without an error are accepted"));
        }
        faults
    }
}
