//! Files are untrusted: every broken or peculiar model of the corpus that `THRONG_INVALID_MODELS` names is either
//! imported or refused with a message that names it; none panics, and none takes long.
//!
//! Imported in this process, which makes hundreds of files a matter of seconds. An abort (a stack overflow, an
//! allocation beyond all memory) ends the test binary, which is a failure as well.

use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use serde_json::Value;
use throng::model::import;

/// For one file; the largest takes a hundredth of it.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// What became of a file.
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

/// The corpus: files with the number of errors that the Khronos validator finds in each.
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
    // A thread of its own, so that a hang fails the test rather than hanging it.
    let (sender, outcomes) = channel();
    let paths: Vec<PathBuf> = corpus.iter().map(|(path, _)| path.clone()).collect();
    std::thread::spawn(move || {
        for path in paths {
            let started = Instant::now();
            let outcome = import(&path);
            if sender.send((outcome, started.elapsed())).is_err() {
                return;
            }
        }
    });

    let (mut accepted, mut refused, mut sound, mut wrong) = (0, 0, Vec::new(), Vec::new());
    let mut slowest = (Duration::ZERO, String::new());
    for (path, error_count) in &corpus {
        let shown = path.display().to_string();
        // Ten times the limit before the rest is given up: a file that is only slow is reported with its time.
        let (outcome, took) =
            outcomes.recv_timeout(10 * TIME_LIMIT).unwrap_or_else(|error| panic!("{shown}: no end in sight ({error})"));
        if took > TIME_LIMIT {
            wrong.push(format!("{shown}: took {took:?}"));
        }
        slowest = slowest.max((took, shown.clone()));
        match outcome {
            Outcome::Panicked => wrong.push(format!("{shown}: panicked")),
            Outcome::Accepted => accepted += 1,
            Outcome::Refused(message) => {
                let name = path.file_name().unwrap().to_str().unwrap();
                if !message.contains(name) {
                    wrong.push(format!("{shown}: the message does not name the file: {message}"));
                }
                if *error_count == 0 {
                    sound.push(format!("{name}: {message}"));
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
    println!("{} of them have no error by the validator and are refused:\n  {}", sound.len(), sound.join("\n  "));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(accepted > 0 && refused > 0, "{accepted} accepted, {refused} refused: the corpus has both kinds");
}
