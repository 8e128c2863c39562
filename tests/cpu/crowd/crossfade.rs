//! Crossfades: they begin with the pose that is shown, blend as the plain functions do, end with the clip that was chosen, and
//! leave the instances alone that keep their clip.

use std::collections::BTreeMap;
use std::path::Path;

use throng::animation::{Source, pose_blend, skinned_positions};
use throng::crowd::{DEFAULT_FADE_SECONDS, InstanceState};
use throng::measure::posed_bounds;
use throng::model::import;

use super::*;

/// The place of an instance, which tells instances apart although they are sorted again.
type Place = [u32; 3];

fn place(world_from_model: &Affine3A) -> Place {
    world_from_model.translation.to_array().map(f32::to_bits)
}

/// Returns the joint matrices and the morph weights of each instance. All instances are visible.
fn poses(crowd: &mut Crowd, time_seconds: f64) -> BTreeMap<Place, (Vec<JointMatrix>, Vec<f32>)> {
    crowd.move_to(time_seconds);
    let (palette, weights) = streams_of(crowd, 2, time_seconds);
    let plan = plan_of(crowd);
    let instances = instances_of(crowd);
    let of_instance = |(instance, state): (&InstanceData, InstanceState)| {
        let model = &crowd.models()[state.model as usize];
        let record = plan.records[instance.pose as usize];
        let first = (record.palette_offset as usize, record.morph_weight_offset as usize);
        let matrices = palette[first.0..first.0 + model.palette.len()].to_vec();
        let weights = weights[first.1..first.1 + model.morph_weight_count()].to_vec();
        (place(&state.world_from_model), (matrices, weights))
    };
    instances.iter().zip(crowd.instance_states()).map(of_instance).collect()
}

fn states(crowd: &Crowd) -> BTreeMap<Place, InstanceState> {
    crowd.instance_states().map(|state| (place(&state.world_from_model), state)).collect()
}

fn largest_difference(a: &[JointMatrix], b: &[JointMatrix]) -> f32 {
    let numbers = |matrices: &[JointMatrix]| matrices.iter().flat_map(|m| m.rows.as_flattened().to_vec()).collect();
    let (a, b): (Vec<f32>, Vec<f32>) = (numbers(a), numbers(b));
    a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// Returns the source of an instance at a time.
fn source<'m>(models: &'m [Model], state: &InstanceState, time_seconds: f64, weight: f32) -> Source<'m> {
    let clip = state.clip.map(|clip| &models[state.model as usize].clips[clip as usize]);
    let duration_seconds = clip.map_or(0.0, |clip| f64::from(clip.duration_seconds));
    Source { clip, time_seconds: wrap_seconds(state.start_seconds + time_seconds, duration_seconds), weight }
}

fn clips() -> Arc<[Model]> {
    Arc::from([chain("A.glb", 5, 1.8, &["Idle", "Walk", "Run"]), chain("B.glb", 3, 1.2, &["Walk", "Run"])])
}

fn named(name: &str) -> ClipChoice {
    ClipChoice::Name(name.to_owned())
}

#[test]
fn a_crossfade_blends_as_the_plain_functions_do() {
    for share_poses_hz in [None, Some(4.0)] {
        let settings = CrowdSettings { share_poses_hz, ..settings(150) };
        let mut crowd = Crowd::new(clips(), &settings).unwrap();
        let models = Arc::clone(crowd.models());
        let mut chain = vec![states(&crowd)];
        let changes = [(2.0, named("Run")), (2.1, ClipChoice::None), (2.15, named("Walk"))];
        for (time_seconds, choice) in &changes {
            crowd.crossfade(choice, *time_seconds, 0.25).unwrap();
            chain.push(states(&crowd));
        }
        assert!(crowd.is_blending());
        for time_seconds in [2.15, 2.2, 2.249, 2.3, 2.399] {
            let poses = poses(&mut crowd, time_seconds);
            assert_eq!(poses.len(), 150);
            for (place, (matrices, weights)) in &poses {
                let first = &chain[0][place];
                let model = &models[first.model as usize];
                let mut sources = vec![source(&models, first, time_seconds, 1.0)];
                for (pair, (start_seconds, _)) in chain.windows(2).zip(&changes) {
                    let share = ((time_seconds - start_seconds) / 0.25).min(1.0);
                    if pair[0][place].clip != pair[1][place].clip {
                        sources.push(source(&models, &pair[1][place], time_seconds, share as f32));
                    }
                }
                let mut scratch = PoseScratch::for_model(model);
                let pose = pose_blend(model, &sources, &mut scratch);
                let expected: Vec<JointMatrix> = joint_matrices(&model.palette, pose.model_from_node).collect();
                let difference = largest_difference(matrices, &expected);
                assert!(difference < 1e-5, "{difference} at {time_seconds}, shared {share_poses_hz:?}");
                assert_eq!(weights, pose.morph_weights);
            }
        }
        let unique = crowd.pose_counts().iter().sum::<u32>();
        assert_eq!(unique < 150, share_poses_hz.is_some(), "{unique} poses");
    }
}

