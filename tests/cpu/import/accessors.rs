//! Tests of files whose sizes contradict each other. What accessors hold is tested by the fuzz target `accessor`, whose corpus and
//! random cases `tests/repository/fuzz_corpus.rs` runs, and by the files of `assets/conformance`.

use serde_json::{Value, json};

use crate::common::builder::{Gltf, U8};

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
    let problem = "sparse index 3 is out of range or order; there are 3 elements";
    sparse.mistakes(at).are_refused([("accessors/0/sparse", replaced, problem)]);
    let gltf = gltf.with(&[("accessors/0/bufferView", Value::Null)]);
    for count in [1 << 40, u64::MAX] {
        let problem = format!("{count} elements without a bufferView; at most 1048576");
        gltf.mistakes(at).are_refused([("accessors/0/count", json!(count), &problem)]);
    }
}
