//! Levels of detail: the chain that `levels::build` makes, and the errors that it states.

mod measure;
mod shapes;
mod structure;
