//! Reads the sources of the shaders, each with all of its includes.
//!
//! The compiler receives these texts and nothing else, so the hash in the manifest covers all of its input. Line ends
//! are normalised when read: a checkout with CRLF has the same hashes and the same SPIR-V.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The extensions of entry points. `.glsl` files are only included.
const ENTRY_EXTENSIONS: [&str; 3] = ["vert", "frag", "comp"];

/// The source of one entry point.
#[derive(Clone, PartialEq, Eq)]
pub struct ShaderSource {
    /// The file name, such as `skin.comp`.
    pub file_name: String,
    /// The text of the entry point, without its includes.
    pub text: String,
    /// The text of every file that it includes, directly or indirectly, by file name.
    pub includes: BTreeMap<String, String>,
}

/// A compiled shader.
pub struct CompiledShader {
    /// The file name of the source, such as `skin.comp`.
    pub file_name: String,
    /// The content of its `.spv` file: little-endian words on every host.
    pub spirv: Vec<u8>,
}

/// The folder of the shaders of extras, in the folder of all others. Includes are looked up in both, by name alone.
const EXTRAS: &str = "extras";

/// Reads every entry point in `folder` and in the folder of extras, sorted by file name. A missing folder gives an empty list.
pub fn read(folder: &Path) -> Result<Vec<ShaderSource>, String> {
    let mut file_names = Vec::new();
    for folder in [folder.to_owned(), folder.join(EXTRAS)] {
        if !folder.exists() {
            continue;
        }
        for entry in fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))? {
            let path = entry.map_err(|error| format!("{}: {error}", folder.display()))?.path();
            let is_entry = path
                .extension()
                .and_then(|e| e.to_str())
                .is_some_and(|extension| ENTRY_EXTENSIONS.contains(&extension));
            if let (true, Some(file_name)) = (is_entry, path.file_name().and_then(|n| n.to_str())) {
                file_names.push(file_name.to_owned());
            }
        }
    }
    file_names.sort();
    file_names.into_iter().map(|file_name| read_one(folder, file_name)).collect()
}

fn read_one(folder: &Path, file_name: String) -> Result<ShaderSource, String> {
    let text = read_text(folder, &file_name).map_err(|cause| format!("shaders/{file_name}: {cause}"))?;
    let mut includes = BTreeMap::new();
    let mut to_scan = vec![(file_name.clone(), text.clone())];
    while let Some((scanned_name, scanned_text)) = to_scan.pop() {
        for (line_number, line) in (1..).zip(scanned_text.lines()) {
            let Some(included_name) = included_file(line) else { continue };
            if included_name == file_name || includes.contains_key(included_name) {
                continue;
            }
            let included_text = read_text(folder, included_name).map_err(|cause| {
                format!("shaders/{scanned_name}:{line_number}: error: #include \"{included_name}\": {cause}")
            })?;
            includes.insert(included_name.to_owned(), included_text.clone());
            to_scan.push((included_name.to_owned(), included_text));
        }
    }
    Ok(ShaderSource { file_name, text, includes })
}

/// Returns the `x.glsl` of a line such as `#include "x.glsl"`.
fn included_file(line: &str) -> Option<&str> {
    let directive = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
    directive.trim_start().strip_prefix('"')?.split_once('"').map(|(file_name, _)| file_name)
}

fn read_text(folder: &Path, file_name: &str) -> Result<String, String> {
    let of_extras = folder.join(EXTRAS).join(file_name);
    let path = if of_extras.exists() { of_extras } else { folder.join(file_name) };
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    Ok(text.replace("\r\n", "\n"))
}
