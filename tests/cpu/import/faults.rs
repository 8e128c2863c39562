//! The rule for faults: what is broken is repaired if its meaning is certain, costs its part if not, and is named in a warning.

use glam::{Vec2, Vec3, Vec4};
use gltf::binary::Glb;
use serde_json::{Value, json};
use throng::model::import;

use crate::common::assets::sample_files;
use crate::common::builder::Gltf;

fn give_points(value: &mut Value) {
    match value {
        Value::Number(number) => *value = json!(number.as_f64().unwrap()),
        Value::Array(values) => values.iter_mut().for_each(give_points),
        Value::Object(members) => members.values_mut().for_each(give_points),
        _ => {}
    }
}

/// Compressed meshes, textures, clips and skins have integers of their own. Those with an exponent are in a file of [`super::wild`].
#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn integers_of_every_kind_may_have_a_point() {
    let mut count = 0;
    for path in sample_files(&["glb", "gltf", "vrm"]) {
        let glb = std::fs::read(&path).unwrap();
        let Some(Glb { header, json, bin }) = Glb::from_slice(&glb).ok().filter(|_| glb.len() <= 1 << 20) else {
            continue;
        };
        let mut json: Value = serde_json::from_slice(&json).unwrap();
        give_points(&mut json);
        let changed = Glb { header, json: json.to_string().into_bytes().into(), bin }.to_vec().unwrap();
        let name = path.display();
        let [before, after] = [&glb, &changed]
            .map(|bytes| import::load_glb("model.glb", bytes).unwrap_or_else(|error| panic!("{name}: {error}")));
        assert_eq!(before.warnings, after.warnings, "{name}");
        let [before, after] = [before, after].map(|model| format!("{:?}", (model.geometry, model.skins, model.clips)));
        assert!(before == after, "{name} is read otherwise");
        count += 1;
    }
    assert!(count > 10, "only {count} models");
}

/// In each file the triangle stays as it is.
#[test]
fn what_means_nothing_is_read_as_nothing() {
    let matrix = json!({"mesh": 0, "matrix": [], "children": [], "translation": []});
    let materials =
        json!([{"normalTexture": {"index": -1}, "pbrMetallicRoughness": {"baseColorTexture": {"index": -1}}}]);
    let clip = json!([{"samplers": [], "channels": [{"sampler": -1, "target": {"node": 0, "path": "scale"}}]}]);
    for (path, value, warning) in [
        ("nodes/0/skin", json!(-1), "nodes: skin is the index -1, which is read as none"),
        ("nodes/0/camera", json!(-1.0), "nodes: camera is the index -1"),
        ("nodes/0", matrix, "nodes: matrix is an empty list, which is read as none"),
        ("nodes/0/children", json!([-1, -1]), "nodes: children has the index -1, which is left out"),
        ("scene", json!(-1), "scene: the index -1 is read as none"),
        ("scenes/0/nodes", json!([-1, 0]), "scenes: nodes has the index -1"),
        ("meshes/0/primitives/0/indices", json!(-1), "meshes: indices is the index -1"),
        ("meshes/0/primitives/0/attributes/NORMAL", json!(-1), "meshes: NORMAL is the index -1"),
        ("meshes/0/primitives/0/targets", json!([]), ""),
        ("materials", materials, "materials: normalTexture is the index -1"),
        ("animations", clip, "1 channels without a sampler"),
        ("bufferViews/0/byteStride", json!(0), "bufferViews: byteStride is 0"),
    ] {
        let gltf = Gltf::triangle().with(&[(path, value.clone())]);
        let model = gltf.model_that_warns(if warning.is_empty() { &[] } else { std::slice::from_ref(&warning) });
        assert_eq!(model.geometry.positions, [Vec3::ZERO, Vec3::X, Vec3::Y], "{path}: {value}");
        assert_eq!(model.geometry.indices.len(), 3, "{path}: {value}");
    }
}

