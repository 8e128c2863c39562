//! Attacks by the JSON, its lists and names, the container, and the hierarchy of nodes.

use super::Attack;
use super::writing::{MIB, accepted, each, filling, glb, refused, text, times};

/// The largest length of a top-level list in the JSON.
const LIST: usize = 1 << 18;

pub(super) fn attacks() -> Vec<Attack> {
    [json(), lists(), names(), containers(), nodes()].into_iter().flatten().collect()
}

/// Attacks by the JSON itself.
fn json() -> Vec<Attack> {
    let deep = format!(r#"{{"extras":{}{}}}"#, "[".repeat(100), "]".repeat(100));
    let deep_list = format!("{}{}", "[".repeat(MIB / 2 - 100), "]".repeat(MIB / 2 - 100));
    vec![
        accepted("small_objects.gltf", text(&format!(r#""extras":[{}]"#, filling(r#"{"":0}"#)))),
        accepted("small_lists.gltf", text(&format!(r#""extras":[{}]"#, filling("[0]")))),
        accepted("digits.gltf", text(&format!(r#""nodes":[{{"scale":[1,1,0.{}]}}]"#, "1".repeat(MIB - 200)))),
        accepted("deep_extras.gltf", text(&format!(r#""nodes":[{}]"#, filling(&deep)))),
        refused("deep.gltf", "malformed", text(&format!(r#""extras":{}"#, "[".repeat(MIB - 100)))),
        refused(
            "deep_node.gltf",
            "recursion limit",
            text(&format!(r#""nodes":[{{"extensions":{{"a":{deep_list}}}}}]"#)),
        ),
        refused("spaces.gltf", "neither GLB nor JSON", vec![b' '; MIB]),
        refused("digits_before.gltf", "malformed", text(&format!(r#""scene":{}"#, "1".repeat(MIB - 100)))),
    ]
}

/// Fills every list with its smallest element, up to the longest length.
fn lists() -> Vec<Attack> {
    let list = |name: &'static str, key: &str, element: &str| {
        let count = LIST.min((MIB - 1000) / (element.len() + 1));
        accepted(name, text(&format!(r#""{key}":[{}]"#, times(count, element))))
    };
    vec![
        list("nodes.gltf", "nodes", "{}"),
        list("materials.gltf", "materials", "{}"),
        list("textures.gltf", "textures", r#"{"source":0}"#),
        list("samplers.gltf", "samplers", "{}"),
        list("images.gltf", "images", "{}"),
        list("scenes.gltf", "scenes", "{}"),
        list("cameras.gltf", "cameras", "{}"),
        list("buffers.gltf", "buffers", r#"{"byteLength":1}"#),
        list("views.gltf", "bufferViews", r#"{"buffer":0,"byteLength":1}"#),
        list("accessors.gltf", "accessors", r#"{"componentType":5126,"count":1,"type":"SCALAR"}"#),
        list("meshes.gltf", "meshes", r#"{"primitives":[]}"#),
        list("skins.gltf", "skins", r#"{"joints":[]}"#),
        list("animations.gltf", "animations", r#"{"channels":[],"samplers":[]}"#),
        refused("too_many.gltf", "at most 262144", text(&format!(r#""nodes":[{}]"#, times(LIST + 1, "{}")))),
    ]
}

/// Attacks by strings that messages and tables repeat.
fn names() -> Vec<Attack> {
    let clip = |name: &str| format!(r#"{{"name":"{name}","channels":[],"samplers":[]}}"#);
    let clips = format!("{},{}", clip(&"x".repeat(900_000)), times(2000, &clip("y")));
    let escapes = r"\u202e\u001b".repeat(80_000);
    vec![
        accepted("long_name.gltf", text(&format!(r#""animations":[{clips}]"#))),
        accepted("escapes.gltf", text(&format!(r#""nodes":[{{"name":"{escapes}"}}]"#))),
        accepted(
            "extensions.gltf",
            text(&format!(r#""extensionsUsed":[{}]"#, each(110_000, |k| format!(r#""e{k}""#)))),
        ),
        accepted("long_extension.gltf", text(&format!(r#""extensionsUsed":["{escapes}"]"#))),
        refused(
            "long_required.gltf",
            "is not supported",
            text(&format!(r#""extensionsRequired":["{}"]"#, "x".repeat(MIB - 100))),
        ),
        refused(
            "long_uri.gltf",
            "cannot be read",
            text(&format!(r#""buffers":[{{"byteLength":1,"uri":"{}"}}]"#, "x".repeat(MIB - 100))),
        ),
        refused("wrong_type.gltf", "nodes[0]", text(&format!(r#""nodes":["{}"]"#, "x".repeat(MIB - 100)))),
    ]
}

fn containers() -> Vec<Attack> {
    let base64 = "A".repeat(MIB - 300);
    let base64 = &base64[..base64.len() / 4 * 4];
    let buffer = format!(r#"{{"byteLength":9,"uri":"data:;base64,{base64}"}}"#);
    let mut chunks = glb(r#""nodes":[]"#, Vec::new());
    chunks.resize(MIB, 0);
    chunks[8..12].copy_from_slice(&(MIB as u32).to_le_bytes());
    let mut too_long = chunks.clone();
    too_long[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    vec![
        accepted("empty_chunks.glb", chunks),
        refused("header.glb", "is cut short", too_long),
        accepted("data_uri.gltf", text(&format!(r#""buffers":[{buffer}]"#))),
    ]
}

fn nodes() -> Vec<Attack> {
    let count = 45_000;
    let chain = each(count, |k| if k + 1 < count { format!(r#"{{"children":[{}]}}"#, k + 1) } else { "{}".to_owned() });
    let wide = format!(r#"{{"children":[{}]}},{}"#, each(99_999, |k| (k + 1).to_string()), times(99_999, "{}"));
    let roots = filling("0");
    vec![
        accepted("chain.gltf", text(&format!(r#""nodes":[{chain}]"#))),
        accepted("wide.gltf", text(&format!(r#""nodes":[{wide}]"#))),
        accepted("roots.gltf", text(&format!(r#""nodes":[{{}}],"scenes":[{{"nodes":[{roots}]}}]"#))),
    ]
}
