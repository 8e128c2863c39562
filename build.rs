//! Puts the SPIR-V of every `shaders/*.{vert,frag,comp}` into the library, as `src/vulkan/spirv.rs` (`build/shaders.rs` says
//! how), with the cargo feature `render` only.
//!
//! It also tells the tests which outside material they were given (`cfg(sample_models)`, `cfg(invalid_models)`,
//! `cfg(oracle)`), and the program which commit it was built from (`THRONG_COMMIT`).
//!
//! Errors go through `cargo::error`, one line each, so that cargo shows them as it shows the compiler's.

#[cfg(feature = "app")]
#[path = "build/commit.rs"]
mod commit;
#[cfg(feature = "shaderc")]
#[path = "build/compile.rs"]
mod compile;
#[cfg(feature = "render")]
#[path = "build/embed.rs"]
mod embed;
#[cfg(feature = "render")]
#[path = "build/manifest.rs"]
mod manifest;
#[cfg(feature = "shaderc")]
#[path = "build/refresh.rs"]
mod refresh;
#[cfg(feature = "render")]
#[path = "build/shaders.rs"]
mod shaders;
#[cfg(feature = "render")]
#[path = "build/sources.rs"]
mod sources;

use std::env;

fn main() {
    declare_test_material("THRONG_SAMPLE_MODELS", "sample_models");
    declare_test_material("THRONG_INVALID_MODELS", "invalid_models");
    declare_test_material("THRONG_ORACLE", "oracle");
    #[cfg(feature = "app")]
    commit::declare();
    #[cfg(feature = "render")]
    if let Err(message) = shaders::embed() {
        for line in message.lines() {
            println!("cargo::error={line}");
        }
    }
}

/// Tests that need material from outside the repository are compiled as ignored unless `variable` says where it is.
fn declare_test_material(variable: &str, cfg: &str) {
    println!("cargo::rerun-if-env-changed={variable}");
    println!("cargo::rustc-check-cfg=cfg({cfg})");
    if env::var_os(variable).is_some_and(|folder| !folder.is_empty()) {
        println!("cargo::rustc-cfg={cfg}");
    }
}
