//! Levels of detail: the chain that `levels::build` makes, and the errors that it states.

pub mod measure;
mod shapes;
mod structure;
