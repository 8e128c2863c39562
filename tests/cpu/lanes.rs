//! Lanes and blends on real models, from the folder that `THRONG_SAMPLE_MODELS` names: every clip of every file agrees with the
//! plain functions (which the oracle compares with the specification), and both kinds of memory receive the same bytes. Blends
//! agree with a plain blend in double precision.

use glam::{DAffine3, DMat4, DQuat, DVec3, DVec4, Quat, Vec3, Vec4};
use throng::animation::lanes::{self, LaneBlend, LaneClip, LaneScratch, LaneSource, Processor};
use throng::animation::{
    Blend, MemoryKind, PoseScratch, SampleScratch, Source, joint_matrices, pose_blend, sample_clip,
};
use throng::model::import::load;
use throng::model::{Clip, Interpolation, Model};

use crate::common::assets::{JELLY, STRIP, WALKER, asset, sample_files};
use crate::common::lanes::{check_lanes, in_lanes, numbers, room};
use crate::cpu::crowd::{chain, clip_with, track};

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

/// A model of `joints` joints in a chain, of which each third one stands still.
fn swinging(joints: u32) -> Model {
    let mut model = chain("chain", joints, joints as f32, &["Swing"]);
    model.clips[0].rotations.retain(|track| track.node % 3 != 2);
    model
}

#[test]
fn palettes_of_any_length_and_any_number_of_instances_agree() {
    for joints in [1, 2, 3, 47, 48, 49, 96, 97, 150] {
        let model = swinging(joints);
        let times: Vec<f64> = (0..17).map(|k| 0.13 * f64::from(k)).collect();
        for instances in 1..=times.len() {
            let worst = check_lanes(&model, model.clips.first(), &times[..instances], 1.0, Some(TOLERANCE));
            assert!(worst.is_some(), "{joints} joints");
        }
    }
}

/// The hashes are those of AVX2, of SSE2 and of NEON. Only sums, products and square roots take part at run time; sines of the
/// C library take part when a clip is compiled, in double precision.
#[test]
fn joint_matrices_have_the_same_bits_on_every_processor() {
    let hashes = [
        (WALKER, 0x9ea0_128b_d848_c6d8),
        (STRIP, 0x0673_10a3_49d4_c1b2),
        (JELLY, 0x052c_7cbf_f063_6186),
        ("assets/tube.gltf", 0x7a68_82a8_826f_c65c_u64),
    ];
    for (name, expected) in hashes {
        let model = asset(name);
        for processor in [Processor::detect(), Processor::PORTABLE] {
            let bits = model.clips.iter().flat_map(|clip| {
                let times: Vec<f64> = (0..16).map(|k| f64::from(clip.duration_seconds) * f64::from(k) / 15.0).collect();
                let compiled = LaneClip::compile(&model, Some(clip)).expect("lanes for all bundled clips");
                in_lanes(processor, &compiled, &model, &times)
            });
            // FNV-1a.
            let bytes = bits.flat_map(|number| number.to_bits().to_le_bytes());
            let hash = bytes
                .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
            assert_eq!(format!("{hash:016x}"), format!("{expected:016x}"), "{name}, {processor:?}");
        }
    }
}

