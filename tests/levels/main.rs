//! Levels of detail: the chain that `levels::build` makes, and the errors that it states.

#[path = "../import/builder.rs"]
#[allow(dead_code)]
mod builder;
mod figures;
mod measure;
#[path = "../common/placed.rs"]
#[allow(dead_code)]
mod placed;
#[path = "../common/processor_time.rs"]
mod processor_time;
mod samples;
mod shapes;
mod structure;
