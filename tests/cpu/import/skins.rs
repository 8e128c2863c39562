//! Tests of the node tree, skins, the palette and joint weights.

use glam::{Affine3A, Mat3A, Quat, Vec3, Vec3A};
use serde_json::json;
use throng::model::{Influence, Model, NO_PARENT};

use crate::common::builder::{Gltf, U8, U16, warns};

const UPPER: [[u8; 4]; 3] = [[0, 0, 0, 0]; 3];
const FULL: [[f32; 4]; 3] = [[1.0, 0.0, 0.0, 0.0]; 3];

fn influences(model: &Model, vertex: usize) -> Vec<(u32, f32)> {
    let file_vertex = model.geometry.source_primitives[0].vertices[vertex] as usize;
    let pair = |influence: &Influence| (influence.joint, influence.weight);
    model.geometry.influences_of(file_vertex).iter().map(pair).collect()
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
    gltf.json.as_object_mut().unwrap().remove("scenes");
    gltf.json.as_object_mut().unwrap().remove("scene");
    assert_eq!(gltf.model().skeleton.in_scene, [true, true]);
    gltf.json["scenes"] = json!([{}]);
    let model = gltf.model();
    assert!(model.skeleton.is_empty() && warns(&model, "shows nothing"), "{:?}", model.warnings);
    gltf.json["scene"] = json!(1);
    assert_eq!(gltf.error(), "test.gltf: scene: scenes[1] does not exist; the file has 1");
}

#[test]
fn broken_trees_are_refused_and_deep_ones_are_not() {
    let mut gltf = Gltf::triangle();
    gltf.json["nodes"] = json!([{"children": [1]}, {"children": [0]}]);
    assert_eq!(gltf.error(), "test.gltf: nodes[0]: is part of a cycle, or below one");
    gltf.json["nodes"] = json!([{"children": [2]}, {"children": [2]}, {}]);
    let message = "test.gltf: nodes[1].children[0]: nodes[2] already is a child of nodes[0]; expected one parent";
    assert_eq!(gltf.error(), message);
    gltf.json["nodes"] = json!([{"children": [7]}]);
    assert_eq!(gltf.error(), "test.gltf: nodes[0].children[0]: nodes[7] does not exist; the file has 1");

    let depth = 100_000;
    let chain = |node: usize| if node + 1 < depth { json!({"children": [node + 1]}) } else { json!({}) };
    gltf.json["nodes"] = (0..depth).map(chain).collect();
    let model = gltf.model();
    assert_eq!(model.skeleton.parents[depth - 1] as usize, depth - 2);
    #[cfg(feature = "app")]
    {
        let report = throng::app::inspect::report(&model, false, 100);
        assert!(report.len() < 100 * depth, "{} bytes for {depth} nodes", report.len());
    }
}

#[test]
fn matrices_stay_exact_with_their_shear() {
    let mut gltf = Gltf::triangle();
    gltf.json["nodes"][0]["matrix"] = json!([1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, -1, 0, 4, 5, 6, 0.999_999_94]);
    let model = gltf.model();
    let matrix3 = Mat3A::from_cols(Vec3A::X, Vec3A::new(0.5, 1.0, 0.0), -Vec3A::Z);
    let expected = Affine3A { matrix3, translation: Vec3A::new(4.0, 5.0, 6.0) };
    assert_eq!(model.skeleton.fixed_locals[0].parent_from_node, expected);
    assert!(model.geometry.draw_ranges[0].mirrored);
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);

    gltf.json["nodes"][0]["matrix"][0] = json!(1e39);
    assert_eq!(gltf.error(), "test.gltf: nodes[0].matrix: the matrix has a number that is not finite");
}

#[test]
fn zero_quaternions_are_read_as_no_rotation() {
    let mut gltf = Gltf::triangle();
    gltf.json["nodes"][0]["rotation"] = json!([0, 0, 0, 0]);
    let model = gltf.model();
    assert_eq!(model.skeleton.rest.rotations[0], Quat::IDENTITY);
    assert!(warns(&model, "nodes[0].rotation: a rotation of length zero"), "{:?}", model.warnings);
}

#[test]
fn a_skin_has_a_palette_section_that_its_meshes_share_and_rigid_nodes_an_entry() {
    let mut gltf = Gltf::skinned([[1, 0, 0, 0]; 3], FULL);
    gltf.json["scenes"][0]["nodes"] = json!([0, 1, 3, 4]);
    gltf.push("nodes", json!({"mesh": 0}));
    gltf.push("nodes", json!({"mesh": 0, "skin": 0}));
    let model = gltf.model();
    // The palette has skin 0 (nodes 1 and 2), then the rigid node 3.
    let sources: Vec<u32> =
        model.palette.nodes.iter().map(|&node| model.skeleton.source_nodes[node as usize]).collect();
    assert_eq!(sources, [1, 2, 3]);
    assert_eq!(model.palette.joint_from_mesh, [Affine3A::IDENTITY; 3]);
    assert_eq!(model.skins[0].joint_from_mesh, [Affine3A::IDENTITY; 2]);
    let joint_of = |primitive: usize| {
        let vertex = model.geometry.source_primitives[primitive].vertices[0] as usize;
        model.geometry.influences_of(vertex)[0].joint
    };
    assert_eq!([joint_of(0), joint_of(1), joint_of(2)], [1, 2, 1]);
    // The two skinned nodes draw the same vertices at the same positions, which are welded.
    assert_eq!(model.geometry.vertex_count(), 6);
}

