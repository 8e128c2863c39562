//! `inspect` and `pose`, and the messages about broken model files.

use std::io::Read;
use std::process::Stdio;

use serde_json::Value;

use super::run::repository_file;
use crate::common::program::{Finished, Place};

fn walker() -> String {
    repository_file("assets/walker.glb").to_str().unwrap().to_owned()
}

#[test]
fn a_missing_file_is_named_and_the_cause_has_its_own_line() {
    let place = Place::new();
    for command in ["inspect", "pose", "render --out x.png", "bench", "view"] {
        let message = place.fail(1, &format!("{command} no/such.glb"));
        let lines: Vec<&str> = message.lines().collect();
        assert_eq!(lines[0], "error: no/such.glb: cannot be read", "throng {command}");
        assert!(lines[1].starts_with("  caused by: ") && lines.len() == 2, "throng {command}: {message}");
    }
}

#[test]
fn a_broken_file_is_named_and_the_cause_has_its_own_line() {
    let place = Place::new();
    std::fs::write(place.file("bad.gltf"), "{").unwrap();
    let message = place.fail(1, "inspect bad.gltf");
    let lines: Vec<&str> = message.lines().collect();
    assert_eq!(lines[0], "error: bad.gltf: the JSON part is malformed");
    assert!(lines[1].starts_with("  caused by: EOF while parsing an object at line 1"), "{message}");
}

#[test]
fn an_unknown_clip_lists_the_clips() {
    let place = Place::new();
    for arguments in ["render --clip Swim --out x.png", "pose --clip Swim", "bench --clip 4", "pose --clip 4"] {
        let message = place.fail(1, arguments);
        for clip in ["0", "Walk", "1", "Run", "2", "Idle", "3", "Wave"] {
            assert!(message.contains(clip), "throng {arguments}: {clip} is not listed: {message}");
        }
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    assert!(place.fail(2, "pose --clip all").contains("use --clip NAME, INDEX or none"));
}

#[test]
fn inspect_tells_people_what_is_in_the_file() {
    let place = Place::new();
    let text = place.succeed(&format!("inspect {}", walker()));
    for line in [
        "bounds in metres    min: -0.5344 0 -0.353, max: 0.5344 1.784 0.2198, height: 1.784",
        "palette             25",
        "bytes per instance  palette: 1.2 KiB, skinned vertices: 82.2 KiB, instance data: 64 bytes, total:",
        "  0     walker               no            0     yes",
        "skins: 1",
        "  0  walker  25      yes      0",
        "clips: 4",
        "  2  Idle  4 s       1     20    1      LINEAR: 21, STEP: 1                  2549  39.8 KiB",
        "  0  walker  0          0      256    256     256.0 KiB  PNG     4.4 KiB  341.3 KiB",
        "contents            nodes: 26, joints: 25, skins: 1, clips: 4, morph targets: 0, materials: 1,",
        "                    images: 1, warnings: 0",
        "  2       spine              yes    0            yes",
    ] {
        assert!(text.lines().any(|found| found == line), "{line:?} is missing:\n{text}");
    }
    // The bundled character is the same file.
    assert_eq!(place.succeed("inspect"), text);
}

#[test]
fn inspect_compares_several_files() {
    let place = Place::new();
    let jelly = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/jelly.gltf");
    let text = place.succeed(&format!("inspect {} {jelly}", walker()));
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["files:", "2"]);
    // The title of the targets has two lines.
    assert_eq!(lines[3][..8], ["0", "walker.glb", "380.5", "KiB", "1.784", "10412", "25", "4"], "{text}");
    assert_eq!((lines[4][..2].to_vec(), lines.len()), (vec!["1", "jelly.gltf"], 5), "{text}");
    let facts: Value = serde_json::from_str(&place.succeed(&format!("inspect {} {jelly} --json", walker()))).unwrap();
    assert_eq!((&facts[0]["model"], &facts[1]["morph_targets"][0]["mesh"]), (&"walker.glb".into(), &0.into()));
    // A file that cannot be read does not hide the others.
    let output = place.command(&format!("inspect no.glb {jelly} none.glb")).output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout.starts_with("files: 1\n") && stdout.contains("0  jelly.gltf"), "{stdout}");
    assert!(stderr.contains("error: 2 files cannot be read\n  caused by: no.glb: "), "{stderr}");
}

