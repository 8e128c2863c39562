//! The files of the repository agree with each other: sources, shaders, documentation, assets, examples, fuzz corpus.

mod common;
mod repository {
    mod architecture;
    mod assets;
    mod core;
    mod docs;
    mod files;
    #[cfg(feature = "app")]
    mod fuzz_corpus;
    #[cfg(feature = "app")]
    mod package;
    #[cfg(feature = "render")]
    mod reflect;
    #[cfg(feature = "render")]
    mod shader_layout;
    #[cfg(feature = "render")]
    mod spirv;
    #[cfg(feature = "render")]
    mod uniform_branches;
}
