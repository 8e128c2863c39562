//! `inspect` and `pose`, and the messages about broken model files.

use std::io::Read;
use std::process::Stdio;

use serde_json::json;

use super::bundled;
use crate::common::program::Place;

#[test]
fn what_cannot_be_read_is_named_and_the_cause_has_its_own_line() {
    let place = Place::new();
    std::fs::write(place.file("bad.gltf"), "{").unwrap();
    let malformed = "bad.gltf: the JSON part is malformed\n  caused by: EOF while parsing an object at line 1";
    let missing = "no/such.glb: cannot be read\n  caused by: ";
    let clips = r#"0 "Walk", 1 "Run", 2 "Idle", 3 "Wave""#;
    for (arguments, says, lines) in [
        ("inspect bad.gltf", malformed, 2),
        ("inspect no/such.glb", missing, 2),
        ("pose no/such.glb", missing, 2),
        ("render --out x.png no/such.glb", missing, 2),
        ("bench no/such.glb", missing, 2),
        ("view no/such.glb", missing, 2),
        ("render --clip Swim --out x.png", clips, 1),
        ("pose --clip Swim", clips, 1),
        ("bench --clip 4", clips, 1),
        ("pose --clip 4", clips, 1),
    ] {
        let message = place.fail(1, arguments);
        assert!(message.starts_with("error: ") && message.contains(says), "throng {arguments}: {message}");
        assert_eq!(message.lines().count(), lines, "throng {arguments}: {message}");
    }
    assert!(place.fail(2, "pose --clip all").contains("use --clip NAME, INDEX or none"));
}

/// The whole report, of another file, is tested by `tests/cpu/import/files.rs`.
#[test]
fn inspect_tells_people_and_programs_what_is_in_the_file() {
    let (place, walker) = (Place::new(), bundled("walker.glb"));
    let text = place.succeed(&format!("inspect {walker}"));
    for line in [
        "walker.glb: 10412 triangles, 5262 vertices, 25 joints, 4 clips, 1 material, 1",
        "  2  Idle  4 s       yes    joints: 21, root  yes      2549  39.8 KiB",
        "  0     walker  0     walker  walker    10412      0     5262      3",
    ] {
        assert!(text.lines().any(|found| found == line), "{line:?} is missing:\n{text}");
    }
    // The bundled character is the same file.
    assert_eq!(place.succeed("inspect"), text);
    let facts = place.json(&format!("inspect {walker} --json"));
    let interpolations = json!({"CUBICSPLINE": 1, "LINEAR": 19, "STEP": 1});
    assert_eq!((&facts["model"], &facts["clips"][3]["interpolations"]), (&"walker.glb".into(), &interpolations));
    assert_eq!(facts["geometry"]["triangles"], 10412);
}

#[test]
fn inspect_compares_several_files() {
    let (place, jelly) = (Place::new(), bundled("jelly.gltf"));
    let files = format!("{} {jelly}", bundled("walker.glb"));
    let text = place.succeed(&format!("inspect {files}"));
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["files:", "2"]);
    // The title of the targets has two lines.
    assert_eq!(lines[3][..8], ["0", "walker.glb", "380.5", "KiB", "1.784", "10412", "25", "4"], "{text}");
    assert_eq!((&lines[4][..2], lines.len()), (&["1", "jelly.gltf"][..], 5), "{text}");
    let facts = place.json(&format!("inspect {files} --json"));
    assert_eq!((&facts[0]["model"], &facts[1]["morph_targets"][0]["mesh"]), (&"walker.glb".into(), &0.into()));
    // A file that cannot be read does not hide the others.
    let finished = place.run(&format!("inspect no.glb {jelly} none.glb"));
    assert!(finished.code == 1 && finished.stdout.starts_with("files: 1\n"), "{finished:?}");
    assert!(finished.stdout.contains("0  jelly.gltf"), "{finished:?}");
    assert!(finished.stderr.contains("error: 2 files cannot be read\n  caused by: no.glb: "), "{finished:?}");
}