#[test]
fn a_morph_target_is_held() {
    let place = Place::new();
    let jelly = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/jelly.gltf");
    let facts: Value = serde_json::from_str(&place.succeed(&format!("inspect {jelly} --json"))).unwrap();
    let target = facts["morph_targets"][0]["name"].as_str().unwrap();
    let pose = |options: &str| -> Value {
        serde_json::from_str(&place.succeed(&format!("pose {jelly} --time 0.4 --json {options}"))).unwrap()
    };
    let weight = |pose: &Value| pose["frames"][0]["weights"].as_object().unwrap().values().next().unwrap()[0].clone();
    let held = pose(&format!("--morph {target}=0.75"));
    assert_eq!(weight(&held), 0.75);
    assert_ne!(weight(&pose("")), 0.75);
    let gpu = pose(&format!("--morph {target}=0.75 --on gpu"));
    assert_eq!(weight(&gpu), 0.75);
    let positions = |pose: &Value| numbers_of(&pose["frames"][0]["primitives"]);
    let farthest = positions(&held).iter().zip(positions(&gpu)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(farthest < 1e-5, "{farthest}");
    let message = place.fail(1, &format!("pose {jelly} --morph no=1"));
    assert!(message.contains("--morph no: no such morph target; there are: ") && message.contains(target), "{message}");
}

/// Returns all numbers in a tree.
fn numbers_of(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers_of).collect(),
        Value::Object(entries) => entries.values().flat_map(numbers_of).collect(),
        value => value.as_f64().into_iter().collect(),
    }
}

#[test]
fn inspect_tells_programs_the_same() {
    let place = Place::new();
    let facts: Value = serde_json::from_str(&place.succeed(&format!("inspect {} --json", walker()))).unwrap();
    assert_eq!(facts["model"], "walker.glb");
    assert_eq!(facts["nodes"].as_array().unwrap().len(), 26);
    assert_eq!(facts["nodes"][2]["name"], "spine");
    assert_eq!(facts["nodes"][2]["parent"], 1);
    let skin = serde_json::json!({ "name": "walker", "joints": 25, "inverse_binds": true, "meshes": [0] });
    assert_eq!(facts["skins"], serde_json::json!([skin]));
    let clips: Vec<&str> =
        facts["clips"].as_array().unwrap().iter().map(|clip| clip["name"].as_str().unwrap()).collect();
    assert_eq!(clips, ["Walk", "Run", "Idle", "Wave"]);
    assert_eq!(facts["clips"][3]["interpolations"], serde_json::json!({ "CUBICSPLINE": 1, "LINEAR": 19, "STEP": 1 }));
    let close = |value: &Value, expected: f64| (value.as_f64().unwrap() - expected).abs() < 1e-3;
    let bounds = &facts["bounds"];
    assert!(
        close(&bounds["height"], 1.784) && close(&bounds["min"][1], 0.0) && close(&bounds["max"][0], 0.5344),
        "{bounds}"
    );
    assert_eq!(facts["geometry"]["vertices"], 5262);
    assert_eq!(facts["geometry"]["triangles"], 10412);
    assert_eq!(facts["bytes_per_instance"]["palette"], 25 * 48);
    assert_eq!(facts["bytes_per_instance"]["skinned_vertices"], 5262 * 16);
    assert_eq!(facts["warnings"], serde_json::json!([]));
}

