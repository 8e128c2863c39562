//! Tests of crowds: seeds, threads, palette offsets, culling, levels of detail, playback, crossfades, picking, units.

mod bounds;
mod crossfade;
mod levels;
mod pick;
mod placement;
mod visibility;

use std::sync::Arc;

use glam::{Affine3A, Quat, Vec3, Vec4};
use throng::animation::MemoryKind;
use throng::crowd::{
    ClipChoice, Crowd, CrowdError, CrowdSettings, FramePlan, Layout, PhaseMode, PoseSize, thread_pool, wrap_seconds,
};
use throng::model::{
    Clip, Geometry, Influence, Interpolation, LocalPose, Model, MorphTrack, MorphedNode, NO_PARENT, Skeleton, Track,
};
use throng::shader_types::{InstanceData, JointMatrix};
use throng::view::{Detail, Frustum, OrbitCamera};

use crate::common::assets::{JELLY, asset};
pub use crate::common::crowd::instances_of;
use crate::common::crowd::{plan_of, planned_streams};
use crate::common::pose::layout;

pub fn positions(crowd: &Crowd) -> Vec<Vec3> {
    instances_of(crowd).iter().map(|instance| instance.world_from_model.transform_point(Vec3::ZERO)).collect()
}

pub fn cull(crowd: &mut Crowd, camera: &OrbitCamera, aspect: f32, to_light: Option<Vec3>, detail: &Detail) {
    let frustum = Frustum::from_clip_from_world(camera.clip_from_world(aspect));
    crowd.cull(None, Some(&frustum), to_light, detail);
}

/// Looks for all instances by their numbers. Expects the places in the list of visible instances.
pub fn assert_numbers_find_places(crowd: &Crowd) {
    let mut expected = vec![None; crowd.instance_count()];
    for (place, data) in (0..seen_count_of(crowd) as u32).zip(instances_of(crowd)) {
        expected[data.numbers[0] as usize] = Some((place, crowd.visible_poses()[data.pose as usize].levels.camera));
    }
    let level = |number| crowd.shown_instance(number, 0.0).and_then(|shown| shown.level);
    let found = (0..).map(|number| crowd.seen_index(number).zip(level(number)));
    assert!(found.take(expected.len()).eq(expected));
}

/// A chain of `joints` joints, `size` high, with one vertex at each. Each clip turns all joints about one axis.
pub fn chain(name: &str, joints: u32, size: f32, clip_names: &[&str]) -> Model {
    let step = size / joints as f32;
    let axes = [Vec3::Z, Vec3::X, Vec3::Y];
    let clips = clip_names.iter().zip(axes.into_iter().cycle()).map(|(clip_name, axis)| {
        let interpolation = Interpolation::Linear;
        let values = [0.0, 0.2, -0.2, 0.0].map(|angle| Vec4::from(Quat::from_axis_angle(axis, angle))).to_vec();
        let weights = vec![0.0, 1.0, 0.5, 0.5, 1.0, 0.0, 0.0, 1.0];
        let weights = MorphTrack { first_weight: 0, weight_count: 2, timeline: 0, interpolation, values: weights };
        Clip {
            name: Some((*clip_name).to_owned()),
            morph_weights: vec![weights],
            rotations: (0..joints).map(|node| track(node, interpolation, values.clone())).collect(),
            ..clip_with(&[0.0, 0.5, 1.0, 1.5])
        }
    });
    let entry = |joint| (joint, Affine3A::from_translation(Vec3::new(0.0, -step * joint as f32, 0.0)));
    let mut rest = LocalPose::identity(joints as usize);
    rest.translations[1..].fill(Vec3::new(0.0, step, 0.0));
    rest.morph_weights = vec![0.25, 0.75];
    Model {
        name: name.to_owned(),
        skeleton: Skeleton {
            parents: (0..joints).map(|node| node.checked_sub(1).unwrap_or(NO_PARENT)).collect(),
            rest,
            morphed_nodes: vec![MorphedNode { node: 0, first_weight: 0, weight_count: 2 }],
            ..Skeleton::default()
        },
        palette: layout((0..joints).map(entry), false),
        geometry: Geometry {
            positions: (0..joints).map(|joint| Vec3::new(0.1 * size, step * (joint + 1) as f32, 0.0)).collect(),
            indices: (0..joints).collect(),
            normals: vec![Vec3::X; joints as usize],
            influence_starts: (0..=joints).collect(),
            influences: (0..joints).map(|joint| Influence { joint, weight: 1.0 }).collect(),
            morph_delta_starts: vec![0; joints as usize + 1],
            ..Geometry::default()
        },
        clips: clips.collect(),
        ..Model::default()
    }
}

