//! Containers, URIs, versions, extensions, and the report of `throng inspect`.

use std::fs;
use std::path::Path;

use serde_json::json;
use throng::app::inspect;
use throng::model::import::{ImportError, SceneChoice, load, load_glb, load_glb_scene};

use crate::builder::{Gltf, warns};

/// The triangle with its buffer at `uri`.
fn with_buffer_at(uri: &str) -> String {
    let mut gltf = Gltf::triangle();
    gltf.json["buffers"] = json!([{"byteLength": gltf.bytes.len(), "uri": uri}]);
    gltf.text()
}

fn load_text(path: &Path, text: &str) -> Result<throng::model::Model, ImportError> {
    fs::write(path, text).unwrap();
    load(path)
}

#[test]
fn text_and_container_hold_the_same_model() {
    let gltf = Gltf::triangle();
    let glb = load_glb("test.glb", &gltf.glb()).unwrap();
    assert_eq!((glb.name.as_str(), &glb.geometry.positions), ("test.glb", &gltf.model().geometry.positions));
    // With a byte-order mark, as some editors write.
    let text = format!("\u{feff}{}", gltf.text());
    assert_eq!(load_glb("bom.gltf", text.as_bytes()).unwrap().geometry.indices, [0, 1, 2]);
}

#[test]
fn containers_that_are_cut_short_or_wrong_are_refused() {
    let glb = Gltf::triangle().glb();
    let error = |bytes: &[u8]| load_glb("a.glb", bytes).unwrap_err().to_string();
    let whole = glb.len();
    let cut = format!("a.glb: the file is cut short: {} bytes, but its GLB header says {whole}", whole - 1);
    assert_eq!(error(&glb[..whole - 1]), cut);
    assert_eq!(error(&glb[..7]), "a.glb: the GLB header is cut short: 7 of 12 bytes");
    let mut wrong = glb.clone();
    wrong[4] = 1;
    assert_eq!(error(&wrong), "a.glb: GLB version 1, expected 2");
    wrong = glb.clone();
    wrong[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
    let message = format!("a.glb: the GLB chunk at byte 12 has 4294967295 bytes, but {} are left", whole - 20);
    assert_eq!(error(&wrong), message);
    wrong = glb.clone();
    wrong[16] = b'X';
    assert_eq!(error(&wrong), "a.glb: the GLB has no JSON chunk");
    assert_eq!(error(b""), "a.glb: it is empty; .gltf and .glb files can be read");
    assert_eq!(error(b"# README"), "a.glb: it is neither GLB nor JSON; .gltf and .glb files can be read");
    assert_eq!(error(b"[]"), "a.glb: the JSON is not an object");
    let deep = "[".repeat(1_000_000);
    assert_eq!(error(deep.as_bytes()), "a.glb: the JSON is not an object");
    for list in ["extras", "accessors", "nodes"] {
        let closed = format!(r#"{{"asset": {{"version": "2.0"}}, "{list}": {deep}{}}}"#, "]".repeat(deep.len()));
        assert!(load_glb("a.glb", closed.as_bytes()).is_err(), "{list}");
        let open = format!(r#"{{"{list}": {deep}"#);
        assert_eq!(error(open.as_bytes()), "a.glb: the JSON part is malformed");
    }
    // Every prefix and every single wrong byte: any answer but a panic will do.
    for end in 0..whole {
        assert!(load_glb("a.glb", &glb[..end]).is_err());
    }
    for at in 0..whole {
        let mut wrong = glb.clone();
        wrong[at] ^= 0xff;
        let _ = load_glb("a.glb", &wrong);
    }
}

#[test]
fn buffers_are_read_from_the_models_folder_only() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().join("model");
    fs::create_dir_all(folder.join("parts and all")).unwrap();
    let bytes = Gltf::triangle().bytes;
    for path in ["model/parts and all/a.bin", "secret.bin"] {
        fs::write(outside.path().join(path), &bytes).unwrap();
    }
    let path = folder.join("test.gltf");
    for uri in ["parts%20and%20all/a.bin", "parts and all/a.bin", "./parts%20and%20all/../parts%20and%20all/a.bin"] {
        assert_eq!(load_text(&path, &with_buffer_at(uri)).unwrap().geometry.indices, [0, 1, 2], "{uri}");
    }
    let secret = outside.path().join("secret.bin");
    for (uri, why) in [
        ("../secret.bin", "leads out of the model's folder"),
        ("%2e%2e/secret.bin", "leads out of the model's folder"),
        (secret.to_str().unwrap(), "is an absolute path"),
        ("file:///etc/passwd", "names a scheme or drive"),
        ("missing.bin", "cannot be read: "),
        ("parts%20and%20all", "cannot be read: it is a folder"),
        ("%FF", "is not UTF-8 once percent-decoded"),
    ] {
        let error = load_text(&path, &with_buffer_at(uri)).unwrap_err().to_string();
        assert!(error.starts_with("test.gltf: buffers[0].uri: ") && error.contains(why), "{uri}: {error}");
    }
    let error = load_glb("a.gltf", with_buffer_at("a.bin").as_bytes()).unwrap_err().to_string();
    assert_eq!(error, "a.gltf: buffers[0].uri: \"a.bin\": this model must not refer to other files");
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_the_folder_and_pipes_are_not_waited_for() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().join("model");
    fs::create_dir(&folder).unwrap();
    let path = folder.join("test.gltf");
    fs::write(outside.path().join("secret.bin"), Gltf::triangle().bytes).unwrap();
    std::os::unix::fs::symlink("../secret.bin", folder.join("link.bin")).unwrap();
    let error = load_text(&path, &with_buffer_at("link.bin")).unwrap_err().to_string();
    let why = "test.gltf: buffers[0].uri: \"link.bin\" leads out of the model's folder by a symbolic link";
    assert_eq!(error, why);
    // An image that escapes is an error as well, though a missing one is not.
    let mut gltf = Gltf::triangle();
    gltf.json["textures"] = json!([{"source": 0}]);
    gltf.json["materials"] = json!([{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]);
    gltf.json["images"] = json!([{"uri": "../secret.png"}]);
    let error = load_text(&path, &gltf.text()).unwrap_err().to_string();
    assert_eq!(error, "test.gltf: images[0].uri: \"../secret.png\" leads out of the model's folder");
    gltf.json["images"] = json!([{"uri": "missing.png"}]);
    assert!(warns(&load_text(&path, &gltf.text()).unwrap(), "\"missing.png\" cannot be read"));

    let pipe = folder.join("pipe.gltf");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let error = load(&pipe).unwrap_err();
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "it is not a regular file");
}

#[test]
fn a_file_that_is_not_there_is_named_with_its_path() {
    let error = load(Path::new("no/such/fox.glb")).unwrap_err();
    assert_eq!(error.to_string(), "no/such/fox.glb: cannot be read");
    assert!(matches!(error, ImportError::Read { .. }));
}

#[test]
fn versions_are_checked() {
    let mut gltf = Gltf::triangle();
    gltf.json["asset"] = json!({"version": "2.9", "minVersion": "2.0"});
    assert_eq!(gltf.model().geometry.triangle_count(), 1);
    gltf.json["asset"] = json!({"version": "1.0"});
    assert_eq!(gltf.error(), "test.gltf: asset.version: \"1.0\", expected 2.x");
    gltf.json["asset"] = json!({"version": "2.1", "minVersion": "2.1"});
    assert_eq!(gltf.error(), "test.gltf: asset.minVersion: \"2.1\", but this program knows 2.0");
    gltf.json.as_object_mut().unwrap().remove("asset");
    assert_eq!(gltf.error(), "test.gltf: asset: is missing; is this a glTF 2.0 file?");
}

#[test]
fn required_extensions_are_known_or_named() {
    let mut gltf = Gltf::triangle();
    gltf.json["extensionsRequired"] = json!(["KHR_mesh_quantization", "EXT_bent_spoons"]);
    assert_eq!(gltf.error(), "test.gltf: extensionsRequired[1]: EXT_bent_spoons is not supported");
    assert!(matches!(gltf.load(), Err(ImportError::Unsupported { .. })));
    gltf.json["extensionsRequired"] = json!(["KHR_materials_ior"]);
    gltf.json["extensionsUsed"] = json!(["KHR_materials_ior", "EXT_bent_spoons", "KHR_materials_unlit"]);
    let expected = [
        "extensionsUsed[0]: KHR_materials_ior is not drawn",
        "extensionsUsed[1]: EXT_bent_spoons is not supported and ignored",
    ];
    assert_eq!(gltf.model().warnings, expected);
}

#[test]
fn json_of_the_wrong_shape_is_refused_by_place() {
    let mut gltf = Gltf::triangle();
    gltf.json["nodes"][0]["mesh"] = json!("zero");
    assert!(gltf.error().starts_with("test.gltf: nodes[0]: invalid type: string \"zero\""), "{}", gltf.error());
    gltf.json["nodes"] = json!({});
    assert_eq!(gltf.error(), "test.gltf: nodes: expected an array");
    gltf.json["nodes"] = json!(vec![0; (1 << 20) + 1]);
    assert_eq!(gltf.error(), "test.gltf: nodes: 1048577 elements, at most 1048576 are read");
    // Cameras are not read, so nothing in them can be wrong.
    let mut gltf = Gltf::triangle();
    gltf.json["cameras"] = json!([{"type": "pinhole"}]);
    assert_eq!(gltf.model().geometry.triangle_count(), 1);
}

#[test]
fn the_report_says_what_is_in_the_file() {
    let mut gltf = Gltf::skinned([[0, 1, 0, 0]; 3], [[0.75, 0.25, 0.0, 0.0]; 3]);
    let (times, values) = (gltf.f32s("SCALAR", &[0.0, 1.5]), gltf.f32s("VEC3", &[0.0; 6]));
    gltf.animation(1, "translation", "STEP", times, values);
    gltf.json["animations"][0]["name"] = json!("wave\u{1b}[31m");
    gltf.json["extensionsUsed"] = json!(["EXT_bent_spoons"]);
    let model = gltf.model();
    let expected = "\
test.gltf
  nodes         3, of which 2 are joints
  vertices      3 after welding, 3 in the file
  triangles     1 in 1 draw
  influences    2.00 per vertex, at most 2
  palette       2 joint matrices
  per instance  144 bytes: 96 of joint matrices, 48 of skinned vertices

nodes (* joint, + mesh, - outside the scene): 3
  0   +   node 0
  1  *    upper
  2  *      lower

skins: 1
  0  (unnamed)  2 joints

clips: 1
  0  wave\u{fffd}[31m  1.500 s  1 track on 1 timeline  1 STEP

materials: 1
  0  default  1.00 1.00 1.00 1.00  metallic 0.00, roughness 1.00  lit, Opaque, one-sided  no texture

warnings: 1
  extensionsUsed[0]: EXT_bent_spoons is not supported and ignored
";
    assert_eq!(inspect::report(&model), expected);
    let json = inspect::json(&model);
    assert_eq!(json["bytes_per_instance"], json!({"palette": 96, "skinned_vertices": 48, "total": 144}));
    assert_eq!(json["geometry"]["triangles"], 1);
    assert_eq!(
        json["nodes"][2],
        json!({"node": 2, "name": "lower", "parent": 1, "joint": true, "mesh": null, "in_scene": true})
    );
    assert_eq!(json["clips"][0]["interpolations"], json!({"STEP": 1}));
    assert_eq!(json["warnings"], json!(model.warnings));
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
    assert_eq!(message, "test.gltf: scenes: there is no scene \"Hall\"; there is: 0, 1 \"Stage\"");
    assert!(load(SceneChoice::Index(2)).is_err());
}
