//! `throng pose` agrees with the reference evaluator, which follows the glTF specification in double precision. The
//! test compares every model below `THRONG_SAMPLE_MODELS`, its rest pose and up to twelve clips, at five times from
//! before the first key to after the last, on the CPU and on the GPU. Node matrices, joint matrices, morph weights and
//! positions agree to 1e-4 of the model's size, and normals, which have 32 bits, to 1e-3.
//!
//! To print the largest error of each file:
//!
//! ```text
//! cargo test --release --test program oracle -- --nocapture
//! ```
//!
//! The reference is simple and slow, so it evaluates only some vertices of each primitive, and the test compares only
//! those. `THRONG_ORACLE_VERTICES` sets their number. The reference cannot read compressed files;
//! `tests/cpu/import/compression.rs` compares those with their originals.

use std::path::{Path, PathBuf};
use std::process::Command;

use rayon::prelude::*;
use serde_json::Value;

use crate::common::assets::{sample_files, sample_path};
use crate::common::program::{Place, Running};

const TOLERANCE: f64 = 1e-4;
const NORMAL_TOLERANCE: f64 = 1e-3;
/// The number of vertices of each primitive, at an even stride.
const MOST_VERTICES: &str = "40";
/// The number of clips of each file, at an even stride. Most errors would show in all clips of a file.
const MOST_CLIPS: usize = 12;
/// The times, as shares of a clip's length.
const MOMENTS: [f64; 5] = [-0.1, 0.0, 0.37, 0.9, 1.2];
const DEVICES: [&str; 2] = ["cpu", "gpu --validation"];

struct Job<'p> {
    path: &'p Path,
    /// The clip's index and its length in seconds. `None` is the rest pose.
    clip: Option<(usize, f64)>,
}

fn run(command: &mut Command) -> String {
    let description = format!("{command:?}");
    let finished = Running::start(command).finish();
    assert_eq!(finished.code, 0, "{description}: {}", finished.stderr);
    finished.stdout
}

fn reference(path: &Path, arguments: &[&str]) -> String {
    let folder: PathBuf = std::env::var_os("THRONG_ORACLE").expect("THRONG_ORACLE").into();
    run(Command::new("python3").arg(folder.join("reference.py")).arg(path).args(arguments))
}

fn throng(command: &str, paths: &[&Path]) -> Value {
    serde_json::from_str(&run(Place::new().command(command).args(paths))).unwrap()
}

fn readable_models() -> Vec<PathBuf> {
    let is_compressed = |path: &PathBuf| {
        let bytes = std::fs::read(path).unwrap();
        let names = [&b"_meshopt_compression\""[..], b"KHR_draco_mesh_compression\""];
        names.iter().any(|name| bytes.windows(name.len()).any(|window| window == *name))
    };
    let mut files = sample_files(&["gltf", "glb", "vrm"]);
    files.retain(|path| !is_compressed(path));
    files
}

/// Returns the jobs for a model, by its facts of `throng inspect`. The reference must count as many clips.
fn jobs_of<'p>((path, facts): (&&'p Path, &Value)) -> Vec<Job<'p>> {
    let clips = array(&facts["clips"]);
    assert_eq!(reference(path, &["--list"]).lines().count(), clips.len(), "{}", path.display());
    let taken = clips.len().min(MOST_CLIPS);
    let indices = (0..taken).map(|k| k * clips.len() / taken);
    let clips = indices.map(|index| Some((index, clips[index]["duration"].as_f64().unwrap())));
    std::iter::once(None).chain(clips).map(|clip| Job { path, clip }).collect()
}

