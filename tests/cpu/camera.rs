//! The camera in front of a crowd: all paths of the mouse and values of `--camera` show ground and crowd, others what they name.

use std::sync::Arc;

use glam::{Quat, Vec2, Vec3};
use serde_json::json;
use throng::app::aim::{Aim, Shows};
use throng::app::scene::Scene;
use throng::cli::{CameraArgs, CameraChoice};
use throng::crowd::{Crowd, CrowdSettings};
use throng::view::OrbitCamera;

use crate::common::builder::Gltf;
use crate::common::scene::{self, WALKER, asset};

const NOTCH: f32 = 0.9;
const TIME_SECONDS: f64 = 0.3;
const MIDDLE: Vec2 = Vec2::splat(0.5);

/// Returns a crowd of boxes of the size of a person, which takes a moment to frame.
fn scene(options: &str) -> Scene {
    let mut gltf = Gltf::new();
    let node = gltf.cuboid([-0.3, 0.0, -0.2], [0.3, 1.8, 0.2], json!({}));
    gltf.json["scenes"][0]["nodes"] = json!([node]);
    scene::scene(&[gltf.model()], options)
}

/// Returns the share of the image whose rays hit the ground or the bounds of the crowd.
fn covered_share(scene: &Scene, camera: &OrbitCamera, aspect: f32) -> f32 {
    const COLUMNS: u32 = 16;
    const ROWS: u32 = 36;
    let bounds = scene.crowd.bounds();
    let eye = camera.position();
    let world_from_clip = camera.clip_from_world(aspect).inverse();
    let hits = |row: u32, column: u32| {
        let share = Vec2::new((column as f32 + 0.5) / COLUMNS as f32, (row as f32 + 0.5) / ROWS as f32);
        let direction = world_from_clip.project_point3((share * 2.0 - 1.0).extend(0.5)) - eye;
        let hits_ground = eye.y > 0.0 && direction.y < 0.0;
        let (low, high) = ((bounds.min - eye) / direction, (bounds.max - eye) / direction);
        let (enter, leave) = (low.min(high).max_element(), low.max(high).min_element());
        hits_ground || (enter <= leave && leave > 0.0)
    };
    let count = (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| hits(row, column))).filter(|&hit| hit).count();
    count as f32 / (ROWS * COLUMNS) as f32
}

/// Movements, each of which the test repeats to its end.
const MOVEMENTS: [fn(&mut Scene, f32); 12] = [
    |scene, aspect| scene.zoom_at(MIDDLE, aspect, 0.5, TIME_SECONDS),
    |scene, aspect| scene.zoom_at(MIDDLE, aspect, 2.0, TIME_SECONDS),
    |scene, aspect| scene.zoom_at(MIDDLE, aspect, 0.0, TIME_SECONDS),
    |scene, aspect| scene.zoom_at(MIDDLE, aspect, 1e6, TIME_SECONDS),
    |scene, _| scene.camera.orbit(0.0, 0.3),
    |scene, _| scene.camera.orbit(0.0, -0.3),
    |scene, _| scene.camera.orbit(0.8, 0.0),
    |scene, _| scene.camera.orbit(2.0, -4.0),
    |scene, _| scene.camera.pan(0.0, 0.4),
    |scene, _| scene.camera.pan(0.0, -0.4),
    |scene, _| scene.camera.pan(0.4, 0.0),
    |scene, _| scene.camera.pan(-3.0, 3.0),
];

fn assert_covered(scene: &Scene, aspect: f32, what: &dyn std::fmt::Debug) {
    let camera = &scene.camera;
    assert!(camera.position().y > 0.0, "{what:?}: the eye is below the ground: {camera:?}");
    let share = covered_share(scene, camera, aspect);
    assert!(share >= 1.0 / 3.0, "{what:?}: {share} of the image: {camera:?}");
    // The middle of the image is in the crowd, and the crowd does not become a dot.
    let bounds = scene.crowd.bounds();
    let room = 0.1 * (bounds.max - bounds.min);
    let (min, max) = (bounds.min - room, bounds.max + room);
    assert!(camera.target.cmpge(min).all() && camera.target.cmple(max).all(), "{what:?}: {camera:?}");
    let half_extent = camera.distance * (camera.vertical_fov_radians * 0.5).tan() * aspect.min(1.0);
    assert!(bounds.radius() > 0.15 * half_extent, "{what:?}: {camera:?}");
}

