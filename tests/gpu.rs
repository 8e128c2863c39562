//! Everything that needs a device, on each device of a list (`common::gpu`).

mod common;
mod gpu {
    pub mod allocations;
    pub mod best_practices;
    mod compare;
    pub mod debug_views;
    pub mod example;
    pub mod faults;
    pub mod furnace;
    pub mod golden;
    pub mod limits;
    pub mod loader;
    pub mod looks;
    #[cfg(target_os = "linux")]
    pub mod memory;
    pub mod motion;
    pub mod picture_hashes;
    pub mod portability;
    pub mod registers;
    pub mod render_equivalence;
    pub mod shadows;
    pub mod skinning;
    pub mod surfaces;
    pub mod validation;
}

use std::process::ExitCode;

fn main() -> ExitCode {
    let tests = [
        // The longest come first.
        gpu::faults::tests(),
        #[cfg(target_os = "linux")]
        gpu::memory::tests(),
        gpu::registers::tests(),
        gpu::portability::tests(),
        gpu::limits::tests(),
        gpu::best_practices::tests(),
        gpu::allocations::tests(),
        gpu::golden::tests(),
        gpu::looks::tests(),
        gpu::debug_views::tests(),
        gpu::render_equivalence::tests(),
        gpu::motion::tests(),
        gpu::picture_hashes::tests(),
        gpu::shadows::tests(),
        gpu::surfaces::tests(),
        gpu::furnace::tests(),
        gpu::skinning::tests(),
        gpu::validation::tests(),
        gpu::example::tests(),
    ];
    common::gpu::run(tests.into_iter().flatten().collect())
}
