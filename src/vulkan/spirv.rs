//! The shaders as SPIR-V: one `pub static` for each `shaders/*.{vert,frag,comp}`, named after its file
//! (`skin.comp` is `SKIN_COMP`), and `ALL`.
//!
//! `build.rs` writes them, from the checked-in `shaders/spirv/` or, with the feature `shaderc`, from the sources. Either
//! way they are what the sources say: it says how that is proven.

/// One compiled shader; its entry point is `main`.
#[derive(Debug)]
pub struct Spirv {
    /// Of the source, such as `skin.comp`: names the shader module in captures and messages.
    pub file_name: &'static str,
    /// The module, as `VkShaderModuleCreateInfo` takes it.
    pub words: &'static [u32],
}

include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