/// Every pair of movements, 8 times each, from the first camera, for small and large crowds in wide and narrow images.
#[test]
fn no_path_of_the_mouse_leads_out_of_sight() {
    for (options, aspect) in [("--instances 200", 16.0 / 9.0), ("--instances 40 --size 360x640", 9.0 / 16.0)] {
        let mut scene = scene(options);
        let start = scene.camera;
        for (first, movement) in MOVEMENTS.iter().enumerate() {
            scene.camera = start;
            for _ in 0..8 {
                movement(&mut scene, aspect);
                assert_covered(&scene, aspect, &first);
            }
            let between = scene.camera;
            for (second, movement) in MOVEMENTS.iter().enumerate() {
                scene.camera = between;
                for _ in 0..8 {
                    movement(&mut scene, aspect);
                    assert_covered(&scene, aspect, &(first, second));
                }
            }
        }
    }
}

#[test]
fn no_camera_of_the_command_line_looks_past_the_crowd() {
    for (width, height) in [(1280.0, 720.0), (360.0, 640.0), (300.0, 2000.0)] {
        for pitch in [-89, -30, -5, 0, 3, 20, 60, 89] {
            for zoom in ["0.001", "0.05", "0.15", "1", "7", "1000"] {
                let options = format!("--instances 60 --size {width}x{height} --camera 25,{pitch},{zoom}");
                assert_covered(&scene(&options), width / height, &options);
            }
        }
    }
}

#[test]
fn the_default_sun_shines_on_the_front_and_a_given_one_stays() {
    let mut back = asset(WALKER);
    back.skeleton.rest.rotations[1] = Quat::from_array([0.0, 1.0, 0.0, 0.0]); // the hips
    let sun = |model, options| scene::scene(&[model], options).look.sun.azimuth_degrees;
    assert_eq!([sun(asset(WALKER), ""), sun(back.clone(), ""), sun(back, "--sun -48,53")], [-48.0, 132.0, -48.0]);
}

#[test]
fn the_camera_looks_at_what_the_options_name() {
    let models = [asset(WALKER)];
    let scene = |options: &str| scene::scene(&models, options);
    let camera = |options: &str| scene(options).camera;
    // Joints: the part of the body fills the image, and its middle is in the middle.
    let head = camera("--look-at HEAD --view front --time 0.3");
    assert!(head.yaw_radians == 0.0 && head.pitch_radians == 0.0, "{head:?}");
    assert!((1.4..1.7).contains(&head.target.y) && (0.5..1.5).contains(&head.distance), "{head:?}");
    let farther = camera("--look-at head --camera 0,0,2 --time 0.3");
    assert!((farther.distance - 2.0 * head.distance).abs() < 1e-4 && farther.target == head.target, "{farther:?}");
    // Close up, the camera may look up to the face.
    let below = camera("--look-at head --camera 0,-40");
    assert!((below.pitch_radians.to_degrees() + 40.0).abs() < 1e-3 && below.position().y > 0.0, "{below:?}");
    let left = camera("--view left --look-at 1.25");
    assert!(left.target.y == 1.25 && left.position().x > 1.0 && left.position().z.abs() < 0.1, "{left:?}");
    // A point and a distance are exact, also where framing has limits.
    let exact = camera("--instances 40 --look-at -3,0.5,20 --distance 0.25 --camera 200,10 --fov 25");
    assert_eq!((exact.target, exact.distance), (Vec3::new(-3.0, 0.5, 20.0), 0.25));
    assert!((exact.vertical_fov_radians.to_degrees() - 25.0).abs() < 1e-4, "{exact:?}");
    // The zoom ends in front of the surface in the middle: the eye is a quarter as far from it.
    let [whole, near] = ["1", "0.25"].map(|zoom| scene(&format!("--camera 20,10,{zoom}")));
    let (eye, forward) = (whole.camera.position(), whole.camera.forward());
    let depth = whole.crowd.distance_along(eye, forward, 0.0).unwrap();
    let off = near.camera.position().distance(eye + 0.75 * depth * forward);
    assert!(off < 1e-3 * depth, "{off} m of {depth}: {:?}", near.camera);
    // A sequence follows the joint.
    let mut following = scene("--clip Run --look-at hand.L");
    let start = following.camera;
    following.follow(0.25);
    assert!(following.camera.target.distance(start.target) > 0.05 && following.camera.distance == start.distance);
    let mut twice_as_fast = scene("--clip Run --look-at hand.L --speed 2");
    twice_as_fast.follow(0.125);
    assert!(twice_as_fast.camera.target.distance(following.camera.target) < 1e-4);
}

