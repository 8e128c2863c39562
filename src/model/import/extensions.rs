//! Which extensions are honoured, which only change the looks, and which stop the import.
//!
//! Source: glTF 2.0, 3.12. A *required* extension that is not understood means that the file cannot be shown
//! correctly: an error that names it. One that is merely *used* has a fallback: a warning.

use serde_json::{Map, Value};

use super::error::{Fault, Result, Warnings};

/// Fully read: integers as vertex data, compressed data, and the base-colour texture's transform.
const HONOURED: &[&str] = &[
    "KHR_mesh_quantization",
    "EXT_meshopt_compression",
    "KHR_meshopt_compression",
    "KHR_draco_mesh_compression",
    "KHR_texture_transform",
];
/// These change how a surface looks or what else stands in the scene, not where a character is.
const ONLY_LOOKS: &[&str] = &["KHR_materials_", "KHR_lights", "KHR_texture_", "EXT_texture_", "MSFT_texture_"];

enum Support {
    Honoured,
    OnlyLooks,
    Unknown,
}

fn support(name: &str) -> Support {
    if HONOURED.contains(&name) {
        Support::Honoured
    } else if ONLY_LOOKS.iter().any(|prefix| name.starts_with(prefix)) {
        Support::OnlyLooks
    } else {
        Support::Unknown
    }
}

/// Goes through `extensionsRequired` and `extensionsUsed`.
pub(super) fn check(root: &Map<String, Value>, warnings: &mut Warnings) -> Result<()> {
    let required = names(root, "extensionsRequired");
    for (index, name) in required.iter().enumerate() {
        let at = format!("extensionsRequired[{index}]");
        match support(name) {
            Support::Honoured | Support::OnlyLooks => {}
            Support::Unknown => return Err(Fault::unsupported(at, format!("{name} is not supported"))),
        }
    }
    for (index, name) in names(root, "extensionsUsed").into_iter().enumerate() {
        let at = format!("extensionsUsed[{index}]");
        match support(&name) {
            Support::Honoured => {}
            Support::OnlyLooks => warnings.add(at, format_args!("{name} is not drawn")),
            Support::Unknown => warnings.add(at, format_args!("{name} is not supported and ignored")),
        }
    }
    Ok(())
}

/// Escaped, since messages repeat them and a terminal obeys control characters.
fn names(root: &Map<String, Value>, key: &str) -> Vec<String> {
    let list = root.get(key).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(|name| name.escape_debug().to_string()).collect()
}
