//! Tests of animations: timelines, repairs and refusals. Each property and interpolation is in a file of `assets/conformance`.

use glam::Vec3;
use serde_json::{Value, json};
use throng::model::Interpolation;

use crate::common::builder::Gltf;

/// Makes the triangle with keys at 0 and 2 seconds; returns the accessor of the times.
fn keyed() -> (Gltf, usize) {
    let mut gltf = Gltf::triangle();
    let times = gltf.f32s("SCALAR", &[0.0, 2.0]);
    (gltf, times)
}

fn animated() -> Gltf {
    let mut gltf = Gltf::triangle();
    gltf.animate(0, "scale", "STEP", &[0.0, 2.0], &[0.0; 6]);
    gltf
}

fn channel(sampler: usize, node: usize, path: &str) -> Value {
    json!({"sampler": sampler, "target": {"node": node, "path": path}})
}

#[test]
fn equal_timelines_are_shared() {
    let (mut gltf, times) = keyed();
    let same_content = gltf.f32s("SCALAR", &[0.0, 2.0]);
    let other = gltf.f32s("SCALAR", &[1.0, 3.0]);
    let values = gltf.f32s("VEC3", &[0.0; 6]);
    gltf.push("nodes", json!({}));
    gltf.json["scenes"][0]["nodes"] = json!([0, 1]);
    let samplers = [times, same_content, other].map(|input| json!({"input": input, "output": values}));
    let channels = [channel(0, 0, "translation"), channel(1, 0, "scale"), channel(2, 1, "scale")];
    gltf.push("animations", json!({"samplers": samplers, "channels": channels}));
    let clip = &gltf.model().clips[0];
    assert_eq!(clip.timelines, [[0.0, 2.0], [1.0, 3.0]]);
    let timelines: Vec<u32> = clip.translations.iter().chain(&clip.scales).map(|track| track.timeline).collect();
    assert_eq!(timelines, [0, 0, 1]);
    assert_eq!((clip.duration_seconds, clip.node_tracks().count()), (3.0, 3));
}

/// Of two channels for one property, the last one counts.
#[test]
fn channels_without_effect_give_warnings_and_count_for_the_duration() {
    let (mut gltf, times) = keyed();
    let (first, last) = (gltf.f32s("VEC3", &[1.0; 6]), gltf.f32s("VEC3", &[2.0; 6]));
    let weights = gltf.f32s("SCALAR", &[0.0; 2]);
    let late = gltf.f32s("SCALAR", &[0.5, 5.0]);
    gltf.push("nodes", json!({"matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]}));
    gltf.push("nodes", json!({}));
    gltf.json["scenes"][0]["nodes"] = json!([0, 1]);
    let mut pointer = channel(0, 0, "pointer");
    pointer["target"]["extensions"] =
        json!({"KHR_animation_pointer": {"pointer": "/materials/0/pbrMetallicRoughness/baseColorFactor"}});
    let samplers = [(times, first), (late, weights), (times, last)];
    let channels = json!([
        channel(0, 0, "translation"), channel(2, 0, "translation"), channel(0, 1, "translation"),
        channel(0, 2, "scale"), channel(0, 0, "colour"), {"sampler": 0, "target": {"path": "scale"}},
        channel(1, 0, "weights"), pointer, pointer,
    ]);
    let samplers = samplers.map(|(input, output)| json!({"input": input, "output": output}));
    gltf.push("animations", json!({"samplers": samplers, "channels": channels}));
    gltf.json["extensionsUsed"] = json!(["KHR_animation_pointer"]);
    let model = gltf.model_that_warns(&[
        "extensionsUsed[0]: KHR_animation_pointer is not supported; it is ignored",
        "animations[0].channels: 2 channels have JSON pointers as targets (KHR_animation_pointer)",
        "animations[0].channels: 1 channels without a sampler, a target node",
        "animations[0].channels[1]: a second channel for the same property",
        "animations[0].channels[2]: nodes[1] has a matrix",
        "animations[0].channels[3]: nodes[2] is neither in the scene nor a joint",
        "animations[0].channels[4]: unknown target path",
        "animations[0].channels[6]: nodes[0] has no morph targets",
    ]);
    let clip = &model.clips[0];
    assert_eq!((clip.node_tracks().count(), clip.duration_seconds), (1, 5.0));
    assert_eq!(clip.translations[0].values, [Vec3::splat(2.0); 2]);
}

#[test]
fn keys_with_the_same_time_are_kept_with_a_warning() {
    let mut gltf = Gltf::triangle();
    gltf.animate(0, "scale", "LINEAR", &[0.0, 1.0, 1.0, 2.0, 2.0], &[0.0; 15]);
    let model = gltf.model_that_warns(&["(accessors[1]): 2 keys have the same time as the key before"]);
    assert_eq!(model.clips[0].timelines, [[0.0, 1.0, 1.0, 2.0, 2.0]]);
}

#[test]
fn channels_with_wrong_times_or_counts_are_left_out() {
    let at = "animations[0].samplers[0].input (accessors[1])";
    for (times, problem) in [
        (vec![0.5, 0.25], "key 1 is at 0.25 seconds, which is before 0.5"),
        (vec![0.0, f32::NAN], "key 1 is at NaN seconds"),
        (vec![0.0, f32::INFINITY], "key 1 is at inf seconds"),
        (vec![], "no keyframes, expected at least one"),
    ] {
        let mut gltf = Gltf::triangle();
        gltf.animate(0, "scale", "LINEAR", &times, &[0.0; 6]);
        let model = gltf.model_that_warns(&[&format!("{at}: {problem}; the channel is left out")]);
        assert_eq!(model.clips[0].node_tracks().count(), 0);
    }

    let gltf = animated();
    let [interpolation, channel] = ["animations/0/samplers/0/interpolation", "animations/0/channels/0"];
    let too_few = "samplers[0].output (accessors[2]): 2 elements, expected 6: 2 CubicSpline keys, 3 for each";
    let unknown = "samplers[0].interpolation: unknown, expected LINEAR, STEP or CUBICSPLINE";
    let [path, node, sampler] = ["target/path", "target/node", "sampler"].map(|key| format!("{channel}/{key}"));
    gltf.mistakes("animations[0].").are_left_out([
        (interpolation, json!("CUBICSPLINE"), too_few),
        (interpolation, json!("SPLINE"), unknown),
        (&path, json!("rotation"), "samplers[0].output (accessors[2]): Vec3 elements, expected Vec4"),
        (&node, json!(3), "channels[0].target.node: nodes[3] does not exist; the file has 1"),
        (&sampler, json!(1), "channels[0]: samplers[1] does not exist; the file has 1"),
    ]);
}

/// Old exporters write the constants of OpenGL or of three.js.
#[test]
fn numbers_as_interpolation_are_read_with_a_warning() {
    for (number, expected) in [(0, Interpolation::Linear), (9729, Interpolation::Linear), (2300, Interpolation::Step)] {
        let model = animated().with(&[("animations/0/samplers/0/interpolation", json!(number))]).load().unwrap();
        assert_eq!(model.clips[0].scales[0].interpolation, expected, "{number}");
        assert!(model.warnings[0].starts_with("animations[0].samplers: 1 have a number as interpolation"));
    }
}