#[test]
fn inverse_binds_may_be_more_than_joints_but_not_fewer() {
    let identity = Affine3A::IDENTITY;
    let mut matrices = Vec::new();
    for x in [1.0, 2.0, 3.0] {
        matrices.extend(glam::Mat4::from_translation(Vec3::X * x).to_cols_array());
    }
    let mut gltf = Gltf::skinned(UPPER, FULL);
    let accessor = gltf.f32s("MAT4", &matrices);
    gltf.json["skins"][0]["inverseBindMatrices"] = json!(accessor);
    let model = gltf.model();
    assert_eq!(model.skins[0].joint_from_mesh[1], Affine3A::from_translation(Vec3::X * 2.0) * identity);
    assert!(warns(&model, "3 matrices for 2 joints; the rest is ignored"), "{:?}", model.warnings);

    gltf.json["accessors"][accessor]["count"] = json!(1);
    let message = "test.gltf: skins[0].inverseBindMatrices (accessors[3]): 1 matrices for 2 joints";
    assert_eq!(gltf.error(), message);
    gltf.json["skins"][0]["joints"] = json!([1, 9]);
    assert_eq!(gltf.error(), "test.gltf: skins[0].joints[1]: nodes[9] does not exist; the file has 3");
}

#[test]
fn weights_are_renormalised_merged_and_sorted() {
    let joints = [[0, 1, 0, 0], [1, 0, 1, 0], [1, 200, 0, 0]];
    let weights = [[0.05, 0.15, 0.0, 0.0], [0.5, 0.9, 0.6, 0.0], [1.0, 0.0, 0.0, 0.0]];
    let model = Gltf::skinned(joints, weights).model();
    assert_eq!(influences(&model, 0), [(1, 0.75), (0, 0.25)]);
    assert_eq!(influences(&model, 1), [(1, 0.55), (0, 0.45)]);
    // Joint 200 does not exist, but its weight is zero.
    assert_eq!(influences(&model, 2), [(1, 1.0)]);
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
}

#[test]
fn vertices_without_weight_follow_the_first_joint_they_list() {
    let model = Gltf::skinned([[1, 0, 0, 0], [9, 0, 0, 0], [0, 0, 0, 0]], [[0.0; 4]; 3]).model();
    let followed = [0, 1, 2].map(|vertex| influences(&model, vertex));
    assert_eq!(followed, [[(1, 1.0)], [(1, 1.0)], [(0, 1.0)]]);
    assert!(warns(&model, "3 vertices without any weight"), "{:?}", model.warnings);
}

#[test]
fn joints_out_of_range_and_broken_weights_are_refused() {
    let gltf = Gltf::skinned([[0, 0, 0, 0], [0, 2, 0, 0], [0; 4]], [[0.5, 0.5, 0.0, 0.0]; 3]);
    let at = "test.gltf: meshes[0].primitives[0].attributes";
    assert_eq!(gltf.error(), format!("{at}: vertex 1: joint 2 with weight 0.5, but skins[0] has 2 joints"));
    let gltf = Gltf::skinned(UPPER, [[1.0, f32::NAN, 0.0, 0.0]; 3]);
    assert_eq!(gltf.error(), format!("{at}: vertex 0: weight NaN is not finite"));
    let model = Gltf::skinned([[0, 1, 0, 0]; 3], [[1.0, -1.0, 0.0, 0.0]; 3]).model();
    assert_eq!(influences(&model, 0), [(0, 1.0)]);
    assert!(warns(&model, "3 negative weights"), "{:?}", model.warnings);

    let mut gltf = Gltf::triangle();
    gltf.push("nodes", json!({}));
    gltf.push("skins", json!({"joints": [1]}));
    gltf.json["nodes"][0]["skin"] = json!(0);
    assert_eq!(gltf.error(), format!("{at}: no JOINTS_0, but a node uses this mesh with skins[0]"));
    gltf.json["nodes"][0]["skin"] = json!(1);
    assert_eq!(gltf.error(), "test.gltf: nodes[0].skin: skins[1] does not exist; the file has 1");
}

#[test]
fn several_sets_of_integer_joints_and_weights_add_up() {
    let mut gltf = Gltf::skinned([[0, 0, 0, 0]; 3], [[0.25, 0.0, 0.0, 0.0]; 3]);
    let joints = gltf.accessor(U16, "VEC4", 3, bytemuck::cast_slice(&[[1_u16, 0, 0, 0]; 3]));
    let weights = gltf.accessor(U8, "VEC4", 3, [[51_u8, 0, 0, 0]; 3].as_flattened());
    gltf.json["accessors"][weights]["normalized"] = json!(true);
    let attributes = &mut gltf.json["meshes"][0]["primitives"][0]["attributes"];
    attributes["JOINTS_1"] = json!(joints);
    attributes["WEIGHTS_1"] = json!(weights);
    let model = gltf.model();
    let [(first, first_weight), (second, second_weight)] = influences(&model, 0)[..] else { panic!("two influences") };
    assert_eq!((first, second), (0, 1));
    assert!((first_weight - 0.25 / 0.45).abs() < 1e-6 && (second_weight - 0.2 / 0.45).abs() < 1e-6);

    gltf.json["meshes"][0]["primitives"][0]["attributes"].as_object_mut().unwrap().remove("WEIGHTS_1");
    assert!(gltf.error().ends_with("JOINTS_1: there is no WEIGHTS_1"), "{}", gltf.error());
}
