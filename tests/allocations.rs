//! A steady frame allocates nothing, neither in Rust's heap nor on the device.
//!
//! The allocator counts the allocations of all threads of the process, so the tests run one at a time.

mod allocations {
    pub mod counter;
    pub mod crowd;
    pub mod renderer;
}
mod common;

use std::process::ExitCode;

use allocations::counter::CountingAllocator;
use allocations::{crowd, renderer};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() -> ExitCode {
    common::gpu::run_one_at_a_time(crowd::tests().into_iter().chain(renderer::tests()).collect())
}
