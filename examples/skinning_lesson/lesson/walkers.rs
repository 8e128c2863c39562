//! The walker's file with two mistakes: valid glTF that `throng render` draws as mistaken programs would.

use serde_json::{Value, json};

/// The names and contents of the wrong files, made from the content of `walker.glb`.
pub fn wrong_walkers(glb: &[u8]) -> serde_json::Result<[(&'static str, Vec<u8>); 2]> {
    // A GLB has a header of 12 bytes, then a JSON chunk, then the binary chunk. Each chunk begins with its size.
    let json_end = 20 + glb[12..16].iter().rev().fold(0, |size, &byte| size << 8 | usize::from(byte));
    let document: Value = serde_json::from_slice(&glb[20..json_end])?;

    let mut without_inverse_binds = document.clone();
    without_inverse_binds["skins"][0].as_object_mut().map(|skin| skin.remove("inverseBindMatrices"));

    let mut without_parents = document;
    let nodes = without_parents["nodes"].as_array_mut().map(Vec::as_mut_slice).unwrap_or_default();
    nodes.iter_mut().filter_map(Value::as_object_mut).for_each(|node| drop(node.remove("children")));
    without_parents["scenes"][0]["nodes"] = json!((0..nodes.len()).collect::<Vec<_>>());

    let with_json = |json: &Value| {
        let mut json = json.to_string().into_bytes();
        json.resize(json.len().next_multiple_of(4), b' ');
        let size = 20 + json.len() + glb.len() - json_end;
        let sizes =
            [&b"glTF"[..], &2u32.to_le_bytes(), &(size as u32).to_le_bytes(), &(json.len() as u32).to_le_bytes()];
        [&sizes.concat(), &glb[16..20], &json, &glb[json_end..]].concat()
    };
    Ok([
        ("walker_without_inverse_binds.glb", with_json(&without_inverse_binds)),
        ("walker_without_parents.glb", with_json(&without_parents)),
    ])
}