/// `throng pose --json | head -c 1` fills the pipe of a reader that has gone away. That is no error, and a full disk is one.
#[test]
fn standard_output_may_end_early_but_not_be_full() {
    let place = Place::new();
    for arguments in ["pose --json --time 0,1,2,3", "pose", "inspect", "inspect --json"] {
        let mut command = place.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdout.take().unwrap().read_exact(&mut [0; 1]).unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*stderr), (Some(0), ""), "throng {arguments}");
        if cfg!(target_os = "linux") {
            let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
            let output = command.stdout(full).output().unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "throng {arguments}: {stderr}");
            assert!(stderr.starts_with("error: cannot write to standard output\n  caused by: "), "{stderr}");
        }
    }
}

/// `tests/cpu/app/hide.rs` tests which parts are hidden.
#[test]
fn parts_are_hidden_by_every_command_that_loads_a_crowd() {
    let (place, jelly) = (Place::new(), bundled("jelly.gltf"));
    for command in ["pose", "crowd", "bench", "render --out x.png", "view"] {
        let message = place.fail(1, &format!("{command} {jelly} --hide *"));
        assert!(message.starts_with("error: --hide *: nothing is left to show; there are "), "{command}: {message}");
    }
    let finished = place.run(&format!("pose {jelly} --hide none --hide jello"));
    assert!(finished.code == 0 && finished.stderr.contains("--hide jello: no node, mesh or material"), "{finished:?}");
}

#[test]
fn a_morph_target_is_held() {
    let (place, jelly) = (Place::new(), bundled("jelly.gltf"));
    let facts = place.json(&format!("inspect {jelly} --json"));
    let target = facts["morph_targets"][0]["name"].as_str().unwrap();
    let pose = |options: &str| {
        let report = place.json(&format!("pose {jelly} --time 0.4 --json {options}"));
        let frame = &report["frames"][0];
        let weight = frame["weights"].as_object().unwrap().values().next().unwrap()[0].clone();
        (weight, frame["primitives"][0]["positions"].clone())
    };
    for on in ["cpu", "gpu"] {
        let [plain, held] =
            ["".to_owned(), format!("--morph {target}=0.75")].map(|held| pose(&format!("--on {on} {held}")));
        assert!(held.0 == 0.75 && plain.0 != 0.75 && held.1 != plain.1, "{on}: {}, {}", plain.0, held.0);
    }
    let message = place.fail(1, &format!("pose {jelly} --morph no=1"));
    assert!(message.contains("--morph no: no such morph target; there are: ") && message.contains(target), "{message}");
}

/// `tests/program/conformance.rs` compares all fields of the frames.
#[test]
fn pose_json_names_the_clip_and_has_all_vertices() {
    let (place, walker) = (Place::new(), bundled("walker.glb"));
    for on in ["cpu", "gpu"] {
        let report = place.json(&format!("pose {walker} --clip Run --time 0,0.25 --on {on} --validation --json"));
        assert_eq!((&report["model"], &report["on"]), (&"walker.glb".into(), &on.into()));
        assert_eq!((&report["clip"]["index"], &report["clip"]["name"]), (&1.into(), &"Run".into()));
        assert!((report["clip"]["duration"].as_f64().unwrap() - 11.0 / 15.0).abs() < 1e-6);
        let [start, later] = [0, 1].map(|frame| &report["frames"][frame]);
        let list = |key: &str| start["primitives"][0][key].as_array().unwrap();
        assert_eq!(["positions", "normals", "indices"].map(|key| list(key).len()), [5262; 3]);
        assert!(list("indices").iter().enumerate().all(|(at, index)| *index == at));
        // The moments differ, or nothing above would notice a pose that stands still.
        assert_ne!(start["skins"], later["skins"]);
    }
}

#[test]
fn the_rest_pose_has_no_clip() {
    let place = Place::new();
    assert!(place.json("pose --clip none --json")["clip"].is_null());
    let text = place.succeed("pose --clip none");
    assert!(text.starts_with("walker.glb: rest pose, skinned on the CPU\n"), "{text}");
    let bounds = "\n\n5262 vertices, from (-0.5344, 0.0000, -0.3530) to (0.5344, 1.7840, 0.2198); ";
    assert!(text.contains(bounds), "{text}");
}
