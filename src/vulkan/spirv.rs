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
    /// The words of the module, for `VkShaderModuleCreateInfo`.
    pub words: &'static [u32],
}

include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
