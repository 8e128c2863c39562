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

use gpu::{debug_views, example, furnace, golden, render_equivalence, shadows, skinning, surfaces, validation};

fn main() -> ExitCode {
    let tests = [
        golden::tests(),
        debug_views::tests(),
        render_equivalence::tests(),
        shadows::tests(),
        surfaces::tests(),
        furnace::tests(),
        skinning::tests(),
        validation::tests(),
        example::tests(),
    ];
    common::gpu::run(tests.into_iter().flatten().collect())
}
