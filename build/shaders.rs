//! Embeds the SPIR-V of all shaders.
//!
//! shaderc takes minutes to build, and a newcomer's first picture must not wait for it. But the SPIR-V must always match
//! its source. So there are two ways:
//!
//! * A plain build embeds `shaders/spirv/*.spv`. It first proves, by the content hashes in `shaders/spirv/manifest.txt`,
//!   that they match the current sources. If they do not, the build stops and names the shaders.
//! * The cargo feature `shaderc` compiles the sources here. `THRONG_SPIRV=check` also requires that the checked-in files
//!   equal the compiler's output byte for byte (CI does this). `THRONG_SPIRV=refresh` writes them.

use std::env;
use std::path::Path;

use crate::embed;
#[cfg(not(feature = "shaderc"))]
use crate::manifest;
use crate::sources::{self, CompiledShader, ShaderSource};
#[cfg(feature = "shaderc")]
use crate::{compile, refresh};

/// Relative to the package's folder: cargo runs a build script there.
const SHADER_FOLDER: &str = "shaders";
const SPIRV_FOLDER: &str = "shaders/spirv";

/// Writes `OUT_DIR/shaders.rs`, which `src/vulkan/spirv.rs` includes.
pub fn embed() -> Result<(), String> {
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
