//! Clips together: each part is what it was, at its own time.

use std::collections::BTreeSet;
use std::sync::Arc;

use glam::{Affine3A, DVec3, Vec3, Vec4};
use throng::app::models::{add_wanted, load_models};
use throng::crowd::{ClipChoice, Crowd, CrowdSettings};
use throng::model::{Clip, Interpolation, Model};
use throng::retarget::first_clips;
use throng::retarget::together::{are_parts, join};

use serde_json::json;

use crate::common::assets::wild_path;
use crate::common::builder::Gltf;
use crate::common::invariants::check_clip;
use crate::common::lanes::check_lanes;
use crate::common::pose::posed;
use crate::common::scene;
use crate::cpu::crowd::{chain, clip_with, named, track};

/// Returns a body with clips of other lengths for other nodes: one whose keys begin after 0 and end early, a spline, and steps.
fn machine() -> Model {
    let mut model = chain("machine", 5, 2.0, &["Turn"]);
    let clip = |name: &str, times: &[f32]| Clip { name: Some(name.to_owned()), ..clip_with(times) };
    let x = |values: &[f32]| values.iter().map(|&x| Vec3::X * x).collect::<Vec<_>>();
    model.clips[0].rotations.truncate(1);
    let mut late = clip("Late", &[0.1, 0.3]);
    late.translations = vec![track(1, Interpolation::Linear, x(&[0.2, 0.4]))];
    late.duration_seconds = 0.4;
    let mut spline = clip("Spline", &[0.05, 0.5]);
    spline.scales =
        vec![track(2, Interpolation::CubicSpline, [3.0, 1.0, -2.0, 1.0, 2.0, 5.0].map(Vec3::splat).to_vec())];
    let mut steps = clip("Steps", &[0.0, 0.2, 0.7]);
    steps.translations = vec![track(3, Interpolation::Step, x(&[0.0, 1.0, 2.0]))];
    model.clips.extend([late, spline, steps]);
    model
}

#[test]
fn each_part_plays_at_its_own_time_and_stays_at_its_end() {
    let model = machine();
    assert!(are_parts(&model.clips));
    let (joined, replaced) = join(&model, &[0, 1, 2, 3], "together");
    assert_eq!((replaced, joined.duration_seconds), (0, 1.5));
    check_clip(&joined, &model.skeleton);
    // Seconds of the whole, and of each part: three turns of 0.4 s end at 1.2 s, and two of 0.7 s at 1.4 s.
    for (seconds, parts) in [
        (0.0, [0.0, 0.0, 0.0, 0.0]),
        (0.35, [0.35, 0.35, 0.35, 0.35]),
        (0.42, [0.42, 0.02, 0.42, 0.42]),
        (1.13, [1.13, 0.33, 0.13, 0.43]),
        (1.25, [1.25, 0.4, 0.25, 0.55]),
        (1.45, [1.45, 0.4, 0.45, 0.7]),
    ] {
        let (all, weights) = posed(&model, Some(&joined), seconds);
        let expected =
            model.clips.iter().zip(parts).map(|(clip, seconds)| posed(&model, Some(clip), seconds)).collect::<Vec<_>>();
        assert_eq!(weights, expected[0].1);
        let local = |matrices: &[Affine3A], node: usize| matrices[node - 1].inverse() * matrices[node];
        assert!(all[0].abs_diff_eq(expected[0].0[0], 1e-5));
        for (node, (own, _)) in expected.iter().enumerate().skip(1) {
            let (found, wanted) = (local(&all, node), local(own, node));
            assert!(found.abs_diff_eq(wanted, 1e-5), "node {node} at {seconds}: {found} instead of {wanted}");
        }
    }
    assert!(check_lanes(&model, Some(&joined), &[0.0, 0.41, 0.8, 1.3, 1.5], 2.0, Some(1e-5)).is_some());
    // What a file may say, and what takes too many turns.
    for seconds in [1e-4, 1e-7, f32::MIN_POSITIVE, 0.0] {
        let mut odd = machine();
        odd.clips[1].duration_seconds = seconds;
        odd.clips[1].timelines = vec![vec![0.0, seconds]; 1000];
        let (joined, _) = join(&odd, &[0, 1], "odd");
        assert!(joined.timelines.len() > 1000 && joined.timelines.iter().flatten().count() < 4_000_000);
        check_clip(&joined, &odd.skeleton);
    }
}

#[test]
fn of_clips_that_contradict_each_other_the_last_counts() {
    let mut model = chain("body", 3, 2.0, &["A", "B", "C"]);
    assert!(!are_parts(&model.clips) && !are_parts(&model.clips[..1]));
    let (joined, replaced) = join(&model, &[0, 2], "both");
    assert_eq!((joined.rotations.len(), joined.morph_weights.len(), replaced), (3, 1, 4));
    assert_eq!(posed(&model, Some(&joined), 0.4), posed(&model, model.clips.last(), 0.4));
    add_wanted(&mut model, &named("a + C"));
    assert!(model.warnings[0].contains("4 tracks of earlier clips give way"), "{:?}", model.warnings);
    assert_eq!(named("a + C").index_in(&model), Some(3));
    for absent in ["A+D", "+", "A+", "9+1"] {
        add_wanted(&mut model, &named(absent));
        assert_eq!((model.clips.len(), named(absent).index_in(&model)), (4, None), "{absent}");
    }
    add_wanted(&mut model, &named("0+1"));
    add_wanted(&mut model, &named("together"));
    assert_eq!(named("together").index_in(&model), Some(5));
    add_wanted(&mut model, &ClipChoice::Index(2));
    assert_eq!(model.clips.len(), 6);
}

