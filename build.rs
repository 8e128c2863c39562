//! Puts the SPIR-V of every `shaders/*.{vert,frag,comp}` into the library, as `src/vulkan/spirv.rs`.
//!
//! There are two doors, because shaderc takes minutes to build and a newcomer's first picture must not wait for it,
//! while nobody may run SPIR-V that is not what the source says:
//!
//! * A plain build embeds `shaders/spirv/*.spv`, after proving by the content hashes in `shaders/spirv/manifest.txt`
//!   that they belong to today's sources. Where they do not, the build stops and names the shaders.
//! * With the cargo feature `shaderc` the sources are compiled here. `THRONG_SPIRV=check` then also demands that the
//!   checked-in files are what was compiled, byte for byte (CI does), and `THRONG_SPIRV=refresh` writes them.
//!
//! It also tells the tests which outside material they were given (`cfg(sample_models)`, `cfg(invalid_models)`,
//! `cfg(oracle)`), and the program which commit it was built from (`THRONG_COMMIT`).
//!
//! Errors go through `cargo::error`, one line each, so that cargo shows them as it shows the compiler's.

#[path = "build/commit.rs"]
mod commit;
#[cfg(feature = "shaderc")]
#[path = "build/compile.rs"]
mod compile;
#[path = "build/embed.rs"]
mod embed;
#[path = "build/manifest.rs"]
mod manifest;
#[cfg(feature = "shaderc")]
#[path = "build/refresh.rs"]
mod refresh;
#[path = "build/sources.rs"]
mod sources;

use std::env;
use std::path::Path;

use manifest::CompiledShader;
use sources::ShaderSource;

/// Relative to the package's folder, which cargo makes the working folder of a build script.
const SHADER_FOLDER: &str = "shaders";
const SPIRV_FOLDER: &str = "shaders/spirv";

fn main() {
    declare_test_material("THRONG_SAMPLE_MODELS", "sample_models");
    declare_test_material("THRONG_INVALID_MODELS", "invalid_models");
    declare_test_material("THRONG_ORACLE", "oracle");
    commit::declare();
    if let Err(message) = embed_shaders() {
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

fn embed_shaders() -> Result<(), String> {
    println!("cargo::rerun-if-changed={SHADER_FOLDER}");
    println!("cargo::rerun-if-env-changed=THRONG_SPIRV");
    let sources = sources::read(Path::new(SHADER_FOLDER))?;
    let shaders = compiled_shaders(&sources, Path::new(SPIRV_FOLDER))?;
    let out_folder = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set: build.rs is run by cargo")?;
    embed::write(&shaders, &Path::new(&out_folder).join("shaders.rs"))
}

#[cfg(feature = "shaderc")]
fn compiled_shaders(sources: &[ShaderSource], spirv_folder: &Path) -> Result<Vec<CompiledShader>, String> {
    let shaders = compile::all(sources)?;
    match env::var("THRONG_SPIRV").as_deref() {
        Err(env::VarError::NotPresent) | Ok("") => {}
        Ok("check") => refresh::check(sources, &shaders, spirv_folder)?,
        Ok("refresh") => refresh::refresh(sources, &shaders, spirv_folder)?,
        other => return Err(format!("THRONG_SPIRV is {other:?}; it may be check or refresh")),
    }
    Ok(shaders)
}

#[cfg(not(feature = "shaderc"))]
fn compiled_shaders(sources: &[ShaderSource], spirv_folder: &Path) -> Result<Vec<CompiledShader>, String> {
    if env::var_os("THRONG_SPIRV").is_some_and(|value| !value.is_empty()) {
        return Err("THRONG_SPIRV needs the compiler: add --features shaderc".into());
    }
    let findings = manifest::Manifest::read(spirv_folder)?.findings(sources, spirv_folder)?;
    if !findings.is_empty() {
        return Err(manifest::out_of_date_message(&findings));
    }
    sources
        .iter()
        .map(|source| {
            let path = manifest::spirv_path(spirv_folder, &source.file_name);
            let spirv = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok(CompiledShader { file_name: source.file_name.clone(), spirv })
        })
        .collect()
}
