//! `--hide`: which parts a pattern names, what is left of a model, and what the panel says about it.

use serde_json::json;
use throng::app::hide::{hide, patterns_for};
use throng::app::inspect::odd::odd_things;
use throng::measure::rest_box;
use throng::model::Model;

use crate::common::builder::{Gltf, check_invariants};

/// Makes boxes of 1 m that stand in a row, below nodes without a mesh where a name has a slash.
pub(super) fn boxes(names: &[&str]) -> Gltf {
    let mut gltf = Gltf::new();
    for (at, name) in names.iter().enumerate() {
        let (group, own) = name.rsplit_once('/').map_or((None, *name), |(group, own)| (Some(group), own));
        let material = gltf.push("materials", json!({"name": format!("paint {at}")}));
        let left = 2.0 * at as f32;
        let node = gltf.cuboid([left, 0.0, 0.0], [left + 1.0, 1.0, 1.0], json!({"name": own}));
        let mesh = gltf.json["nodes"][node]["mesh"].as_u64().unwrap() as usize;
        gltf.json["meshes"][mesh]["name"] = json!(format!("mesh {at}"));
        gltf.json["meshes"][mesh]["primitives"][0]["material"] = json!(material);
        let root = group.map_or(node, |group| gltf.push("nodes", json!({"name": group, "children": [node]})));
        gltf.push("scenes/0/nodes", json!(root));
    }
    gltf
}

/// Hides parts. Returns the model and the letters of those that are left.
fn hidden(model: &Model, patterns: &[&str]) -> (Model, String) {
    let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
    let mut models = [model.clone()];
    hide(&mut models, &patterns).unwrap();
    let [model] = models;
    check_invariants(&model);
    let left = model.source.parts.iter().filter(|part| !part.is_hidden).map(|part| &part.name[..1]).collect();
    (model, left)
}

#[test]
fn patterns_name_nodes_meshes_materials_and_groups() {
    let model = boxes(&["Ax", "bx", "props/c", "mesh 0"]).model();
    for (patterns, left) in [
        (&[][..], "Abcm"),
        (&["ax"], "bcm"),
        (&["*X"], "cm"),
        // A node comes before a mesh of the same name.
        (&["mesh 0"], "Abc"),
        (&["mesh 1", "Paint 2"], "Am"),
        (&["mesh*"], ""),
        (&["*p*s"], "Abm"),
        (&["Props"], "Abm"),
        (&["1"], "Acm"),
        (&["none", "a*x", "b*b"], "bcm"),
    ] {
        if left.is_empty() {
            let patterns = patterns.iter().map(|pattern| (*pattern).to_owned()).collect::<Vec<_>>();
            let error = hide(&mut [model.clone()], &patterns).unwrap_err().to_string();
            assert!(error.starts_with("--hide mesh*: nothing is left to show; there are "), "{error}");
            continue;
        }
        let (shown, found) = hidden(&model, patterns);
        assert_eq!((&*found, shown.geometry.triangle_count()), (left, 12 * left.len()), "{patterns:?}");
        assert_eq!(shown.palette.len(), left.len(), "a rigid mesh has an entry of the palette: {patterns:?}");
    }
    let (shown, _) = hidden(&model, &["az"]);
    let expected = "--hide az: no node, mesh or material has such a name; there are 0 \"Ax\"";
    assert!(shown.warnings.last().unwrap().starts_with(expected), "{:?}", shown.warnings);
    // What is hidden takes no room, and its material no texture.
    let (mut shown, _) = hidden(&model, &["mesh 0", "paint 2"]);
    shown.geometry.leave_out_unused();
    let bounds = rest_box(&shown).unwrap();
    assert_eq!((bounds.min.x, bounds.max.x, shown.geometry.draw_ranges.len()), (0.0, 3.0, 2));
}

#[test]
fn colliders_are_hidden_by_default() {
    let names = ["a", "B_Collider", "UCX_c.001", "d.col", "e-colonly", "collision shapes/f", "g-col", "h_color"];
    let model = boxes(&names).model();
    let (shown, left) = hidden(&model, &[]);
    assert_eq!(left, "agh");
    assert_eq!(shown.warnings, ["5 parts named as colliders are hidden; --hide none shows them"]);
    assert!(odd_things(&model, rest_box(&model).as_ref())[0].starts_with("5 parts named as colliders; "));
    assert_eq!(hidden(&model, &["none"]).1.len(), names.len());
    assert_eq!(hidden(&model, &["a", "g-col"]).1, "h");
    // A file of nothing else is shown.
    let only = boxes(&["a_collider", "b_collider"]).model();
    let (shown, left) = hidden(&only, &[]);
    assert_eq!((&*left, &*shown.warnings), ("ab", &[][..]));
    // The patterns of a choice name it, with `none` only where a collider is shown.
    for (chosen, patterns) in
        [("agh", &[][..]), ("ag", &["h_color"]), ("ah", &["g-col"]), ("aghe", &["none", "B_Collider"])]
    {
        let found = patterns_for(&hidden(&model, &[]).0.source.parts, |part| !chosen.contains(&part.name[..1]));
        assert!(found.iter().zip(patterns).all(|(found, pattern)| found == pattern), "{found:?}");
        assert_eq!(hidden(&model, &found.iter().map(String::as_str).collect::<Vec<_>>()).1.len(), chosen.len());
    }
}

#[test]
fn odd_things_are_named() {
    let mut gltf = boxes(&["a"]);
    gltf.json["materials"][0]["pbrMetallicRoughness"] = json!({"baseColorFactor": [0, 0, 0, 1]});
    gltf.json["nodes"][0]["scale"] = json!([0, 0, 0]);
    let model = gltf.model();
    let odd = odd_things(&model, rest_box(&model).as_ref());
    let expected = ["the rest pose has no size, ", "black, whatever its texture and its light: paint 0"];
    assert!(odd.len() == 2 && odd.iter().zip(expected).all(|(odd, expected)| odd.starts_with(expected)), "{odd:?}");
}
