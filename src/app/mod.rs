//! (being written)
pub mod inspect;
