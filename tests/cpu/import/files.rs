//! Tests of containers, URIs, versions, extensions, and the facts for `throng inspect`.

use std::fs;
use std::path::Path;

use glam::Vec3;
use serde_json::{Value, json};
use throng::model::FileCamera;
use throng::model::import::{Fault, ImportError, SceneChoice, load, load_glb, load_glb_scene};

use crate::common::builder::Gltf;

fn with_buffer_at(uri: &str) -> String {
    Gltf::triangle().with_buffer_at(uri).text()
}

#[test]
fn text_and_container_hold_the_same_model() {
    let gltf = Gltf::triangle();
    let glb = load_glb("test.glb", &gltf.glb()).unwrap();
    assert_eq!((glb.name.as_str(), &glb.geometry.positions), ("test.glb", &gltf.model().geometry.positions));
    // The file starts with a byte-order mark, as some editors write.
    let text = format!("\u{feff}{}", gltf.text());
    assert_eq!(load_glb("bom.gltf", text.as_bytes()).unwrap().geometry.indices, [0, 1, 2]);
}

#[test]
fn truncated_or_wrong_containers_are_refused() {
    let glb = Gltf::triangle().glb();
    let whole = glb.len();
    let changed = |at: usize, bytes: &[u8]| [&glb[..at], bytes, &glb[at + bytes.len()..]].concat();
    let cut = format!("the file is cut short: {} bytes, but its GLB header says {whole}", whole - 1);
    let chunk = format!("the GLB chunk at byte 12 has 4294967295 bytes, but {} are left", whole - 20);
    let error = |bytes: &[u8]| load_glb("a.glb", bytes).unwrap_err().to_string();
    for (bytes, problem) in [
        (&glb[..whole - 1], &*cut),
        (&glb[..7], "the GLB header is cut short: 7 of 12 bytes"),
        (&changed(4, &[1]), "GLB version 1, expected 2"),
        (&changed(12, &[0xff; 4]), &chunk),
        (&changed(16, b"X"), "the GLB has no JSON chunk"),
        (b"", "it is empty; .gltf and .glb files can be read"),
        (b"# README", "it is neither GLB nor JSON; .gltf and .glb files can be read"),
        (b"[]", "the JSON is not an object"),
    ] {
        assert_eq!(error(bytes), format!("a.glb: {problem}"));
    }
    // Every truncated file and every file with one wrong byte may be read or refused, but must not panic.
    for at in 0..whole {
        assert!(load_glb("a.glb", &glb[..at]).is_err());
        let _ = load_glb("a.glb", &changed(at, &[!glb[at]]));
    }
}

/// What a URI must not reach is tested by `tests/program/untrusted`.
#[test]
fn buffers_are_read_from_the_models_folder_and_missing_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let parts = folder.path().join("parts and all");
    fs::create_dir(&parts).unwrap();
    fs::write(parts.join("a.bin"), Gltf::triangle().bytes).unwrap();
    let path = folder.path().join("test.gltf");
    for uri in ["parts%20and%20all/a.bin", "parts and all/a.bin", "./parts%20and%20all/../parts%20and%20all/a.bin"] {
        fs::write(&path, with_buffer_at(uri)).unwrap();
        assert_eq!(load(&path).unwrap().geometry.indices, [0, 1, 2], "{uri}");
    }
    for (uri, why) in [("missing.bin", "cannot be read: "), ("%FF", "is not UTF-8 once percent-decoded")] {
        fs::write(&path, with_buffer_at(uri)).unwrap();
        let error = load(&path).unwrap_err().to_string();
        assert!(error.starts_with("test.gltf: buffers[0].uri: ") && error.contains(why), "{uri}: {error}");
    }
    let error = load_glb("a.gltf", with_buffer_at("a.bin").as_bytes()).unwrap_err().to_string();
    assert_eq!(error, "a.gltf: buffers[0].uri: \"a.bin\": this model must not refer to other files");
    let error = load(Path::new("no/such/fox.glb")).unwrap_err();
    assert_eq!(error.to_string(), "no/such/fox.glb: cannot be read");
    assert!(matches!(error.fault, Fault::Read(_)));
}

