//! Tests of EXT_mesh_gpu_instancing: the mesh of a node at several placements.

use glam::{Quat, Vec3, Vec4, Vec4Swizzles};
use serde_json::{Value, json};
use throng::animation::{BindPose, Pose, PoseScratch, joint_matrices, pose_model, skin_vertex};
use throng::model::{DrawRange, Model};
use throng::shader_types::{JointMatrix, unpack_octahedral, unpack_tangent};

use crate::common::builder::{F32, Gltf, I16, warns};

const NAME: &str = "EXT_mesh_gpu_instancing";

/// Makes the triangle with these placements.
fn instanced(attributes: Value) -> Value {
    json!({NAME: {"attributes": attributes}})
}

/// Makes two primitives with a material each. The second one has a normal map and a morph target.
fn two_parts() -> Gltf {
    let mut gltf = Gltf::triangle();
    let positions = gltf.f32s("VEC3", &[0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0]);
    let normals = gltf.f32s("VEC3", &[0.0, 0.0, 1.0].repeat(3));
    let tangents = gltf.f32s("VEC4", &[1.0, 0.0, 0.0, 1.0, 0.6, 0.8, 0.0, 1.0, 0.0, 1.0, 0.0, -1.0]);
    let deltas = gltf.f32s("VEC3", &[0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0]);
    let zeros = gltf.push("accessors", json!({"componentType": F32, "type": "VEC3", "count": 3}));
    gltf.texture(&image::RgbaImage::new(1, 1));
    gltf.json["materials"] = json!([{}, {"normalTexture": {"index": 0}}]);
    gltf.json["meshes"][0]["weights"] = json!([0.7]);
    let attributes = json!({"POSITION": positions, "NORMAL": normals, "TANGENT": tangents});
    gltf.json["meshes"][0]["primitives"] = json!([
        {"attributes": gltf.primitive()["attributes"], "material": 0, "targets": [{"POSITION": zeros}]},
        {"attributes": attributes, "material": 1, "targets": [{"POSITION": deltas}]},
    ]);
    gltf
}

/// A corner of a triangle in model space: its position, its normal, and its tangent with the handedness.
type Corner = (Vec3, Vec3, Vec4);

/// Returns the material and the corners of each triangle in the rest pose, counterclockwise as seen from outside.
fn faces(model: &Model) -> Vec<(u32, [Corner; 3])> {
    let bind_pose = BindPose::new(&model.geometry);
    let mut scratch = PoseScratch::for_model(model);
    let pose = pose_model(model, None, 0.0, &mut scratch);
    let palette: Vec<JointMatrix> = joint_matrices(&model.palette, pose.model_from_node).collect();
    let pose = Pose { palette: &palette, morph_weights: pose.morph_weights, ..Pose::default() };
    let corner = |vertex: u32| {
        let (skinned, tangent) = skin_vertex(&bind_pose, vertex as usize, pose, true);
        (skinned.position.into(), unpack_octahedral(skinned.normal_octahedral), unpack_tangent(tangent))
    };
    let of_range = |range: &DrawRange| {
        let indices = &model.geometry.indices[range.first_index as usize..][..range.index_count as usize];
        let face = |&[a, b, c]: &[u32; 3]| {
            let corners = if range.mirrored { [a, c, b] } else { [a, b, c] };
            (range.material, corners.map(corner))
        };
        indices.as_chunks::<3>().0.iter().map(face).collect::<Vec<_>>()
    };
    model.geometry.draw_ranges.iter().flat_map(of_range).collect()
}

/// Whether two faces are equal. Material 0 has no normals in the file.
fn are_equal((material, a): &(u32, [Corner; 3]), (other_material, b): &(u32, [Corner; 3])) -> bool {
    let are_near = |a: &Corner, b: &Corner| {
        let has_same_frame = a.1.dot(b.1) > 0.9999 && a.2.xyz().dot(b.2.xyz()) > 0.9999 && a.2.w == b.2.w;
        a.0.abs_diff_eq(b.0, 1e-4) && (*material == 0 || has_same_frame)
    };
    material == other_material && (0..3).any(|turn| (0..3).all(|k| are_near(&a[k], &b[(k + turn) % 3])))
}

