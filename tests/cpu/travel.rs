//! Tests of crowds that go somewhere: the speed that feet imply, and feet that do not slide.

use std::sync::Arc;

use glam::{DVec2, Vec2, Vec3};
use throng::animation::{BindPose, Pose, skin_vertex};
use throng::crowd::{ClipChoice, Crowd, CrowdSettings, Layout};
use throng::measure::{Gait, gait_of, standing_point};
use throng::model::{Clip, Interpolation, Model, import};
use throng::retarget::keep_in_place;
use throng::view::{Detail, Frustum, OrbitCamera};

use crate::common::assets::{WALKER, asset, sample_files};
use crate::cpu::crowd::{chain, cull, instances_of, named, palette_of, positions, track};
use crate::cpu::stepper::{KEYS, Motion, stepper};

fn settings(instance_count: u32, clip: ClipChoice, variety: f32) -> CrowdSettings {
    CrowdSettings { instance_count, clip, variety, travel: true, ..CrowdSettings::default() }
}

fn crowd(settings: &CrowdSettings) -> Crowd {
    Crowd::new(Arc::from([asset(WALKER)]), settings).unwrap()
}

fn positions_at(crowd: &mut Crowd, time_seconds: f64) -> Vec<Vec3> {
    crowd.move_to(time_seconds);
    positions(crowd)
}

#[test]
fn the_walkers_feet_say_how_fast_it_is() {
    let walker = asset(WALKER);
    let gaits: Vec<_> = walker.clips.iter().map(|clip| gait_of(&walker, clip)).collect();
    // The generator plants the feet of Walk at one metre a second, and those of Run at 2.4.
    for (found, speed) in gaits.iter().zip([1.0, 2.4]) {
        assert!(found.velocity.distance(Vec2::new(0.0, speed)) < 0.01 * speed, "{found:?} instead of {speed} m/s");
        assert!((0.05..0.12).contains(&found.stance), "{found:?}");
    }
    assert!(gaits[2..].iter().all(|gait| gait.velocity == Vec2::ZERO), "{gaits:?}");
}

/// The velocities, found and expected, in metres a second, of a generated character that takes steps.
#[test]
fn a_gait_is_found_in_walks_and_runs_of_any_kind() {
    let walk = Motion { velocity: Vec2::new(0.0, 1.2), duty: 0.62, lift: 0.15, ..Motion::default() };
    let run = Motion { velocity: Vec2::new(0.0, 4.0), duty: 0.3, lift: 0.35, bounce: 0.06, ..Motion::default() };
    let cases = [
        ("walk", walk, 0.01),
        ("run with flight phases", run, 0.01),
        ("sprint", Motion { velocity: Vec2::new(0.0, 7.0), duty: 0.22, ..run }, 0.02),
        ("strafe", Motion { velocity: Vec2::new(1.0, 1.0), ..walk }, 0.01),
        ("backwards", Motion { velocity: Vec2::new(0.0, -0.8), ..walk }, 0.01),
        ("march with a low lift", Motion { lift: 0.03, ..walk }, 0.01),
        ("noise of 1 cm on the contacts", Motion { noise: 0.01, ..walk }, 0.1),
        ("noise of 2 cm on the contacts of a run", Motion { noise: 0.02, ..run }, 0.1),
        ("a hand below the feet in its swing", Motion { hand: 1.2, ..run }, 0.01),
        ("a limp: one foot sinks", Motion { limp: 0.1, ..walk }, 0.01),
        ("5 cm above the floor", Motion { rise: 0.05, ..walk }, 0.01),
        ("a lost last frame", Motion { lost_frames: 2, ..walk }, 0.02),
    ];
    for (what, motion, tolerance) in cases {
        let model = stepper(&motion);
        let found = gait_of(&model, &model.clips[0]);
        let error = found.velocity.distance(motion.velocity) / motion.velocity.length();
        assert!(error < tolerance, "{what}: {found:?} instead of {:?}, {error}", motion.velocity);
        assert!((0.05..0.2).contains(&found.stance), "{what}: {found:?}");
    }
}

