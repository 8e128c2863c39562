//! Levels of detail: the chain that `levels::build` makes, and the errors that it states.

mod figures;
mod measure;
mod samples;
mod shapes;
mod structure;
