//! Tests of meshes compressed by Draco, which the tests encode with the encoder of the same crate.

use draco_core::{
    DataType, EncoderBuffer, EncoderOptions, FaceIndex, GeometryAttributeType, Mesh, MeshEncoder, PointAttribute,
    PointIndex,
};
use serde_json::json;

use crate::common::builder::{F32, Gltf, U8, U16, U32, grid, sorted_triangles};

const NAME: &str = "KHR_draco_mesh_compression";

fn wavy_grid(side: u32) -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
    let (places, triangles) = grid(side, side);
    let positions = places.iter().map(|place| place.extend((place.x * 0.3).sin()).to_array()).collect();
    (positions, triangles)
}

fn attribute<T: bytemuck::NoUninit>(kind: GeometryAttributeType, data_type: DataType, values: &[T]) -> PointAttribute {
    let component_bytes = if data_type == DataType::Float32 { 4 } else { 2 };
    let mut attribute = PointAttribute::new();
    attribute.init(kind, (size_of::<T>() / component_bytes) as u8, data_type, false, values.len());
    attribute.buffer_mut().write(0, bytemuck::cast_slice(values));
    attribute
}

/// Returns the grid as a Draco stream: attribute 0 holds positions, 1 joints, and 2 weights of one.
fn stream(side: u32, method: i32) -> Vec<u8> {
    let (positions, triangles) = wavy_grid(side);
    let joints: Vec<[u16; 4]> = positions.iter().map(|position| [position[0] as u16 % 2, 0, 0, 0]).collect();
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
fn compressed(side: u32, method: i32) -> Gltf {
    let (positions, triangles) = wavy_grid(side);
    let mut gltf = Gltf::new();
    let view = gltf.view(&stream(side, method));
    let (vertices, indices) = (positions.len(), 3 * triangles.len());
    for (component_type, shape, count) in
        [(F32, "VEC3", vertices), (U16, "VEC4", vertices), (F32, "VEC4", vertices), (U32, "SCALAR", indices)]
    {
        gltf.push("accessors", json!({"componentType": component_type, "type": shape, "count": count}));
    }
    // The numbers of the accessors are those of the attributes in the stream.
    let attributes = json!({"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2});
    let extension = json!({NAME: {"bufferView": view, "attributes": attributes}});
    gltf.draw(json!({"attributes": attributes, "indices": 3, "extensions": extension}));
    gltf.json["nodes"] = json!([{"mesh": 0, "skin": 0}, {}, {}]);
    gltf.json["scenes"][0]["nodes"] = json!([0, 1, 2]);
    gltf.push("skins", json!({"joints": [1, 2]}));
    gltf.json["extensionsRequired"] = json!([NAME]);
    gltf.json["extensionsUsed"] = json!([NAME]);
    gltf
}

#[test]
fn both_methods_give_the_mesh_back() {
    let (positions, triangles) = wavy_grid(12);
    let mut plain = Gltf::new();
    let position = plain.f32s("VEC3", positions.as_flattened());
    let indices = plain.accessor(U32, "SCALAR", 3 * triangles.len(), bytemuck::cast_slice(&triangles));
    plain.draw(json!({"attributes": {"POSITION": position}, "indices": indices}));
    let expected = sorted_triangles(&plain.model().geometry);
    for method in [0, 1] {
        let model = compressed(12, method).model_without_warnings();
        assert_eq!(model.geometry.vertex_count(), positions.len());
        assert_eq!(sorted_triangles(&model.geometry), expected, "method {method}");
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
    let colors = gltf.normalized(U8, "VEC4", 25, &[0, 0, 255, 255].repeat(25));
    let mut second = gltf.primitive().clone();
    second["attributes"]["COLOR_0"] = json!(colors);
    gltf.push("meshes/0/primitives", second);
    let geometry = gltf.model().geometry;
    assert_eq!((geometry.triangle_count(), geometry.vertex_count()), (2 * 32, 2 * 25));
    assert_eq!(geometry.colors.iter().filter(|color| **color == [0, 0, 255, 255]).count(), 25);
}

#[test]
fn streams_and_accessors_that_disagree_are_refused_with_their_path() {
    let primitive = |key: &str| format!("meshes/0/primitives/0/{key}");
    let extension = |key: &str| primitive(&format!("extensions/{NAME}/{key}"));
    let elements = "attribute 0 of the stream has 25 elements of 3 components, but the accessor says 24 of 3";
    let components = "attribute 2 of the stream has 25 elements of 4 components, but the accessor says 25 of 3";
    let limit = "Decode limit exceeded: stream decodes 32 faces, over the caller's ceiling of 31";
    compressed(4, 1).mistakes(&format!("meshes[0].primitives[0].extensions.{NAME}")).are_refused([
        ("accessors/0/count", json!(24), &format!(" (accessors[0]): {elements}")),
        ("accessors/2/type", json!("VEC3"), &format!(" (accessors[2]): {components}")),
        ("accessors/3/count", json!(99), " (accessors[3]): 96 indices in the stream, but the accessor says 99"),
        // The limit is below the real number of triangles, so that decoding stops early.
        ("accessors/3/count", json!(93), &format!(": the Draco stream cannot be decoded: {limit}")),
        ("accessors/1/count", json!(1_u64 << 40), ": 17592186046298 more bytes of decompressed data…"),
        (&extension("attributes"), json!({"POSITION": 9}), " (accessors[0]): the stream has no attribute 9"),
        (&extension("bufferView"), json!(7), ": bufferViews[7] does not exist; the file has 1"),
        (&extension("bufferView"), json!("x"), ": invalid type…"),
        (&primitive("mode"), json!(5), ": only triangle lists are decoded; convert the model without Draco"),
    ]);
}

#[test]
fn damaged_streams_are_refused_or_read_but_never_fatal() {
    let (mut refused, mut accepted) = (0, 0);
    for original in [0, 1].map(|method| compressed(4, method)) {
        let counts = original.load_damaged([0x01, 0x10, 0xff]);
        (refused, accepted) = (refused + counts[0], accepted + counts[1]);
        let cut = |length: usize| original.with(&[("bufferViews/0/byteLength", json!(length))]);
        refused += (0..original.bytes.len()).filter(|&length| cut(length).load().is_err()).count();
    }
    assert!(refused > 100 && accepted > 10, "{refused} refused, {accepted} accepted: both happen");
}
