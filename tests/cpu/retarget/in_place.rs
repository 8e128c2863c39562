//! Clips that carry the body away, kept in place.

use std::f32::consts::FRAC_PI_8;

use glam::{Affine3A, Quat, Vec2, Vec3, Vec4};
use throng::measure::{Gait, gait_of};
use throng::model::{Clip, FixedLocal, Interpolation, Model, Track, import};
use throng::retarget::keep_in_place;

use crate::common::assets::sample_files;
use crate::common::pose::posed;
use crate::cpu::crowd::chain;
use crate::cpu::stepper::{Motion, stepper};

const HEIGHT: f32 = 2.0;
const SECONDS: f32 = 2.0;

/// A name, the times of the keys, their places (x and z), and the drift.
type Case = (&'static str, &'static [f32], &'static [[f32; 2]], [f32; 2]);

/// Returns a body of three joints, two metres tall, whose clip moves the first joint, and turns the second one to an angle.
fn body(interpolation: Interpolation, times: &[f32], values: &[Vec3], last_radians: f32) -> Model {
    let mut model = chain("body", 3, 1.5 * HEIGHT, &[]);
    let moves = Track { node: 0, timeline: 0, interpolation, values: values.to_vec() };
    let turn = |radians| Vec4::from(Quat::from_rotation_x(radians));
    let values = vec![turn(0.0), turn(0.3), turn(last_radians)];
    let turns = Track { node: 1, timeline: 1, interpolation: Interpolation::Linear, values };
    let timelines = vec![times.to_vec(), vec![0.0, 0.5 * SECONDS, SECONDS]];
    let (translations, rotations, duration_seconds) = (vec![moves], vec![turns], SECONDS);
    model.clips = vec![Clip { duration_seconds, timelines, translations, rotations, ..Clip::default() }];
    model
}

/// Returns the matrices of the palette's nodes at a time of the first clip.
fn pose(model: &Model, seconds: f64) -> Vec<Affine3A> {
    let (nodes, _) = posed(model, model.clips.first(), seconds);
    model.palette.nodes.iter().map(|&node| nodes[node as usize]).collect()
}

/// Keeps a body in place. Its clip must then have this drift, and differ by exactly this line. Returns where the line starts.
fn check(what: &str, model: &Model, drift: Vec2) -> Vec3 {
    let mut kept = model.clone();
    keep_in_place(&mut kept);
    assert!(kept.clips[0].drift.distance(drift) < 1e-4, "{what}: {} instead of {drift}", kept.clips[0].drift);
    let start = Vec3::from(pose(model, 0.0)[0].translation - pose(&kept, 0.0)[0].translation);
    assert!(start.y == 0.0 && (start != Vec3::ZERO || drift != Vec2::ZERO || kept.clips == model.clips), "{what}");
    for step in 0..=60 {
        let share = step as f32 / 60.0;
        let line = start + share * Vec3::new(drift.x, 0.0, drift.y);
        let seconds = f64::from(share * SECONDS);
        for (before, after) in pose(model, seconds).iter().zip(pose(&kept, seconds)) {
            let error = Vec3::from(before.translation - after.translation).distance(line);
            assert!(before.matrix3 == after.matrix3 && error < 2e-4, "{what} at {seconds}: {error}");
        }
    }
    start
}

#[test]
fn the_straight_part_of_the_way_is_taken_out() {
    use Interpolation::{CubicSpline, Linear, Step};
    let at = |&[x, z]: &[f32; 2]| Vec3::new(x, 0.1 * x, z);
    let ways: [Case; 9] = [
        ("straight", &[0.0, 2.0], &[[0.0, 0.0], [0.0, 6.0]], [0.0, 6.0]),
        ("with a stop", &[0.0, 0.5, 1.5, 2.0], &[[0.0, 0.0], [3.0, 1.0], [3.0, 1.0], [5.0, 0.0]], [5.0, 0.0]),
        ("a jump", &[0.0, 1.0, 1.0, 2.0], &[[0.0, 0.0], [0.0, 0.0], [9.0, 0.0], [9.0, 0.0]], [9.0, 0.0]),
        ("keys inside the clip", &[0.5, 1.5], &[[0.0, 0.0], [-4.0, -4.0]], [-4.0, -4.0]),
        ("keys before 0", &[-2.0, 2.0], &[[-60.0, 0.0], [60.0, 0.0]], [60.0, 0.0]),
        ("a short step", &[0.0, 2.0], &[[0.0, 0.0], [0.0, 0.3]], [0.0, 0.3]),
        ("there and back", &[0.0, 1.0, 2.0], &[[0.0, 0.0], [3.0, 0.0], [0.0, 0.0]], [0.0, 0.0]),
        ("a sway", &[0.0, 2.0], &[[0.0, 0.0], [0.1, 0.0]], [0.0, 0.0]),
        ("none", &[0.0], &[[0.0, 0.0]], [0.0, 0.0]),
    ];
    for (what, times, places, drift) in ways {
        let (values, drift) = (places.iter().map(at).collect::<Vec<_>>(), Vec2::from(drift));
        assert_eq!(check(what, &body(Linear, times, &values, 0.0), drift), Vec3::ZERO, "{what}");
        if times[0] < 0.0 {
            continue;
        }
        // Steps are far from the line, so their middle may be elsewhere.
        check(what, &body(Step, times, &values, 0.0), drift);
        let spline = |&value: &Vec3| [Vec3::new(1.0, 0.2, -0.6), value, Vec3::new(-0.4, 0.1, 0.8)];
        let values: Vec<Vec3> = values.iter().flat_map(spline).collect();
        assert_eq!(check(what, &body(CubicSpline, times, &values, 0.0), drift), Vec3::ZERO, "{what}");
    }
    let circle: Vec<_> = (0..=16).map(|key| at(&(4.0 * Vec2::from_angle(key as f32 * FRAC_PI_8)).to_array())).collect();
    let times: Vec<f32> = (0..=16).map(|key| key as f32 / 8.0).collect();
    assert_eq!(check("a circle", &body(Linear, &times, &circle, 0.0), Vec2::ZERO), Vec3::ZERO);
    let fall = |length: f32| body(Linear, &[0.0, 2.0], &[Vec3::ZERO, Vec3::X * length], 1.5);
    // The nodes above the joint that turns go elsewhere, but less far than the body is tall.
    assert_eq!(check("a fall", &fall(1.0), Vec2::ZERO), Vec3::ZERO);
    let mut thrown = fall(8.0);
    keep_in_place(&mut thrown);
    assert!((thrown.clips[0].drift.x - 8.0).abs() < 1e-4, "{}", thrown.clips[0].drift);
    let elsewhere = body(Linear, &[0.0, 2.0], &[Vec3::new(9.0, 0.0, -7.0), Vec3::new(9.0, 1.0, -7.0)], 0.0);
    let start = check("made elsewhere", &elsewhere, Vec2::ZERO);
    assert!(start.distance(Vec3::new(9.0, 0.0, -7.0)) < 0.5, "{start}");
}

/// Exporters put matrices above the root, which turn and scale its space. Without keys of its own the root gets some.
#[test]
fn the_way_is_that_in_model_space() {
    let mut model = body(Interpolation::Linear, &[0.0, 2.0], &[Vec3::ZERO, Vec3::new(0.0, 0.0, 12.0)], 0.0);
    let turn = Quat::from_rotation_y(0.5 * std::f32::consts::PI);
    let parent_from_node = Affine3A::from_scale_rotation_translation(Vec3::splat(0.5), turn, Vec3::new(1.0, 0.0, 0.0));
    model.skeleton.fixed_locals = vec![FixedLocal { node: 0, parent_from_node }];
    model.clips[0].translations[0].node = 1;
    model.palette.nodes[0] = 1;
    check("a matrix above", &model, Vec2::new(6.0, 0.0));
    let mut model = body(Interpolation::Linear, &[0.0, 2.0], &[Vec3::Y, Vec3::new(0.0, 1.0, 12.0)], 0.0);
    model.clips[0].translations[0].node = 1;
    model.palette.nodes[0] = 1;
    check("a hip below a root", &model, Vec2::new(0.0, 12.0));
}

#[test]
fn a_walk_that_moves_the_character_is_as_fast_as_it_goes() {
    let walk = Motion { velocity: Vec2::new(0.0, 1.2), duty: 0.62, lift: 0.15, moves_root: true, ..Motion::default() };
    let mut model = stepper(&walk);
    keep_in_place(&mut model);
    let Gait { velocity, stance, .. } = gait_of(&model, &model.clips[0]);
    assert!(velocity.distance(walk.velocity) < 0.01 && (0.05..0.2).contains(&stance), "{velocity} {stance}");
}

#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn few_clips_of_real_models_carry_the_body_away() {
    let (mut all, mut found) = (0, Vec::new());
    for file in sample_files(&["glb", "gltf", "vrm"]) {
        let Ok(mut model) = import::load(&file) else { continue };
        let before = model.clips.clone();
        keep_in_place(&mut model);
        all += before.len();
        let moved = model.clips.iter().zip(&before).filter(|(clip, before)| clip != before);
        found.extend(moved.map(|(clip, _)| clip.name.clone().unwrap_or_default()));
    }
    assert!(all > 150, "{all} clips");
    assert_eq!(found, ["Dodge_Backward", "Dodge_Right", "dash_root.001"]);
}
