//! `--watch` in a build without the feature `shaderc`: shaders are not compiled (`shaders.rs` compiles them).

use std::time::Instant;

use anyhow::Result;

use super::desk::CompiledShaders;

/// No shaders.
#[derive(Default)]
pub struct Shaders {}

impl Shaders {
    /// Returns false: no file is watched.
    pub fn needs_frame(&self) -> bool {
        false
    }

    /// Returns `None`: nothing is compiled.
    pub fn compile_changed(&mut self, _now: Instant) -> Option<Result<CompiledShaders>> {
        None
    }
}
