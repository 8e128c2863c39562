//! Lanes on real models, from the folder that `THRONG_SAMPLE_MODELS` names: every clip of every file agrees with the
//! plain functions (which the oracle compares with the specification), and both kinds of memory receive the same bytes.

use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};

use glam::{Affine3A, Quat, Vec3, Vec4};
use throng::animation::lanes::{self, LaneClip, LaneScratch, Processor};
use throng::animation::{MemoryKind, PoseScratch, PoseStreams, evaluate};
use throng::model::import::load;
use throng::model::{Clip, Interpolation, LocalPose, Model, NO_PARENT, PaletteLayout, Skeleton, Track};
use throng::shader_types::JointMatrix;

/// The largest error, as a share of the largest intermediate number.
const TOLERANCE: f32 = 1e-5;

fn model_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match entry.extension().and_then(|extension| extension.to_str()) {
            _ if entry.is_dir() => model_files(&entry, files),
            Some("glb" | "gltf") => files.push(entry),
            _ => {}
        }
    }
}

fn initialised(out: Vec<MaybeUninit<JointMatrix>>) -> Vec<JointMatrix> {
    // SAFETY: every element was initialised on creation.
    out.into_iter().map(|element| unsafe { element.assume_init() }).collect()
}

/// Returns the largest difference on either processor, as a share of the largest number.
fn worst(model: &Model, clip: Option<&Clip>, compiled: &LaneClip) -> f32 {
    let duration = clip.map_or(0.0, |clip| f64::from(clip.duration_seconds));
    let keys = clip.iter().flat_map(|clip| &clip.timelines).flatten().map(|&key| f64::from(key)).take(40);
    let times: Vec<f64> = (0..21).map(|k| duration * f64::from(k) / 20.0).chain(keys).collect();
    let joints = model.palette.len();
    let mut expected = vec![MaybeUninit::new(JointMatrix { rows: [[f32::NAN; 4]; 3] }); joints * times.len()];
    let mut scratch = PoseScratch::for_model(model);
    let mut weights = vec![MaybeUninit::uninit(); model.morph_weight_count()];
    for (&time, palette) in times.iter().zip(expected.chunks_mut(joints)) {
        let streams = PoseStreams { palette, morph_weights: &mut weights, memory: MemoryKind::Cached };
        evaluate(model, clip, time, &mut scratch, streams);
    }
    let expected = initialised(expected);
    let numbers = |matrices: &[JointMatrix]| -> Vec<f32> {
        matrices.iter().flat_map(|matrix| matrix.rows.as_flattened().to_vec()).collect()
    };
    let expected = numbers(&expected);
    // A palette at rest is the identity, computed from numbers of the model's size that cancel out.
    let positions = model.geometry.positions.iter().flat_map(|position| position.to_array());
    let largest = expected.iter().copied().chain(positions).fold(1.0f32, |largest, number| largest.max(number.abs()));
    let mut worst = 0.0f32;
    for processor in [Processor::detect(), Processor::Portable] {
        let in_memory = |memory: MemoryKind, times: &[f64]| {
            let mut found = vec![MaybeUninit::new(JointMatrix { rows: [[f32::NAN; 4]; 3] }); joints * times.len()];
            lanes::evaluate(processor, compiled, times, &mut LaneScratch::default(), memory, &mut found);
            numbers(&initialised(found))
        };
        let found = in_memory(MemoryKind::Cached, &times);
        let bits = |numbers: &[f32]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
        for instances in 1..=17.min(times.len()) {
            let block_by_block = in_memory(MemoryKind::WriteCombined, &times[..instances]);
            assert!(bits(&block_by_block) == bits(&found[..block_by_block.len()]), "{}: {instances}", model.name);
        }
        for (found, expected) in found.iter().zip(&expected) {
            // `f32::max` would ignore NaN.
            let off = (found - expected).abs() / largest;
            assert!(off <= TOLERANCE, "{}: {found} instead of {expected}", model.name);
            worst = worst.max(off);
        }
    }
    worst
}

#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn lanes_take_every_clip_of_real_models_and_agree() {
    let mut files = Vec::new();
    model_files(Path::new(&std::env::var_os("THRONG_SAMPLE_MODELS").expect("THRONG_SAMPLE_MODELS")), &mut files);
    let (mut models, mut clips, mut worst_of_all) = (0, 0, 0.0f32);
    for file in files {
        let Ok(model) = load(&file) else { continue };
        models += 1;
        for clip in model.clips.iter().map(Some).chain([None]) {
            let compiled = LaneClip::compile(&model, clip);
            let compiled = compiled.unwrap_or_else(|| panic!("{}: {:?}", model.name, clip.map(|clip| &clip.name)));
            worst_of_all = worst_of_all.max(worst(&model, clip, &compiled));
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
fn palettes_of_any_length_are_the_same_in_both_kinds_of_memory() {
    for joints in [1, 2, 3, 47, 48, 49, 96, 97, 150] {
        let model = chain(joints);
        let clip = &model.clips[0];
        let compiled = LaneClip::compile(&model, Some(clip)).expect("a small clip");
        worst(&model, Some(clip), &compiled);
    }
}
