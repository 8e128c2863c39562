//! The program against files that were made to hurt it: too much memory, too much time, files that are not the
//! model's. It is run as its users run it, in an address space of one GiB, with two seconds of processor time.
//!
//! Linux only, where `ulimit -v` holds; what is tested is the same everywhere, but for special files.
#![cfg(target_os = "linux")]

mod attacks;
#[path = "../import/builder.rs"]
#[allow(dead_code, reason = "the tests of import use the rest of it")]
mod builder;
mod corpus;
mod images;
mod limited;
mod memory;
#[path = "../common/processor_time.rs"]
mod processor_time;
mod uris;
