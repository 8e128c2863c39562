//! Tests of the node tree, skins, the palette and joint weights.

use glam::{Affine3A, Quat, Vec3};
use serde_json::{Value, json};
use throng::model::{Influence, Model, NO_PARENT};

use crate::common::builder::{Gltf, U8};

const UPPER: [[u8; 4]; 3] = [[0, 0, 0, 0]; 3];
const FULL: [[f32; 4]; 3] = [[1.0, 0.0, 0.0, 0.0]; 3];

/// Returns the joints and weights of each vertex of the file.
fn influences(model: &Model) -> [Vec<(u32, f32)>; 3] {
    let pair = |influence: &Influence| (influence.joint, influence.weight);
    let vertices = &model.geometry.source_primitives[0].vertices;
    [0, 1, 2].map(|k| model.geometry.influences_of(vertices[k] as usize).iter().map(pair).collect())
}

#[test]
fn parents_come_first_and_joints_outside_the_scene_are_kept() {
    let mut gltf = Gltf::skinned(UPPER, FULL);
    // Node 3 is the parent of the joints and not in the scene. Node 4 is not in the skeleton.
    gltf.push("nodes", json!({"children": [1], "rotation": [0, 0, 2, 0]}));
    gltf.push("nodes", json!({}));
    gltf.json["scenes"][0]["nodes"] = json!([0]);
    let skeleton = gltf.model().skeleton;
    assert_eq!(skeleton.source_nodes, [0, 3, 1, 2]);
    assert_eq!(skeleton.parents, [NO_PARENT, NO_PARENT, 1, 2]);
    assert_eq!(skeleton.in_scene, [true, false, false, false]);
    assert_eq!(skeleton.names, ["node 0", "node 3", "upper", "lower"]);
    assert_eq!(skeleton.rest.translations[3], Vec3::Y);
    // The rotation is normalised on reading.
    assert_eq!(skeleton.rest.rotations[1], Quat::from_xyzw(0.0, 0.0, 1.0, 0.0));
}

#[test]
fn without_scenes_all_nodes_are_shown_and_a_missing_scene_is_an_error() {
    let mut gltf = Gltf::triangle();
    gltf.push("nodes", json!({}));
    let gltf = gltf.with(&[("scenes", Value::Null), ("scene", Value::Null)]);
    assert_eq!(gltf.model().skeleton.in_scene, [true, true]);
    let gltf = gltf.with(&[("scenes", json!([{}]))]);
    assert!(gltf.model_that_warns(&["shows nothing"]).skeleton.is_empty());
    gltf.mistakes("scene: ").are_refused([("scene", json!(1), "scenes[1] does not exist; the file has 1")]);
}

/// Deep ones are not (`tests/program/untrusted/attacks/structure.rs`).
#[test]
fn broken_trees_are_refused() {
    let gltf = Gltf::triangle();
    let two_parents = "[1].children[0]: nodes[2] already is a child of nodes[0]; expected one parent";
    gltf.mistakes("nodes").are_refused([
        ("nodes", json!([{"children": [1]}, {"children": [0]}]), "[0]: is part of a cycle, or below one"),
        ("nodes", json!([{"children": [2]}, {"children": [2]}, {}]), two_parents),
        ("nodes", json!([{"children": [7]}]), "[0].children[0]: nodes[7] does not exist; the file has 1"),
    ]);
}

#[test]
fn endless_matrices_are_left_out_and_zero_quaternions_are_no_rotation() {
    let mut gltf = Gltf::triangle();
    gltf.json["nodes"][0]["matrix"] = json!([1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, -1, 0, 4, 5, 6, 0.999_999_94]);
    assert!(gltf.model_without_warnings().geometry.draw_ranges[0].mirrored);
    let problem = "the matrix has a number that is not finite";
    gltf.mistakes("nodes[0].matrix: ").are_left_out([("nodes/0/matrix/0", json!(1e39), problem)]);
    let gltf = Gltf::triangle().with(&[("nodes/0/rotation", json!([0, 0, 0, 0]))]);
    let model = gltf.model_that_warns(&["nodes[0].rotation: a rotation of length zero"]);
    assert_eq!(model.skeleton.rest.rotations[0], Quat::IDENTITY);
}

#[test]
fn inverse_binds_may_be_more_than_joints_but_not_fewer() {
    let matrices = [1.0, 2.0, 3.0].map(|x| glam::Mat4::from_translation(Vec3::X * x).to_cols_array());
    let mut gltf = Gltf::skinned(UPPER, FULL);
    let accessor = gltf.f32s("MAT4", matrices.as_flattened());
    gltf.json["skins"][0]["inverseBindMatrices"] = json!(accessor);
    let model = gltf.model_that_warns(&["3 matrices for 2 joints; the rest is ignored"]);
    assert_eq!(model.skins[0].joint_from_mesh[1], Affine3A::from_translation(Vec3::X * 2.0));
    gltf.mistakes("skins[0].").are_refused([
        ("accessors/3/count", json!(1), "inverseBindMatrices (accessors[3]): 1 matrices for 2 joints"),
        ("skins/0/joints", json!([1, 9]), "joints[1]: nodes[9] does not exist; the file has 3"),
    ]);
}