#[test]
fn a_camera_of_the_file_is_where_the_file_has_it() {
    let mut gltf = Gltf::triangle();
    gltf.json["cameras"] =
        json!([{"type": "perspective", "name": "Shot A", "perspective": {"yfov": 0.5, "znear": 0.1}}]);
    // A quarter turn about Y: the camera looks along -X.
    let turned = json!({"camera": 0, "translation": [4, 1.5, 0], "rotation": [0, 0.5f64.sqrt(), 0, 0.5f64.sqrt()]});
    gltf.push("nodes", turned);
    gltf.json["scenes"][0]["nodes"] = json!([0, 1]);
    let models = [gltf.model()];
    for name in ["Shot_A", "0"].map(|name| name.replace('_', " ")) {
        let args = CameraArgs { camera: Some(CameraChoice::OfFile(name)), ..scene::arguments("").crowd.camera };
        let crowd = Crowd::new(Arc::from(models.clone()), &CrowdSettings::default()).unwrap();
        let aim = Aim::new(&models, &args).unwrap();
        let camera = aim.camera(Shows::Asked, &crowd, &crowd.outline(0.0), 0.0, 1.0);
        assert!(camera.position().distance(Vec3::new(4.0, 1.5, 0.0)) < 1e-4, "{camera:?}");
        assert!(camera.forward().distance(Vec3::NEG_X) < 1e-5 && camera.vertical_fov_radians == 0.5, "{camera:?}");
    }
    let args = CameraArgs { camera: Some(CameraChoice::OfFile("B".to_owned())), ..scene::arguments("").crowd.camera };
    let error = Aim::new(&models, &args).unwrap_err().to_string();
    let expected = "neither YAW,PITCH[,ZOOM] nor a camera of the file; cameras are: 0 \"Shot A\" in test.gltf";
    assert_eq!(error, format!("--camera B: {expected}"));
}

#[test]
fn zooming_ends_in_front_of_the_character_or_the_ground_in_the_middle() {
    for options in ["1", "100", "100 --camera 25,5", "100 --camera 70,50"] {
        let mut scene = scene(&format!("--instances {options}"));
        let start = scene.camera;
        let depth = scene.crowd.distance_along(start.position(), start.forward(), TIME_SECONDS).unwrap();
        let seen = start.position() + start.forward() * depth;
        let mut last = f32::INFINITY;
        for _ in 0..200 {
            scene.zoom_at(MIDDLE, 16.0 / 9.0, NOTCH, TIME_SECONDS);
            let in_front = (seen - scene.camera.position()).dot(start.forward());
            assert!(in_front > 0.0 && in_front <= last, "{options}: {in_front} after {last}");
            last = in_front;
        }
        assert!(last < 0.2 * depth, "{options}: ends {last} m in front of it, from {depth} m");
        // The line of sight is the same.
        assert!(((seen - scene.camera.position()).normalize() - start.forward()).length() < 1e-3, "{options}");
    }
}
