//! Tests of meshes compressed by Draco, which the tests encode with the encoder of the same crate.

use draco_core::{
    DataType, EncoderBuffer, EncoderOptions, FaceIndex, GeometryAttributeType, Mesh, MeshEncoder, PointAttribute,
    PointIndex,
};
use serde_json::{Value, json};
use throng::model::Model;

use crate::common::builder::{F32, Gltf, U16, U32};

const NAME: &str = "KHR_draco_mesh_compression";

type Grid = (Vec<[f32; 3]>, Vec<[u16; 4]>, Vec<[u32; 3]>);

/// Returns the positions, joints and triangles of a grid of quads in the xy plane.
fn grid(side: u16) -> Grid {
    let across = u32::from(side) + 1;
    let corner = |index: u32| ((index % across) as f32, (index / across) as f32);
    let positions = (0..across * across).map(corner).map(|(x, y)| [x, y, (x * 0.3).sin()]).collect();
    let joints = (0..across * across).map(|index| [(index % across % 2) as u16, 0, 0, 0]).collect();
    let cell = |cell: u32| {
        let first = cell / u32::from(side) * across + cell % u32::from(side);
        [[first, first + 1, first + across], [first + 1, first + across + 1, first + across]]
    };
    (positions, joints, (0..u32::from(side).pow(2)).flat_map(cell).collect())
}

fn attribute<T: bytemuck::NoUninit>(kind: GeometryAttributeType, data_type: DataType, values: &[T]) -> PointAttribute {
    let component_bytes = if data_type == DataType::Float32 { 4 } else { 2 };
    let mut attribute = PointAttribute::new();
    attribute.init(kind, (size_of::<T>() / component_bytes) as u8, data_type, false, values.len());
    attribute.buffer_mut().write(0, bytemuck::cast_slice(values));
    attribute
}

/// Returns the grid as a Draco stream: attribute 0 holds positions, 1 joints, and 2 weights of one.
fn stream(side: u16, method: i32) -> Vec<u8> {
    let (positions, joints, triangles) = grid(side);
    let mut mesh = Mesh::new();
    mesh.set_num_points(positions.len());
    mesh.set_num_faces(triangles.len());
    for (index, triangle) in triangles.iter().enumerate() {
        mesh.set_face(FaceIndex(index as u32), triangle.map(PointIndex));
    }
    mesh.add_attribute(attribute(GeometryAttributeType::Position, DataType::Float32, &positions));
    mesh.add_attribute(attribute(GeometryAttributeType::Generic, DataType::Uint16, &joints));
    let weights = vec![[1.0_f32, 0.0, 0.0, 0.0]; positions.len()];
    mesh.add_attribute(attribute(GeometryAttributeType::Generic, DataType::Float32, &weights));
    let mut encoder = MeshEncoder::new();
    encoder.set_mesh(mesh);
    let mut options = EncoderOptions::new();
    options.set_encoding_method(method);
    let mut buffer = EncoderBuffer::new();
    encoder.encode(&options, &mut buffer).unwrap();
    buffer.data().to_vec()
}