#[test]
fn after_its_end_nothing_is_left_of_a_crossfade() {
    for share_poses_hz in [None, Some(4.0)] {
        let settings = CrowdSettings { share_poses_hz, ..settings(100) };
        let [mut faded, mut cut] = [(); 2].map(|()| Crowd::new(clips(), &settings).unwrap());
        faded.crossfade(&named("Walk"), 1.0, 0.25).unwrap();
        cut.set_clip(&named("Walk")).unwrap();
        faded.move_to(1.2);
        assert!(faded.is_blending() && faded.bounds() != cut.bounds());
        faded.move_to(1.25);
        assert!(!faded.is_blending());
        assert_eq!(streams_of(&mut faded, 1, 1.25), streams_of(&mut cut, 1, 1.25));
        assert_eq!(instances_of(&faded), instances_of(&cut));
        assert_eq!((faded.bounds(), faded.loop_seconds()), (cut.bounds(), cut.loop_seconds()));
        // Someone who moves the time back sees the clip that was chosen, and not the one before it.
        faded.crossfade(&named("Run"), 2.0, 0.25).unwrap();
        faded.move_to(1.5);
        assert!(!faded.is_blending());
    }
}

#[test]
fn instances_that_keep_their_clip_do_not_blend() {
    let models: Arc<[Model]> = clips();
    let crowd = || Crowd::new(Arc::clone(&models), &settings(90)).unwrap();
    let [mut faded, mut plain] = [crowd(), crowd()];
    let before = states(&faded);
    faded.crossfade(&named("Run"), 0.0, 0.5).unwrap();
    let after = states(&faded);
    plain.set_clip(&named("Run")).unwrap();
    let (faded, plain) = (poses(&mut faded, 0.25), poses(&mut plain, 0.25));
    let kept: Vec<_> = before.keys().filter(|place| before[*place].clip == after[*place].clip).collect();
    assert!(kept.len() > 25 && kept.len() < 50, "{} instances", kept.len());
    for place in before.keys() {
        assert_eq!(faded[place] == plain[place], kept.contains(&place), "all other instances blend");
    }
    // A choice that changes no clip starts no crossfade.
    let mut idle = Crowd::new(models, &CrowdSettings { clip: named("Run"), ..settings(90) }).unwrap();
    idle.crossfade(&named("Run"), 0.0, 0.5).unwrap();
    assert!(!idle.is_blending());
}

#[test]
fn no_change_makes_a_pose_jump_however_many_crossfades_run() {
    let choices = [named("Walk"), ClipChoice::None, named("Run"), ClipChoice::All];
    // As fast as a keyboard repeats, and faster than anybody can choose.
    for (gap_seconds, largest_jump) in [(0.033, 2e-5), (0.005, 0.1)] {
        let mut crowd = Crowd::new(clips(), &settings(60)).unwrap();
        let mut worst = 0.0f32;
        for (k, choice) in choices.iter().cycle().take(40).enumerate() {
            let time_seconds = 1.0 + k as f64 * gap_seconds;
            let before = poses(&mut crowd, time_seconds);
            crowd.crossfade(choice, time_seconds, DEFAULT_FADE_SECONDS).unwrap();
            let after = poses(&mut crowd, time_seconds);
            assert_eq!(before.len(), after.len());
            for (place, (matrices, _)) in &before {
                worst = worst.max(largest_difference(matrices, &after[place].0));
            }
        }
        assert!(worst < largest_jump, "{worst} at one change in {gap_seconds} s");
    }
}