#[test]
fn clips_that_go_nowhere_have_no_gait() {
    let still = Motion { duty: 0.6, ..Motion::default() };
    let walk = Motion { velocity: Vec2::new(0.0, 1.2), duty: 0.62, lift: 0.15, ..Motion::default() };
    let cases = [
        ("steps on the spot", Motion { lift: 0.2, ..still }),
        ("a jump on the spot", Motion { duty: 1.0, jump: 0.5, ..still }),
        ("a jump with noise", Motion { duty: 1.0, jump: 0.5, noise: 0.01, ..still }),
        ("an idle that sways", Motion { duty: 1.0, sway: 0.05, ..still }),
        ("an idle whose feet slide with the sway", Motion { duty: 1.0, sway: 0.05, feet_sway: true, ..still }),
        ("a weapon that drags", Motion { duty: 1.0, hand: 1.2, ..still }),
        ("feet that shuffle without a lift", Motion { duty: 0.5, lift: 0.0, ..walk }),
        ("a walk that moves the character by itself", Motion { moves_root: true, ..walk }),
        ("feet in the air", Motion { hand: 2.0, is_hanging: true, ..walk }),
        ("half a cycle", Motion { lost_frames: KEYS / 2, ..walk }),
        ("a circle above the ground", Motion { circles: 0.3, ..still }),
        ("noise alone", Motion { duty: 1.0, noise: 0.05, ..still }),
    ];
    for (what, motion) in cases {
        let model = stepper(&motion);
        assert_eq!(gait_of(&model, &model.clips[0]), Gait::default(), "{what}");
    }
}

/// A clip whose name says that it goes somewhere does so, as fast as its feet move to and fro, or as usual legs go.
#[test]
fn a_name_stands_in_for_feet_that_do_not_stand() {
    let shuffle = Motion { velocity: Vec2::new(0.0, 1.2), duty: 0.5, lift: 0.0, ..Motion::default() };
    let still = Motion { duty: 1.0, sway: 0.02, ..Motion::default() };
    let half = Motion { lost_frames: KEYS / 2, ..shuffle };
    for (name, motion, speeds) in [
        // Legs of 0.9 metres, and a stride in 0.8 seconds.
        ("rig|SlowWalk", shuffle, 1.7..1.9),
        ("walk_01", still, 1.7..1.9),
        ("FoxGallop", still, 3.8..4.1),
        ("Trunk", shuffle, 0.0..1e-9),
        ("RunJump", shuffle, 0.0..1e-9),
        ("Walk", half, 0.0..1e-9),
    ] {
        let mut model = stepper(&motion);
        model.clips[0].name = Some(name.to_owned());
        let gait = gait_of(&model, &model.clips[0]);
        assert!(speeds.contains(&gait.velocity.length()) && gait.velocity.y >= 0.0, "{name}: {gait:?}");
        assert_eq!(gait.is_assumed, speeds.start > 0.0, "{name}");
        let crowd = Crowd::new(Arc::from([model]), &settings(30, ClipChoice::All, 0.0)).unwrap();
        let says = crowd.notes().iter().any(|note| note.contains("show no speed; it goes at "));
        assert_eq!(says, gait.is_assumed, "{:?}", crowd.notes());
    }
}

