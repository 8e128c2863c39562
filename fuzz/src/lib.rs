//! What the fuzz targets do with their bytes: one entry function each, which panics if a promise is broken.
//!
//! The targets under `fuzz_targets/` are one line each. `tests/fuzz_corpus.rs` includes this file by its path and
//! feeds the kept corpus to the same functions, so that a plain `cargo test` catches what fuzzing once found; hence
//! `super::` rather than `crate::` in here. README.md says how to run a campaign.

pub mod accessor;
pub mod import;
#[path = "../../tests/common/invariants.rs"]
pub mod invariants;
pub mod lanes;
pub mod mutate;
pub mod reference;
pub mod sampling;