#[test]
fn what_is_shown_first_stands_walks_or_repeats() {
    let first = |names: &[&str]| first_clips(&chain("body", 3, 2.0, names));
    assert_eq!(first(&["Death", "2H_Melee_Idle", "Walking_A", "Idle", "RunFast"]), [3, 2, 4]);
    assert_eq!(first(&["Armature|WalkCycle", "crest"]), [0]);
    assert_eq!(first(&["Forest", "Runner", "Sidewalk"]), [0], "each of them repeats");
    let mut falls = chain("body", 3, 2.0, &["Death", "Dance"]);
    falls.clips[0].rotations[0].values[3] = Vec4::new(1.0, 0.0, 0.0, 0.0);
    assert_eq!(first_clips(&falls), [1]);
    assert_eq!(first_clips(&Model::default()), [0; 0]);
}

/// A character, and parts of one take.
#[test]
#[cfg_attr(not(wild_models), ignore = "set THRONG_WILD_MODELS to the folder of models with faults")]
fn loaded_models_know_what_they_show_first() {
    let first = |path: &str, options: &str| {
        let args = scene::arguments(&format!("{path} {options}")).crowd;
        let models = load_models(&args).unwrap();
        // A single character shows the first of those that a crowd mixes.
        let mixed: Vec<usize> = models[0].first_clips.iter().map(|&clip| clip as usize).collect();
        assert_eq!(ClipChoice::Auto.index_in(&models[0]), mixed.first().copied());
        let settings = CrowdSettings { instance_count: 8, clip: args.clip, ..CrowdSettings::default() };
        let name = |clip: u32| models[0].clips[clip as usize].name.clone().unwrap();
        let crowd = Crowd::new(Arc::clone(&models), &settings).unwrap();
        crowd.instance_states().map(|state| name(state.clip.unwrap())).collect::<BTreeSet<String>>()
    };
    let parts = wild_path("w18_a_clip_for_each_object.gltf");
    for options in ["", "--clip all", "--clip together"] {
        assert_eq!(first(parts.to_str().unwrap(), options), BTreeSet::from(["together".to_owned()]), "{options}");
    }
    assert_eq!(first("", ""), ["Walk", "Run", "Idle"].map(str::to_owned).into());
}

/// Tools write a clip for each object. The truth is a straight line in double precision.
#[test]
fn a_file_with_a_clip_for_each_of_144_objects_moves_whole() {
    const OBJECTS: usize = 144;
    let mut gltf = Gltf::triangle();
    // Each object waits, goes to a place of its own, and comes back half of the way. Lengths differ.
    let keys = |object: usize| -> [(f32, [f32; 3]); 3] {
        let (n, x) = (object as f32, (object % 12) as f32);
        let [middle, end] = [0.5 + (object % 5) as f32 * 0.125, 1.25 + (object % 9) as f32 * 0.25];
        [(0.125, [x, 0.0, 0.0]), (middle, [x, 1.0 + n * 0.125, -n]), (end, [x, 0.25, n * 0.5])]
    };
    gltf.json["nodes"] = json!([]);
    for object in 0..OBJECTS {
        let (times, values) = (keys(object).map(|(time, _)| time), keys(object).map(|(_, value)| value));
        gltf.push("nodes", json!({"mesh": 0}));
        gltf.animate(object, "translation", "LINEAR", &times, values.as_flattened());
    }
    gltf.json["scenes"][0]["nodes"] = (0..OBJECTS).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("machine.glb");
    std::fs::write(&path, gltf.glb()).unwrap();
    let args = scene::arguments(&format!("{} --instances 3", path.display()));
    let models = load_models(&args.crowd).unwrap();
    let model = &models[0];
    assert_eq!((model.clips.len(), model.take()), (OBJECTS + 1, Some(OBJECTS as u32)));
    let clip = &model.clips[OBJECTS];
    let longest = f64::from(keys(8)[2].0);
    assert!((f64::from(clip.duration_seconds) - longest).abs() < 1e-6);
    for seconds in [0.0, 0.3, 0.777, 1.913, 3.011] {
        let (matrices, _) = posed(model, Some(clip), seconds);
        for (node, matrix) in matrices.iter().enumerate() {
            let object = model.skeleton.source_nodes[node] as usize;
            let keys = keys(object).map(|(time, value)| (f64::from(time), value.map(f64::from)));
            // A shorter part repeats as often as it fits, and then stays.
            let length = keys[2].0;
            let turns = (longest / length + 1e-9).floor();
            let own = if seconds > turns * length { length } else { seconds % length };
            let expected: [f64; 3] = std::array::from_fn(|axis| {
                let (after, before) = if own <= keys[1].0 { (keys[1], keys[0]) } else { (keys[2], keys[1]) };
                let share = ((own - before.0) / (after.0 - before.0)).clamp(0.0, 1.0);
                before.1[axis] + share * (after.1[axis] - before.1[axis])
            });
            let found = matrix.translation.as_dvec3();
            let apart = (found - DVec3::from(expected)).abs().max_element();
            let size = 143.0;
            assert!(apart < 1e-5 * size, "object {object} at {seconds} s: {found} instead of {expected:?}");
        }
    }
    // The crowd's lanes evaluate it like any clip.
    assert!(check_lanes(model, Some(clip), &[0.0, 0.41, 1.3, 3.0], 143.0, Some(1e-5)).is_some());
}
