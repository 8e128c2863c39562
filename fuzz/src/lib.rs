//! The functions of the fuzz targets. Each takes bytes, and panics if a promise is broken.
//!
//! The targets under `fuzz_targets/` are one line each. `tests/repository/fuzz_corpus.rs` includes this file by its path and
//! passes the kept corpus to the same functions, so that a plain `cargo test` finds again what fuzzing has found. That
//! is why paths here start with `super::` instead of `crate::`. README.md describes campaigns.

pub mod accessor;
pub mod command_line;
pub mod import;
#[path = "../../tests/common/invariants.rs"]
pub mod invariants;
#[path = "../../tests/common/lanes.rs"]
pub mod lanes;
pub mod mutate;
#[path = "../../tests/common/reference.rs"]
pub mod reference;
pub mod retarget;
pub mod sampling;
