//! A body and its clips in two files are like one file that holds both.

use std::path::Path;

use base64::Engine;
use glam::{Affine3A, Mat4};
use serde_json::{Value, json};
use throng::animation::{PoseScratch, pose_model};
use throng::model::{Model, import};
use throng::retarget::{Way, borrow_clips};

use super::{body, sample_path};

/// Returns the JSON and the binary chunk of a GLB.
fn parts_of(path: &Path) -> (Value, Vec<u8>) {
    let bytes = std::fs::read(path).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    (serde_json::from_slice(&bytes[20..20 + length]).unwrap(), bytes[20 + length + 8..].to_vec())
}

fn uri(bytes: &[u8]) -> Value {
    let base64 = base64::engine::general_purpose::STANDARD.encode(bytes);
    json!({"byteLength": bytes.len(), "uri": format!("data:application/octet-stream;base64,{base64}")})
}

/// Gives a node a translation, a rotation and a scale instead of a matrix: glTF animates no matrices.
fn decompose(node: &mut Value) {
    let Some(matrix) = node.as_object_mut().unwrap().remove("matrix") else { return };
    let columns: [f32; 16] = serde_json::from_value(matrix).unwrap();
    let matrix = Affine3A::from_mat4(Mat4::from_cols_array(&columns));
    let (scale, rotation, translation) = matrix.to_scale_rotation_translation();
    node["translation"] = json!(translation.to_array());
    node["rotation"] = json!(rotation.to_array());
    node["scale"] = json!(scale.to_array());
}

/// Moves the animation of a file into another one: each channel's node is the one with the same name.
fn merged(body: &Path, clips: &Path) -> Model {
    let ((mut all, body_bytes), (other, bytes)) = (parts_of(body), parts_of(clips));
    let length = |json: &Value, list: &str| json[list].as_array().map_or(0, Vec::len);
    let (views, accessors) = (length(&all, "bufferViews"), length(&all, "accessors"));
    all["buffers"] = json!([uri(&body_bytes), uri(&bytes)]);
    let shift = |value: &mut Value, by: usize| *value = json!(value.as_u64().unwrap() as usize + by);
    for mut view in other["bufferViews"].as_array().unwrap().clone() {
        view["buffer"] = json!(1);
        all["bufferViews"].as_array_mut().unwrap().push(view);
    }
    for mut accessor in other["accessors"].as_array().unwrap().clone() {
        if !accessor["bufferView"].is_null() {
            shift(&mut accessor["bufferView"], views);
        }
        all["accessors"].as_array_mut().unwrap().push(accessor);
    }
    let mut animation = other["animations"][0].clone();
    for sampler in animation["samplers"].as_array_mut().unwrap() {
        shift(&mut sampler["input"], accessors);
        shift(&mut sampler["output"], accessors);
    }
    let channels = animation["channels"].as_array_mut().unwrap();
    // The walk's head has other morph targets than the body's.
    channels.retain(|channel| channel["target"]["path"] != "weights");
    for channel in channels {
        let name = &other["nodes"][channel["target"]["node"].as_u64().unwrap() as usize]["name"];
        let nodes = all["nodes"].as_array_mut().unwrap();
        let node = nodes.iter().position(|node| node["name"] == *name).unwrap();
        decompose(&mut nodes[node]);
        channel["target"]["node"] = json!(node);
    }
    all["animations"] = json!([animation]);
    import::load_glb("merged.gltf", &serde_json::to_vec(&all).unwrap()).unwrap()
}

#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn a_body_with_its_own_clips_is_like_one_file_bit_for_bit() {
    let body_path = "avatars/bitmoji/bitmoji.glb";
    for clips in ["avatars/bitmoji/walk.glb", "avatars/bitmoji/jump-flip.glb"] {
        let mut model = body(body_path);
        let source = import::load_clips(&sample_path(clips)).unwrap();
        assert_eq!(borrow_clips(&mut model, &source).unwrap().way, Way::SameRig, "{clips}");
        let merged = merged(&sample_path(body_path), &sample_path(clips));
        let (own, other) = (&model.clips[0], &merged.clips[0]);
        assert_eq!(own.duration_seconds, other.duration_seconds);
        for time in 0..=60 {
            let seconds = f64::from(own.duration_seconds) * f64::from(time) / 60.0;
            let bits = |model: &Model, clip| -> Vec<u32> {
                let mut scratch = PoseScratch::for_model(model);
                let pose = pose_model(model, Some(clip), seconds, &mut scratch);
                pose.model_from_node.iter().flat_map(|matrix| matrix.to_cols_array().map(f32::to_bits)).collect()
            };
            assert_eq!(bits(&model, own), bits(&merged, other), "{clips} at {seconds} s");
        }
    }
}