pub fn track<T>(node: u32, interpolation: Interpolation, values: Vec<T>) -> Track<T> {
    Track { node, timeline: 0, interpolation, values }
}

pub fn clip_with(keys: &[f32]) -> Clip {
    Clip { duration_seconds: *keys.last().unwrap(), timelines: vec![keys.to_vec()], ..Clip::default() }
}

pub fn named(name: &str) -> ClipChoice {
    ClipChoice::Name(name.to_owned())
}

fn crowd_of<const N: usize>(models: [Model; N], settings: &CrowdSettings) -> Crowd {
    Crowd::new(Arc::from(models), settings).unwrap()
}

fn largest_difference(a: &[JointMatrix], b: &[JointMatrix]) -> f32 {
    let [a, b] = [a, b].map(|matrices| matrices.iter().flat_map(|matrix| matrix.rows.as_flattened()));
    a.zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

fn mixed() -> Arc<[Model]> {
    Arc::from([
        chain("A.glb", 5, 1.8, &["Idle", "Walk"]),
        chain("B.glb", 3, 1.2, &["Walk"]),
        chain("C.glb", 7, 1.5, &[]),
    ])
}

fn settings(instance_count: u32) -> CrowdSettings {
    CrowdSettings { instance_count, ..CrowdSettings::default() }
}

pub fn palette_of(crowd: &mut Crowd, threads: usize, time_seconds: f64) -> Vec<JointMatrix> {
    streams_of(crowd, threads, time_seconds).0
}

/// Returns the joint matrices and the morph weights, which are the same for both kinds of memory.
fn streams_of(crowd: &mut Crowd, threads: usize, time_seconds: f64) -> (Vec<JointMatrix>, Vec<f32>) {
    let pool = thread_pool(Some(threads)).unwrap();
    assert_eq!(pool.current_num_threads(), threads);
    let plan = plan_of(crowd);
    let [cached, combined] = [MemoryKind::Cached, MemoryKind::WriteCombined]
        .map(|memory| planned_streams(crowd, &pool, time_seconds, &plan, memory));
    assert!(cached == combined);
    cached
}

fn seen_count_of(crowd: &Crowd) -> usize {
    crowd.visible_poses().iter().map(|pose| pose.seen_count as usize).sum()
}

/// A clip that holds all weights at 0 takes no morph weights, like the rest pose; one that moves a target takes all.
#[test]
fn poses_without_active_targets_have_no_morph_weights() {
    let mut jelly = asset(JELLY);
    jelly.skeleton.rest.morph_weights.fill(0.0);
    let moving = jelly.clips.iter().position(|clip| !clip.morph_weights.is_empty()).unwrap();
    let mut still = jelly.clips[moving].clone();
    still.morph_weights.iter_mut().for_each(|track| track.values.fill(0.0));
    jelly.clips = vec![jelly.clips[moving].clone(), still];
    let weight_count = jelly.morph_weight_count() as u32;
    let models: Arc<[Model]> = Arc::from([jelly]);
    for (clip, expected) in [(ClipChoice::Index(0), 6), (ClipChoice::Index(1), 0), (ClipChoice::None, 0)] {
        let mut crowd = Crowd::new(Arc::clone(&models), &CrowdSettings { clip, ..settings(6) }).unwrap();
        let plan = plan_of(&crowd);
        assert_eq!(plan.morph_weight_count, expected * weight_count);
        assert_eq!(streams_of(&mut crowd, 1, 0.3).1.len(), plan.morph_weight_count as usize);
    }
    // Both kinds in one crowd: two batches at most, in full detail.
    let crowd = Crowd::new(models, &CrowdSettings { clip: ClipChoice::All, ..settings(40) }).unwrap();
    assert_eq!(plan_of(&crowd).batches.len(), 2);
}

#[test]
fn the_seed_decides_everything_and_nothing_else_does() {
    let crowd = |seed| Crowd::new(mixed(), &CrowdSettings { seed, ..settings(100) }).unwrap();
    assert_eq!(instances_of(&crowd(1)), instances_of(&crowd(1)));
    assert_eq!(palette_of(&mut crowd(1), 1, 0.3), palette_of(&mut crowd(1), 1, 0.3));
    assert_ne!(instances_of(&crowd(1)), instances_of(&crowd(2)));
    // Another clip or phase moves no instance if the spacing is given.
    let spaced = CrowdSettings { spacing_metres: Some(2.0), ..settings(100) };
    let other = CrowdSettings { clip: ClipChoice::None, phase: PhaseMode::Zero, ..spaced.clone() };
    // Instances of one clip are neighbours in memory, so only the set of positions stays the same.
    let places = |settings: &CrowdSettings| {
        let instances = instances_of(&Crowd::new(mixed(), settings).unwrap());
        let mut places: Vec<_> = instances.iter().map(|instance| instance.world_from_model.rows).collect();
        places.sort_by(|a, b| a.partial_cmp(b).unwrap());
        places
    };
    assert_eq!(places(&spaced), places(&other));
}

#[test]
fn layouts_and_variety_change_what_they_name_and_nothing_else() {
    let data = |layout, variety| {
        let mut all = instances_of(&Crowd::new(mixed(), &CrowdSettings { layout, variety, ..settings(300) }).unwrap());
        all.iter_mut().for_each(|instance| instance.pose = 0);
        all
    };
    let sizes = |instances: &[InstanceData]| -> Vec<f32> {
        instances.iter().map(|instance| instance.world_from_model.rows[1][1]).collect()
    };
    let plain = data(Layout::Grid, 0.0);
    assert!(plain.iter().all(|instance| instance.tint_unorm8 == u32::MAX) && sizes(&plain) == [1.0; 300]);
    for layout in [Layout::Grid, Layout::Ring, Layout::Scatter] {
        let varied = data(layout, 1.0);
        assert!(sizes(&varied).iter().all(|size| (0.8..=1.2).contains(size)) && sizes(&varied) != [1.0; 300]);
        // Tints and sizes belong to the instances and not to their places.
        let tints = |all: &[InstanceData]| -> Vec<u32> { all.iter().map(|instance| instance.tint_unorm8).collect() };
        assert_eq!(tints(&varied), tints(&data(Layout::Grid, 1.0)), "{layout:?}");
        assert_eq!(sizes(&varied), sizes(&data(Layout::Grid, 1.0)), "{layout:?}");
    }
    assert_ne!(data(Layout::Ring, 0.0), plain);
    assert_ne!(data(Layout::Scatter, 0.0), plain);
}

#[test]
fn a_line_up_shows_the_models_as_they_are_in_their_order() {
    let models = mixed();
    let line = CrowdSettings { layout: Layout::Line, variety: 1.0, travel: true, ..settings(models.len() as u32) };
    let crowd = Crowd::new(Arc::clone(&models), &line).unwrap();
    assert!(crowd.notes().contains(&"instances in a line do not travel; those of other layouts do".to_owned()));
    let instances = instances_of(&crowd);
    assert_eq!(instances.len(), models.len());
    // Instances are sorted by model.
    let x = |instance: &InstanceData| instance.world_from_model.rows[0][3];
    assert!(instances.is_sorted_by(|a, b| x(a) < x(b)), "{instances:?}");
    for instance in &instances {
        let [right, _, forward] = instance.world_from_model.rows;
        assert_eq!((right[0], right[2], forward[2], forward[3]), (1.0, 0.0, 1.0, 0.0), "not turned, at true scale");
        assert_eq!(instance.tint_unorm8, u32::MAX);
    }
    let tall = CrowdSettings { height_metres: Some(2.5), ..line };
    let instances = instances_of(&Crowd::new(Arc::clone(&models), &tall).unwrap());
    for (instance, model) in instances.iter().zip(&*models) {
        let height = throng::measure::rest_height(model).unwrap() * instance.world_from_model.rows[1][1];
        assert!((height - 2.5).abs() < 1e-5, "{}: {height}", model.name);
    }
}

#[test]
fn times_wrap_into_the_clip() {
    // These times are exact in binary, so the comparison can be exact.
    let cases = [(0.0, 0.0), (1.5, 1.5), (1.75, 0.25), (-0.25, 1.25), (-1.5, 0.0), (30.5, 0.5)];
    for (time, expected) in cases.into_iter().chain([(f64::NAN, 0.0), (f64::INFINITY, 0.0)]) {
        assert_eq!(wrap_seconds(time, 1.5), expected, "at {time}");
    }
    assert_eq!((wrap_seconds(7.0, 0.0), wrap_seconds(-1.0, 0.0)), (0.0, 0.0));
}

#[test]
fn clips_are_chosen_by_name_index_or_evenly() {
    let crowd = |clip| Crowd::new(mixed(), &CrowdSettings { clip, ..settings(9) });
    assert!(crowd(named("Idle")).is_ok(), "one model of three has it");
    assert!(crowd(ClipChoice::Index(1)).is_ok());
    let error = crowd(named("Fly")).unwrap_err().to_string();
    assert_eq!(error, r#"no clip "Fly"; the clips are: 0 "Idle", 1 "Walk" in A.glb; 0 "Walk" in B.glb"#);
    let error = crowd(ClipChoice::Index(2)).unwrap_err().to_string();
    assert!(error.starts_with("no clip 2; the clips are: 0 \"Idle\""), "{error}");

    // Two clips over 100 instances at the same time give two poses, 50 of each.
    let all = CrowdSettings { phase: PhaseMode::Zero, ..settings(100) };
    let mut crowd = crowd_of([chain("A.glb", 5, 1.8, &["Idle", "Walk"])], &all);
    let first_joints = |crowd: &mut Crowd| palette_of(crowd, 1, 0.5).into_iter().step_by(5).collect::<Vec<_>>();
    let mixed_joints = first_joints(&mut crowd);
    assert_eq!(mixed_joints.iter().filter(|&joint| *joint == mixed_joints[0]).count(), 50);
    crowd.set_clip(&ClipChoice::Index(1)).unwrap();
    let same = first_joints(&mut crowd);
    assert!(same.iter().all(|joint| *joint == same[0]), "{same:?}");
    assert!(matches!(crowd.set_clip(&ClipChoice::Index(2)), Err(CrowdError::UnknownClip { .. })));
    assert_eq!(first_joints(&mut crowd), same, "a refused clip changes nothing");
    crowd.set_clip(&ClipChoice::None).unwrap();
    assert!(first_joints(&mut crowd).iter().all(|joint| *joint == JointMatrix::IDENTITY));
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    assert_eq!(Crowd::new(Arc::from([]), &settings(1)).unwrap_err(), CrowdError::NoModels);
    for (refused, part) in [
        (CrowdSettings { spacing_metres: Some(0.0), ..settings(1) }, "spacing of 0"),
        (CrowdSettings { spacing_metres: Some(f32::NAN), ..settings(1) }, "spacing of NaN"),
        (CrowdSettings { height_metres: Some(-1.0), ..settings(1) }, "a height of -1"),
        (CrowdSettings { speed: f32::INFINITY, ..settings(1) }, "speed of inf"),
        (CrowdSettings { variety: -0.1, ..settings(1) }, "a number from 0 to 1"),
        (CrowdSettings { variety: 1.1, ..settings(1) }, "a number from 0 to 1"),
        (CrowdSettings { variety: f32::NAN, ..settings(1) }, "a number from 0 to 1"),
        (settings(u32::MAX), "at most 1000000"),
    ] {
        let error = Crowd::new(mixed(), &refused).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    let empty = Crowd::new(mixed(), &settings(0)).unwrap();
    assert_eq!((empty.visible_poses().len(), empty.bounds().radius() > 0.0), (0, true));
}