#[test]
fn a_crossfade_is_the_same_on_any_number_of_threads() {
    let mut crowd = Crowd::new(clips(), &settings(301)).unwrap();
    crowd.crossfade(&named("Run"), 3.0, 0.25).unwrap();
    let one = streams_of(&mut crowd, 1, 3.1);
    for threads in [2, 3] {
        assert!(one == streams_of(&mut crowd, threads, 3.1), "{threads} threads");
    }
    assert!(one.0.iter().flat_map(|matrix| matrix.rows.as_flattened()).all(|value| value.is_finite()), "a gap");
}

#[test]
fn clips_that_do_not_fit_the_lanes_blend_too() {
    let mut model = chain("A.glb", 4, 1.5, &["Idle", "Far"]);
    // The square of this number is no `f32`.
    let values = vec![Vec3::ZERO, Vec3::X * 1e20];
    model.clips[1].timelines.push(vec![0.0, 1.5]);
    model.clips[1].translations.push(Track { node: 3, timeline: 1, interpolation: Interpolation::Linear, values });
    let models: Arc<[Model]> = Arc::from([model]);
    let zero = CrowdSettings { clip: named("Idle"), phase: PhaseMode::Zero, ..settings(3) };
    let mut crowd = Crowd::new(Arc::clone(&models), &zero).unwrap();
    crowd.crossfade(&named("Far"), 0.5, 0.25).unwrap();
    let [idle, far] = [0, 1].map(|clip| models[0].clips.get(clip));
    let sources = [(idle, 1.0), (far, 0.4)].map(|(clip, weight)| Source { clip, time_seconds: 0.6, weight });
    let mut scratch = PoseScratch::for_model(&models[0]);
    let pose = pose_blend(&models[0], &sources, &mut scratch);
    let expected: Vec<JointMatrix> = joint_matrices(&models[0].palette, pose.model_from_node).collect();
    for (matrices, weights) in poses(&mut crowd, 0.6).into_values() {
        assert_eq!((matrices, &weights[..]), (expected.clone(), pose.morph_weights));
    }
}

#[test]
fn a_crossfade_without_a_duration_is_a_cut() {
    for (time_seconds, duration_seconds) in [(1.0, 0.0), (1.0, -1.0), (1.0, f64::NAN), (f64::INFINITY, 0.25)] {
        let mut crowd = Crowd::new(clips(), &settings(30)).unwrap();
        crowd.crossfade(&named("Run"), time_seconds, duration_seconds).unwrap();
        assert!(!crowd.is_blending());
        assert!(crowd.crossfade(&named("Fly"), 1.0, 0.25).is_err());
    }
}

/// The joints of a model at the time of binding, which its joint matrices move.
fn bind_joints(model: &Model) -> Vec<Vec3> {
    model.palette.joint_from_mesh.iter().map(|matrix| matrix.inverse().translation.into()).collect()
}

/// Returns the largest distance that a joint moves between two frames of a crowd of one model.
fn fastest_joint(crowd: &mut Crowd, from_seconds: f64, frames: u32) -> f32 {
    let bind = bind_joints(&crowd.models()[0]);
    let joints = |crowd: &mut Crowd, frame: u32| -> BTreeMap<Place, Vec<Vec3>> {
        let poses = poses(crowd, from_seconds + f64::from(frame) / 60.0);
        let joints =
            |matrices: Vec<JointMatrix>| matrices.iter().zip(&bind).map(|(m, p)| m.transform_point(*p)).collect();
        poses.into_iter().map(|(place, (matrices, _))| (place, joints(matrices))).collect()
    };
    let mut last = joints(crowd, 0);
    let mut fastest = 0.0f32;
    for frame in 1..=frames {
        let next = joints(crowd, frame);
        for (place, joints) in &next {
            let moved = joints.iter().zip(&last[place]).map(|(a, b)| a.distance(*b));
            fastest = moved.fold(fastest, f32::max);
        }
        last = next;
    }
    fastest
}