/// In real models, walks and runs travel, by the names of the clips. All other clips stay in place.
#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn walks_and_runs_of_real_models_travel() {
    // A walk without a name, and a step over an obstacle that repeats.
    const OTHER_WALKS: [(&str, &str); 2] = [("CesiumMan", ""), ("elf", "StepOver")];
    let (mut walks, mut others, mut wrong) = (0, 0, Vec::new());
    for file in sample_files(&["glb", "gltf"]) {
        // Files of clips alone have no feet.
        let Some(model) = import::load(&file).ok().filter(|model| !model.palette.is_empty()) else { continue };
        for clip in &model.clips {
            let name = clip.name.as_deref().unwrap_or_default();
            let lower = name.to_lowercase();
            let is_named = ["walk", "run"].iter().any(|word| lower.contains(word)) && !lower.contains("jump");
            let stem = file.file_stem().unwrap().to_str().unwrap();
            let is_walk = is_named || OTHER_WALKS.contains(&(stem, name));
            let velocity = gait_of(&model, clip).velocity;
            *(if is_walk { &mut walks } else { &mut others }) += 1;
            if is_walk != (velocity != Vec2::ZERO) {
                wrong.push(format!("{stem} {name}: {velocity}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(walks >= 15 && others >= 100, "{walks} clips that travel, {others} that do not");
}

/// The end-to-end test: soles in the world, from the instance matrices and the palettes of a crowd. A foot slides by the mean
/// displacement of the vertices that touch the ground, summed from the frame in which the first one lands.
#[test]
fn planted_feet_stay_where_they_are() {
    const FRAMES: u32 = 150;
    const INSTANCES: usize = 30;
    for clip in ["Walk", "Run"] {
        let mut crowd = crowd(&settings(INSTANCES as u32, named(clip), 0.5));
        let model = asset(WALKER);
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
            let palettes = palette_of(&mut crowd, 1, time_seconds);
            for (k, instance) in instances_of(&crowd).iter().enumerate() {
                let pose = Pose { palette: &palettes[joints * instance.pose as usize..], ..Pose::default() };
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
    let [mut a, mut b] = [(); 2].map(|()| crowd(&settings(80, ClipChoice::All, 0.5)));
    let expected = at(&mut a, 7.5);
    for time_seconds in [1.0, 1e6, -3.0, f64::NAN, 7.5] {
        at(&mut b, time_seconds);
    }
    assert_eq!(at(&mut b, 7.5), expected);
    assert_ne!(at(&mut b, 7.6), expected);
    assert_eq!(palette_of(&mut a, 1, 7.5), palette_of(&mut b, 2, 7.5), "any number of threads");
    // Shared poses travel too.
    let mut shared = crowd(&CrowdSettings { share_poses_hz: Some(10.0), ..settings(200, ClipChoice::Index(0), 0.5) });
    assert_eq!(shared.pose_counts(), [11]);
    let (before, after) = (positions(&shared), positions_at(&mut shared, 0.5));
    assert!(before.iter().zip(&after).all(|(a, b)| (0.3..0.7).contains(&a.distance(*b))));
    // A year is as smooth as a second.
    let year = 3.2e7;
    let step = |crowd: &mut Crowd, from: f64| {
        let [before, after] = [from, from + 1.0 / 64.0].map(|time_seconds| positions_at(crowd, time_seconds));
        before.iter().zip(after).map(|(a, b)| a.distance(b)).collect::<Vec<_>>()
    };
    for (first, later) in step(&mut a, 0.0).into_iter().zip(step(&mut a, year)) {
        assert!((first - later).abs() < 1e-4, "{first} m, and {later} m after a year");
    }
}

#[test]
fn walkers_keep_their_distance_and_the_others_stand_in_the_centre() {
    for layout in [Layout::Grid, Layout::Ring, Layout::Scatter] {
        let mut crowd =
            crowd(&CrowdSettings { layout, spacing_metres: Some(1.0), ..settings(300, ClipChoice::All, 1.0) });
        let start = positions(&crowd);
        for time_seconds in [0.0, 3.0, 1000.0] {
            let now = positions_at(&mut crowd, time_seconds);
            for (k, a) in now.iter().enumerate() {
                assert!(now[..k].iter().all(|b| a.distance(*b) > 0.7), "{layout:?}");
                assert!(a.x.hypot(a.z) < crowd.bounds().footprint_radius && a.y == 0.0);
            }
            if time_seconds > 0.0 {
                let (standing, moving): (Vec<_>, Vec<_>) = start.iter().zip(&now).partition(|(a, b)| a == b);
                assert_eq!((standing.len(), moving.len()), (150, 150), "idle and waving; walking and running");
                let outermost = standing.iter().map(|(_, place)| place.length()).fold(0.0, f32::max);
                assert!(moving.iter().all(|(_, place)| place.length() > outermost + 0.9));
            }
        }
        crowd.set_clip(&named("Idle")).unwrap();
        assert_eq!(positions_at(&mut crowd, 5.0), positions_at(&mut crowd, 9.0));
    }
}

/// On the left they come, on the right they go, and those who stand look at them. Models and clips are mixed.
#[test]
fn a_march_goes_both_ways_along_a_street() {
    let march = CrowdSettings {
        layout: Layout::March,
        spacing_metres: Some(1.0),
        travel: false,
        ..settings(400, ClipChoice::All, 0.5)
    };
    let mut crowd = crowd(&march);
    let (mut before, speeds) = (numbered_positions(&mut crowd, 0.0), [0.0, 1.0, 2.4]);
    let length = 2.0 * before.iter().map(|place| place.z.abs()).fold(0.0, f32::max);
    assert!((30.0..36.0).contains(&length), "a street of 400 square metres, three times as long as wide: {length}");
    let mut has_wrapped = false;
    for step in 1..200 {
        let now = numbered_positions(&mut crowd, 0.25 * f64::from(step));
        for (before, now) in before.iter().zip(&now) {
            let (way, is_left) = (now.z - before.z, before.x < 0.0);
            has_wrapped |= way.abs() > 0.5 * length;
            let way = if way.abs() > 0.5 * length { way - length.copysign(way) } else { way };
            let speed = if is_left { way } else { -way } / 0.25;
            assert!(speeds.iter().any(|own| (own - speed).abs() < 0.11 * own + 0.4), "{before} {now}: {speed} m/s");
            assert!(before.x == now.x && now.y == 0.0 && now.z.abs() < crowd.bounds().footprint_radius);
        }
        if step % 40 == 0 {
            let near = |(k, a): (usize, &Vec3)| now[..k].iter().any(|b| a.distance(*b) < 0.6);
            assert!(!now.iter().enumerate().any(near), "neighbours touch");
        }
        before = now;
    }
    assert!(has_wrapped);
    // The two halves of the street, and its edges, have both walkers and runners, or those who stand.
    let shown: Vec<_> = (0..400).filter_map(|number| crowd.shown_instance(number, 0.0)).collect();
    let mut columns: Vec<(i32, u32)> =
        shown.iter().map(|shown| (shown.center_world.x.round() as i32, shown.clip.unwrap())).collect();
    columns.sort_unstable();
    let clips: Vec<u32> = columns.iter().map(|(_, clip)| *clip).collect();
    assert!(clips[0] >= 2 && clips[399] >= 2, "they stand at the edges");
    assert!(clips.windows(2).filter(|pair| pair[0] != pair[1]).count() > 4, "{clips:?}");
}

/// The rings of two species alternate.
#[test]
fn a_mix_on_rings_is_not_sorted_by_species() {
    let models: Arc<[Model]> = Arc::from([asset(WALKER), asset(WALKER)]);
    let settings = CrowdSettings { spacing_metres: Some(1.0), ..settings(600, named("Walk"), 0.0) };
    let crowd = Crowd::new(models, &settings).unwrap();
    let mut rings: Vec<(i32, u32)> = (0..600)
        .filter_map(|number| crowd.shown_instance(number, 0.0))
        .map(|shown| (Vec3::from(shown.world_from_model.translation).length().round() as i32, shown.model))
        .collect();
    rings.sort_unstable();
    rings.dedup();
    let models: Vec<u32> = rings.iter().map(|(_, model)| *model).collect();
    assert!(models.len() >= 6 && models.windows(2).all(|pair| pair[0] != pair[1]), "{rings:?}");
}

#[test]
fn culling_follows_those_who_travel() {
    let march = CrowdSettings { layout: Layout::March, ..settings(400, named("Walk"), 0.5) };
    culling_follows(crowd(&march), Vec3::new(1.0, 1.0, -14.0));
    culling_follows(crowd(&settings(400, named("Walk"), 0.5)), Vec3::new(7.0, 1.0, 0.0));
}

fn culling_follows(mut crowd: Crowd, target: Vec3) {
    let camera = OrbitCamera { target, distance: 4.0, ..OrbitCamera::default() };
    let frustum = Frustum::from_clip_from_world(camera.clip_from_world(1.5));
    let mut seen = Vec::new();
    for second in 0..4 {
        crowd.cull(None, None, None, &Detail::FULL);
        let in_view = |place: &&Vec3| frustum.intersects_sphere(**place + Vec3::Y, 0.1);
        let near = positions_at(&mut crowd, f64::from(second) * 4.0).iter().filter(in_view).count();
        cull(&mut crowd, &camera, 1.5, None, &Detail::FULL);
        let visible = positions(&crowd);
        assert_eq!(visible.iter().filter(in_view).count(), near, "nobody in view is culled");
        assert!(!visible.is_empty() && visible.len() < 200, "{}", visible.len());
        seen.push(visible);
    }
    assert_ne!(seen[0], seen[1]);
}

fn numbered_positions(crowd: &mut Crowd, time_seconds: f64) -> Vec<Vec3> {
    crowd.move_to(time_seconds);
    let shown = (0..).map_while(|number| crowd.shown_instance(number, time_seconds));
    shown.map(|shown| shown.world_from_model.translation.into()).collect()
}

#[test]
fn a_crossfade_changes_the_speed_and_moves_nobody() {
    let mut crowd = crowd(&settings(100, named("Walk"), 0.0));
    let mut last = numbered_positions(&mut crowd, 100.0);
    // The speed after each change, in metres a second.
    for (k, (clip, speed)) in [("Run", 2.4f32), ("Idle", 0.0), ("Walk", 1.0)].into_iter().enumerate() {
        let start_seconds = 100.0 + k as f64;
        crowd.crossfade(&named(clip), start_seconds, 0.25).unwrap();
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

/// A body that its clip carries six metres in a second and a half, along a diagonal.
fn carried() -> Model {
    let mut model = chain("carried", 3, 1.8, &["Go"]);
    let values = [0.0, 0.3, 0.6, 1.0].map(|share| share * Vec3::new(3.6, 0.0, 4.8)).to_vec();
    model.clips[0].translations.push(track(0, Interpolation::Linear, values));
    keep_in_place(&mut model);
    model
}

/// Also where the clip starts again.
#[test]
fn a_body_that_its_clip_carries_travels_as_fast() {
    let model = carried();
    let stand = standing_point(&model);
    let mut crowd = Crowd::new(Arc::from([model]), &settings(40, ClipChoice::Index(0), 0.0)).unwrap();
    let mut at = |time_seconds| {
        crowd.move_to(time_seconds);
        instances_of(&crowd).into_iter().map(|instance| instance.world_from_model.transform_point(stand)).collect()
    };
    let step = 1.0 / 64.0;
    for start in [0.0, 0.7, 1.5 - 0.5 * step, 3.1] {
        let [before, after]: [Vec<Vec3>; 2] = [start, start + step].map(&mut at);
        for (before, after) in before.iter().zip(&after) {
            let speed = before.distance(*after) / step as f32;
            assert!((speed / 4.0 - 1.0).abs() < 1e-3, "{speed} m/s at {start}");
        }
    }
}

/// The camera follows one character: the ground goes by, at any speed, and without a jump when the clip changes.
#[test]
fn the_ground_goes_by_under_a_single_body() {
    let mut model = carried();
    model.clips.push(Clip { name: Some("Stay".to_owned()), drift: Vec2::ZERO, ..model.clips[0].clone() });
    let one = CrowdSettings { follow: true, speed: 2.0, clip: ClipChoice::Index(0), ..CrowdSettings::default() };
    let mut crowd = Crowd::new(Arc::from([model.clone()]), &one).unwrap();
    assert!(crowd.ground_metres(3.0).distance(3.0 * 2.0 * DVec2::new(2.4, 3.2)) < 1e-5, "{}", crowd.ground_metres(3.0));
    assert_eq!(positions_at(&mut crowd, 3.0), positions_at(&mut crowd, 1e5), "the body stays");
    crowd.crossfade(&ClipChoice::Index(1), 3.0, 0.25).unwrap();
    assert!(crowd.ground_metres(3.0) == crowd.ground_metres(9.0) && crowd.ground_metres(9.0).length() > 23.9);
    let still = Crowd::new(Arc::from([model]), &CrowdSettings { follow: false, ..one }).unwrap();
    assert_eq!(still.ground_metres(3.0), DVec2::ZERO);
}
