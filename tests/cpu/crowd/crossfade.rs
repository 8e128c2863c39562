//! The crossfade: it begins with the clip that is shown, blends as the plain functions do, ends with the clip that was chosen,
//! and leaves the instances alone that keep their clip. A choice that interrupts it waits, and no pose jumps.

use std::collections::BTreeMap;

use throng::animation::{Blend, PoseScratch, Source, joint_matrices, pose_blend, skinned_positions};
use throng::crowd::{DEFAULT_FADE_SECONDS, InstanceState};
use throng::measure::posed_bounds;

use super::*;
use crate::common::assets::sample;

/// Returns the joint matrices and the morph weights of each instance, by its number. All instances are visible.
pub fn poses(crowd: &mut Crowd, time_seconds: f64) -> BTreeMap<u32, (Vec<JointMatrix>, Vec<f32>)> {
    crowd.move_to(time_seconds);
    let (palette, weights) = streams_of(crowd, 2, time_seconds);
    let plan = plan_of(crowd);
    let of_instance = |instance: InstanceData| {
        let (record, model) = (plan.records[instance.pose as usize], plan.batch_of(instance.pose).unwrap().model);
        let matrices = &palette[record.palette_offset as usize..][..crowd.models()[model as usize].palette.len()];
        let weights = &weights[record.morph_weight_offset as usize..][..record.morph_weight_count as usize];
        (instance.numbers[0], (matrices.to_vec(), weights.to_vec()))
    };
    instances_of(crowd).into_iter().map(of_instance).collect()
}

fn states(crowd: &Crowd) -> BTreeMap<u32, InstanceState> {
    instances_of(crowd).iter().map(|instance| instance.numbers[0]).zip(crowd.instance_states()).collect()
}

fn blended(model: &Model, blend: &Blend<'_>) -> (Vec<JointMatrix>, Vec<f32>) {
    let mut scratch = PoseScratch::for_model(model);
    let pose = pose_blend(model, blend, &mut scratch);
    (joint_matrices(&model.palette, pose.model_from_node).collect(), pose.morph_weights.to_vec())
}

fn source<'m>(models: &'m [Model], state: &InstanceState, time_seconds: f64) -> Source<'m> {
    let clip = state.clip.map(|clip| &models[state.model as usize].clips[clip as usize]);
    let duration_seconds = clip.map_or(0.0, |clip| f64::from(clip.duration_seconds));
    Source { clip, time_seconds: wrap_seconds(state.start_seconds + time_seconds, duration_seconds) }
}

fn clips() -> Arc<[Model]> {
    Arc::from([chain("A.glb", 5, 1.8, &["Idle", "Walk", "Run"]), chain("B.glb", 3, 1.2, &["Walk", "Run"])])
}