#[test]
fn versions_are_checked() {
    let gltf = Gltf::triangle().with(&[("asset", json!({"version": "2.9", "minVersion": "2.0"}))]);
    assert_eq!(gltf.model().geometry.triangle_count(), 1);
    let newer = json!({"version": "2.1", "minVersion": "2.1"});
    gltf.mistakes("asset").are_refused([
        ("asset", json!({"version": "1.0"}), ".version: \"1.0\", expected 2.x"),
        ("asset", newer, ".minVersion: \"2.1\", but this program knows 2.0"),
        ("asset", Value::Null, ": is missing; is this a glTF 2.0 file?"),
    ]);
}

#[test]
fn required_extensions_are_known_or_named() {
    let mut gltf = Gltf::triangle();
    gltf.json["extensionsRequired"] = json!(["KHR_mesh_quantization", "EXT_bent_spoons"]);
    assert_eq!(gltf.error(), "test.gltf: extensionsRequired[1]: EXT_bent_spoons is not supported");
    assert!(matches!(gltf.load(), Err(ImportError { fault: Fault::Unsupported(_), .. })));
    gltf.json["extensionsRequired"] = json!(["KHR_materials_sheen"]);
    gltf.json["extensionsUsed"] = json!(["KHR_materials_sheen", "EXT_bent_spoons", "KHR_materials_unlit"]);
    let expected = [
        "extensionsUsed[0]: KHR_materials_sheen is not drawn",
        "extensionsUsed[1]: EXT_bent_spoons is not supported; it is ignored",
    ];
    assert_eq!(gltf.model().warnings, expected);
}

#[test]
fn json_of_the_wrong_type_is_refused_with_its_path() {
    Gltf::triangle().mistakes("nodes").are_refused([
        ("nodes/0/mesh", json!("zero"), "[0]: invalid type: string \"zero\"…"),
        ("nodes", json!({}), ": expected an array"),
    ]);
    let values = format!("{{\"extras\":[{}]}}", "0,".repeat(4 << 20));
    let error = load_glb("a.gltf", values.as_bytes()).unwrap_err().to_string();
    assert_eq!(error, "a.gltf: about 4194307 values in the JSON; at most 4194304 are read");
    // Commas and braces in strings are not counted.
    let text = format!("{{\"asset\":{{\"version\":\"2.0\",\"a\":\"\\\\\\\"{}\"}}}}", ",{[".repeat(2 << 20));
    assert!(load_glb("a.gltf", text.as_bytes()).is_ok());
}

#[test]
fn cameras_stand_at_the_first_node_of_the_scene_that_has_them() {
    let mut gltf = Gltf::triangle();
    // Nothing in a camera can be wrong.
    gltf.json["cameras"] = json!([
        {"type": "pinhole"},
        {"type": "perspective", "name": "front", "perspective": {"yfov": 0.5, "znear": 0.1}},
        {"perspective": {"yfov": 7.0}},
    ]);
    for camera in [1, 7, 1, 2] {
        gltf.push("nodes", json!({"camera": camera}));
    }
    gltf.json["scenes"][0]["nodes"] = json!([0, 2, 3]);
    let model = gltf.model();
    let node = model.skeleton.source_nodes.iter().position(|&node| node == 3).map(|node| node as u32);
    let front = FileCamera { name: Some("front".to_owned()), node, vertical_fov_radians: Some(0.5) };
    assert_eq!(model.source.cameras, [FileCamera::default(), front, FileCamera::default()]);
}

