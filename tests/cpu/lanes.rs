//! Lanes and blends on real models, from the folder that `THRONG_SAMPLE_MODELS` names: every clip of every file agrees with the
//! plain functions (which the oracle compares with the specification), and both kinds of memory receive the same bytes. Blends
//! agree with a plain blend in double precision.

use glam::{Affine3A, DAffine3, DQuat, DVec3, DVec4, Quat, Vec3, Vec4};
use throng::animation::lanes::{self, LaneBlend, LaneClip, LaneScratch, LaneSource, Processor};
use throng::animation::{MemoryKind, PoseScratch, SampleScratch, Source, joint_matrices, pose_blend, sample_clip};
use throng::model::import::load;
use throng::model::{Clip, Interpolation, LocalPose, Model, NO_PARENT, PaletteLayout, Skeleton, Track};

use crate::common::lanes::{check_lanes, numbers, room};
use crate::cpu::model_files::sample_models;

/// The largest error, as a share of the largest intermediate number.
const TOLERANCE: f32 = 1e-5;

/// Returns the largest difference, as a share of the largest number.
fn worst(model: &Model, clip: Option<&Clip>) -> f32 {
    let duration = clip.map_or(0.0, |clip| f64::from(clip.duration_seconds));
    let keys = clip.iter().flat_map(|clip| &clip.timelines).flatten().map(|&key| f64::from(key)).take(40);
    let times: Vec<f64> = (0..21).map(|k| duration * f64::from(k) / 20.0).chain(keys).collect();
    // A palette at rest is the identity, computed from numbers of the model's size that cancel out.
    let positions = model.geometry.positions.iter().map(|position| position.abs().max_element());
    let scale = positions.fold(1.0, f32::max);
    let worst = check_lanes(model, clip, &times, scale, Some(TOLERANCE));
    worst.unwrap_or_else(|| panic!("{}: {:?}", model.name, clip.map(|clip| &clip.name)))
}

#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn lanes_take_every_clip_of_real_models_and_agree() {
    let (mut models, mut clips, mut worst_of_all) = (0, 0, 0.0f32);
    for file in sample_models() {
        let Ok(model) = load(&file) else { continue };
        models += 1;
        for clip in model.clips.iter().map(Some).chain([None]) {
            worst_of_all = worst_of_all.max(worst(&model, clip));
            clips += 1;
        }
    }
    println!("{clips} clips and rest poses of {models} models, off by at most {worst_of_all:e}");
    assert!(models >= 50 && clips >= 200, "{models} models, {clips} clips");
}

/// A model of `joints` joints in a chain, of which each third one stands still.
fn chain(joints: u32) -> Model {
    let values = [0.0, 0.7, -0.4].map(|angle| Vec4::from(Quat::from_rotation_z(angle))).to_vec();
    let track = |node| Track { node, timeline: 0, interpolation: Interpolation::Linear, values: values.clone() };
    Model {
        skeleton: Skeleton {
            parents: (0..joints).map(|node| node.checked_sub(1).unwrap_or(NO_PARENT)).collect(),
            rest: LocalPose { translations: vec![Vec3::Y; joints as usize], ..LocalPose::identity(joints as usize) },
            ..Skeleton::default()
        },
        palette: PaletteLayout {
            nodes: (0..joints).collect(),
            joint_from_mesh: (0..joints).map(|joint| Affine3A::from_translation(Vec3::X * joint as f32)).collect(),
            skins: Vec::new(),
        },
        clips: vec![Clip {
            duration_seconds: 2.0,
            timelines: vec![vec![0.0, 1.0, 2.0]],
            rotations: (0..joints).filter(|joint| joint % 3 != 2).map(track).collect(),
            ..Clip::default()
        }],
        ..Model::default()
    }
}

#[test]
fn palettes_of_any_length_and_any_number_of_instances_agree() {
    for joints in [1, 2, 3, 47, 48, 49, 96, 97, 150] {
        let model = chain(joints);
        let times: Vec<f64> = (0..17).map(|k| 0.13 * f64::from(k)).collect();
        for instances in 1..=times.len() {
            let worst = check_lanes(&model, model.clips.first(), &times[..instances], 1.0, Some(TOLERANCE));
            assert!(worst.is_some(), "{joints} joints");
        }
    }
}

