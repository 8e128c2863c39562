//! `crowd`: the numbers with which another program draws the same scene.

use glam::{DMat4, DVec4};
use serde_json::{Value, json};

use super::{bundled, numbers};
use crate::common::program::Place;

fn crowd(options: &str) -> Value {
    crowd_of(&format!("{} {options}", bundled("simple_strip.gltf")))
}

fn crowd_of(options: &str) -> Value {
    Place::new().json(&format!("crowd {options}"))
}

fn instances(crowd: &Value) -> &[Value] {
    crowd["instances"].as_array().unwrap()
}

fn matrix(value: &Value) -> DMat4 {
    DMat4::from_cols_array(&numbers(value).try_into().unwrap())
}

#[test]
fn one_character_stands_at_the_origin_as_its_file_describes_it() {
    let crowd = crowd_of("");
    assert_eq!((&crowd["models"], &crowd["time"], &crowd["speed"]), (&json!(["walker.glb"]), &0.0.into(), &1.0.into()));
    let [instance] = instances(&crowd) else { panic!("{crowd}") };
    let (identity, white) = (DMat4::IDENTITY.to_cols_array(), [1.0; 3]);
    // The walker stands: its third clip is called Idle.
    let expected = json!({"model": 0, "clip": 2, "start_seconds": 0.0, "world_from_model": identity, "tint": white});
    assert_eq!(*instance, expected);
    let jelly = bundled("jelly.gltf");
    let named = crowd_of(&format!("{jelly} --clip Alarm --time -0.5 --camera -30,20,1.5"));
    assert_eq!((&named["instances"][0]["clip"], &named["time"]), (&2.into(), &(-0.5).into()));
    assert!(self::crowd("--clip none")["instances"][0]["clip"].is_null());
    // Each of several models has an instance, unless a number is given.
    for (options, count) in [("", 2), ("-n 1", 1)] {
        assert_eq!(instances(&self::crowd(&format!("{jelly} --scene 0 {options}"))).len(), count, "{options}");
    }
}

#[test]
fn the_camera_sees_every_instance() {
    for (options, aspect) in [("--size 640x360", 640.0 / 360.0), ("--size 100x200 --clip all --camera 30,20", 0.5)] {
        let crowd = crowd(&format!("--instances 40 --seed 7 {options}"));
        let camera = &crowd["camera"];
        let (world_from_view, clip_from_view) = (matrix(&camera["world_from_view"]), matrix(&camera["clip_from_view"]));
        let [fov_radians, near_metres] =
            ["vertical_fov_radians", "near_metres"].map(|name| camera[name].as_f64().unwrap());
        let y_scale = 1.0 / (0.5 * fov_radians).tan();
        let expected =
            DMat4::from_cols(DVec4::X * (y_scale / aspect), DVec4::Y * y_scale, DVec4::NEG_W, DVec4::Z * near_metres);
        assert!(clip_from_view.abs_diff_eq(expected, 1e-5), "{clip_from_view}");
        let clip_from_world = clip_from_view * world_from_view.inverse();
        let mut starts = Vec::new();
        for instance in instances(&crowd) {
            let clip: DVec4 = clip_from_world * matrix(&instance["world_from_model"]).w_axis;
            assert!(clip.w > 0.0 && clip.x.abs() < clip.w && clip.y.abs() < clip.w, "{instance} is not in view");
            starts.push(instance["start_seconds"].as_f64().unwrap());
        }
        assert_eq!(starts.len(), 40);
        assert!(starts.iter().all(|seconds| (0.0..10.0).contains(seconds)) && starts[0] != starts[1], "{starts:?}");
    }
}

/// The numbers themselves are tested by `tests/cpu/crowd/placement.rs`, `tests/cpu/view/camera.rs` and `tests/cpu/travel.rs`.
#[test]
fn options_of_the_crowd_count() {
    let plain = crowd("--instances 5 --time 2");
    for (option, changed) in [
        ("--seed 2", "/instances"),
        ("--variety 1", "/instances/0/tint"),
        ("--sun 90,45", "/light/to_sun"),
        ("--speed 2", "/speed"),
    ] {
        let other = crowd(&format!("--instances 5 --time 2 {option}"));
        assert_ne!(other.pointer(changed), plain.pointer(changed), "{option}");
    }
    // Instances that travel have moved since the time 0.
    let [start, later] =
        ["0", "2"].map(|time| crowd_of(&format!("--instances 30 --clip Walk --travel on --time {time}")));
    let pairs = instances(&start).iter().zip(instances(&later));
    assert!(pairs.filter(|(start, later)| start["world_from_model"] != later["world_from_model"]).count() > 15);
}

#[test]
fn files_have_shares_and_heights_and_a_folder_is_its_models() {
    let place = Place::new();
    let folder = place.working_folder().join("models");
    std::fs::create_dir(&folder).unwrap();
    for (name, path) in [("a.glb", "walker.glb"), ("b*2.gltf", "simple_strip.gltf"), ("c.txt", "walker.glb")] {
        std::fs::copy(bundled(path), folder.join(name)).unwrap();
    }
    let models = |arguments: &str| -> Vec<u64> {
        let crowd = place.json(&format!("crowd {arguments}"));
        instances(&crowd).iter().map(|instance| instance["model"].as_u64().unwrap()).collect()
    };
    // A file may have such a name.
    assert_eq!(models("models"), [0, 1]);
    for (number, counts) in [("", [3, 1]), (" -n 40", [30, 10])] {
        let shared = models(&format!("models/a.glb*3 models/b*2.gltf{number}"));
        assert_eq!([0, 1].map(|model| shared.iter().filter(|&&one| one == model).count()), counts, "{number}");
    }
    let scale = |arguments: &str| {
        let crowd = place.json(&format!("crowd {arguments} --variety 0"));
        instances(&crowd).iter().map(|instance| matrix(&instance["world_from_model"]).y_axis.y).collect::<Vec<f64>>()
    };
    let (own, tall) = (scale("models --layout line"), scale("models/a.glb@3.568*1 models/b*2.gltf --layout line"));
    assert!((tall[0] / own[0] - 2.0).abs() < 1e-3 && (tall[1] - own[1]).abs() < 1e-6, "{own:?} {tall:?}");
    // What cannot be read is a warning while others can.
    std::fs::write(folder.join("d.glb"), "no model").unwrap();
    assert_eq!(models("models"), [0, 1]);
    let warned = place.run("crowd models");
    assert!(warned.stderr.contains("d.glb: it is neither GLB nor JSON"), "{}", warned.stderr);
    assert!(place.fail(1, "crowd models/d.glb models/e.glb").contains("d.glb"));
}
