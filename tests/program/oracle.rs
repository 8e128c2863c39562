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

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::common::program::{Place, Running};

const TOLERANCE: f64 = 1e-4;
const NORMAL_TOLERANCE: f64 = 1e-3;
/// The number of vertices of each primitive, at an even stride.
const MOST_VERTICES: &str = "40";
/// The number of clips of each file, at an even stride. Most errors would show in all clips of a file.
const MOST_CLIPS: usize = 12;
/// The times, as shares of a clip's length.
const MOMENTS: [f64; 5] = [-0.1, 0.0, 0.37, 0.9, 1.2];
/// The number of concurrent processes. Python uses one core, and so does most of `pose`.
const WORKERS: usize = 2;
const DEVICES: [&str; 2] = ["cpu", "gpu"];

/// A model and one of its clips.
struct Job {
    /// The path, relative to the folder of models.
    file: String,
    /// The clip's index and its length in seconds. `None` is the rest pose.
    clip: Option<(usize, f64)>,
}

/// The largest differences on each device: of normals, and of everything else as a share of the model's size.
#[derive(Clone, Copy, Default)]
struct Worst {
    shares: [f64; 2],
    normals: [f64; 2],
}

fn folder(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set")).into()
}

fn run(command: &mut Command) -> String {
    let description = format!("{command:?}");
    let finished = Running::start(command).finish();
    assert_eq!(finished.code, 0, "{description}: {}", finished.stderr);
    finished.stdout
}

fn reference(path: &Path, arguments: &[&str]) -> String {
    run(Command::new("python3").arg(folder("THRONG_ORACLE").join("reference.py")).arg(path).args(arguments))
}

fn throng(place: &Place, command: &str, path: &Path, options: &str) -> Value {
    let text = run(place.command(command).arg(path).args(options.split_whitespace()));
    serde_json::from_str(&text).unwrap()
}

