//! Embeds the SPIR-V of every `shaders/*.{vert,frag,comp}` in the library, as `src/vulkan/spirv.rs`, if the cargo feature
//! `render` is on (`build/shaders.rs`).
//!
//! It also tells the tests which external files are available (`cfg(sample_models)`, `cfg(invalid_models)`,
//! `cfg(wild_models)`, `cfg(oracle)`), and it tells the program which commit it was built from (`THRONG_COMMIT`).
//!
//! Errors are printed by `cargo::error`, one per line, so that cargo shows them like compiler errors.

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
    declare_test_material("THRONG_WILD_MODELS", "wild_models");
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

/// Enables `cfg(CFG)` if `variable` is set. Tests that need files from outside the repository are ignored without it.
fn declare_test_material(variable: &str, cfg: &str) {
    println!("cargo::rerun-if-env-changed={variable}");
    println!("cargo::rustc-check-cfg=cfg({cfg})");
    if env::var_os(variable).is_some_and(|folder| !folder.is_empty()) {
        println!("cargo::rustc-cfg={cfg}");
    }
}
