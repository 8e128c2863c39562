//! Levels of detail: the chain that `levels::build` makes, and the errors that it states.

mod figures;
#[path = "../common/invariants.rs"]
mod invariants;
mod measure;
#[path = "../common/processor_time.rs"]
mod processor_time;
mod samples;
mod shapes;
mod structure;
