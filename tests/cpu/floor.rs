//! Feet on the ground: the distance between the soles of a character and the ground, for models of many kinds.
//!
//! The generated characters are 1.8 metres high and consist of boxes. Their soles are known exactly.

use std::sync::Arc;

use serde_json::json;
use throng::crowd::{ClipChoice, Crowd, CrowdSettings};
use throng::measure::floor_height;
use throng::model::{Clip, Model};
use throng::shader_types::InstanceData;

use crate::common::assets::{JELLY, WALKER, asset, sample};
use crate::common::builder::Gltf;
use crate::cpu::crowd::instances_of;
use crate::cpu::levels::measure::{box_of, positions};

/// The largest distance between a sole and the ground, as a share of the height.
const MOST: f32 = 0.01;
const HEIGHT: f32 = 1.8;

/// A box: the name and the origin of its node, and its lowest and highest corner in the space of the node.
type Part = (&'static str, [f32; 3], [f32; 3], [f32; 3]);

/// Two legs that end at y = 0, a body and a head.
const BODY: [Part; 4] = [
    ("leg", [0.12, 0.9, 0.0], [-0.1, -0.9, -0.1], [0.1, 0.0, 0.1]),
    ("leg", [-0.12, 0.9, 0.0], [-0.1, -0.9, -0.1], [0.1, 0.0, 0.1]),
    ("body", [0.0, 0.9, 0.0], [-0.25, 0.0, -0.15], [0.25, 0.6, 0.15]),
    ("head", [0.0, 1.5, 0.0], [-0.12, 0.0, -0.12], [0.12, 0.3, 0.12]),
];

/// A crossbow in a hand, at 0.7 metres. It is 0.9 metres long.
const CROSSBOW_DOWN: Part = ("crossbow", [0.35, 0.7, 0.1], [-0.04, -0.9, -0.04], [0.04, 0.0, 0.04]);
const CROSSBOW_UP: Part = ("crossbow", [0.35, 0.7, 0.1], [-0.04, 0.0, -0.04], [0.04, 0.9, 0.04]);

/// A clip of two seconds that moves a node of this name, or the root, to each height in turn.
type Motion = (&'static str, Vec<f32>);

fn character(parts: &[Part], root_y: f32, motions: &[Motion]) -> Model {
    let mut gltf = Gltf::new();
    let mut children = Vec::new();
    for (name, origin, low, high) in parts {
        children.push(gltf.cuboid(*low, *high, json!({"name": name, "translation": origin})));
    }
    let root = gltf.push("nodes", json!({"name": "root", "children": children, "translation": [0.0, root_y, 0.0]}));
    gltf.json["scenes"][0]["nodes"] = json!([root]);
    for (node, heights) in motions {
        let last = (heights.len() - 1).max(1) as f32;
        let times: Vec<f32> = (0..heights.len()).map(|k| 2.0 * k as f32 / last).collect();
        let index = parts.iter().position(|part| part.0 == *node);
        let [x, _, z] = index.map_or([0.0; 3], |index| parts[index].1);
        let values: Vec<f32> = heights.iter().flat_map(|&y| [x, y, z]).collect();
        let target = index.map_or(root, |index| children[index]);
        gltf.animate(target, "translation", "LINEAR", &times, &values);
    }
    gltf.load().unwrap()
}

/// Returns the smallest height of the vertices named by `is_sole`, over all instances of a crowd, in the rest pose or at
/// this time of a clip. Instances with different heights fail the test.
fn sole_heights(crowd: &Crowd, clip: Option<usize>, time_seconds: f64) -> Vec<f32> {
    let height_of = |instance: &InstanceData| {
        let model = &crowd.models()[crowd.visible_poses()[instance.pose as usize].model as usize];
        let positions = positions(model, clip.and_then(|clip| model.clips.get(clip)), time_seconds);
        // The first two nodes of a generated character are its legs.
        let legs = model.geometry.source_primitives.iter().filter(|primitive| primitive.node < 2);
        let soles = legs.flat_map(|leg| &leg.vertices).map(|&vertex| positions[vertex as usize].as_vec3());
        soles.map(|sole| instance.world_from_model.transform_point(sole).y).fold(f32::INFINITY, f32::min)
    };
    instances_of(crowd).iter().map(height_of).collect()
}

fn crowd(models: Vec<Model>, instance_count: u32) -> Crowd {
    let settings = CrowdSettings { instance_count, clip: ClipChoice::None, ..CrowdSettings::default() };
    Crowd::new(Arc::from(models), &settings).unwrap()
}

fn assert_on_the_ground(what: &str, heights: impl IntoIterator<Item = f32>) {
    for height in heights {
        assert!(height.abs() <= MOST * HEIGHT, "{what}: {height} m above the ground");
    }
}

/// Asserts that the soles are on the ground, in the rest pose and at the given times of the first clip.
fn assert_stands(what: &str, model: Model, clip_times: &[f64]) {
    let crowd = crowd(vec![model], 3);
    let rest = sole_heights(&crowd, None, 0.0);
    let at_times = clip_times.iter().flat_map(|&time_seconds| sole_heights(&crowd, Some(0), time_seconds));
    assert_on_the_ground(what, rest.into_iter().chain(at_times));
}

fn with(extra: Part) -> Vec<Part> {
    BODY.into_iter().chain([extra]).collect()
}

fn still(heights: &[f32]) -> Motion {
    ("root", heights.to_vec())
}

#[test]
fn an_attachment_below_the_feet_lifts_nobody() {
    let held = |height| [("crossbow", vec![height; 2])];
    assert_stands("in the rest pose", character(&with(CROSSBOW_DOWN), 0.0, &[]), &[]);
    assert_stands("until a clip raises it", character(&with(CROSSBOW_DOWN), 0.0, &held(1.6)), &[0.0, 1.0]);
    assert_stands("in a clip", character(&with(CROSSBOW_UP), 0.0, &held(-0.6)), &[0.0]);
    assert_stands("always", character(&with(CROSSBOW_DOWN), 0.0, &held(0.5)), &[0.0, 1.0]);
}

#[test]
fn a_tail_below_the_feet_lifts_nobody() {
    let tail = ("Tail_03", [0.0, 0.3, -0.4], [-0.1, -0.7, -0.1], [0.1, 0.0, 0.1]);
    for offset in [-0.9, 0.0, 0.5] {
        assert_stands(&format!("{offset} m"), character(&with(tail), offset, &[]), &[]);
        let stands = still(&[offset, offset]);
        assert_stands(&format!("{offset} m, animated"), character(&with(tail), offset, &[stands]), &[0.0, 1.0]);
    }
}

#[test]
fn models_that_were_moved_up_or_down_stand_on_their_soles() {
    for offset in [-0.9, -0.5, -0.1, -0.03, 0.03, 0.2, 0.5, 3.0] {
        assert_stands(&format!("{offset} m"), character(&BODY, offset, &[]), &[]);
        let stands = still(&[offset, offset]);
        assert_stands(&format!("{offset} m, animated"), character(&BODY, offset, &[stands]), &[0.0, 1.0, 2.0]);
    }
    // A giant with its origin at its hips, on thin legs, and one hand below the feet. The lower side of its body is larger
    // than its soles, and legs and hand are a small part of the surface, but each has two joints.
    let giant: Vec<Part> = [
        ("body", [0.0, 0.0, 0.0], [-0.9, 0.0, -0.9], [0.9, 2.0, 0.9]),
        ("thigh", [0.12, -0.1, 0.0], [-0.04, -0.4, -0.04], [0.04, 0.0, 0.04]),
        ("shin", [0.12, -0.5, 0.0], [-0.04, -0.4, -0.04], [0.04, 0.0, 0.04]),
        ("forearm", [0.5, -0.1, 0.0], [-0.01, -0.4, -0.01], [0.01, 0.0, 0.01]),
        ("hand", [0.5, -0.5, 0.0], [-0.01, -0.41, -0.01], [0.01, 0.0, 0.01]),
    ]
    .into();
    assert!((floor_height(&character(&giant, 0.0, &[])) + 0.91).abs() < 1e-5);
    // The origin is in the middle, the crossbow hangs beside the leg.
    assert_stands("centred", character(&with(CROSSBOW_UP), -0.9, &[still(&[-0.9, -0.9])]), &[0.0]);
}

#[test]
fn whoever_hovers_in_the_rest_pose_stands_and_whoever_lands_keeps_its_height() {
    let bob = still(&[0.5, 0.51, 0.5, 0.49, 0.5]);
    assert_stands("a drone that never lands", character(&BODY, 0.5, &[bob]), &[0.0, 1.0]);
    // This one lands at y = 0, so it hovers by design.
    let drone = crowd(vec![character(&BODY, 0.5, &[still(&[0.5, 0.5]), still(&[0.5, 0.0])])], 2);
    for (clip, time_seconds, height) in [(None, 0.0, 0.5), (Some(0), 1.0, 0.5), (Some(1), 2.0, 0.0)] {
        let heights = sole_heights(&drone, clip, time_seconds);
        assert!(heights.iter().all(|sole| (sole - height).abs() < 1e-4), "{clip:?}: {heights:?}");
    }
}

#[test]
fn clips_decide_only_if_the_rest_pose_cannot() {
    // One clip falls, one jumps; the floor stays.
    let model = character(&BODY, 0.0, &[still(&[0.0, 0.0]), still(&[0.0, 0.6, 0.0]), still(&[0.0, -3.0])]);
    assert_eq!(floor_height(&model), 0.0);
    // A bird rests on the ground and flies in its only clip.
    assert_eq!(floor_height(&character(&BODY, 0.0, &[still(&[2.0, 2.5])])), 0.0);
    // The rest pose lies somewhere else, and the clips stand at y = 0.
    assert_eq!(floor_height(&character(&BODY, -4.0, &[still(&[0.0, 0.0]), still(&[0.02, 0.02])])), 0.0);
    // The rest pose stands at y = 0, and all clips stand below it.
    let below = character(&BODY, 0.0, &[still(&[-0.9, -0.9]), still(&[-0.9, -0.8])]);
    assert!((floor_height(&below) + 0.9).abs() < 1e-5, "{}", floor_height(&below));
    assert_eq!(floor_height(&Model::default()), 0.0);
}

#[test]
fn everybody_in_a_mixed_crowd_stands() {
    let scaled = |mut model: Model, factor: f32| {
        // Centimetres. Unit repair must scale the floor too.
        model.geometry.positions.iter_mut().for_each(|position| *position *= factor);
        model.palette.joint_from_mesh.iter_mut().for_each(|matrix| matrix.translation *= factor);
        model.skeleton.rest.translations.iter_mut().for_each(|translation| *translation *= factor);
        model
    };
    let models = vec![
        character(&BODY, -0.9, &[]),
        character(&with(CROSSBOW_DOWN), 0.0, &[]),
        character(&BODY, 0.5, &[]),
        scaled(character(&BODY, -0.5, &[]), 100.0),
        character(&BODY, 0.0, &[]),
    ];
    let crowd = crowd(models, 100);
    assert_eq!(crowd.notes().len(), 1, "{:?}", crowd.notes());
    assert_on_the_ground("mixed", sole_heights(&crowd, None, 0.0));
}

/// Returns the lowest point of each clip above the model's floor, and that of the rest pose, as shares of the height.
fn gaps(model: &Model) -> (f32, Vec<f32>) {
    let extent = |clip: Option<&Clip>, time_seconds: f64| {
        let (low, high) = box_of(&positions(model, clip, time_seconds));
        (low.y as f32, high.y as f32)
    };
    let floor = floor_height(model);
    let (low, high) = extent(None, 0.0);
    let height = high - low;
    let of_clip = |clip: &Clip| {
        let time = |k: u32| f64::from(clip.duration_seconds) * f64::from(k) / 7.0;
        let lowest = (0..8).map(|k| extent(Some(clip), time(k)).0).fold(f32::INFINITY, f32::min);
        (lowest - floor) / height
    };
    ((low - floor) / height, model.clips.iter().map(of_clip).collect())
}

/// In the rest pose all sample models touch the ground, and so do those with clips that stand, in most of these clips. Their
/// authors let feet sink by up to 2 % in a step.
#[test]
fn sample_models_stand() {
    const STANDING: &str = "Fox/Fox.glb CesiumMan/CesiumMan.glb KayKit_Knight/Knight.glb Mannequiny/mannequiny.glb \
        RobotExpressive_raylib/robot.glb RiggedFigure/RiggedFigure.glb RecursiveSkeletons/RecursiveSkeletons.glb";
    const OTHERS: &str = "Elf_Maya/elf.gltf PirateMeshopt/pirate.glb RiggedSimple/RiggedSimple.glb \
        PBRTest_Joints1/pbrTest.gltf SimpleSkin/SimpleSkin.gltf InterpolationTest/InterpolationTest.glb \
        BoxAnimated/box_animated.gltf AnimatedMorphCube/AnimatedMorphCube.glb";
    let mut models = vec![(asset(WALKER), true), (asset(JELLY), true)];
    if cfg!(sample_models) {
        for (names, stands) in [(STANDING, true), (OTHERS, false)] {
            models.extend(names.split_whitespace().map(|name| (sample(name), stands)));
        }
    }
    for (model, stands) in models {
        let (rest, mut clips) = gaps(&model);
        assert!(rest.abs() <= MOST, "{}: the rest pose is off by {rest}", model.name);
        clips.sort_by(f32::total_cmp);
        if stands {
            let median = clips[clips.len() / 2];
            assert!(median.abs() <= 2.0 * MOST, "{}: the clips are off by {clips:?}", model.name);
        }
    }
}
