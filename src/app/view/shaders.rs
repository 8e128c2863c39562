//! `--watch` in a build with the feature `shaderc`: compiles the shaders in the folder `shaders` again when they change.
//!
//! In: the folder below the working folder, with the sources that the program was built from. Out: SPIR-V, made by the code
//! that also compiles for `build.rs`, or the messages of the compiler. Without the folder nothing happens.

#[path = "../../../build/compile.rs"]
mod compile;
#[path = "../../../build/sources.rs"]
mod sources;

use std::path::Path;
use std::time::Instant;

use anyhow::{Result, anyhow};

use super::watch::Watched;
use crate::renderer::ShaderOverride;
use crate::vulkan::spirv;
use sources::{CompiledShader, ShaderSource};

const FOLDER: &str = "shaders";

/// All sources with their includes, or the reason why they cannot be read.
type Sources = Result<Vec<ShaderSource>, String>;

/// Shaders that were compiled while the window shows others.
pub struct CompiledShaders {
    pub names: Vec<String>,
    /// All shaders that replace embedded ones.
    pub overrides: Vec<ShaderOverride>,
}

#[derive(Default)]
pub struct Shaders {
    sources: Watched<Sources>,
    /// The sources that compiled last. At first those of the program.
    compiled: Vec<ShaderSource>,
    overrides: Vec<ShaderOverride>,
}

impl Shaders {
    /// Looks at the files if the last look is long enough ago. Once a change is over, compiles the shaders whose sources or
    /// includes have changed.
    pub fn compile_changed(&mut self, now: Instant) -> Option<Result<CompiledShaders>> {
        if self.compiled.is_empty() {
            self.compiled = read().unwrap_or_default();
        }
        let sources = self.sources.changed(now, read)?;
        let compiled = sources.and_then(|sources| self.compile(sources));
        compiled.map_err(|messages| anyhow!("{}", messages.lines().collect::<Vec<_>>().join("; "))).transpose()
    }

    fn compile(&mut self, sources: Vec<ShaderSource>) -> Result<Option<CompiledShaders>, String> {
        let changed: Vec<_> = sources.iter().filter(|source| !self.compiled.contains(source)).cloned().collect();
        let shaders = compile::all(&changed)?;
        self.compiled = sources;
        let names: Vec<String> = shaders.iter().map(|shader| shader.file_name.clone()).collect();
        self.overrides.retain(|shader| !names.iter().any(|name| name == shader.file_name()));
        self.overrides.extend(shaders.into_iter().map(shader_override));
        Ok((!names.is_empty()).then(|| CompiledShaders { names, overrides: self.overrides.clone() }))
    }
}

/// Reads the sources of the shaders that the program has. Another program's folder may have the same name.
fn read() -> Sources {
    let mut sources = sources::read(Path::new(FOLDER))?;
    sources.retain(|source| spirv::ALL.iter().any(|shader| shader.file_name == source.file_name));
    Ok(sources)
}

fn shader_override(CompiledShader { file_name, spirv }: CompiledShader) -> ShaderOverride {
    let words = spirv.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    // SAFETY: the compiler made the words. An interface that is not the program's is for the author of the shader to mend.
    unsafe { ShaderOverride::new(file_name, words) }
}