/// Returns the largest distance that a joint moves within a 60th of a second of a clip. The jump where the clip repeats does
/// not count.
fn fastest_joint_of(model: &Model, clip: &Clip) -> f32 {
    let bind = bind_joints(model);
    let mut scratch = PoseScratch::for_model(model);
    let mut joints = |time_seconds: f64| -> Vec<Vec3> {
        let pose = pose_model(model, Some(clip), time_seconds, &mut scratch);
        let matrices = joint_matrices(&model.palette, pose.model_from_node);
        matrices.zip(&bind).map(|(matrix, bind)| matrix.transform_point(*bind)).collect()
    };
    let last_start = f64::from(clip.duration_seconds) - 1.0 / 60.0;
    let steps = (0..=500).map(|k| last_start * f64::from(k) / 500.0);
    let moved = steps.flat_map(|start| {
        let [before, after] = [joints(start), joints(start + 1.0 / 60.0)];
        before.into_iter().zip(after).map(|(a, b)| a.distance(b)).collect::<Vec<_>>()
    });
    moved.fold(0.0, f32::max)
}

#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn a_thousand_foxes_change_their_clips_without_a_pop() {
    let folder = std::env::var_os("THRONG_SAMPLE_MODELS").expect("THRONG_SAMPLE_MODELS");
    let fox = import::load(&Path::new(&folder).join("Fox/Fox.glb")).unwrap();
    let models: Arc<[Model]> = Arc::from([fox]);
    let playing = |clip: &str| {
        let settings = CrowdSettings { clip: named(clip), ..settings(1000) };
        Crowd::new(Arc::clone(&models), &settings).unwrap()
    };
    let names = ["Survey", "Walk", "Run"];
    let alone: Vec<f32> = models[0].clips.iter().map(|clip| fastest_joint_of(&models[0], clip)).collect();
    for (a, from) in names.iter().enumerate() {
        for (b, to) in names.iter().enumerate().filter(|(b, _)| *b != a) {
            let mut crowd = playing(from);
            crowd.move_to(1.0);
            crowd.crossfade(&named(to), 1.0, DEFAULT_FADE_SECONDS).unwrap();
            let fastest = fastest_joint(&mut crowd, 1.0, 20);
            assert!(!crowd.is_blending());
            let ratio = fastest / alone[a].max(alone[b]);
            println!("{from} to {to}: {fastest}, clips alone {} and {}: {ratio:.2}", alone[a], alone[b]);
            assert!(ratio <= 1.5, "{from} to {to}: {ratio}");
        }
    }
}

/// The bounding sphere of an instance that blends is around the boxes of both clips. Nothing proves that it holds the blend, so
/// this looks.
#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn blended_poses_stay_in_the_sphere_around_both_clips() {
    let folder = std::env::var_os("THRONG_SAMPLE_MODELS").expect("THRONG_SAMPLE_MODELS");
    let mut pairs = 0;
    for name in ["Fox/Fox.glb", "KayKit_Knight/Knight.glb", "Mannequiny/mannequiny.glb"] {
        let model = import::load(&Path::new(&folder).join(name)).unwrap();
        let bounds: Vec<_> = model.clips.iter().map(|clip| posed_bounds(&model, Some(clip))).collect();
        let mut scratch = PoseScratch::for_model(&model);
        let mut vertices = Vec::new();
        let mut worst = 0.0f32;
        for a in 0..model.clips.len() {
            for b in (0..model.clips.len()).filter(|&b| b != a && (a + b) % 3 == 0) {
                let both = bounds[a].union(&bounds[b]);
                for k in 0..3 {
                    let time = |clip: usize, k: usize| {
                        f64::from(model.clips[clip].duration_seconds) * (0.31 * (k + clip) as f64).fract()
                    };
                    let sources = [(a, time(a, k), 1.0), (b, time(b, k), 0.25 * (k + 1) as f32)];
                    let sources = sources.map(|(clip, time_seconds, weight)| Source {
                        clip: Some(&model.clips[clip]),
                        time_seconds,
                        weight,
                    });
                    skinned_positions(&model, pose_blend(&model, &sources, &mut scratch), &mut vertices);
                    let farthest = vertices.iter().map(|vertex| vertex.distance(both.center())).fold(0.0, f32::max);
                    worst = worst.max(farthest / both.radius());
                }
                pairs += 1;
            }
        }
        println!("{name}: {worst} of the radius");
        assert!(worst <= 1.0, "{name}: {worst}");
    }
    assert!(pairs > 100, "{pairs} pairs");
}