/// A mesh at several placements looks like a node for each of them.
#[test]
fn placements_equal_nodes_of_their_own() {
    let turn = Quat::from_euler(glam::EulerRot::YXZ, 1.0, 0.5, 0.2);
    let places = [
        (Vec3::ZERO, Quat::IDENTITY, Vec3::ONE),
        (Vec3::new(5.0, 1.0, 0.0), turn, Vec3::new(2.0, 0.5, 3.0)),
        (Vec3::Y * 7.0, turn.inverse(), Vec3::new(-1.0, 2.0, 1.0)),
        (Vec3::Z, Quat::IDENTITY, Vec3::splat(-0.5)),
    ];
    let mut placed = two_parts();
    placed.json["nodes"][0]["rotation"] = json!([0.6, 0, 0, 0.8]);
    placed.json["nodes"][0]["scale"] = json!([1, 1.5, -2]);
    let mut nodes = placed.with(&[("nodes/0/mesh", Value::Null)]);
    let attributes = json!({
        "TRANSLATION": placed.f32s("VEC3", places.map(|place| place.0.to_array()).as_flattened()),
        "ROTATION": placed.f32s("VEC4", places.map(|place| place.1.to_array()).as_flattened()),
        "SCALE": placed.f32s("VEC3", places.map(|place| place.2.to_array()).as_flattened()),
    });
    placed.json["nodes"][0]["extensions"] = instanced(attributes);
    placed.json["extensionsRequired"] = json!([NAME]);
    nodes.json["nodes"][0]["children"] = json!([1, 2, 3, 4]);
    for (t, r, s) in places {
        let [t, s] = [t, s].map(|vector| vector.to_array());
        nodes.push("nodes", json!({"mesh": 0, "translation": t, "rotation": r.to_array(), "scale": s}));
    }
    let [placed, nodes] = [placed, nodes].map(|gltf| gltf.model());
    assert!(!warns(&placed, "placements are drawn"), "{:?}", placed.warnings);
    assert_eq!(placed.palette.nodes, [0]);
    let sources = placed.geometry.source_primitives.iter();
    let names: Vec<_> = sources.map(|source| (source.node, source.placement, source.primitive)).collect();
    assert_eq!(names, (0..4).flat_map(|k| [(0, Some(k), 0), (0, Some(k), 1)]).collect::<Vec<_>>());
    // Mirrored placements need no draw range of their own.
    assert_eq!(placed.geometry.draw_ranges.len(), 2);
    let [placed, nodes] = [placed, nodes].map(|model| faces(&model));
    assert_eq!((placed.len(), nodes.len()), (8, 8));
    for face in placed {
        assert!(nodes.iter().any(|node| are_equal(&face, node)), "{face:?} is none of {nodes:?}");
    }
}

/// If the limits allow fewer placements, the drawn ones are spread over all of them, and a warning gives their number.
#[test]
fn excess_placements_of_a_small_file_are_left_out_evenly() {
    const VERTICES: usize = 5000;
    let mut gltf = Gltf::triangle();
    let positions: Vec<f32> = (0..3 * VERTICES).map(|number| number as f32).collect();
    gltf.attribute("POSITION", "VEC3", &positions);
    let many = gltf.push("accessors", json!({"componentType": F32, "type": "VEC3", "count": 300}));
    gltf.json["nodes"][0]["extensions"] = instanced(json!({"TRANSLATION": many}));
    // Copies may take half of what the first one leaves of 524,288 vertices.
    let drawn = 1 + ((1 << 19) - VERTICES) / 2 / VERTICES;
    let warning = format!("nodes[0]: {drawn} of 300 placements are drawn: files of this size allow no more");
    let sources = gltf.model_that_warns(&[&warning]).geometry.source_primitives;
    let chosen: Vec<u32> = sources.iter().filter_map(|source| source.placement).collect();
    assert_eq!(chosen.len(), drawn);
    assert!(chosen.windows(2).all(|pair| (5..=6).contains(&(pair[1] - pair[0]))), "{chosen:?}");
}