/// Returns the largest differences: of positions on each device, as a share of the model's size, and of normals.
fn check(Job { path, clip }: &Job) -> Result<[f64; 3], String> {
    let (clip, times) = match clip {
        None => ("none".to_owned(), "0".to_owned()),
        Some((index, length)) => (index.to_string(), MOMENTS.map(|share| (share * length).to_string()).join(",")),
    };
    let vertices = std::env::var("THRONG_ORACLE_VERTICES").unwrap_or_else(|_| MOST_VERTICES.to_owned());
    // The first time is negative, so the option needs `=`.
    let times_argument = format!("--times={times}");
    let arguments = ["--clip", &clip, &times_argument, "--max-vertices", &vertices, "--normals"];
    let want: Value = serde_json::from_str(&reference(path, &arguments)).unwrap();
    let mut worst = [0.0f64; 3];
    for (device, on) in DEVICES.into_iter().enumerate() {
        let got = throng(&format!("pose --json --clip {clip} --time={times} --on {on}"), &[path]);
        let here = || format!("{} clip {clip} on the {on}", path.display());
        let (share, normals) = compare(&want, &got).map_err(|error| format!("{}: {error}", here()))?;
        if share > TOLERANCE || normals > NORMAL_TOLERANCE {
            return Err(format!("{}: {share:.1e} of the model's size, normals {normals:.1e}", here()));
        }
        (worst[device], worst[2]) = (share, normals.max(worst[2]));
    }
    Ok(worst)
}

fn same(what: &str, want: &Value, got: &Value) -> Result<(), String> {
    if want == got { Ok(()) } else { Err(format!("{what}: {got} instead of {want}")) }
}

