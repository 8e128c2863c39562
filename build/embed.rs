//! Writes `OUT_DIR/shaders.rs`, which `src/vulkan/spirv.rs` includes.
//!
//! It writes the words as `u32` literals: they are aligned as Vulkan requires, on any host, without `unsafe`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::sources::CompiledShader;

/// Writes one `pub static` per shader, then the list `ALL`.
pub fn write(shaders: &[CompiledShader], path: &Path) -> Result<(), String> {
    let mut code = String::new();
    for shader in shaders {
        code += &shader_code(shader)?;
    }
    code += "/// Every shader, sorted by file name.\npub static ALL: &[&Spirv] = &[";
    for shader in shaders {
        code += &format!("&{}, ", constant_name(&shader.file_name));
    }
    code += "];\n";
    fs::write(path, code).map_err(|error| format!("{}: {error}", path.display()))
}

fn shader_code(shader: &CompiledShader) -> Result<String, String> {
    let CompiledShader { file_name, spirv } = shader;
    let (words, rest) = spirv.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(format!("shaders/spirv/{file_name}.spv: {} bytes are not a whole number of words", spirv.len()));
    }
    let name = constant_name(file_name);
    let mut code = format!("/// `shaders/{file_name}`.\npub static {name}: Spirv = Spirv {{\n");
    code += &format!("    file_name: {file_name:?},\n    words: &[");
    for (index, word) in words.iter().enumerate() {
        let separator = if index % 8 == 0 { "\n        " } else { " " };
        // Writing to a String cannot fail.
        let _ = write!(code, "{separator}{:#x},", u32::from_le_bytes(*word));
    }
    Ok(code + "\n    ],\n};\n\n")
}

/// Turns `skin.comp` into `SKIN_COMP`.
fn constant_name(file_name: &str) -> String {
    file_name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
}