/// Attributes as normalised integers, with a rotation of length zero and an attribute that is not known.
#[test]
fn any_attribute_may_be_missing_or_odd() {
    let mut gltf = Gltf::triangle();
    // A quarter turn about z.
    let half = (0.5_f32.sqrt() * 32_767.0).round() as i16;
    let rotations: [[i16; 4]; 2] = [[0, 0, half, half], [0; 4]];
    let rotations = gltf.normalized(I16, "VEC4", 2, bytemuck::cast_slice(&rotations));
    let ids = gltf.accessor(F32, "SCALAR", 2, &[0; 8]);
    gltf.json["nodes"][0]["extensions"] = instanced(json!({"ROTATION": rotations, "_ID": ids}));
    let model = gltf.model_that_warns(&[
        "attributes.ROTATION (accessors[1]): a rotation of length zero is read as no rotation",
        "attributes._ID (accessors[2]): is ignored",
    ]);
    let sources = model.geometry.source_primitives.iter().flat_map(|source| &source.vertices);
    let expected = [Vec3::ZERO, Vec3::Y, -Vec3::X, Vec3::ZERO, Vec3::X, Vec3::Y];
    for (&vertex, expected) in sources.zip(expected) {
        let found = model.geometry.positions[vertex as usize];
        assert!(found.abs_diff_eq(expected, 1e-4), "{found} instead of {expected}");
    }
    let none = gltf.push("accessors", json!({"componentType": F32, "type": "VEC3", "count": 0}));
    gltf.json["nodes"][0]["extensions"] = instanced(json!({"SCALE": none}));
    assert_eq!(gltf.model().geometry.triangle_count(), 0);
    gltf.json["nodes"][0]["extensions"] = instanced(json!({}));
    let geometry = gltf.model_that_warns(&["the number of placements is unknown; the mesh is drawn once"]).geometry;
    assert_eq!((geometry.triangle_count(), geometry.source_primitives[0].placement), (1, None));
}

#[test]
fn a_skinned_mesh_is_drawn_once() {
    let mut gltf = Gltf::skinned([[0; 4]; 3], [[1.0, 0.0, 0.0, 0.0]; 3]);
    let translations = gltf.f32s("VEC3", &[0.0; 6]);
    gltf.json["nodes"][0]["extensions"] = instanced(json!({"TRANSLATION": translations}));
    let warning = format!("nodes[0].extensions.{NAME}: the mesh has a skin and is drawn once");
    let model = gltf.model_that_warns(&[&warning]);
    assert_eq!((model.palette.len(), model.geometry.triangle_count()), (2, 1));
}

#[test]
fn counts_numbers_and_amounts_are_checked() {
    let mut gltf = Gltf::triangle();
    let two = gltf.f32s("VEC3", &[0.0; 6]);
    let three = gltf.f32s("VEC3", &[1.0; 9]);
    let huge = gltf.f32s("VEC3", &[3e38; 6]);
    let infinite = gltf.f32s("VEC3", &[0.0, 0.0, 0.0, 0.0, f32::INFINITY, 0.0]);
    let many = gltf.push("accessors", json!({"componentType": F32, "type": "VEC3", "count": 1 << 20}));
    let path = format!("nodes/0/extensions/{NAME}/attributes");
    let placed = gltf.with(&[("nodes/0/extensions", instanced(json!({})))]);
    let fewer = format!("TRANSLATION (accessors[{three}]): 3 elements, but SCALE has 2");
    let not_finite = format!("TRANSLATION (accessors[{infinite}]): placement 1 is not finite");
    let wrong_type = format!("ROTATION (accessors[{two}]): Vec3 elements, expected Vec4");
    let at = format!("nodes[0].extensions.{NAME}");
    placed.mistakes(&format!("{at}.attributes.")).are_refused([
        (&path, json!({"SCALE": two, "TRANSLATION": three}), &fewer),
        (&path, json!({"TRANSLATION": infinite}), &not_finite),
        (&path, json!({"ROTATION": two}), &wrong_type),
        (&path, json!({"SCALE": 99}), "SCALE: accessors[99] does not exist…"),
    ]);
    placed.mistakes(&at).are_refused([(&path, json!([]), ": invalid type…")]);
    let problem = "nodes[0]: a placement moves a vertex beyond the range of numbers";
    placed.mistakes("").are_refused([(&path, json!({"SCALE": huge, "TRANSLATION": huge}), problem)]);
    // A million placements take no bytes in the file. Copies may use half of the primitives of a small file.
    let placed = placed.with(&[(&path, json!({"TRANSLATION": many}))]);
    let model = placed.model_that_warns(&["nodes[0]: 32768 of 1048576 placements are drawn"]);
    assert_eq!(model.geometry.triangle_count(), 1 << 15);
}
