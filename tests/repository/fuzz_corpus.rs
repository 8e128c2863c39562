//! Runs every input that fuzzing kept through the entry function of its target, without a fuzzer.
//!
//! The corpus is small and made by this project; fuzz/README.md describes its origin. The large campaign ran on
//! 2026-11-22: 10.77 million executions of commit f077947 (import 2.50 M, accessor 1.77 M, sampling 6.50 M) without a
//! crash, with `FUZZ_OPTIONS="-runs=… -seed=…" fuzz/run.sh 28800 TARGET`. The code of the targets is included by its
//! path.

// The fuzz targets are a crate of their own, which loads files of tests/common as well.
#[allow(clippy::duplicate_mod)]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

use std::path::{Path, PathBuf};

use fuzz::accessor::{self, Outcome};

/// Returns the paths and contents of the kept inputs of one target, sorted by path.
fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Runs every input and returns the outcomes. A panic names its input.
fn replay<T>(target: &str, run: impl Fn(&[u8]) -> T + std::panic::RefUnwindSafe) -> Vec<T> {
    let one = |(path, bytes): (PathBuf, Vec<u8>)| {
        let outcome = std::panic::catch_unwind(|| run(&bytes));
        outcome.unwrap_or_else(|_| panic!("{} breaks a promise: see the panic above", path.display()))
    };
    corpus(target).into_iter().map(one).collect()
}

/// Runs every input of a target that accepts or refuses it. The corpus must contain both, or the test would prove nothing.
fn assert_some_are_accepted(target: &str, least_accepted: usize, least_refused: usize, run: fn(&[u8]) -> bool) {
    let outcomes = replay(target, run);
    let accepted = outcomes.iter().filter(|accepted| **accepted).count();
    let refused = outcomes.len() - accepted;
    assert!(accepted >= least_accepted && refused >= least_refused, "{accepted} accepted, {refused} refused");
}

#[test]
fn models_keep_their_promises() {
    assert_some_are_accepted("import", 40, 40, fuzz::import::run);
}

#[test]
fn accessors_are_read_as_a_second_decoder_reads_them() {
    let outcomes = replay("accessor", accessor::run);
    let count = |wanted: Outcome| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    let (imported, refused) = (count(Outcome::Imported), count(Outcome::Refused));
    assert!(imported >= 40 && refused >= 20, "{imported} imported, {refused} refused of {}", outcomes.len());
}

#[test]
fn clips_are_sampled_as_the_reference_samples_them() {
    let track_counts = replay("sampling", fuzz::sampling::run);
    let tracks: usize = track_counts.iter().sum();
    assert!(tracks >= 100, "{tracks} tracks in {} clips", track_counts.len());
}

#[test]
fn borrowed_clips_keep_their_promises() {
    assert_some_are_accepted("retarget", 20, 2, fuzz::retarget::run);
}

#[test]
fn arguments_keep_their_promises() {
    assert_some_are_accepted("command_line", 20, 10, fuzz::command_line::run);
}

/// Mutations by the target `import` must keep the GLB header and the JSON valid.
#[test]
fn changed_files_are_still_files() {
    let (mut changed_count, mut imported_count) = (0, 0);
    for (path, file) in corpus("import") {
        for seed in (0..8).map(|k| 1000 * k) {
            let Some(changed) = fuzz::mutate::mutate(&file, seed) else { continue };
            assert_eq!(fuzz::mutate::mutate(&file, seed).as_ref(), Some(&changed), "the same seed, the same change");
            changed_count += 1;
            let shown = path.display();
            let json = if file.starts_with(b"glTF") {
                assert_eq!(changed[8..12], (changed.len() as u32).to_le_bytes(), "{shown} with seed {seed}");
                let json_bytes = u32::from_le_bytes(changed[12..16].try_into().unwrap()) as usize;
                &changed[20..20 + json_bytes]
            } else {
                &changed
            };
            assert!(serde_json::from_slice::<serde_json::Value>(json).is_ok(), "{shown} with seed {seed}");
            imported_count += usize::from(fuzz::import::run(&changed));
        }
    }
    assert!(changed_count >= 400 && imported_count >= 40, "{changed_count} changed, {imported_count} imported");
}
