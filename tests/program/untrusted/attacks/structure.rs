//! Attacks by the JSON, its lists and names, the container, and the hierarchy of nodes.

use super::Attack;
use super::writing::{MIB, accepted, each, filling, refused, text, times, unlisted};

/// The largest length of a top-level list in the JSON.
const LIST: usize = 1 << 18;

pub(super) fn attacks() -> Vec<Attack> {
    [json(), lists(), names(), containers(), nodes()].into_iter().flatten().collect()
}

fn json() -> Vec<Attack> {
    let deep = format!(r#"{{"extras":{}{}}}"#, "[".repeat(100), "]".repeat(100));
    let deep_list = format!("{}{}", "[".repeat(MIB / 2 - 100), "]".repeat(MIB / 2 - 100));
    let deep_node = text(&format!(r#""nodes":[{{"extensions":{{"a":{deep_list}}}}}]"#));
    vec![
        accepted("small_objects.gltf", text(&format!(r#""extras":[{}]"#, filling(r#"{"":0}"#)))),
        accepted("small_lists.gltf", text(&format!(r#""extras":[{}]"#, filling("[0]")))),
        accepted("digits.gltf", text(&format!(r#""nodes":[{{"scale":[1,1,0.{}]}}]"#, "1".repeat(MIB - 200)))),
        accepted("deep_extras.gltf", text(&format!(r#""nodes":[{}]"#, filling(&deep)))),
        refused("deep.gltf", "malformed", text(&format!(r#""extras":{}"#, "[".repeat(MIB - 100)))),
        refused("deep_node.gltf", "recursion limit", deep_node),
        refused("spaces.gltf", "neither GLB nor JSON", vec![b' '; MIB]),
        refused("digits_before.gltf", "malformed", text(&format!(r#""scene":{}"#, "1".repeat(MIB - 100)))),
    ]
}

/// Fills every list with its smallest element, up to the longest length.
fn lists() -> Vec<Attack> {
    let list = |key: &str, element: &str| {
        let count = LIST.min((MIB - 1000) / (element.len() + 1));
        accepted(&format!("{key}.gltf"), text(&format!(r#""{key}":[{}]"#, times(count, element))))
    };
    let too_many = text(&format!(r#""nodes":[{}]"#, times(LIST + 1, "{}")));
    let empty = ["nodes", "materials", "samplers", "images", "scenes", "cameras"].map(|key| list(key, "{}"));
    let others = [
        list("textures", r#"{"source":0}"#),
        list("buffers", r#"{"byteLength":1}"#),
        list("bufferViews", r#"{"buffer":0,"byteLength":1}"#),
        list("accessors", r#"{"componentType":5126,"count":1,"type":"SCALAR"}"#),
        list("meshes", r#"{"primitives":[]}"#),
        list("skins", r#"{"joints":[]}"#),
        list("animations", r#"{"channels":[],"samplers":[]}"#),
        refused("too_many.gltf", "at most 262144", too_many),
    ];
    empty.into_iter().chain(others).collect()
}

/// Attacks by strings that messages and tables repeat.
fn names() -> Vec<Attack> {
    let clip = |name: &str| format!(r#"{{"name":"{name}","channels":[],"samplers":[]}}"#);
    let clips = format!("{},{}", clip(&"x".repeat(900_000)), times(2000, &clip("y")));
    let escapes = r"\u202e\u001b".repeat(80_000);
    let long = "x".repeat(MIB - 100);
    let extensions = each(110_000, |k| format!(r#""e{k}""#));
    let uri = text(&format!(r#""buffers":[{{"byteLength":1,"uri":"{long}"}}]"#));
    vec![
        accepted("long_name.gltf", text(&format!(r#""animations":[{clips}]"#))),
        accepted("escapes.gltf", text(&format!(r#""nodes":[{{"name":"{escapes}"}}]"#))),
        accepted("extensions.gltf", text(&format!(r#""extensionsUsed":[{extensions}]"#))),
        accepted("long_extension.gltf", text(&format!(r#""extensionsUsed":["{escapes}"]"#))),
        refused("long_required.gltf", "is not supported", text(&format!(r#""extensionsRequired":["{long}"]"#))),
        refused("long_uri.gltf", "cannot be read", uri),
        refused("wrong_type.gltf", "nodes[0]", text(&format!(r#""nodes":["{long}"]"#))),
    ]
}

fn containers() -> Vec<Attack> {
    let base64 = "A".repeat((MIB - 300) / 4 * 4);
    let buffer = format!(r#"{{"byteLength":9,"uri":"data:;base64,{base64}"}}"#);
    let mut chunks = unlisted().glb();
    chunks.resize(MIB, 0);
    let mut of_length = |bytes: u32| {
        chunks[8..12].copy_from_slice(&bytes.to_le_bytes());
        chunks.clone()
    };
    vec![
        accepted("empty_chunks.glb", of_length(MIB as u32)),
        refused("header.glb", "is cut short", of_length(u32::MAX)),
        accepted("data_uri.gltf", text(&format!(r#""buffers":[{buffer}]"#))),
    ]
}

fn nodes() -> Vec<Attack> {
    let count = 45_000;
    let chain = each(count, |k| if k + 1 < count { format!(r#"{{"children":[{}]}}"#, k + 1) } else { "{}".to_owned() });
    let wide = format!(r#"{{"children":[{}]}},{}"#, each(99_999, |k| (k + 1).to_string()), times(99_999, "{}"));
    vec![
        accepted("chain.gltf", text(&format!(r#""nodes":[{chain}]"#))),
        accepted("wide.gltf", text(&format!(r#""nodes":[{wide}]"#))),
        accepted("roots.gltf", text(&format!(r#""nodes":[{{}}],"scenes":[{{"nodes":[{}]}}]"#, filling("0")))),
    ]
}