/// Returns the joint matrices of a blend in double precision. The clips are sampled by the plain function. `None` if two
/// rotations are so far apart that rounding decides which arc is shorter.
fn blend_in_double_precision(model: &Model, sources: &[Source<'_>]) -> Option<Vec<DAffine3>> {
    let mut locals: Vec<(DVec3, DQuat, DVec3)> = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        let mut pose = model.skeleton.rest.clone();
        if let Some(clip) = source.clip {
            sample_clip(clip, source.time_seconds, &mut SampleScratch::default(), &mut pose);
        }
        let nodes = pose.translations.iter().zip(&pose.rotations).zip(&pose.scales);
        let nodes = nodes.map(|((t, r), s)| (t.as_dvec3(), r.as_dquat(), s.as_dvec3()));
        if index == 0 {
            locals = nodes.collect();
            continue;
        }
        let weight = f64::from(source.weight);
        for (own, (translation, rotation, scale)) in locals.iter_mut().zip(nodes) {
            let (a, b) = (DVec4::from(own.1), DVec4::from(rotation));
            let cosine = a.dot(b) / (a.length() * b.length());
            if cosine.abs() < 1e-4 {
                return None;
            }
            let b = if cosine < 0.0 { -b } else { b };
            *own = (
                own.0 * (1.0 - weight) + translation * weight,
                DQuat::from_vec4((a * (1.0 - weight) + b * weight).normalize()),
                own.2 * (1.0 - weight) + scale * weight,
            );
        }
    }
    let mut model_from_node: Vec<DAffine3> = Vec::new();
    for (node, (&parent, &(translation, rotation, scale))) in model.skeleton.parents.iter().zip(&locals).enumerate() {
        let fixed = model.skeleton.fixed_locals.iter().find(|fixed| fixed.node as usize == node);
        let local = match fixed {
            Some(fixed) => fixed.parent_from_node.as_daffine3(),
            None => DAffine3::from_scale_rotation_translation(scale, rotation, translation),
        };
        let parent = model_from_node.get(parent as usize).copied().unwrap_or(DAffine3::IDENTITY);
        model_from_node.push(parent * local);
    }
    let entries = model.palette.nodes.iter().zip(&model.palette.joint_from_mesh);
    Some(entries.map(|(&node, matrix)| model_from_node[node as usize] * matrix.as_daffine3()).collect())
}

/// Compares a blend by lanes, on both processors and in both kinds of memory, and by the plain functions with double precision.
/// Returns the largest difference, as a share of the largest number, or `None` if the blend is not well defined.
fn worst_of_blend(model: &Model, clips: &[Option<&Clip>], shares: &[f64], weights: &[f32]) -> Option<f32> {
    const INSTANCES: usize = 11;
    let joints = model.palette.len();
    let compiled: Vec<LaneClip> = clips.iter().map(|clip| LaneClip::compile(model, *clip).expect("a clip")).collect();
    let mut blend = LaneBlend::compile(model, clips);
    // Nothing of other weights is left.
    blend.set_weights(&vec![0.7; clips.len()]);
    blend.set_weights(weights);
    // Each instance is a little later.
    let time_of = |index: usize, instance: usize| {
        let duration = clips[index].map_or(0.0, |clip| f64::from(clip.duration_seconds));
        duration * (shares[index] + instance as f64 * 0.03).fract()
    };
    let times: Vec<Vec<f64>> =
        (0..clips.len()).map(|index| (0..INSTANCES).map(|instance| time_of(index, instance)).collect()).collect();
    let mut expected = Vec::new();
    let mut plain: Vec<f32> = Vec::new();
    let mut scratch = PoseScratch::for_model(model);
    let sources_of = |instance: usize| -> Vec<Source<'_>> {
        let source = |k: usize| Source { clip: clips[k], time_seconds: times[k][instance], weight: weights[k] };
        (0..clips.len()).map(source).collect()
    };
    for sources in (0..INSTANCES).map(sources_of) {
        for matrix in blend_in_double_precision(model, &sources)? {
            let [x, y, z] = [0, 1, 2].map(|row| {
                let m = matrix.matrix3;
                [m.x_axis[row], m.y_axis[row], m.z_axis[row], matrix.translation[row]]
            });
            expected.extend([x, y, z].concat());
        }
        let pose = pose_blend(model, &sources, &mut scratch);
        plain.extend(joint_matrices(&model.palette, pose.model_from_node).flat_map(|matrix| matrix.rows).flatten());
    }
    let positions = model.geometry.positions.iter().flat_map(|position| position.to_array()).map(f64::from);
    let largest = expected.iter().copied().chain(positions).fold(1.0f64, |largest, number| largest.max(number.abs()));
    let mut all = vec![plain];
    for processor in [Processor::detect(), Processor::Portable] {
        let [cached, combined] = [MemoryKind::Cached, MemoryKind::WriteCombined].map(|memory| {
            let mut out = room(joints * INSTANCES);
            let source = |k: usize| LaneSource { clip: &compiled[k], times_seconds: &times[k] };
            let sources: Vec<LaneSource<'_>> = (0..clips.len()).map(source).collect();
            lanes::evaluate_blend(processor, &blend, &sources, &mut LaneScratch::default(), memory, &mut out);
            numbers(&out)
        });
        assert!(cached == combined, "{}: both kinds of memory", model.name);
        all.push(cached);
    }
    let mut worst = 0.0f32;
    for found in &all {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            let off = ((f64::from(*found) - expected).abs() / largest) as f32;
            assert!(off <= TOLERANCE, "{}: {found} instead of {expected}, weights {weights:?}", model.name);
            worst = worst.max(off);
        }
    }
    Some(worst)
}