/// Returns the relative paths of all models below a folder that the reference can read, sorted.
fn readable_models(folder: &Path) -> Vec<String> {
    let (mut files, mut left) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|extension| extension == "gltf" || extension == "glb") {
                files.push(path);
            }
        }
    }
    let is_compressed = |path: &PathBuf| {
        let bytes = std::fs::read(path).unwrap();
        let names = [&b"_meshopt_compression\""[..], b"KHR_draco_mesh_compression\""];
        names.iter().any(|name| bytes.windows(name.len()).any(|window| window == *name))
    };
    files.retain(|path| !is_compressed(path));
    let mut names: Vec<String> =
        files.iter().map(|path| path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// Returns the jobs for a model, by the clips that `throng inspect` lists. The reference must count as many clips.
fn jobs_of(place: &Place, models: &Path, file: &str) -> Vec<Job> {
    let path = models.join(file);
    let facts = throng(place, "inspect", &path, "--json");
    let clips = facts["clips"].as_array().unwrap().iter().enumerate();
    let clips: Vec<_> = clips.map(|(index, clip)| Some((index, clip["duration"].as_f64().unwrap()))).collect();
    assert_eq!(reference(&path, &["--list"]).lines().count(), clips.len(), "{file}");
    let taken = clips.len().min(MOST_CLIPS);
    let clips = (0..taken).map(|k| clips[k * clips.len() / taken]);
    std::iter::once(None).chain(clips).map(|clip| Job { file: file.to_owned(), clip }).collect()
}

fn check(place: &Place, models: &Path, job: &Job) -> Result<Worst, String> {
    let path = models.join(&job.file);
    let (clip, times) = match job.clip {
        None => ("none".to_owned(), "0".to_owned()),
        Some((index, length)) => (index.to_string(), MOMENTS.map(|share| (share * length).to_string()).join(",")),
    };
    let vertices = std::env::var("THRONG_ORACLE_VERTICES").unwrap_or_else(|_| MOST_VERTICES.to_owned());
    // The first time is negative, so the option needs `=`.
    let times_argument = format!("--times={times}");
    let arguments = ["--clip", &clip, &times_argument, "--max-vertices", &vertices, "--normals"];
    let want: Value = serde_json::from_str(&reference(&path, &arguments)).unwrap();
    let mut worst = Worst::default();
    for (device, on) in DEVICES.into_iter().enumerate() {
        let validation = if on == "gpu" { "--validation" } else { "" };
        let got = throng(place, "pose", &path, &format!("--json --clip {clip} --time={times} --on {on} {validation}"));
        let here = || format!("{} clip {clip} on the {on}", job.file);
        let (share, normals) = compare(&want, &got).map_err(|error| format!("{}: {error}", here()))?;
        if share > TOLERANCE || normals > NORMAL_TOLERANCE {
            return Err(format!("{}: {share:.1e} of the model's size, normals {normals:.1e}", here()));
        }
        (worst.shares[device], worst.normals[device]) = (share, normals);
    }
    Ok(worst)
}

/// Returns the largest difference as a share of the model's size, and the largest one of normals.
fn compare(want: &Value, got: &Value) -> Result<(f64, f64), String> {
    for key in ["index", "name"] {
        if want["clip"][key] != got["clip"][key] {
            return Err(format!("clip {key}: {} instead of {}", got["clip"][key], want["clip"][key]));
        }
    }
    let (mut difference, mut size, mut normals) =
        (furthest(&want["clip"]["duration"], &got["clip"]["duration"]), 0.0f64, 0.0);
    let (want, got) = (array(&want["frames"]), array(&got["frames"]));
    if want.len() != got.len() {
        return Err(format!("{} frames instead of {}", got.len(), want.len()));
    }
    for (want, got) in want.iter().zip(got) {
        difference = difference.max(furthest(&want["time"], &got["time"]));
        for kind in ["nodes", "skins", "weights"] {
            difference = difference.max(furthest(&want[kind], &got[kind]));
        }
        let (want, got) = (array(&want["primitives"]), array(&got["primitives"]));
        size = size.max(extent(want));
        // The reference ignores EXT_mesh_gpu_instancing and shows such a mesh once, at its node. So only the node's
        // matrix is compared here; `tests/cpu/import/instancing.rs` tests the rest.
        let is_placed = |primitive: &&Value| !primitive["instance"].is_null();
        let placed: HashSet<u64> = got.iter().filter(is_placed).filter_map(|placed| placed["node"].as_u64()).collect();
        let shown_once = |primitive: &&Value| !primitive["node"].as_u64().is_some_and(|node| placed.contains(&node));
        let want: Vec<&Value> = want.iter().filter(shown_once).collect();
        let got: Vec<&Value> = got.iter().filter(shown_once).collect();
        if want.len() != got.len() {
            return Err(format!("{} primitives instead of {}", got.len(), want.len()));
        }
        for (want, got) in want.into_iter().zip(got) {
            for key in ["node", "mesh", "primitive", "skin"] {
                if want[key] != got[key] {
                    return Err(format!("{key} {} instead of {}", got[key], want[key]));
                }
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

/// Returns the largest absolute difference between two lists of the same structure. Values that are null in the
/// reference are skipped.
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

/// Runs `work` on every item, [`WORKERS`] at a time. The results are in the items' order.
fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let index = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(item) = items.get(index)
                {
                    let result = work(item);
                    results.lock().unwrap().push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap();
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[test]
#[cfg_attr(
    not(all(oracle, sample_models)),
    ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models and THRONG_ORACLE to that of reference.py"
)]
fn every_pose_agrees_with_the_reference() {
    let (place, models) = (Place::new(), folder("THRONG_SAMPLE_MODELS"));
    let files = readable_models(&models);
    assert!(files.len() > 50, "only {} models", files.len());
    let jobs: Vec<Job> = in_parallel(&files, |file| jobs_of(&place, &models, file)).into_iter().flatten().collect();
    let results = in_parallel(&jobs, |job| check(&place, &models, job));

    println!("{:<60} {:>5} {:>9} {:>9} {:>9}", "share of the model's size", "clips", "cpu", "gpu", "normals");
    for file in &files {
        let of_file = jobs.iter().zip(&results).filter(|(job, _)| job.file == *file);
        let worst: Vec<Worst> = of_file.filter_map(|(_, result)| result.as_ref().ok().copied()).collect();
        let most = |of: fn(&Worst) -> f64| worst.iter().map(of).fold(0.0, f64::max);
        let [cpu, gpu] = [most(|worst| worst.shares[0]), most(|worst| worst.shares[1])];
        let normals = most(|worst| worst.normals[0].max(worst.normals[1]));
        println!("{file:<60} {:>5} {cpu:>9.1e} {gpu:>9.1e} {normals:>9.1e}", worst.len().saturating_sub(1));
    }
    let failures: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    println!("{} poses on {} devices, {} failed", jobs.len(), DEVICES.len(), failures.len());
    assert!(failures.is_empty(), "{failures:#?}");
}

/// The comparison can fail.
#[test]
fn the_comparison_sees_differences() {
    let report = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    let want = report(
        r#"{"clip": null, "frames": [{"time": 0, "nodes": [[1, 2], null], "skins": [], "weights": {"0": [0.5]},
            "primitives": [{"node": 0, "mesh": 0, "primitive": 0, "skin": null, "indices": [0, 2],
                            "positions": [[0, 0, 0], [0, 4, 0]], "normals": [[1, 0, 0], [0, 0, 0]]}]}]}"#,
    );
    let good = r#"{"clip": null, "frames": [{"time": 0, "nodes": [[1, 2], null], "skins": [], "weights": {"0": [0.5]},
            "primitives": [{"node": 0, "mesh": 0, "primitive": 0, "skin": null, "indices": [0, 1, 2],
                            "positions": [[0, 0, 0], [9, 9, 9], [0, 4, 0]], "normals": [[1, 0, 0], [0, 1, 0], [0, 1, 0]]}]}]}"#;
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
