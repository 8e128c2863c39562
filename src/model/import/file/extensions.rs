//! From the two extension lists of a file to an error, warnings, and the list for reports.
//!
//! A file that *requires* an unsupported extension is an error, because its vertices might be in the wrong places. If the
//! extension only changes materials, textures or lights, the file is still shown, with a warning. An extension that is
//! only *used* has a fallback in the file, so it is a warning too.
//!
//! Source: glTF 2.0, 3.12.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::model::import::error::{Fault, Result, Warnings};
use crate::model::{Extension, ExtensionSupport};

const HONOURED: &[&str] = &[
    "KHR_mesh_quantization",
    "EXT_meshopt_compression",
    "KHR_meshopt_compression",
    "KHR_draco_mesh_compression",
    "KHR_texture_transform",
    "KHR_materials_unlit",
    "KHR_materials_emissive_strength",
    "KHR_materials_ior",
    "KHR_materials_specular",
    "EXT_texture_webp",
    "KHR_node_visibility",
    "VRM",
    "VRMC_vrm",
    "VRMC_vrm_animation",
];
/// Prefixes of extensions that change materials or add lights, but leave every vertex of the rest pose where it is. Those of
/// VRM also swing hair and clothes. A mesh of foliage that is drawn once is where its node is.
const ONLY_LOOKS: &[&str] = &[
    "KHR_materials_",
    "KHR_lights",
    "KHR_texture_",
    "EXT_texture_",
    "MSFT_texture_",
    "VRMC_",
    "EXT_mesh_gpu_instancing",
];

fn support(name: &str) -> ExtensionSupport {
    if HONOURED.contains(&name) {
        ExtensionSupport::Honoured
    } else if ONLY_LOOKS.iter().any(|prefix| name.starts_with(prefix)) {
        ExtensionSupport::NotDrawn
    } else {
        ExtensionSupport::Ignored
    }
}

/// Checks `extensionsRequired` and `extensionsUsed`. Returns the extensions of both lists, in the order of `extensionsUsed`.
pub fn check(root: &Map<String, Value>, warnings: &mut Warnings) -> Result<Vec<Extension>> {
    let required = names(root, "extensionsRequired");
    let used = names(root, "extensionsUsed");
    if let Some(index) = required.iter().position(|name| support(name) == ExtensionSupport::Ignored) {
        let problem = format!("{} is not supported", required[index]);
        return Err(Fault::unsupported(format_args!("extensionsRequired[{index}]"), problem));
    }
    for (index, name) in used.iter().enumerate() {
        let at = format_args!("extensionsUsed[{index}]");
        match support(name) {
            ExtensionSupport::Honoured => {}
            ExtensionSupport::NotDrawn => {
                let how = match *name {
                    // It turns bones after the clip.
                    "VRMC_node_constraint" => "not applied",
                    "EXT_mesh_gpu_instancing" => "not drawn: each mesh is drawn once",
                    _ => "not drawn",
                };
                warnings.add(at, format_args!("{name} is {how}"));
            }
            ExtensionSupport::Ignored => warnings.add(at, format_args!("{name} is not supported; it is ignored")),
        }
    }
    // Each once. Those that are only required come last, although the specification forbids such.
    let is_required: HashSet<&str> = required.iter().copied().collect();
    let mut seen = HashSet::new();
    let once = used.into_iter().chain(required).filter(|name| seen.insert(*name));
    let extension =
        |name: &str| Extension { name: name.to_owned(), required: is_required.contains(name), support: support(name) };
    Ok(once.map(extension).collect())
}

fn names<'v>(root: &'v Map<String, Value>, key: &str) -> Vec<&'v str> {
    let list = root.get(key).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).collect()
}
