//! Runs the program on hostile files, which ask for too much memory, for too much time, or for files outside the
//! model's folder. It has an address space of one GiB and two seconds of processor time.
//!
//! These tests run on Linux only, where `ulimit -v` works. Other systems share the tested code, except for special files.

mod attacks;
mod corpus;
mod images;
mod limited;
mod uris;
