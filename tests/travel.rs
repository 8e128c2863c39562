//! Tests of crowds that go somewhere: the speed that feet imply, and feet that do not slide.

#[path = "common/instances.rs"]
mod instances;

use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::Arc;

use glam::{Vec2, Vec3};
use instances::{instances_of, positions};
use throng::animation::{BindPose, MemoryKind, Pose, PoseStreams, gait_of, skin_vertex};
use throng::crowd::{ClipChoice, Crowd, CrowdSettings, FramePlan, Layout, PoseSize, thread_pool};
use throng::model::{Model, import};
use throng::shader_types::JointMatrix;
use throng::view::{Detail, Frustum, OrbitCamera};

fn walker() -> Model {
    import::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/walker.glb")).unwrap()
}

fn crowd(instance_count: u32, clip: &str, variety: f32) -> Crowd {
    let clip = if clip == "all" { ClipChoice::All } else { ClipChoice::Name(clip.to_owned()) };
    let settings = CrowdSettings { instance_count, clip, variety, travel: true, ..CrowdSettings::default() };
    Crowd::new(Arc::from([walker()]), &settings).unwrap()
}

/// Returns the palettes of all poses at a time.
fn palettes(crowd: &mut Crowd, threads: usize, time_seconds: f64) -> Vec<JointMatrix> {
    let sizes: Vec<PoseSize> = crowd.models().iter().map(PoseSize::of).collect();
    let mut plan = FramePlan::default();
    plan.rebuild(&sizes, crowd.visible_poses(), 1 << 27).unwrap();
    let mut palette = vec![MaybeUninit::new(JointMatrix::IDENTITY); plan.joint_count as usize];
    let mut morph_weights = vec![MaybeUninit::new(0.0); plan.morph_weight_count as usize];
    let streams = PoseStreams { palette: &mut palette, morph_weights: &mut morph_weights, memory: MemoryKind::Cached };
    crowd.evaluate(&thread_pool(Some(threads)).unwrap(), time_seconds, &plan, streams);
    // SAFETY: every element was initialised on creation.
    palette.iter().map(|element| unsafe { element.assume_init() }).collect()
}

#[test]
fn the_walkers_feet_say_how_fast_it_is() {
    let walker = walker();
    let gaits: Vec<_> = walker.clips.iter().map(|clip| gait_of(&walker, clip)).collect();
    // The generator plants the feet of Walk at one metre a second, and those of Run at 2.4.
    for (found, speed) in gaits.iter().zip([1.0, 2.4]) {
        assert!(found.velocity.distance(Vec2::new(0.0, speed)) < 0.01 * speed, "{found:?} instead of {speed} m/s");
        assert!((0.05..0.12).contains(&found.stance), "{found:?}");
    }
    assert!(gaits[2..].iter().all(|gait| gait.velocity == Vec2::ZERO), "{gaits:?}");
}