/// `throng pose --json | head -c 1` writes more than a pipe holds, to a reader that has gone away.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Place::new();
    for arguments in ["pose --json --time 0,1,2,3", "inspect", "inspect --json"] {
        let mut child = place
            .command(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pipe = child.stdout.take().unwrap();
        pipe.read_exact(&mut [0; 1]).unwrap();
        drop(pipe);
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*stderr), (Some(0), ""), "throng {arguments}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let place = Place::new();
    for arguments in ["pose --json", "pose", "inspect", "inspect --json"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = place.command(arguments).stdout(full).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "throng {arguments}: {stderr}");
        assert!(stderr.starts_with("error: cannot write to standard output\n  caused by: "), "{stderr}");
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn is_matrix(value: &Value) -> bool {
    let columns = numbers(value);
    columns.len() == 16 && columns.iter().all(|number| number.is_finite()) && columns[15] == 1.0
}

#[test]
fn pose_json_is_what_the_contract_says() {
    let place = Place::new();
    let pose = |on: &str| -> Value {
        let arguments = format!("pose {} --clip Run --time 0,0.25,0.5 --on {on} --json", walker());
        serde_json::from_str(&place.succeed(&arguments)).unwrap()
    };
    let (cpu, gpu) = (pose("cpu"), pose("gpu --validation"));
    for (report, on) in [(&cpu, "cpu"), (&gpu, "gpu")] {
        assert_eq!(report["model"], "walker.glb");
        assert_eq!(report["clip"]["index"], 1);
        assert_eq!(report["clip"]["name"], "Run");
        assert!((report["clip"]["duration"].as_f64().unwrap() - 11.0 / 15.0).abs() < 1e-6);
        assert_eq!(report["on"], on);
        let frames = report["frames"].as_array().unwrap();
        let times: Vec<f64> = frames.iter().map(|frame| frame["time"].as_f64().unwrap()).collect();
        assert_eq!(times, [0.0, 0.25, 0.5]);
        for frame in frames {
            let nodes = frame["nodes"].as_array().unwrap();
            assert!(nodes.len() == 26 && nodes.iter().all(is_matrix));
            let skins = frame["skins"].as_array().unwrap();
            assert_eq!(skins.len(), 1);
            assert!(skins[0].as_array().unwrap().len() == 25 && skins[0].as_array().unwrap().iter().all(is_matrix));
            assert_eq!(frame["weights"], serde_json::json!({}));
            let [primitive] = &frame["primitives"].as_array().unwrap()[..] else { panic!("one primitive") };
            for key in ["node", "mesh", "primitive", "skin"] {
                assert_eq!(primitive[key], 0, "{key}");
            }
            let indices = primitive["indices"].as_array().unwrap();
            assert!(indices.len() == 5262 && indices.iter().enumerate().all(|(at, index)| *index == at));
            for key in ["positions", "normals"] {
                let vectors = primitive[key].as_array().unwrap();
                assert!(vectors.len() == 5262 && vectors.iter().all(|vector| numbers(vector).len() == 3), "{key}");
            }
        }
    }
    let furthest = furthest_position(&cpu, &gpu);
    assert!(furthest < 1e-5, "CPU and GPU are {furthest} m apart");
    // The three moments differ, or nothing above would notice a pose that stands still.
    assert_ne!(cpu["frames"][0]["skins"], cpu["frames"][1]["skins"]);
}

fn furthest_position(left: &Value, right: &Value) -> f64 {
    let positions = |report: &Value| -> Vec<f64> {
        let frames = report["frames"].as_array().unwrap().iter();
        frames.flat_map(|frame| frame["primitives"][0]["positions"].as_array().unwrap()).flat_map(numbers).collect()
    };
    positions(left).iter().zip(&positions(right)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn the_rest_pose_has_no_clip() {
    let place = Place::new();
    let report: Value = serde_json::from_str(&place.succeed("pose --clip none --json")).unwrap();
    assert!(report["clip"].is_null());
    let Finished { code, stdout, .. } = place.run("pose --clip none");
    assert_eq!(code, 0);
    assert!(stdout.starts_with("walker.glb: rest pose, skinned on the CPU\n"), "{stdout}");
    assert!(
        stdout.contains("\n\n5262 vertices, from (-0.5344, 0.0000, -0.3530) to (0.5344, 1.7840, 0.2198); "),
        "{stdout}"
    );
}
