//! Tests of all normalised integers that exist, which is better than a random selection.

use serde_json::json;

use crate::common::builder::{Gltf, I16, U8, U16};

const I8: u32 = 5120;

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