#[test]
fn a_crossfade_blends_as_the_plain_functions_do() {
    for share_poses_hz in [None, Some(4.0)] {
        let mut crowd = Crowd::new(clips(), &CrowdSettings { share_poses_hz, ..settings(150) }).unwrap();
        let models = Arc::clone(crowd.models());
        let before = states(&crowd);
        crowd.crossfade(&named("Run"), 2.0, 0.25).unwrap();
        let after = states(&crowd);
        assert!(crowd.is_blending());
        for time_seconds in [2.0, 2.1, 2.249] {
            let poses = poses(&mut crowd, time_seconds);
            assert_eq!(poses.len(), 150);
            for (number, (matrices, weights)) in &poses {
                let [from, to] = [&before[number], &after[number]].map(|state| source(&models, state, time_seconds));
                let weight = ((time_seconds - 2.0) / 0.25) as f32;
                let is_blend = before[number].clip != after[number].clip;
                let blend = Blend { from, to: is_blend.then_some((to, weight)) };
                let expected = blended(&models[before[number].model as usize], &blend);
                let difference = largest_difference(matrices, &expected.0);
                assert!(difference < 1e-5, "{difference} at {time_seconds}, shared {share_poses_hz:?}");
                assert_eq!(*weights, expected.1);
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
    let [mut faded, mut plain] = [(); 2].map(|()| Crowd::new(clips(), &settings(90)).unwrap());
    let before = states(&faded);
    faded.crossfade(&named("Run"), 0.0, 0.5).unwrap();
    let after = states(&faded);
    plain.set_clip(&named("Run")).unwrap();
    let (faded, plain) = (poses(&mut faded, 0.25), poses(&mut plain, 0.25));
    let kept: Vec<_> = before.keys().filter(|number| before[*number].clip == after[*number].clip).collect();
    assert!(kept.len() > 25 && kept.len() < 50, "{} instances", kept.len());
    for number in before.keys() {
        assert_eq!(faded[number] == plain[number], kept.contains(&number), "all other instances blend");
    }
    // A choice that changes no clip starts no crossfade.
    let mut idle = Crowd::new(clips(), &CrowdSettings { clip: named("Run"), ..settings(90) }).unwrap();
    idle.crossfade(&named("Run"), 0.0, 0.5).unwrap();
    assert!(!idle.is_blending());
    // Neither does one without a duration.
    for (time_seconds, duration_seconds) in [(1.0, 0.0), (1.0, -1.0), (1.0, f64::NAN), (f64::INFINITY, 0.25)] {
        idle.crossfade(&named("Walk"), time_seconds, duration_seconds).unwrap();
        assert!(!idle.is_blending());
        idle.set_clip(&named("Run")).unwrap();
    }
    assert!(idle.crossfade(&named("Fly"), 1.0, 0.25).is_err());
}

#[test]
fn a_choice_that_interrupts_a_crossfade_waits_for_its_end() {
    let crowd = || Crowd::new(clips(), &settings(60)).unwrap();
    let clips_of = |crowd: &Crowd| states(crowd).into_values().map(|state| state.clip).collect::<Vec<_>>();
    let playing = |name: &str| {
        let mut crowd = crowd();
        crowd.set_clip(&named(name)).unwrap();
        clips_of(&crowd)
    };
    // A long crossfade ends soon after the next choice. Of several choices, the last one counts.
    let mut crowd = crowd();
    crowd.crossfade(&named("Walk"), 1.0, 5.0).unwrap();
    for choice in [ClipChoice::None, named("Run")] {
        let before = poses(&mut crowd, 2.0);
        crowd.crossfade(&choice, 2.0, 0.5).unwrap();
        for (number, (matrices, _)) in poses(&mut crowd, 2.0) {
            assert!(largest_difference(&matrices, &before[&number].0) < 2e-5);
        }
    }
    // No pose jumps: not where the first crossfade ends, not where the second one begins, and not where that one ends.
    let step_seconds = 0.1 * DEFAULT_FADE_SECONDS;
    let mut last = poses(&mut crowd, 2.0);
    for step in 1..=35 {
        let next = poses(&mut crowd, 2.0 + f64::from(step) * step_seconds);
        for (number, (matrices, _)) in &next {
            let moved = largest_difference(matrices, &last[number].0);
            assert!(moved < 0.4, "step {step}: {moved}");
        }
        last = next;
        match step {
            9 => assert_eq!(clips_of(&crowd), playing("Walk")),
            11 => assert!(crowd.is_blending() && clips_of(&crowd) == playing("Run")),
            _ => {}
        }
    }
    assert!(!crowd.is_blending());
    // A cut forgets the choice that waits.
    crowd.crossfade(&named("Walk"), 4.0, 0.5).unwrap();
    crowd.crossfade(&named("Run"), 4.1, 0.5).unwrap();
    crowd.set_clip(&named("Walk")).unwrap();
    crowd.move_to(5.0);
    assert_eq!(clips_of(&crowd), playing("Walk"));
}

#[test]
fn clips_that_do_not_fit_the_lanes_blend_too() {
    let mut model = chain("A.glb", 4, 1.5, &["Idle", "Far"]);
    // The square of this number is no `f32`.
    let values = vec![Vec3::ZERO, Vec3::X * 1e20];
    model.clips[1].timelines.push(vec![0.0, 1.5]);
    model.clips[1].translations.push(Track { node: 3, timeline: 1, interpolation: Interpolation::Linear, values });
    let zero = CrowdSettings { clip: named("Idle"), phase: PhaseMode::Zero, ..settings(3) };
    let mut crowd = crowd_of([model.clone()], &zero);
    crowd.crossfade(&named("Far"), 0.5, 0.25).unwrap();
    let [from, to] = [0, 1].map(|clip| Source { clip: model.clips.get(clip), time_seconds: 0.6 });
    let expected = blended(&model, &Blend { from, to: Some((to, 0.4)) });
    for found in poses(&mut crowd, 0.6).into_values() {
        assert_eq!(found, expected);
    }
}

/// The bounding sphere of an instance that blends is around the boxes of both clips. Nothing proves that it holds the blend.
#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn blended_poses_stay_in_the_sphere_around_both_clips() {
    let mut pairs = 0;
    for name in ["Fox/Fox.glb", "KayKit_Knight/Knight.glb", "Mannequiny/mannequiny.glb"] {
        let model = sample(name);
        let bounds: Vec<_> = model.clips.iter().map(|clip| posed_bounds(&model, Some(clip))).collect();
        let mut scratch = PoseScratch::for_model(&model);
        let mut vertices = Vec::new();
        let mut worst = 0.0f32;
        for a in 0..model.clips.len() {
            for b in (0..model.clips.len()).filter(|&b| b != a && (a + b) % 3 == 0) {
                let both = bounds[a].union(&bounds[b]);
                for k in 0..3 {
                    let [from, to] = [a, b].map(|index| {
                        let (clip, share) = (&model.clips[index], (0.31 * (k + index) as f64).fract());
                        Source { clip: Some(clip), time_seconds: f64::from(clip.duration_seconds) * share }
                    });
                    let blend = Blend { from, to: Some((to, 0.25 * (k + 1) as f32)) };
                    skinned_positions(&model, pose_blend(&model, &blend, &mut scratch), &mut vertices);
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