#[test]
fn blends_of_built_models_agree_with_double_precision() {
    for joints in [1, 7, 50, 97] {
        let mut model = chain(joints);
        // A second clip moves, scales and turns other joints, by splines, and a third one holds some of them elsewhere.
        let spline = |values: [Vec3; 3]| values.iter().flat_map(|&value| [Vec3::ONE, value, -Vec3::ONE]).collect();
        let vectors = |node, interpolation, values| Track { node, timeline: 0, interpolation, values };
        let quarter = Vec4::from(Quat::from_rotation_x(1.5));
        model.clips.push(Clip {
            duration_seconds: 1.0,
            timelines: vec![vec![0.0, 0.25, 1.0]],
            translations: vec![vectors(0, Interpolation::CubicSpline, spline([Vec3::X, Vec3::Y, Vec3::Z]))],
            scales: vec![vectors(joints / 2, Interpolation::Linear, vec![Vec3::ONE, Vec3::splat(1.2), Vec3::X])],
            rotations: vec![Track {
                node: joints - 1,
                timeline: 0,
                interpolation: Interpolation::Step,
                values: vec![quarter, -quarter, Vec4::W],
            }],
            ..Clip::default()
        });
        model.clips.push(Clip {
            duration_seconds: 0.5,
            timelines: vec![vec![0.0]],
            rotations: (0..joints / 2)
                .map(|node| Track { node, timeline: 0, interpolation: Interpolation::Step, values: vec![quarter] })
                .collect(),
            ..Clip::default()
        });
        let clips: Vec<Option<&Clip>> = model.clips.iter().map(Some).chain([None]).collect();
        let mut compared = 0;
        for a in 0..clips.len() {
            for b in 0..clips.len() {
                for weight in [0.0, 0.3, 0.5, 1.0] {
                    let pair = worst_of_blend(&model, &[clips[a], clips[b]], &[0.2, 0.7], &[1.0, weight]);
                    let three = [clips[a], clips[b], clips[(a + 1) % 4]];
                    let chain = worst_of_blend(&model, &three, &[0.1, 0.4, 0.8], &[1.0, 0.6, weight]);
                    compared += usize::from(pair.is_some()) + usize::from(chain.is_some());
                }
            }
        }
        assert!(compared > 100, "{compared} of 128 blends were well defined");
    }
}

#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn blends_of_real_models_agree_with_double_precision() {
    let (mut blends, mut skipped, mut worst) = (0, 0, 0.0f32);
    for file in sample_models() {
        let Ok(model) = load(&file) else { continue };
        let clips: Vec<Option<&Clip>> = [None].into_iter().chain(model.clips.iter().map(Some)).collect();
        for (k, pair) in clips.windows(2).enumerate() {
            let share = (k as f64 * 0.37).fract();
            match worst_of_blend(&model, pair, &[share, 0.5 * share], &[1.0, (k as f32 * 0.29).fract()]) {
                Some(off) => (blends, worst) = (blends + 1, worst.max(off)),
                None => skipped += 1,
            }
        }
    }
    println!("{blends} blends, off by at most {worst:e}; {skipped} are not well defined");
    assert!(blends >= 100 && skipped < blends, "{blends} blends, {skipped} skipped");
}