/// Returns the joint matrices of a blend in double precision. The clips are sampled by the plain function. `None` if two
/// rotations are so far apart that rounding decides which arc is shorter.
fn blend_in_double_precision(model: &Model, blend: &Blend<'_>) -> Option<Vec<DAffine3>> {
    let locals = |source: &Source<'_>| -> Vec<(DVec3, DVec4, DVec3)> {
        let mut pose = model.skeleton.rest.clone();
        if let Some(clip) = source.clip {
            sample_clip(clip, source.time_seconds, &mut SampleScratch::default(), &mut pose);
        }
        let nodes = pose.translations.iter().zip(&pose.rotations).zip(&pose.scales);
        nodes.map(|((t, r), s)| (t.as_dvec3(), DVec4::from(r.as_dquat()), s.as_dvec3())).collect()
    };
    let (to, weight) = blend.to?;
    let weight = f64::from(weight);
    let mixed = |a: DVec3, b: DVec3| a * (1.0 - weight) + b * weight;
    let blended = locals(&blend.from).into_iter().zip(locals(&to)).map(|(from, to)| {
        let (a, b) = (from.1, to.1);
        let cosine = a.dot(b) / (a.length() * b.length());
        let rotation = DQuat::from_vec4((a * (1.0 - weight) + b * weight.copysign(cosine)).normalize());
        (cosine.abs() >= 1e-4).then(|| (mixed(from.0, to.0), rotation, mixed(from.2, to.2)))
    });
    let locals: Vec<(DVec3, DQuat, DVec3)> = blended.collect::<Option<_>>()?;
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
fn worst_of_blend(model: &Model, clips: [Option<&Clip>; 2], shares: [f64; 2], weight: f32) -> Option<f32> {
    const INSTANCES: usize = 11;
    let joints = model.palette.len();
    let compiled = clips.map(|clip| LaneClip::compile(model, clip).expect("a clip"));
    let mut blend = LaneBlend::compile(model, clips);
    // Nothing of another weight is left.
    blend.set_weight(0.7);
    blend.set_weight(weight);
    // Each instance is a little later.
    let time_of = |index: usize, instance: usize| {
        let duration = clips[index].map_or(0.0, |clip| f64::from(clip.duration_seconds));
        duration * (shares[index] + instance as f64 * 0.03).fract()
    };
    let times = [0, 1].map(|index| (0..INSTANCES).map(|instance| time_of(index, instance)).collect::<Vec<f64>>());
    let mut expected = Vec::new();
    let mut plain: Vec<f32> = Vec::new();
    let mut scratch = PoseScratch::for_model(model);
    for (&from, &to) in times[0].iter().zip(&times[1]) {
        let [from, to] = [(0, from), (1, to)].map(|(k, time_seconds)| Source { clip: clips[k], time_seconds });
        let blend = Blend { from, to: Some((to, weight)) };
        for matrix in blend_in_double_precision(model, &blend)? {
            expected.extend(&DMat4::from(matrix).transpose().to_cols_array()[..12]);
        }
        let pose = pose_blend(model, &blend, &mut scratch);
        plain.extend(joint_matrices(&model.palette, pose.model_from_node).flat_map(|matrix| matrix.rows).flatten());
    }
    let positions = model.geometry.positions.iter().flat_map(|position| position.to_array()).map(f64::from);
    let largest = expected.iter().copied().chain(positions).fold(1.0f64, |largest, number| largest.max(number.abs()));
    let mut all = vec![plain];
    for processor in [Processor::detect(), Processor::PORTABLE] {
        let [cached, combined] = [MemoryKind::Cached, MemoryKind::WriteCombined].map(|memory| {
            let mut out = room(joints * INSTANCES);
            let [first, second] = [0, 1].map(|k| LaneSource { clip: &compiled[k], times_seconds: &times[k] });
            lanes::evaluate(processor, first, Some((&blend, second)), &mut LaneScratch::default(), memory, &mut out);
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
            assert!(off <= TOLERANCE, "{}: {found} instead of {expected}, weight {weight}", model.name);
            worst = worst.max(off);
        }
    }
    Some(worst)
}

#[test]
fn blends_of_built_models_agree_with_double_precision() {
    for joints in [1, 7, 50, 97] {
        let mut model = swinging(joints);
        // A second clip moves, scales and turns other joints, by splines, and a third one holds some of them elsewhere.
        let spline = |values: [Vec3; 3]| values.iter().flat_map(|&value| [Vec3::ONE, value, -Vec3::ONE]).collect();
        let scales = vec![Vec3::ONE, Vec3::splat(1.2), Vec3::X];
        let quarter = Vec4::from(Quat::from_rotation_x(1.5));
        let held = |node| track(node, Interpolation::Step, vec![quarter]);
        model.clips.push(Clip {
            translations: vec![track(0, Interpolation::CubicSpline, spline([Vec3::X, Vec3::Y, Vec3::Z]))],
            scales: vec![track(joints / 2, Interpolation::Linear, scales)],
            rotations: vec![track(joints - 1, Interpolation::Step, vec![quarter, -quarter, Vec4::W])],
            ..clip_with(&[0.0, 0.25, 1.0])
        });
        let (timelines, rotations) = (vec![vec![0.0]], (0..joints / 2).map(held).collect());
        model.clips.push(Clip { duration_seconds: 0.5, timelines, rotations, ..Clip::default() });
        let clips: Vec<Option<&Clip>> = model.clips.iter().map(Some).chain([None]).collect();
        let mut compared = 0;
        for pair in clips.iter().flat_map(|&a| clips.iter().map(move |&b| [a, b])) {
            let compare = |&weight: &f32| worst_of_blend(&model, pair, [0.2, 0.7], weight).is_some();
            compared += [0.0, 0.3, 0.5, 1.0].iter().filter(|weight| compare(weight)).count();
        }
        assert!(compared > 50, "{compared} of 64 blends were well defined");
    }
}

#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn every_clip_of_real_models_and_blends_of_them_agree() {
    let (mut models, mut poses, mut blends, mut skipped) = (0, 0, 0, 0);
    let (mut worst_pose, mut worst_blend) = (0.0f32, 0.0f32);
    for file in sample_files(&["glb", "gltf"]) {
        // Files of clips alone have no joints.
        let Some(model) = load(&file).ok().filter(|model| !model.palette.is_empty()) else { continue };
        models += 1;
        let clips: Vec<Option<&Clip>> = [None].into_iter().chain(model.clips.iter().map(Some)).collect();
        for &clip in &clips {
            worst_pose = worst_pose.max(worst(&model, clip));
            poses += 1;
        }
        for (k, pair) in clips.windows(2).enumerate() {
            let share = (k as f64 * 0.37).fract();
            match worst_of_blend(&model, [pair[0], pair[1]], [share, 0.5 * share], (k as f32 * 0.29).fract()) {
                Some(off) => (blends, worst_blend) = (blends + 1, worst_blend.max(off)),
                None => skipped += 1,
            }
        }
    }
    println!("{poses} clips and rest poses of {models} models, off by at most {worst_pose:e}");
    println!("{blends} blends, off by at most {worst_blend:e}; {skipped} are not well defined");
    assert!(models >= 50 && poses >= 200, "{models} models, {poses} clips");
    assert!(blends >= 100 && skipped < blends, "{blends} blends, {skipped} skipped");
}