/// A primitive is tested with the geometry.
#[test]
fn a_broken_skin_and_a_broken_channel_cost_nothing_else() {
    let mut gltf = Gltf::skinned([[0, 1, 0, 0]; 3], [[0.5, 0.5, 0.0, 0.0]; 3]);
    for (y, path) in [(1.0, "translation"), (f32::NAN, "scale")] {
        gltf.animate(1, path, "LINEAR", &[0.0, 1.0], &[0.0, 0.0, 0.0, 0.0, y, 0.0]);
    }
    gltf.push("skins", json!({"joints": [1, 2], "inverseBindMatrices": 99}));
    let node = gltf.push("nodes", json!({"mesh": 0, "skin": 1}));
    gltf.push("scenes/0/nodes", json!(node));
    let model = gltf.model_that_warns(&[
        "skins[1].inverseBindMatrices: accessors[99] does not exist; the file has 7; the skin is left out",
        "skins[1] has no joints; the primitive is left out",
        "(accessors[6]): value 1 is not finite; the channel is left out",
    ]);
    assert_eq!((model.geometry.triangle_count(), model.palette.joints().count()), (1, 2));
    assert_eq!([0, 1].map(|clip| model.clips[clip].node_tracks().count()), [1, 0]);
}

#[test]
fn morph_weights_of_another_number_are_filled_up_or_cut() {
    for (given, expected) in [(1, [7.0, 0.0, 9.0, 0.0]), (3, [7.0, 8.0, 9.0, 10.0])] {
        let mut gltf = Gltf::triangle();
        let deltas = gltf.f32s("VEC3", &[1.0; 9]);
        let mut few = gltf.primitive().clone();
        few["targets"] = json!([{"POSITION": deltas}]);
        gltf.primitive()["targets"] = json!([{"POSITION": deltas}, {"POSITION": deltas}]);
        let many = gltf.primitive().clone();
        gltf.json["meshes"][0]["primitives"] = json!([few, many]);
        let weights: Vec<f32> =
            [7.0, 9.0].iter().flat_map(|first| (0..given).map(move |rank| first + rank as f32)).collect();
        gltf.animate(0, "weights", "LINEAR", &[0.0, 1.0], &weights);
        let warning = format!("{given} weights for 2 morph targets; missing ones are 0");
        let model = gltf.model_that_warns(&[&warning, "targets: 1 morph targets, but another primitive has 2"]);
        assert_eq!(model.clips[0].morph_weights[0].values, expected);
    }
}

#[test]
fn other_files_are_called_by_their_names() {
    let usdz = [&b"PK\x03\x04"[..], &[0; 26], b"scene.usdc"].concat();
    for (bytes, what) in [
        (&b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"[..], "run `git lfs pull`"),
        (b"\n<!DOCTYPE html><html>", "a web page"),
        (b"\x1F\x8B\x08\x00", "gunzip"),
        (b"PK\x03\x04\x14\x00", "a zip archive"),
        (&usdz, "a USDZ archive"),
        (b"Kaydara FBX Binary  \x00", "an FBX file"),
        (b"; FBX 7.4.0 project file", "an FBX file"),
        (b"# made by hand\nv 0 0 0\nv 1 0 0\nf 1 2 3\n", "an OBJ file"),
        (b"#usda 1.0\n", "a USD file"),
        (b"<?xml version=\"1.0\"?><COLLADA>", "an XML file"),
    ] {
        let error = import::load_glb("model.glb", bytes).unwrap_err().to_string();
        assert!(error.starts_with("model.glb: it is ") && error.contains(what), "{what}: {error}");
    }
}

#[test]
fn a_mesh_with_placements_is_drawn_once() {
    let mut gltf = Gltf::triangle();
    gltf.json["nodes"][0]["extensions"] = json!({"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": 0}}});
    gltf.json["extensionsRequired"] = json!(["EXT_mesh_gpu_instancing"]);
    gltf.json["extensionsUsed"] = json!(["EXT_mesh_gpu_instancing"]);
    let model = gltf.model_that_warns(&["EXT_mesh_gpu_instancing is not drawn: each mesh is drawn once"]);
    assert_eq!(model.geometry.triangle_count(), 1);
}

/// A page is long enough for the buffer, so its length tells nothing.
#[test]
fn a_buffer_that_is_text_is_called_by_its_name() {
    for (text, what) in
        [("<!DOCTYPE html><p>404", "a web page"), ("version https://git-lfs.github.com/spec/v1", "Git LFS")]
    {
        let uri = format!("data:,{}", text.replace(' ', "%20") + &"x".repeat(64));
        let error = Gltf::triangle().with_buffer_at(&uri).error();
        assert!(error.contains("buffers[0].uri: the file is") && error.contains(what), "{error}");
    }
}