/// Makes the grid, skinned to two joints. One stream holds all of its data.
fn compressed(side: u16, method: i32) -> Gltf {
    let (positions, _, triangles) = grid(side);
    let mut gltf = Gltf::new();
    let view = gltf.view(&stream(side, method));
    let mut empty = |component_type: u32, shape: &str, count: usize| {
        gltf.push("accessors", json!({"componentType": component_type, "type": shape, "count": count}))
    };
    let position = empty(F32, "VEC3", positions.len());
    let joints = empty(U16, "VEC4", positions.len());
    let weights = empty(F32, "VEC4", positions.len());
    let indices = empty(U32, "SCALAR", 3 * triangles.len());
    gltf.push(
        "meshes",
        json!({"primitives": [{
            "attributes": {"POSITION": position, "JOINTS_0": joints, "WEIGHTS_0": weights},
            "indices": indices,
            "extensions": {NAME: {"bufferView": view, "attributes": {"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2}}},
        }]}),
    );
    for node in [json!({"mesh": 0, "skin": 0}), json!({}), json!({})] {
        let node = gltf.push("nodes", node);
        gltf.json["scenes"][0]["nodes"].as_array_mut().unwrap().push(json!(node));
    }
    gltf.push("skins", json!({"joints": [1, 2]}));
    gltf.json["extensionsRequired"] = json!([NAME]);
    gltf.json["extensionsUsed"] = json!([NAME]);
    gltf
}

/// Returns the corners of all triangles, sorted, because the encoder may choose any order. Each triangle starts with
/// its smallest corner.
fn triangles_of(model: &Model) -> Vec<[[i32; 3]; 3]> {
    let corner = |&index: &u32| (model.geometry.positions[index as usize] * 1000.0).round().as_ivec3().to_array();
    let corners: Vec<[i32; 3]> = model.geometry.indices.iter().map(corner).collect();
    let mut triangles: Vec<[[i32; 3]; 3]> = corners
        .as_chunks::<3>()
        .0
        .iter()
        .map(|&[a, b, c]| [[a, b, c], [b, c, a], [c, a, b]].into_iter().min().unwrap())
        .collect();
    triangles.sort_unstable();
    triangles
}

#[test]
fn both_methods_give_the_mesh_back() {
    let (positions, _, triangles) = grid(12);
    let mut plain = Gltf::new();
    let position = plain.f32s("VEC3", positions.as_flattened());
    let indices = plain.accessor(U32, "SCALAR", 3 * triangles.len(), bytemuck::cast_slice(&triangles));
    plain.push("meshes", json!({"primitives": [{"attributes": {"POSITION": position}, "indices": indices}]}));
    plain.push("nodes", json!({"mesh": 0}));
    plain.json["scenes"][0]["nodes"] = json!([0]);
    let expected = triangles_of(&plain.model());
    for method in [0, 1] {
        let model = compressed(12, method).model();
        assert_eq!(model.warnings, [""; 0]);
        assert_eq!(model.geometry.vertex_count(), positions.len());
        assert_eq!(triangles_of(&model), expected, "method {method}");
        for (vertex, position) in model.geometry.positions.iter().enumerate() {
            let influences = model.geometry.influences_of(vertex);
            assert_eq!((influences.len(), influences[0].joint), (1, position.x.round() as u32 % 2), "at {position}");
        }
    }
}

/// Other attributes of the primitive, and other primitives, are read as usual.
#[test]
fn streams_can_be_shared_and_leave_other_attributes_alone() {
    let mut gltf = compressed(4, 1);
    let colors: Vec<u8> = (0..25).flat_map(|_| [0, 0, 255, 255]).collect();
    let colors = gltf.accessor(5121, "VEC4", 25, &colors);
    gltf.json["accessors"][colors]["normalized"] = json!(true);
    let mut second = gltf.json["meshes"][0]["primitives"][0].clone();
    second["attributes"]["COLOR_0"] = json!(colors);
    gltf.json["meshes"][0]["primitives"].as_array_mut().unwrap().push(second);
    let geometry = gltf.model().geometry;
    assert_eq!(geometry.triangle_count(), 2 * 32);
    assert_eq!(geometry.vertex_count(), 2 * 25);
    assert_eq!(geometry.colors.iter().filter(|color| **color == [0, 0, 255, 255]).count(), 25);
}

#[test]
fn streams_and_accessors_that_disagree_are_refused_with_their_path() {
    let at = format!("test.gltf: meshes[0].primitives[0].extensions.{NAME}");
    let error = |change: &dyn Fn(&mut Value)| {
        let mut gltf = compressed(4, 1);
        change(&mut gltf.json);
        gltf.error()
    };
    let count = error(&|json| json["accessors"][0]["count"] = json!(24));
    let said = "attribute 0 of the stream has 25 elements of 3 components, but the accessor says 24 of 3";
    assert_eq!(count, format!("{at} (accessors[0]): {said}"));
    let shape = error(&|json| json["accessors"][2]["type"] = json!("VEC3"));
    let said = "attribute 2 of the stream has 25 elements of 4 components, but the accessor says 25 of 3";
    assert_eq!(shape, format!("{at} (accessors[2]): {said}"));
    let more = error(&|json| json["accessors"][3]["count"] = json!(99));
    assert_eq!(more, format!("{at} (accessors[3]): 96 indices in the stream, but the accessor says 99"));
    // The limit is below the real number of triangles, so that decoding stops early.
    assert!(error(&|json| json["accessors"][3]["count"] = json!(93)).contains("ceiling of 31"));
    let extension = |json: &mut Value, key: &str, value: Value| {
        json["meshes"][0]["primitives"][0]["extensions"][NAME][key] = value;
    };
    let id = error(&|json| extension(json, "attributes", json!({"POSITION": 9})));
    assert_eq!(id, format!("{at} (accessors[0]): the stream has no attribute 9"));
    assert_eq!(
        error(&|json| extension(json, "bufferView", json!(7))),
        format!("{at}: bufferViews[7] does not exist; the file has 1")
    );
    assert!(error(&|json| extension(json, "bufferView", json!("x"))).starts_with(&format!("{at}: invalid type")));
    let primitive = |json: &mut Value, key: &str, value: Value| json["meshes"][0]["primitives"][0][key] = value;
    let strip = error(&|json| primitive(json, "mode", json!(5)));
    assert_eq!(strip, format!("{at}: only triangle lists are decoded; convert the model without Draco"));
    assert!(error(&|json| json["accessors"][1]["count"] = json!(1_u64 << 40)).contains("bytes of decompressed data"));
}

#[test]
fn damaged_streams_are_refused_or_read_but_never_fatal() {
    let (mut refused, mut accepted) = (0, 0);
    for method in [0, 1] {
        let original = compressed(6, method);
        for at in 0..original.bytes.len() {
            for bits in [0x01, 0x10, 0xff] {
                let mut gltf = Gltf { json: original.json.clone(), bytes: original.bytes.clone() };
                gltf.bytes[at] ^= bits;
                match gltf.load() {
                    Ok(_) => accepted += 1,
                    Err(_) => refused += 1,
                }
            }
        }
        for length in 0..original.bytes.len() {
            let mut gltf = Gltf { json: original.json.clone(), bytes: original.bytes.clone() };
            gltf.json["bufferViews"][0]["byteLength"] = json!(length);
            refused += usize::from(gltf.load().is_err());
        }
    }
    assert!(refused > 100 && accepted > 10, "{refused} refused, {accepted} accepted: both happen");
}