/// The end-to-end test: soles in the world, from the instance matrices and the palettes of a crowd. A foot slides by the mean
/// displacement of the vertices that touch the ground, summed from the frame in which the first one lands.
#[test]
fn planted_feet_stay_where_they_are() {
    const FRAMES: u32 = 150;
    const INSTANCES: usize = 60;
    for clip in ["Walk", "Run"] {
        let mut crowd = crowd(INSTANCES as u32, clip, 0.5);
        let model = walker();
        let model_clip = model.clips.iter().find(|own| own.name.as_deref() == Some(clip)).unwrap();
        let stride = gait_of(&model, model_clip).velocity.length() * model_clip.duration_seconds;
        let bind_pose = BindPose::new(&model.geometry);
        let places = &model.geometry.positions;
        let soles = [-1.0, 1.0].map(|side| -> Vec<usize> {
            (0..places.len()).filter(|&vertex| places[vertex].y < 0.02 && places[vertex].x * side > 0.0).collect()
        });
        assert!(soles.iter().all(|sole| sole.len() > 10));
        let joints = model.palette.len();
        let mut last: Vec<Vec<Vec3>> = vec![Vec::new(); 2 * INSTANCES];
        // The slide of each foot, and for how many frames it has been standing.
        let mut standing = vec![(Vec3::ZERO, 0u32); 2 * INSTANCES];
        let (mut worst, mut longest) = (0.0f32, 0);
        for frame in 0..FRAMES {
            let time_seconds = 100.0 + f64::from(frame) / 60.0;
            crowd.move_to(time_seconds);
            let palettes = palettes(&mut crowd, 1, time_seconds);
            for (k, instance) in instances_of(&crowd).iter().enumerate() {
                let pose = Pose { palette: &palettes[joints * instance.pose as usize..], morph_weights: &[] };
                let size = instance.world_from_model.rows[1][1];
                for (side, sole) in soles.iter().enumerate() {
                    let world = |&vertex: &usize| {
                        let position = skin_vertex(&bind_pose, vertex, pose, false).0.position;
                        instance.world_from_model.transform_point(position.into())
                    };
                    let now: Vec<Vec3> = sole.iter().map(world).collect();
                    let before = std::mem::replace(&mut last[2 * k + side], now.clone());
                    let touches = |place: &Vec3| place.y.abs() < 0.0015 * size;
                    let both = before.iter().zip(&now).filter(|(before, now)| touches(before) && touches(now));
                    let moved: Vec<Vec3> = both.map(|(before, now)| (*now - *before).with_y(0.0)).collect();
                    let (slide, frames) = &mut standing[2 * k + side];
                    if moved.is_empty() {
                        (*slide, *frames) = (Vec3::ZERO, 0);
                    } else {
                        *slide += moved.iter().sum::<Vec3>() / moved.len() as f32;
                        *frames += 1;
                        longest = longest.max(*frames);
                        worst = worst.max(slide.length() / (stride * size));
                    }
                }
            }
        }
        println!("{clip}: a foot slides {worst} of the stride, and stands for {longest} frames");
        assert!(longest >= 12, "{clip}: no foot stands");
        assert!(worst < 0.01, "{clip}: a foot slides {worst} of the stride");
    }
}

#[test]
fn travel_is_a_function_of_the_time() {
    let at = |crowd: &mut Crowd, time_seconds| {
        crowd.move_to(time_seconds);
        instances_of(crowd)
    };
    let (mut a, mut b) = (crowd(80, "all", 0.5), crowd(80, "all", 0.5));
    let expected = at(&mut a, 7.5);
    for time_seconds in [1.0, 1e6, -3.0, f64::NAN, 7.5] {
        at(&mut b, time_seconds);
    }
    assert_eq!(at(&mut b, 7.5), expected);
    assert_ne!(at(&mut b, 7.6), expected);
    assert_eq!(palettes(&mut a, 1, 7.5), palettes(&mut b, 2, 7.5), "any number of threads");
    // A year is as smooth as a second.
    let year = 3.2e7;
    let step = |crowd: &mut Crowd, from: f64| {
        crowd.move_to(from);
        let before = positions(crowd);
        crowd.move_to(from + 1.0 / 64.0);
        before.iter().zip(positions(crowd)).map(|(a, b)| a.distance(b)).collect::<Vec<_>>()
    };
    for (first, later) in step(&mut a, 0.0).into_iter().zip(step(&mut a, year)) {
        assert!((first - later).abs() < 1e-4, "{first} m, and {later} m after a year");
    }
}

#[test]
fn walkers_keep_their_distance_and_the_others_stand_in_the_centre() {
    for layout in [Layout::Grid, Layout::Ring, Layout::Scatter] {
        let settings = CrowdSettings {
            instance_count: 300,
            clip: ClipChoice::All,
            variety: 1.0,
            travel: true,
            layout,
            ..CrowdSettings::default()
        };
        let mut crowd = Crowd::new(Arc::from([walker()]), &settings).unwrap();
        let bounds = crowd.bounds();
        let start = positions(&crowd);
        for time_seconds in [0.0, 3.0, 1000.0] {
            crowd.move_to(time_seconds);
            let now = positions(&crowd);
            for (k, a) in now.iter().enumerate() {
                assert!(now[..k].iter().all(|b| a.distance(*b) > 0.7 * crowd.spacing_metres()), "{layout:?}");
                assert!(a.x.hypot(a.z) < bounds.footprint_radius && a.y == 0.0);
            }
            if time_seconds > 0.0 {
                let (standing, moving): (Vec<_>, Vec<_>) = start.iter().zip(&now).partition(|(a, b)| a == b);
                assert_eq!((standing.len(), moving.len()), (150, 150), "idle and waving; walking and running");
                let outermost = standing.iter().map(|(_, place)| place.length()).fold(0.0, f32::max);
                assert!(moving.iter().all(|(_, place)| place.length() > outermost + 0.9 * crowd.spacing_metres()));
            }
        }
        // Another clip moves other instances; the first one again moves the first ones.
        crowd.set_clip(&ClipChoice::Name("Idle".to_owned())).unwrap();
        crowd.move_to(5.0);
        let still = positions(&crowd);
        crowd.move_to(9.0);
        assert_eq!(positions(&crowd), still);
        crowd.set_clip(&ClipChoice::All).unwrap();
        crowd.move_to(1000.0);
        crowd.set_clip(&ClipChoice::All).unwrap();
        let twice = positions(&crowd);
        assert_eq!(twice.len(), 300);
    }
}

