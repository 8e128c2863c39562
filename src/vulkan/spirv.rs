//! The shaders as SPIR-V: one `pub static` for each `shaders/*.{vert,frag,comp}`, named after its file (`skin.comp` is
//! `SKIN_COMP`), and `ALL`.
//!
//! `build.rs` writes them, from the checked-in `shaders/spirv/` or, with the feature `shaderc`, from the sources. It also
//! explains how the checked-in files are compared with the sources.

/// One compiled shader; its entry point is `main`.
#[derive(Debug)]
pub struct Spirv {
    /// The file name of the source, such as `skin.comp`, which names the shader module in captures and messages.
    pub file_name: &'static str,
    pub words: &'static [u32],
}

/// SPIR-V to use in place of the embedded shader with the same file name: one that was edited while the program runs.
#[derive(Debug, Clone)]
pub struct ShaderOverride {
    file_name: String,
    words: Vec<u32>,
}

impl ShaderOverride {
    /// Returns a module that replaces the one of a source.
    ///
    /// # Safety
    /// The words are valid SPIR-V. Bindings, constants and vertex inputs are those of the embedded shader.
    pub unsafe fn new(file_name: String, words: Vec<u32>) -> Self {
        Self { file_name, words }
    }

    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    pub fn words(&self) -> &[u32] {
        &self.words
    }
}

include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
