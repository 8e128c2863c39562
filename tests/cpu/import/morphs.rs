//! Tests of morph targets: deltas, weights, and clips that animate them.

use std::sync::Arc;

use serde_json::json;
use throng::model::{Model, MorphedNode};

use crate::common::builder::{Gltf, I16};
use crate::common::pose::posed;

/// Makes the triangle with two targets. One moves the second vertex and rotates all normals; the other consists of
/// normalised integers, and moves the first and the third vertex.
fn morphed_triangle() -> Gltf {
    let mut gltf = Gltf::triangle();
    gltf.attribute("NORMAL", "VEC3", &[0.0, 0.0, 1.0].repeat(3));
    let positions_a = gltf.f32s("VEC3", &[0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0]);
    let normals_a = gltf.f32s("VEC3", &[0.5, 0.0, 0.0].repeat(3));
    let bytes = [32_767_i16, 0, 0, 0, 0, 0, 0, 0, -32_767].map(i16::to_le_bytes);
    let positions_b = gltf.normalized(I16, "VEC3", 3, bytes.as_flattened());
    gltf.primitive()["targets"] = json!([{"POSITION": positions_a, "NORMAL": normals_a}, {"POSITION": positions_b}]);
    gltf
}

#[test]
fn targets_have_the_names_that_exporters_give_them() {
    for (extras, names) in [
        (json!(null), ["0", "1"]),
        (json!({"targetNames": ["Blink", "Smile"]}), ["Blink", "Smile"]),
        (json!({"targetNames": ["", 7, "x"]}), ["0", "1"]),
        (json!({"targetNames": "Blink"}), ["0", "1"]),
        (json!(["targetNames"]), ["0", "1"]),
    ] {
        let model = morphed_triangle().with(&[("meshes/0/extras", extras.clone())]).model();
        assert_eq!(model.skeleton.morph_names, names.map(Arc::from), "{extras}");
    }
    let names = json!({"targetNames": ["Blink"]});
    let model = morphed_triangle().with(&[("meshes/0/primitives/0/extras", names)]).model();
    assert_eq!(model.skeleton.morph_names, ["Blink", "1"].map(Arc::from));
}

#[test]
fn weights_that_are_held_win_over_those_of_a_clip() {
    let mut gltf = morphed_triangle();
    gltf.animate(0, "weights", "LINEAR", &[0.0, 1.0], &[0.0, 0.0, 1.0, 0.5]);
    let mut model = gltf.model();
    let weights = |model: &Model| posed(model, model.clips.first(), 0.5).1;
    assert_eq!(weights(&model), [0.5, 0.25]);
    model.skeleton.hold_morph(1, Some(-2.0));
    model.skeleton.hold_morph(2, Some(1.0));
    assert_eq!(weights(&model), [0.5, -2.0]);
    assert!(model.has_active_morphs(None));
    model.skeleton.hold_morph(1, None);
    assert_eq!((weights(&model), model.has_active_morphs(None)), (vec![0.5, 0.25], false));
}

#[test]
fn vertices_that_differ_only_in_a_target_are_not_welded() {
    let mut gltf = Gltf::triangle();
    // The third vertex coincides with the first, and another target moves it.
    gltf.attribute("POSITION", "VEC3", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let deltas = gltf.f32s("VEC3", &[0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(gltf.model().geometry.vertex_count(), 2);
    gltf.primitive()["targets"] = json!([{"POSITION": deltas}]);
    assert_eq!(gltf.model().geometry.vertex_count(), 3);
}

#[test]
fn a_nodes_weights_come_before_its_meshs_and_each_node_has_its_own() {
    let mut gltf = morphed_triangle();
    gltf.json["meshes"][0]["weights"] = json!([0.25, 0.5]);
    gltf.push("nodes", json!({"mesh": 0, "weights": [1.0, -2.0]}));
    gltf.json["scenes"][0]["nodes"] = json!([0, 1]);
    let model = gltf.model();
    assert_eq!(model.skeleton.rest.morph_weights, [0.25, 0.5, 1.0, -2.0]);
    assert_eq!(model.skeleton.morphed_nodes[1], MorphedNode { node: 1, first_weight: 2, weight_count: 2 });
    // The second node's vertices follow its own weights.
    assert_eq!(model.geometry.morph_deltas_of(4)[0].weight_index, 2);

    gltf.json["nodes"][1]["weights"] = json!([1.0]);
    let model = gltf.model_that_warns(&["nodes[1].weights: 1 weights for 2 morph targets"]);
    assert_eq!(model.skeleton.rest.morph_weights, [0.25, 0.5, 1.0, 0.0]);
}

#[test]
fn broken_targets_are_left_out_with_their_path() {
    let mut gltf = morphed_triangle();
    let short = gltf.f32s("VEC3", &[0.0; 6]);
    let targets = "meshes/0/primitives/0/targets";
    let few = "meshes[0].primitives[0].targets[1].POSITION (accessors[5]): 2 elements…";
    gltf.mistakes("").are_left_out([
        (&format!("{targets}/1/POSITION"), json!(short), few),
        ("nodes/0/weights", json!([1e39, 0.0]), "nodes[0].weights: a number is too large…"),
    ]);
    let many = json!(vec![json!({}); 5000]);
    gltf.mistakes("").are_refused([(targets, many, "meshes[0]: 5000 morph targets, at most 4096…")]);
    gltf.animate(0, "weights", "LINEAR", &[0.0, 1.0], &[0.0, 1.0, 2.0, 3.0]);
    let problem = "4 elements, expected 12: 2 CubicSpline keys, 3 for each of 2 morph weights";
    let at = "animations[0].samplers[0].output (accessors[7]): ";
    gltf.mistakes(at).are_left_out([("animations/0/samplers/0/interpolation", json!("CUBICSPLINE"), problem)]);
    let colored = gltf.with(&[(&format!("{targets}/0/COLOR_0"), json!(0))]);
    colored.model_that_warns(&["meshes[0]: morph targets of COLOR_0 are not supported"]);
}