#[test]
fn broken_influences_are_left_out_and_without_weights_the_first_joint_counts() {
    let (both, beyond) = ([[0, 1, 0, 0]; 3], [[0; 4], [1, 2, 0, 0], [0; 4]]);
    for (joints, weights, warning, expected) in [
        (beyond, [0.25, 0.75, 0.0, 0.0], "1 influences of joints that the skin does not", [0, 1, 0]),
        (both, [f32::NAN, 0.5, f32::INFINITY, 0.0], "6 weights are not finite and are left out", [1; 3]),
        (both, [1.0, -1.0, 0.0, 0.0], "3 negative weights", [0; 3]),
        ([[1, 0, 0, 0], [9, 0, 0, 0], [0, 0, 0, 0]], [0.0; 4], "3 vertices without any weight", [1, 1, 0]),
    ] {
        let model = Gltf::skinned(joints, [weights; 3]).model_that_warns(&[warning]);
        assert_eq!(influences(&model), expected.map(|joint| [(joint, 1.0)]), "{warning}");
    }

    let mut gltf = Gltf::skinned(UPPER, FULL);
    gltf.primitive()["attributes"]["JOINTS_1"] = json!(1);
    gltf.model_that_warns(&["meshes[0].primitives[0].attributes.JOINTS_1: there is no WEIGHTS_1"]);

    let mut gltf = Gltf::triangle();
    gltf.push("nodes", json!({}));
    gltf.push("skins", json!({"joints": [1]}));
    let rigid = gltf.with(&[("nodes/0/skin", json!(0)), ("nodes/0/translation", json!([0, 3, 0]))]);
    let model = rigid.model_that_warns(&["no JOINTS_0 with WEIGHTS_0 for skins[0]; the primitive follows the node"]);
    assert_eq!((&model.palette.nodes, model.palette.is_joint.last()), (&vec![1, 0], Some(&false)));
    // Nothing else is left to draw.
    let dangling = "nodes[0].skin: skins[1] does not exist; the file has 1";
    gltf.mistakes("").are_refused([("nodes/0/skin", json!(1), dangling)]);
}

#[test]
fn joints_with_the_same_inverse_bind_share_a_palette_entry() {
    // Vertex 0 follows both occurrences of "upper" in the second skin, which become one influence.
    let mut gltf = Gltf::skinned([[0, 2, 0, 0], [1, 0, 0, 0], [1, 2, 0, 0]], [[0.5, 0.5, 0.0, 0.0]; 3]);
    gltf.json["skins"] = json!([{"joints": [1, 2]}, {"joints": [1, 2, 1]}, {"joints": [2, 1]}]);
    gltf.json["nodes"][0]["skin"] = json!(1);
    for skin in [0, 2] {
        let node = gltf.push("nodes", json!({"mesh": 1, "skin": skin}));
        gltf.push("scenes/0/nodes", json!(node));
    }
    // The mesh of the other nodes has no third joint.
    let joints = gltf.accessor(U8, "VEC4", 3, &[1, 0, 0, 0].repeat(3));
    let mut mesh = gltf.json["meshes"][0].clone();
    mesh["primitives"][0]["attributes"]["JOINTS_0"] = json!(joints);
    gltf.push("meshes", mesh);
    let model = gltf.model();
    let [upper, lower] = [1, 2].map(|node| model.skeleton.source_nodes.iter().position(|&n| n == node).unwrap() as u32);
    assert_eq!(model.palette.nodes, [upper, lower]);
    assert!(model.palette.joints().eq([0, 1]));
    assert_eq!(influences(&model), [vec![(0, 1.0)], vec![(0, 0.5), (1, 0.5)], vec![(0, 0.5), (1, 0.5)]]);

    // Another inverse bind matrix needs another entry.
    let mut matrices = [0.0; 32];
    [0, 5, 10, 12, 15].iter().for_each(|element| matrices[*element] = 1.0);
    [0, 5, 10, 15].iter().for_each(|element| matrices[16 + element] = 1.0);
    let matrices = gltf.f32s("MAT4", &matrices);
    gltf.json["skins"][0]["inverseBindMatrices"] = json!(matrices);
    let model = gltf.model();
    assert_eq!(model.palette.nodes, [upper, lower, upper]);
    assert!(model.palette.joints().eq([0, 1, 2]));
}
