//! Lanes on real models, from the folder that `THRONG_SAMPLE_MODELS` names: every clip of every file, held against the
//! plain functions, which the oracle holds against the specification.

use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};

use throng::animation::lanes::{self, LaneClip, LaneScratch, Processor};
use throng::animation::{PoseScratch, PoseStreams, evaluate};
use throng::model::import::load;
use throng::model::{Clip, Model};
use throng::shader_types::JointMatrix;

/// Of the largest number on the way.
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

/// The largest difference on either processor, as a share of the largest number.
fn worst(model: &Model, clip: Option<&Clip>, compiled: &LaneClip) -> f32 {
    let duration = clip.map_or(0.0, |clip| f64::from(clip.duration_seconds));
    let keys = clip.iter().flat_map(|clip| &clip.timelines).flatten().map(|&key| f64::from(key)).take(40);
    let times: Vec<f64> = (0..21).map(|k| duration * f64::from(k) / 20.0).chain(keys).collect();
    let joints = model.palette.len();
    let room = || vec![MaybeUninit::new(JointMatrix { rows: [[f32::NAN; 4]; 3] }); joints * times.len()];
    let mut expected = room();
    let mut scratch = PoseScratch::for_model(model);
    let mut weights = vec![MaybeUninit::uninit(); model.morph_weight_count()];
    for (&time, palette) in times.iter().zip(expected.chunks_mut(joints)) {
        evaluate(model, clip, time, &mut scratch, PoseStreams { palette, morph_weights: &mut weights });
    }
    let expected = initialised(expected);
    let numbers = |matrices: &[JointMatrix]| -> Vec<f32> {
        matrices.iter().flat_map(|matrix| matrix.rows.as_flattened().to_vec()).collect()
    };
    let expected = numbers(&expected);
    // A palette at rest is identity, and comes about by numbers of the model's size that cancel out.
    let places = model.geometry.positions.iter().flat_map(|position| position.to_array());
    let largest = expected.iter().copied().chain(places).fold(1.0f32, |largest, number| largest.max(number.abs()));
    let mut worst = 0.0f32;
    for processor in [Processor::detect(), Processor::Portable] {
        let mut found = room();
        lanes::evaluate(processor, compiled, &times, &mut LaneScratch::default(), &mut found);
        for (found, expected) in numbers(&initialised(found)).iter().zip(&expected) {
            // Not `max`, which passes over what is no number.
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