/// Hidden nodes hide what is below them, whatever it says itself.
#[test]
fn hidden_meshes_are_not_drawn() {
    let hidden = |visible: Value| json!({"KHR_node_visibility": {"visible": visible}});
    for (own, child, triangles) in
        [(json!(false), json!(true), 0), (json!(true), json!(false), 1), (json!(7), json!(true), 2)]
    {
        let mut gltf = Gltf::triangle();
        gltf.push("nodes", json!({"mesh": 0, "extensions": hidden(child)}));
        gltf.json["nodes"][0]["extensions"] = hidden(own);
        gltf.json["nodes"][0]["children"] = json!([1]);
        gltf.json["extensionsUsed"] = json!(["KHR_node_visibility"]);
        assert_eq!(gltf.model().geometry.triangle_count(), triangles);
    }
}

/// Normals and tangents of a triangle with a normal map. Tangents are read as they are, or generated for the whole primitive.
#[test]
fn tangents_that_are_no_directions_are_generated() {
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Y];
    let tex_coords = [[0.0, 1.0], [0.0, 0.0], [1.0, 1.0]].map(Vec2::from);
    let mut plain =
        Gltf::mesh(&corners, &[Vec3::Z; 3], &tex_coords, &[0, 1, 2], json!({"normalTexture": {"index": 0}}));
    plain.texture(&image::RgbaImage::from_pixel(1, 1, image::Rgba([128, 128, 255, 255])));
    let generated = plain.model_without_warnings().geometry.tangents;
    assert!(generated.iter().all(|tangent| tangent.abs_diff_eq(Vec4::new(0.0, 1.0, 0.0, -1.0), 1e-6)), "{generated:?}");
    let good = [0.6, 0.8, 0.0, -1.0];
    let nan = f32::NAN;
    for (bad, warning) in [
        ([nan, 0.0, 0.0, 1.0], "1 tangents have no direction"),
        ([0.0, 0.0, 0.0, 1.0], "1 tangents have no direction"),
        ([f32::INFINITY, nan, -0.0, 1.0], "1 tangents have no direction"),
        ([1.0, 0.0, 0.0, 0.0], "1 tangents have a w that is neither 1 nor -1"),
        ([1.0, 0.0, 0.0, 0.3], "1 tangents have a w that is neither 1 nor -1"),
        ([1.0, 0.0, 0.0, nan], "1 tangents have a w that is neither 1 nor -1"),
    ] {
        let mut gltf = plain.clone();
        gltf.attribute("TANGENT", "VEC4", [good, bad, good].as_flattened());
        assert_eq!(gltf.model_that_warns(&[warning]).geometry.tangents, generated, "{bad:?}");
    }
    plain.attribute("TANGENT", "VEC4", [good; 3].as_flattened());
    assert_eq!(plain.model_without_warnings().geometry.tangents, [Vec4::from(good); 3]);
}

/// Chunks of a GLB are read by their lengths: with padding that counts, with padding that does not, and without any.
#[test]
fn chunks_may_have_any_length() {
    let mut gltf = Gltf::triangle();
    for letters in 0..4 {
        gltf.json["asset"]["generator"] = json!("x".repeat(letters));
        gltf.json["buffers"][0] = json!({"byteLength": gltf.bytes.len()});
        let json = gltf.json.to_string().into_bytes();
        for (is_padded, tail) in [(false, 0), (true, 0), (false, 1), (true, 3)] {
            let mut glb = [&b"glTF"[..], &2u32.to_le_bytes(), &[0; 4]].concat();
            for (kind, chunk) in [(b"JSON", &json), (b"BIN\0", &[&gltf.bytes[..], &vec![7; tail]].concat())] {
                glb.extend((chunk.len() as u32).to_le_bytes());
                glb.extend(kind);
                glb.extend(chunk);
                if is_padded {
                    glb.resize(glb.len().next_multiple_of(4), b' ');
                }
            }
            let length = glb.len() as u32;
            glb[8..12].copy_from_slice(&length.to_le_bytes());
            let model = import::load_glb("a.glb", &glb).unwrap();
            let unaligned = [json.len(), gltf.bytes.len() + tail].into_iter().filter(|length| length % 4 != 0).count();
            let found = (model.geometry.triangle_count(), model.warnings.len());
            assert_eq!(found, (1, unaligned), "{letters} {is_padded} {tail}");
        }
    }
}