#[test]
fn culling_follows_those_who_travel() {
    let mut crowd = crowd(400, "Walk", 0.5);
    let camera = OrbitCamera { target: Vec3::new(7.0, 1.0, 0.0), distance: 4.0, ..OrbitCamera::default() };
    let frustum = Frustum::from_clip_from_world(camera.clip_from_world(1.5));
    let mut seen = Vec::new();
    for second in 0..4 {
        crowd.cull(None, None, &Detail::FULL);
        crowd.move_to(f64::from(second) * 4.0);
        let near = positions(&crowd).iter().filter(|place| frustum.intersects_sphere(**place + Vec3::Y, 0.1)).count();
        crowd.cull(Some(&frustum), None, &Detail::FULL);
        let visible = positions(&crowd);
        let found = visible.iter().filter(|place| frustum.intersects_sphere(**place + Vec3::Y, 0.1)).count();
        assert_eq!(found, near, "nobody in view is culled");
        assert!(!visible.is_empty() && visible.len() < 200, "{}", visible.len());
        seen.push(visible);
    }
    assert_ne!(seen[0], seen[1]);
}

#[test]
fn shared_poses_travel_too() {
    let settings = CrowdSettings {
        instance_count: 200,
        clip: ClipChoice::Index(0),
        variety: 0.5,
        travel: true,
        share_poses_hz: Some(10.0),
        ..CrowdSettings::default()
    };
    let mut crowd = Crowd::new(Arc::from([walker()]), &settings).unwrap();
    assert_eq!(crowd.pose_counts(), [11]);
    let before = positions(&crowd);
    crowd.move_to(0.5);
    let after = positions(&crowd);
    assert!(before.iter().zip(&after).all(|(a, b)| (0.3..0.7).contains(&a.distance(*b))));
}

/// Returns the place of each instance by its number.
fn numbered_positions(crowd: &mut Crowd, time_seconds: f64) -> Vec<Vec3> {
    crowd.move_to(time_seconds);
    let shown = (0..).map_while(|number| crowd.shown_instance(number, time_seconds));
    shown.map(|shown| shown.world_from_model.translation.into()).collect()
}

#[test]
fn a_crossfade_changes_the_speed_and_moves_nobody() {
    let mut crowd = crowd(100, "Walk", 0.0);
    let mut last = numbered_positions(&mut crowd, 100.0);
    // The speed after each change, in metres a second.
    for (k, (clip, speed)) in [("Run", 2.4f32), ("Idle", 0.0), ("Walk", 1.0)].into_iter().enumerate() {
        let start_seconds = 100.0 + k as f64;
        crowd.crossfade(&ClipChoice::Name(clip.to_owned()), start_seconds, 0.25).unwrap();
        let mut moved = Vec::new();
        for step in 0..=100 {
            let now = numbered_positions(&mut crowd, start_seconds + f64::from(step) / 100.0);
            moved.push(last.iter().zip(&now).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max));
            last = now;
        }
        assert!(moved[0] < 1e-4, "{clip}: a jump of {}", moved[0]);
        let steps = moved[1..].windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f32::max);
        assert!(steps < 2.0e-3, "{clip}: the speed changes by {} m/s in 10 ms", 100.0 * steps);
        assert!((100.0 * moved[100] - speed).abs() < 0.05, "{clip}: {} m/s", 100.0 * moved[100]);
    }
    // Instances of one ring play different clips: they are placed again.
    crowd.crossfade(&ClipChoice::All, 103.0, 0.25).unwrap();
    let placed = numbered_positions(&mut crowd, 103.0);
    assert!(placed.iter().zip(&last).any(|(a, b)| a.distance(*b) > 1.0));
}
