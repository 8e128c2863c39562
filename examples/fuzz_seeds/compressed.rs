//! Seed files with compressed data, by meshoptimizer in each mode and by Draco in each method.

use draco_core::{
    DataType, EncoderBuffer, EncoderOptions, FaceIndex, GeometryAttributeType, Mesh, MeshEncoder, PointAttribute,
    PointIndex,
};
use serde_json::{Value, json};

use crate::builder::{F32, Gltf, I16, U8, U16};

/// The corners of a fan of quads that is small but compressible.
const POSITIONS: [[f32; 3]; 8] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.5],
    [1.0, 1.0, 0.5],
    [0.0, 2.0, 1.0],
    [1.0, 2.0, 1.0],
    [0.0, 3.0, 1.5],
    [1.0, 3.0, 1.5],
];
const TRIANGLES: [u32; 18] = [0, 1, 2, 2, 1, 3, 2, 3, 4, 4, 3, 5, 4, 5, 6, 6, 5, 7];

/// Returns all seeds with their names.
pub fn all() -> Vec<(&'static str, Gltf)> {
    vec![
        ("meshopt_triangles", meshopt("TRIANGLES", 0)),
        ("meshopt_indices", meshopt("INDICES", 1)),
        ("meshopt_filters", meshopt_filters()),
        ("draco_sequential", draco(0)),
        ("draco_edgebreaker", draco(1)),
    ]
}

fn show(gltf: &mut Gltf, primitive: Value) {
    gltf.push("meshes", json!({"primitives": [primitive]}));
    gltf.push("nodes", json!({"mesh": 0}));
    gltf.json["scenes"][0]["nodes"] = json!([0]);
}

/// Appends a compressed view and an accessor of all of it.
fn push_meshopt(gltf: &mut Gltf, stream: &[u8], mut says: Value, accessor: Value) -> usize {
    let name = if says["filter"] == "COLOR" { "KHR_meshopt_compression" } else { "EXT_meshopt_compression" };
    let view = gltf.view(stream);
    let view_entry = gltf.json["bufferViews"][view].clone();
    says["buffer"] = json!(0);
    says["byteOffset"] = view_entry["byteOffset"].clone();
    says["byteLength"] = view_entry["byteLength"].clone();
    let stride = says["byteStride"].as_u64().unwrap_or(0);
    let count = says["count"].as_u64().unwrap_or(0);
    let mut entry = json!({"buffer": 0, "byteLength": count * stride, "extensions": {name: says}});
    if accessor["type"] != "SCALAR" {
        entry["byteStride"] = json!(stride);
    }
    gltf.json["bufferViews"][view] = entry;
    let mut accessor = accessor;
    accessor["bufferView"] = json!(view);
    accessor["count"] = json!(count);
    gltf.json["extensionsUsed"] = json!(["EXT_meshopt_compression", "KHR_meshopt_compression"]);
    gltf.push("accessors", accessor)
}

fn attributes<T>(elements: &[T], version: i32) -> (Vec<u8>, Value) {
    let stream = meshopt::encode_vertex_buffer_level(elements, 2, Some(version));
    let stream = stream.unwrap_or_else(|error| panic!("the encoder: {error}"));
    (stream, json!({"mode": "ATTRIBUTES", "count": elements.len(), "byteStride": size_of::<T>()}))
}

fn meshopt(mode: &str, version: i32) -> Gltf {
    let mut gltf = Gltf::new();
    let (stream, says) = attributes(&POSITIONS, version);
    let position = push_meshopt(&mut gltf, &stream, says, json!({"componentType": F32, "type": "VEC3"}));
    let encode = if mode == "TRIANGLES" { meshopt::encode_index_buffer } else { meshopt::encode_index_sequence };
    let stream = encode(&TRIANGLES, POSITIONS.len()).unwrap_or_else(|error| panic!("the encoder: {error}"));
    let says = json!({"mode": mode, "count": TRIANGLES.len(), "byteStride": 2});
    let indices = push_meshopt(&mut gltf, &stream, says, json!({"componentType": U16, "type": "SCALAR"}));
    show(&mut gltf, json!({"attributes": {"POSITION": position}, "indices": indices}));
    gltf
}

/// The filters can be decoded even though the encoder did not apply them.
fn meshopt_filters() -> Gltf {
    let mut gltf = Gltf::new();
    let (stream, mut says) = attributes(&POSITIONS.map(|position| position.map(|x| (x * 4.0) as u32)), 0);
    says["filter"] = json!("EXPONENTIAL");
    let position = push_meshopt(&mut gltf, &stream, says, json!({"componentType": F32, "type": "VEC3"}));
    let (stream, mut says) = attributes(&[[100_i16, -50, 127, 0]; 8], 0);
    says["filter"] = json!("OCTAHEDRAL");
    let accessor = json!({"componentType": I16, "type": "VEC3", "normalized": true});
    let normal = push_meshopt(&mut gltf, &stream, says, accessor);
    let (stream, mut says) = attributes(&[[200_u8, 10, 20, 255]; 8], 1);
    says["filter"] = json!("COLOR");
    let color =
        push_meshopt(&mut gltf, &stream, says, json!({"componentType": U8, "type": "VEC4", "normalized": true}));
    show(&mut gltf, json!({"attributes": {"POSITION": position, "NORMAL": normal, "COLOR_0": color}}));
    let (stream, mut says) = attributes(&[[0_i16, 100, 200, 1023]; 2], 0);
    says["filter"] = json!("QUATERNION");
    let accessor = json!({"componentType": I16, "type": "VEC4", "normalized": true});
    let rotations = push_meshopt(&mut gltf, &stream, says, accessor);
    let times = gltf.f32s("SCALAR", &[0.0, 1.0]);
    gltf.animation(0, "rotation", "LINEAR", times, rotations);
    gltf
}

fn draco(method: i32) -> Gltf {
    const NAME: &str = "KHR_draco_mesh_compression";
    let mut gltf = Gltf::new();
    let view = gltf.view(&draco_stream(method));
    let position = gltf.push("accessors", json!({"componentType": F32, "type": "VEC3", "count": POSITIONS.len()}));
    let indices = gltf.push("accessors", json!({"componentType": U16, "type": "SCALAR", "count": TRIANGLES.len()}));
    let says = json!({NAME: {"bufferView": view, "attributes": {"POSITION": 0}}});
    show(&mut gltf, json!({"attributes": {"POSITION": position}, "indices": indices, "extensions": says}));
    gltf.json["extensionsRequired"] = json!([NAME]);
    gltf.json["extensionsUsed"] = json!([NAME]);
    gltf
}

fn draco_stream(method: i32) -> Vec<u8> {
    let mut mesh = Mesh::new();
    mesh.set_num_points(POSITIONS.len());
    mesh.set_num_faces(TRIANGLES.len() / 3);
    for (index, triangle) in TRIANGLES.as_chunks::<3>().0.iter().enumerate() {
        mesh.set_face(FaceIndex(index as u32), triangle.map(PointIndex));
    }
    let mut positions = PointAttribute::new();
    positions.init(GeometryAttributeType::Position, 3, DataType::Float32, false, POSITIONS.len());
    positions.buffer_mut().write(0, bytemuck::cast_slice(&POSITIONS));
    mesh.add_attribute(positions);
    let mut encoder = MeshEncoder::new();
    encoder.set_mesh(mesh);
    let mut options = EncoderOptions::new();
    options.set_encoding_method(method);
    let mut buffer = EncoderBuffer::new();
    encoder.encode(&options, &mut buffer).unwrap_or_else(|error| panic!("the encoder: {error:?}"));
    buffer.data().to_vec()
}
