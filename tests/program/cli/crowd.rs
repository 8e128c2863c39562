//! `crowd`: the numbers with which another program draws the same scene.

use glam::{Mat4, Vec4};
use serde_json::Value;

use super::run::repository_file;
use crate::common::program::Place;

fn crowd(options: &str) -> Value {
    serde_json::from_str(&Place::new().succeed(&format!("crowd {options}"))).unwrap()
}

fn numbers(value: &Value) -> Vec<f32> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap() as f32).collect()
}

fn matrix(value: &Value) -> Mat4 {
    Mat4::from_cols_array(&numbers(value).try_into().unwrap())
}

#[test]
fn one_character_stands_at_the_origin_as_its_file_describes_it() {
    let crowd = crowd("");
    let [instance] = crowd["instances"].as_array().unwrap().as_slice() else { panic!("{crowd}") };
    assert_eq!(matrix(&instance["world_from_model"]), Mat4::IDENTITY);
    assert_eq!(
        (&instance["model"], &instance["clip"], &instance["start_seconds"]),
        (&0.into(), &0.into(), &0.0.into())
    );
    assert_eq!(numbers(&instance["tint"]), [1.0; 3]);
    assert_eq!(
        (&crowd["models"][0], &crowd["time"], &crowd["speed"]),
        (&"walker.glb".into(), &0.0.into(), &1.0.into())
    );
    let named = self::crowd("--clip Wave --time -0.5 --camera -30,20,1.5");
    assert_eq!((&named["instances"][0]["clip"], &named["time"]), (&3.into(), &(-0.5).into()));
    // Each of several models has an instance, unless a number is given.
    let walker = repository_file("assets/walker.glb").display().to_string();
    for (options, count) in [("", 2), ("-n 1", 1)] {
        let crowd = self::crowd(&format!("{walker} {walker} --scene 0 {options}"));
        assert_eq!(crowd["instances"].as_array().unwrap().len(), count, "{options}");
    }
    let rest = self::crowd("--clip none");
    assert!(rest["instances"][0]["clip"].is_null());
}

#[test]
fn the_camera_sees_every_instance() {
    for (options, aspect) in [("--size 640x360", 640.0 / 360.0), ("--size 100x200 --clip all --camera 30,20", 0.5)] {
        let crowd = crowd(&format!("--instances 40 --seed 7 {options}"));
        let camera = &crowd["camera"];
        let (world_from_view, clip_from_view) = (matrix(&camera["world_from_view"]), matrix(&camera["clip_from_view"]));
        let [fov_radians, near_metres] =
            ["vertical_fov_radians", "near_metres"].map(|name| camera[name].as_f64().unwrap() as f32);
        let y_scale = 1.0 / (0.5 * fov_radians).tan();
        let expected =
            Mat4::from_cols(Vec4::X * (y_scale / aspect), Vec4::Y * y_scale, Vec4::NEG_W, Vec4::Z * near_metres);
        assert!(clip_from_view.abs_diff_eq(expected, 1e-5), "{clip_from_view}");
        let clip_from_world = clip_from_view * world_from_view.inverse();
        let instances = crowd["instances"].as_array().unwrap();
        assert_eq!(instances.len(), 40);
        let mut places = Vec::new();
        for instance in instances {
            let place = matrix(&instance["world_from_model"]).w_axis;
            let clip: Vec4 = clip_from_world * place;
            assert!(clip.w > 0.0 && clip.x.abs() < clip.w && clip.y.abs() < clip.w, "{instance} is not in view");
            assert!(places.iter().all(|other: &Vec4| other.distance(place) > 0.1), "{instance} stands on another one");
            places.push(place);
        }
        let starts: Vec<f64> = instances.iter().map(|instance| instance["start_seconds"].as_f64().unwrap()).collect();
        assert!(starts.iter().all(|seconds| (0.0..10.0).contains(seconds)) && starts[0] != starts[1], "{starts:?}");
    }
}

#[test]
fn options_of_the_crowd_count() {
    let plain = crowd("--instances 5 --variety 0");
    assert_eq!(plain, crowd("--instances 5 --variety 0 --seed 1"));
    let tints = |crowd: &Value| crowd["instances"].as_array().unwrap().iter().map(|i| numbers(&i["tint"])).collect();
    let all: Vec<Vec<f32>> = tints(&plain);
    assert!(all.iter().all(|tint| *tint == [1.0; 3]), "{all:?}");
    let varied: Vec<Vec<f32>> = tints(&crowd("--instances 5 --variety 1"));
    assert!(varied.iter().flatten().all(|&channel| channel > 0.0 && channel <= 1.0) && varied[0] != varied[1]);
    // Instances that travel have moved since the time 0.
    let [start, later] = ["0", "2"].map(|time| crowd(&format!("--instances 30 --clip Walk --travel on --time {time}")));
    let moved = |k: usize| start["instances"][k]["world_from_model"] != later["instances"][k]["world_from_model"];
    assert!((0..30).filter(|&k| moved(k)).count() > 15);
    assert_eq!(later["time"], 2.0);
    let to_sun = numbers(&crowd("--sun 90,45")["light"]["to_sun"]);
    assert!((to_sun[0] - 0.5f32.sqrt()).abs() < 1e-5 && to_sun[2].abs() < 1e-5, "{to_sun:?}");
}
