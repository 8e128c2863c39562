//! From a VRM extension to the roles of a humanoid: which node is its hips.
//!
//! Source: `humanoid.humanBones` of VRM 1.0 (`VRMC_vrm`, `VRMC_vrm_animation`: an object by role) and VRM 0.x (`VRM`: a list).

use serde_json::{Map, Value};

use super::mend::index;
use crate::model::humanoid::{Role, RoleSource};
use crate::model::import::error::Warnings;

#[derive(Debug)]
pub struct DeclaredRoles {
    pub source: RoleSource,
    /// Roles with their glTF nodes, which have not been checked, and the JSON path of each.
    pub nodes: Vec<(Role, usize, String)>,
}

/// Reads the roles of the first extension that declares any. Eyes and jaw are no roles here.
pub fn declared_roles(root: &Map<String, Value>, warnings: &mut Warnings) -> Option<DeclaredRoles> {
    let extensions = root.get("extensions")?;
    let of_extension = |name: &'static str| Some((name, extensions.get(name)?.get("humanoid")?.get("humanBones")?));
    let (extension, bones) = ["VRMC_vrm", "VRM", "VRMC_vrm_animation"].into_iter().find_map(of_extension)?;
    let path = format!("extensions.{extension}.humanoid.humanBones");
    // Each bone: its JSON path, its name and its node.
    let entries: Vec<(String, Option<&str>, Option<&Value>)> = match bones {
        Value::Object(bones) => {
            bones.iter().map(|(name, entry)| (format!("{path}.{name}"), Some(&**name), entry.get("node"))).collect()
        }
        Value::Array(bones) => {
            let bone = |(index, entry)| {
                let entry: &Value = entry;
                (format!("{path}[{index}]"), entry.get("bone").and_then(Value::as_str), entry.get("node"))
            };
            bones.iter().enumerate().map(bone).collect()
        }
        _ => {
            warnings.add(path, "expected an object or a list of bones; there are no roles");
            return None;
        }
    };
    let mut nodes = Vec::new();
    for (at, name, node) in entries {
        let Some(role) = name.and_then(|name| role_of(name, extension)) else { continue };
        match node.and_then(index) {
            Some(index) => nodes.push((role, index, format!("{at}.node"))),
            None => warnings.add(format_args!("{at}.node"), "names no node; the role is left out"),
        }
    }
    Some(DeclaredRoles { source: RoleSource::Extension(extension), nodes })
}

/// Returns the role with a name. VRM 0.x calls the bones of a thumb otherwise.
fn role_of(name: &str, extension: &str) -> Option<Role> {
    let name = match name.split_once("Thumb") {
        Some((side, "Proximal")) if extension == "VRM" => format!("{side}ThumbMetacarpal"),
        Some((side, "Intermediate")) if extension == "VRM" => format!("{side}ThumbProximal"),
        _ => name.to_owned(),
    };
    Role::all().find(|role| role.name() == name)
}