/// Returns the largest difference as a share of the model's size, and the largest one of normals.
fn compare(want: &Value, got: &Value) -> Result<(f64, f64), String> {
    for key in ["index", "name"] {
        same(key, &want["clip"][key], &got["clip"][key])?;
    }
    let (mut difference, mut size, mut normals) =
        (furthest(&want["clip"]["duration"], &got["clip"]["duration"]), 0.0f64, 0.0);
    let (want, got) = (array(&want["frames"]), array(&got["frames"]));
    same("frames", &want.len().into(), &got.len().into())?;
    for (want, got) in want.iter().zip(got) {
        difference = difference.max(furthest(&want["time"], &got["time"]));
        for kind in ["nodes", "skins", "weights"] {
            difference = difference.max(furthest(&want[kind], &got[kind]));
        }
        let (want, got) = (array(&want["primitives"]), array(&got["primitives"]));
        size = size.max(extent(want));
        same("primitives", &want.len().into(), &got.len().into())?;
        for (want, got) in want.iter().zip(got) {
            for key in ["node", "mesh", "primitive", "skin"] {
                same(key, &want[key], &got[key])?;
            }
            for vertex in 0..array(&want["indices"]).len() {
                let index = want["indices"][vertex].as_u64().unwrap() as usize;
                difference = difference.max(furthest(&want["positions"][vertex], &got["positions"][index]));
                // With a scale of 0 a normal may have no direction.
                let normal = &want["normals"][vertex];
                if array(normal).iter().any(|component| component.as_f64() != Some(0.0)) {
                    normals = f64::max(normals, furthest(normal, &got["normals"][index]));
                }
            }
        }
    }
    Ok((difference / if size > 0.0 { size } else { 1.0 }, normals))
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns the largest difference between two lists of the same structure. Nulls of the reference are skipped.
fn furthest(want: &Value, got: &Value) -> f64 {
    match (want, got) {
        (Value::Null, _) => 0.0,
        (Value::Number(want), Value::Number(got)) => (want.as_f64().unwrap() - got.as_f64().unwrap()).abs(),
        (Value::Array(want), Value::Array(got)) if want.len() == got.len() => {
            want.iter().zip(got).map(|(want, got)| furthest(want, got)).fold(0.0, f64::max)
        }
        (Value::Object(want), Value::Object(got)) if want.len() == got.len() => {
            want.iter().map(|(key, want)| furthest(want, got.get(key).unwrap_or(&Value::Null))).fold(0.0, f64::max)
        }
        _ => f64::INFINITY,
    }
}

/// Returns the longest edge of the box around all evaluated vertices.
fn extent(primitives: &[Value]) -> f64 {
    let positions = || primitives.iter().flat_map(|primitive| array(&primitive["positions"]));
    let along = |axis: usize| {
        let coordinates = || positions().map(|position| position[axis].as_f64().unwrap());
        coordinates().fold(f64::NEG_INFINITY, f64::max) - coordinates().fold(f64::INFINITY, f64::min)
    };
    (0..3).map(along).fold(0.0, f64::max)
}

#[test]
#[cfg_attr(
    not(all(oracle, sample_models)),
    ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models and THRONG_ORACLE to that of reference.py"
)]
fn every_pose_agrees_with_the_reference() {
    let files = readable_models();
    let paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    assert!(paths.len() > 50, "only {} models", paths.len());
    let facts = throng("inspect --json", &paths);
    assert_eq!(array(&facts).len(), paths.len());
    let jobs: Vec<Job> = paths.par_iter().zip(array(&facts)).flat_map_iter(jobs_of).collect();
    let results: Vec<_> = jobs.par_iter().map(check).collect();

    println!("{:<60} {:>5} {:>9} {:>9} {:>9}", "share of the model's size", "clips", "cpu", "gpu", "normals");
    for path in paths {
        let of_file = jobs.iter().zip(&results).filter(|(job, _)| job.path == path);
        let worst: Vec<&[f64; 3]> = of_file.filter_map(|(_, result)| result.as_ref().ok()).collect();
        let [cpu, gpu, normals] = [0, 1, 2].map(|kind| worst.iter().map(|worst| worst[kind]).fold(0.0, f64::max));
        let file = path.strip_prefix(sample_path("")).unwrap().display();
        println!("{file:<60} {:>5} {cpu:>9.1e} {gpu:>9.1e} {normals:>9.1e}", worst.len().saturating_sub(1));
    }
    let failures: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    println!("{} poses on {} devices, {} failed", jobs.len(), DEVICES.len(), failures.len());
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn the_comparison_sees_differences() {
    let report = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    let good = r#"{"clip": null, "frames": [{"time": 0, "nodes": [[1, 2], null], "skins": [], "weights": {"0": [0.5]},
            "primitives": [{"node": 0, "mesh": 0, "primitive": 0, "skin": null, "indices": [0, 1, 2],
                            "positions": [[0, 0, 0], [9, 9, 9], [0, 4, 0]], "normals": [[1, 0, 0], [0, 1, 0], [0, 1, 0]]}]}]}"#;
    // The reference has vertices 0 and 2 alone. The second one has no normal.
    let want = good.replace("[0, 1, 2]", "[0, 2]").replace("[9, 9, 9], ", "");
    let want = report(&want.replace("[0, 1, 0], [0, 1, 0]", "[0, 0, 0]"));
    assert_eq!(compare(&want, &report(good)), Ok((0.0, 0.0)));
    let changed = |from: &str, to: &str| compare(&want, &report(&good.replace(from, to)));
    assert_eq!(changed("[0, 4, 0]", "[0, 5, 0]"), Ok((0.25, 0.0)));
    assert_eq!(changed("[[1, 2]", "[[1, 4]"), Ok((0.5, 0.0)));
    assert_eq!(changed("[0.5]", "[0.5, 0.5]"), Ok((f64::INFINITY, 0.0)));
    assert_eq!(changed("\"weights\": {\"0\": [0.5]}", "\"weights\": {}"), Ok((f64::INFINITY, 0.0)));
    assert_eq!(changed("[[1, 0, 0]", "[[0, 0, 0]"), Ok((0.0, 1.0)));
    assert!(changed("\"mesh\": 0", "\"mesh\": 1").is_err());
    assert_eq!(changed(", [0, 4, 0]", ""), Ok((f64::INFINITY, 0.0)));
}
