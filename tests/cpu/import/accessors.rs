//! Tests of indices and integers, and of files whose sizes contradict each other. Interleaved and sparse accessors are among the
//! files of `assets/conformance`.

use serde_json::{Value, json};

use crate::common::builder::{Gltf, I16, U8, U16, U32, drawn_vertices};

const I8: u32 = 5120;

#[test]
fn indices_of_all_widths_mean_the_same() {
    let indices: [(u32, &[u8]); 3] =
        [(U8, &[2, 1, 0]), (U16, &[2, 0, 1, 0, 0, 0]), (U32, &[2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0])];
    for (component_type, data) in indices {
        let mut gltf = Gltf::triangle();
        let accessor = gltf.accessor(component_type, "SCALAR", 3, data);
        gltf.primitive()["indices"] = json!(accessor);
        assert_eq!(drawn_vertices(&gltf.model()), [0, 2, 1], "{component_type}");
    }
}

#[test]
fn views_buffers_and_accessors_must_be_what_they_say() {
    let gltf = Gltf::triangle();
    let short = json!({"byteLength": 36, "uri": "data:;base64,AAAA"});
    gltf.mistakes("").are_refused([
        ("bufferViews/0/byteLength", json!(40), "bufferViews[0]: 40 bytes from byte 0 of buffers[0], which has 36"),
        ("bufferViews/0/byteOffset", json!(u64::MAX), "bufferViews[0]: 36 bytes from byte 18446744073709551615…"),
        ("buffers/0", short, "buffers[0]: 3 bytes, but byteLength says 36; is it cut short?"),
    ]);
    gltf.mistakes("meshes[0].primitives[0].attributes.POSITION").are_refused([
        ("accessors/0/count", json!(1_u64 << 40), " (accessors[0]): 1099511627776 elements…"),
        ("accessors/0/type", json!("VEC2"), " (accessors[0]): Vec2 elements, expected Vec3"),
        ("accessors/0/type", json!("VEC9"), " (accessors[0]): unknown type"),
        ("meshes/0/primitives/0/attributes/POSITION", json!(5), ": accessors[5] does not exist; the file has 1"),
    ]);
    let at = "meshes[0].primitives[0].attributes.POSITION (accessors[0]): ";
    // The end of the last element counts, not the end of its stride: 8 would fit in 48 bytes, 16 does not.
    let mut interleaved = Gltf::triangle();
    let view = interleaved.view(&[0; 64]);
    interleaved.json["bufferViews"][view]["byteStride"] = json!(24);
    interleaved.json["accessors"][0]["bufferView"] = json!(view);
    assert!(interleaved.with(&[("accessors/0/byteOffset", json!(4))]).load().is_ok());
    let outside = "3 elements of 12 bytes every 24 from byte 8 do not fit in its bufferView of 64 bytes";
    interleaved.mistakes(at).are_refused([
        ("accessors/0/byteOffset", json!(8), outside),
        ("bufferViews/1/byteStride", json!(8), "byteStride 8 is less than one element of 12"),
    ]);
    let mut sparse = Gltf::triangle();
    let [indices, values] = [&[0, 3][..], &[0; 24]].map(|bytes| sparse.view(bytes));
    let replaced = json!({
        "count": 2, "indices": {"bufferView": indices, "componentType": U8}, "values": {"bufferView": values},
    });
    sparse.mistakes(at).are_refused([(
        "accessors/0/sparse",
        replaced,
        "sparse index 3 is out of range or order; there are 3 elements",
    )]);
    let gltf = gltf.with(&[("accessors/0/bufferView", Value::Null)]);
    for count in [1 << 40, u64::MAX] {
        let problem = format!("{count} elements without a bufferView; at most 1048576");
        gltf.mistakes(at).are_refused([("accessors/0/count", json!(count), &problem)]);
    }
}

/// Reads the numbers of all positions from an accessor of normalised integers. `bytes` holds three for each vertex.
fn decoded(component_type: u32, component_bytes: usize, bytes: &[u8]) -> Vec<f32> {
    let mut gltf = Gltf::triangle();
    let accessor = gltf.normalized(component_type, "VEC3", bytes.len() / component_bytes / 3, bytes);
    gltf.primitive()["attributes"]["POSITION"] = json!(accessor);
    gltf.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    let geometry = gltf.model().geometry;
    let position = |&vertex: &u32| geometry.positions[vertex as usize].to_array();
    geometry.source_primitives[0].vertices.iter().flat_map(position).collect()
}

/// Checks all integers from `least` to `most`.
fn check_all(component_type: u32, least: i32, most: i32, encode: impl Fn(i32) -> Vec<u8>) {
    // The last ones are repeated to get a multiple of three.
    let numbers: Vec<i32> = (least..=most).chain([most; 2]).collect();
    let numbers = &numbers[..numbers.len() - numbers.len() % 3];
    let bytes: Vec<u8> = numbers.iter().flat_map(|&number| encode(number)).collect();
    let decoded = decoded(component_type, encode(0).len(), &bytes);
    assert_eq!(decoded.len(), numbers.len());
    for (&number, decoded) in numbers.iter().zip(&decoded) {
        // By 3.6.2.2 and 3.11, f = max(c / most, -1), exact to the last bit.
        let expected = (f64::from(number) / f64::from(most)).max(-1.0) as f32;
        assert_eq!(decoded.to_bits(), expected.to_bits(), "{number} became {decoded}");
        // Converting back gives the integer.
        assert_eq!((f64::from(*decoded) * f64::from(most)).round() as i32, number.max(-most));
    }
    assert!(decoded.is_sorted());
    assert_eq!((decoded[0], decoded[decoded.len() - 1]), (if least < 0 { -1.0 } else { 0.0 }, 1.0));
}

#[test]
fn normalised_integers_are_exact() {
    check_all(I8, -128, 127, |number| vec![number as i8 as u8]);
    check_all(U8, 0, 255, |number| vec![number as u8]);
    check_all(I16, -32_768, 32_767, |number| (number as i16).to_le_bytes().to_vec());
    check_all(U16, 0, 65_535, |number| (number as u16).to_le_bytes().to_vec());
}
