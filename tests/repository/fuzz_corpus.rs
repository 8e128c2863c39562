//! Runs every input that fuzzing kept through the entry function of its target, without a fuzzer.
//!
//! The corpus is small and made by this project (fuzz/README.md, with the campaigns). The targets' code is included by path.

// The fuzz targets are a crate of their own, which loads files of tests/common as well.
#[allow(clippy::duplicate_mod)]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

use fuzz::accessor::{self, Outcome};
use sha2::{Digest, Sha256};

use super::files::{bytes, entries};

/// Runs every kept input of a target and returns the outcomes. A panic names its input.
fn replay<T>(target: &str, run: fn(&[u8]) -> T) -> Vec<T> {
    let one = |file: String| {
        let outcome = std::panic::catch_unwind(|| run(&bytes(&file)));
        outcome.unwrap_or_else(|_| panic!("{file} breaks a promise: see the panic above"))
    };
    entries(&format!("fuzz/corpus/{target}")).into_iter().map(one).collect()
}

/// Models, accessors, borrowed clips and arguments are accepted or refused. The corpus must contain both.
#[test]
fn what_is_accepted_and_what_is_refused_keeps_its_promises() {
    let of_accessor = |data: &[u8]| match accessor::run(data) {
        Outcome::TooShort => None,
        outcome => Some(outcome == Outcome::Imported),
    };
    for (target, least_accepted, least_refused, outcomes) in [
        ("import", 40, 40, replay("import", |data| Some(fuzz::import::run(data)))),
        ("accessor", 40, 20, replay("accessor", of_accessor)),
        ("retarget", 20, 2, replay("retarget", |data| Some(fuzz::retarget::run(data)))),
        ("command_line", 20, 10, replay("command_line", |data| Some(fuzz::command_line::run(data)))),
    ] {
        let count = |wanted| outcomes.iter().filter(|outcome| **outcome == Some(wanted)).count();
        let (accepted, refused) = (count(true), count(false));
        assert!(accepted >= least_accepted, "{target}: {accepted} accepted");
        assert!(refused >= least_refused, "{target}: {refused} refused");
    }
}

#[test]
fn clips_are_sampled_as_the_reference_samples_them() {
    let tracks: usize = replay("sampling", fuzz::sampling::run).into_iter().sum();
    assert!(tracks >= 100, "{tracks} tracks");
}

/// Returns strings of bytes that look random and are the same in each run.
fn random_bytes(count: u32) -> impl Iterator<Item = Vec<u8>> {
    let piece = |number: u32, part: u32| Sha256::digest([number, part].map(u32::to_le_bytes).as_flattened());
    (0..count).map(move |number| (0..32).flat_map(|part| piece(number, part)).collect())
}

/// Cases that no fuzzer has chosen.
#[test]
fn random_clips_and_accessors_keep_their_promises() {
    let tracks: usize = random_bytes(500).map(|data| fuzz::sampling::run(&data)).sum();
    let imported = random_bytes(2000).filter(|data| accessor::run(data) == Outcome::Imported).count();
    assert!(tracks >= 2500 && imported >= 600, "{tracks} tracks, {imported} accessors");
}

/// Mutations by the target `import` must keep the GLB header and the JSON valid.
#[test]
fn changed_files_are_still_files() {
    let (mut changed_count, mut imported_count) = (0, 0);
    for name in entries("fuzz/corpus/import") {
        let file = bytes(&name);
        for seed in (0..8).map(|k| 1000 * k) {
            let Some(changed) = fuzz::mutate::mutate(&file, seed) else { continue };
            assert_eq!(fuzz::mutate::mutate(&file, seed).as_ref(), Some(&changed), "the same seed, the same change");
            changed_count += 1;
            let json = if file.starts_with(b"glTF") {
                assert_eq!(changed[8..12], (changed.len() as u32).to_le_bytes(), "{name} with seed {seed}");
                let json_bytes = u32::from_le_bytes(changed[12..16].try_into().unwrap()) as usize;
                &changed[20..20 + json_bytes]
            } else {
                &changed
            };
            assert!(serde_json::from_slice::<serde_json::Value>(json).is_ok(), "{name} with seed {seed}");
            imported_count += usize::from(fuzz::import::run(&changed));
        }
    }
    assert!(changed_count >= 400 && imported_count >= 40, "{changed_count} changed, {imported_count} imported");
}
