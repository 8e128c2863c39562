//! Everything that needs a device, on each device of a list (`common::gpu`).

mod common;
mod gpu {
    mod compare;
    pub mod debug_views;
    pub mod example;
    pub mod furnace;
    pub mod golden;
    pub mod render_equivalence;
    pub mod shadows;
    pub mod skinning;
    pub mod surfaces;
    pub mod validation;
}

use std::process::ExitCode;

fn main() -> ExitCode {
    let tests = [
        gpu::golden::tests(),
        gpu::debug_views::tests(),
        gpu::render_equivalence::tests(),
        gpu::shadows::tests(),
        gpu::surfaces::tests(),
        gpu::furnace::tests(),
        gpu::skinning::tests(),
        gpu::validation::tests(),
        gpu::example::tests(),
    ];
    common::gpu::run(tests.into_iter().flatten().collect())
}