#[cfg(feature = "app")]
#[test]
fn the_report_of_inspect_lists_the_contents_of_the_file() {
    use throng::app::inspect;

    let mut gltf = Gltf::skinned([[0, 1, 0, 0]; 3], [[0.75, 0.25, 0.0, 0.0]; 3]);
    gltf.animate(1, "translation", "STEP", &[0.0, 1.5], &[0.0; 6]);
    gltf.json["animations"][0]["name"] = json!("wave\u{1b}[31m");
    gltf.json["extensionsUsed"] = json!(["EXT_bent_spoons"]);
    gltf.json["asset"]["generator"] = json!("a test");
    gltf.json["cameras"] = json!([{"type": "perspective", "name": "front"}]);
    gltf.json["scenes"][0]["name"] = json!("all\u{202e}");
    let model = gltf.model();
    let bytes = model.source.bytes as f64 / 1024.0;
    let expected = include_str!("inspect.txt").replace("BYTES", &format!("{bytes:.1}"));
    assert_eq!(inspect::report(&model, false, 80), expected);
    let json = serde_json::to_value(inspect::facts(&model, false)).unwrap();
    let per_instance = json!({
        "palette": 96, "skinned_vertices": 48, "morph_weights": 0, "instance_data": 64, "total": 208, "cpu": 96,
    });
    for (path, expected) in [
        ("/bytes_per_instance", per_instance),
        ("/geometry/influence_histogram", json!({"1": 0, "2": 3, "3-4": 0, "5-8": 0, "more": 0})),
        ("/nodes/2/parent", json!(1)),
        ("/skins", json!([{"name": null, "joints": 2, "inverse_binds": false, "meshes": [0]}])),
        ("/clips/0/name", json!("wave\u{1b}[31m")),
        ("/clips/0/interpolations", json!({"STEP": 1})),
        ("/clips/0/shared_timelines", json!([{"keys": 2, "tracks": 1}])),
        ("/lights", json!([])),
        ("/warnings", json!(model.warnings)),
    ] {
        assert_eq!(json.pointer(path), Some(&expected), "{path}");
    }
}

#[test]
fn a_scene_can_be_chosen_by_index_or_name() {
    let mut gltf = Gltf::triangle();
    gltf.push("nodes", json!({"name": "other"}));
    gltf.json["scenes"] = json!([{"nodes": [0]}, {"nodes": [1], "name": "Stage"}]);
    let load = |scene: SceneChoice| load_glb_scene("test.gltf", gltf.text().as_bytes(), &scene);
    assert_eq!(load(SceneChoice::Default).unwrap().skeleton.source_nodes, [0]);
    assert_eq!(load(SceneChoice::Index(0)).unwrap().geometry.triangle_count(), 1);
    for choice in [SceneChoice::Index(1), SceneChoice::Name("Stage".to_owned())] {
        let model = load(choice).unwrap();
        assert_eq!((model.skeleton.source_nodes.as_slice(), model.geometry.triangle_count()), ([1].as_slice(), 0));
    }
    let message = load(SceneChoice::Name("Hall".to_owned())).unwrap_err().to_string();
    assert_eq!(message, "test.gltf: scenes: there is no scene \"Hall\"; the scenes are: 0, 1 \"Stage\"");
    assert!(load(SceneChoice::Index(2)).is_err());
}

/// The buffer is that of the triangle: nine floats, of which two are 1.
#[test]
fn data_uris_are_decoded_with_and_without_base64_and_padding() {
    let base64 = "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA";
    let percent = "%00%00%80%3F";
    let zeros = "%00".repeat(12);
    for uri in [
        format!("data:;base64,{base64}"),
        format!("DATA:application/octet-stream;base64,{}", base64.replace('/', "%2F")),
        format!("data:,{zeros}{percent}{zeros}{percent}%00%00%00%00"),
    ] {
        let model =
            load_glb("test.gltf", with_buffer_at(&uri).as_bytes()).unwrap_or_else(|error| panic!("{uri}: {error}"));
        assert_eq!(model.geometry.positions, [Vec3::ZERO, Vec3::X, Vec3::Y], "{uri}");
    }
    // A final group of one or two bytes, with and without its padding.
    for (uri, bytes) in [("data:;base64,AAEC/w==", 4), ("data:;base64,AAEC/w", 4), ("data:;base64,AAEC%2Fw%3D%3D", 4)] {
        let error = load_glb("test.gltf", with_buffer_at(uri).as_bytes()).unwrap_err().to_string();
        assert!(error.contains(&format!("{bytes} bytes")), "{uri}: {error}");
    }
    for uri in ["data:;base64,A*", "data:nothing"] {
        let error = load_glb("test.gltf", with_buffer_at(uri).as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("test.gltf: buffers[0].uri: "), "{uri}: {error}");
    }
}
