//! Random node trees, in random order in the file, agree with a textbook evaluation.

use glam::{Affine3A, DMat4, DQuat, Mat4, Vec3};
use proptest::prelude::*;
use serde_json::{Value, json};
use throng::animation::{PoseScratch, pose_model};

use super::lanes::{any_unit, vector};
use crate::common::builder::Gltf;

/// The local transform of a node, as in the file and as a matrix.
type Local = (Value, DMat4);

fn local() -> impl Strategy<Value = Local> {
    // Matrices also mirror and shear.
    let scale = prop::array::uniform3(prop_oneof![-1.5_f32..-0.5, 0.5_f32..1.5]);
    let parts = (vector(2.0), any_unit(), scale).prop_map(|(translation, rotation, scale)| {
        let [t, s] = [translation, Vec3::from(scale)].map(|vector| vector.as_dvec3());
        let matrix = DMat4::from_scale_rotation_translation(s, DQuat::from_vec4(rotation.as_dvec4()).normalize(), t);
        let [translation, rotation] = [json!(translation.to_array()), json!(rotation.to_array())];
        (json!({"translation": translation, "rotation": rotation, "scale": scale}), matrix)
    });
    let matrix = prop::array::uniform12(-1.2_f32..1.2).prop_map(|columns| {
        let matrix = Mat4::from(Affine3A::from_cols_array(&columns));
        (json!({"matrix": matrix.to_cols_array()}), matrix.as_dmat4())
    });
    prop_oneof![3 => parts, 1 => matrix]
}

/// The parent, if any, and the local transform of each node of the file. Parents may come after their children.
fn tree() -> impl Strategy<Value = Vec<(Option<usize>, Local)>> {
    let nodes = prop::collection::vec((any::<prop::sample::Index>(), prop::bool::weighted(0.85), local()), 1..12);
    let with_order = nodes.prop_flat_map(|nodes| {
        let order: Vec<usize> = (0..nodes.len()).collect();
        (Just(nodes), Just(order).prop_shuffle())
    });
    with_order.prop_map(|(nodes, order)| {
        let mut tree = vec![(None, (Value::Null, DMat4::ZERO)); nodes.len()];
        for (rank, (pick, has_parent, local)) in nodes.into_iter().enumerate() {
            let parent = (has_parent && rank > 0).then(|| order[pick.index(rank)]);
            tree[order[rank]] = (parent, local);
        }
        tree
    })
}

fn file(tree: &[(Option<usize>, Local)]) -> Gltf {
    let mut gltf = Gltf::new();
    for (node, (_, (local, _))) in tree.iter().enumerate() {
        let children: Vec<usize> = (0..tree.len()).filter(|&child| tree[child].0 == Some(node)).collect();
        let mut entry = local.clone();
        if !children.is_empty() {
            entry["children"] = json!(children);
        }
        gltf.push("nodes", entry);
    }
    let roots: Vec<usize> = (0..tree.len()).filter(|&node| tree[node].0.is_none()).collect();
    gltf.json["scenes"][0]["nodes"] = json!(roots);
    gltf
}

/// Returns the world matrix, from the node up to its root, and the same product of absolute values, which bounds
/// rounding errors.
fn world(tree: &[(Option<usize>, Local)], node: usize) -> (DMat4, DMat4) {
    let (parent, (_, local)) = &tree[node];
    let magnitudes = DMat4::from_cols_array(&local.to_cols_array().map(f64::abs));
    match parent {
        Some(parent) => {
            let above = world(tree, *parent);
            (above.0 * *local, above.1 * magnitudes)
        }
        None => (*local, magnitudes),
    }
}

proptest! {
    #![proptest_config(super::config())]

    #[test]
    fn parents_come_first_and_world_matrices_are_the_products_of_all_above(tree in tree()) {
        let model = file(&tree).model();
        let skeleton = &model.skeleton;
        prop_assert_eq!(skeleton.len(), tree.len());
        let mut scratch = PoseScratch::for_model(&model);
        let pose = pose_model(&model, None, 0.0, &mut scratch);
        for (matrix, &source) in pose.model_from_node.iter().zip(&skeleton.source_nodes) {
            let (expected, magnitudes) = world(&tree, source as usize);
            let off = Mat4::from(*matrix).as_dmat4() - expected;
            for (off, magnitude) in off.to_cols_array().into_iter().zip(magnitudes.to_cols_array()) {
                // There are at most twelve products, each with a few roundings.
                prop_assert!(off.abs() <= 1e-5 * (magnitude + 1.0), "node {source}: off by {off} of {magnitude}");
            }
        }
        for (node, &source) in skeleton.source_nodes.iter().enumerate() {
            let parent = tree[source as usize].0.map(|parent| parent as u32);
            let found = skeleton.source_nodes.get(skeleton.parents[node] as usize).copied();
            prop_assert_eq!(found, parent, "node {} of the file", source);
        }
    }
}
