//! `bench`: the table, the JSON contract with other programs, and the other files.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Value, json};

use super::bundled;
use crate::common::program::Place;

fn assert_keys(value: &Value, expected: &[&str]) {
    let found: BTreeSet<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(found, expected.iter().copied().collect());
}

/// Checks that all statistics are there, in ascending order, and not negative. A few frames have no high percentiles.
fn assert_summary(value: &Value, what: &str) {
    assert_keys(value, &["min", "q1", "median", "q3", "p95", "p99", "max"]);
    assert!(value["p95"].is_null() && value["p99"].is_null(), "{what}: {value}");
    let times = ["min", "q1", "median", "q3", "max"].map(|key| number(value, key));
    assert!(times[0] >= 0.0 && times.is_sorted(), "{what}: {times:?}");
}

pub fn number(run: &Value, key: &str) -> f64 {
    let number = run[key].as_f64().unwrap_or_else(|| panic!("{key} is {}", run[key]));
    assert!(number.is_finite(), "{key} is {number}");
    number
}

#[test]
fn bench_json_is_what_the_contract_says() {
    let place = Place::new();
    let arguments = "bench --instances 1,20 --size 64x48 --msaa 1 --frames 2 --warmup 2 --threads 1 --cull off";
    let finished = place.run(&format!("{arguments} --lod-error 0 --validation --json bench.json"));
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{}", finished.stdout);
    let report = place.report("bench.json");

    let keys = ["schema", "partial", "unix_seconds", "arguments", "program", "device", "cpu", "models", "runs"];
    assert_keys(&report, &keys);
    assert!(report["unix_seconds"].as_u64() > Some(1_700_000_000), "{}", report["unix_seconds"]);
    assert_eq!((&report["schema"], &report["partial"]), (&1.into(), &false.into()));
    assert_eq!(report["arguments"].as_array().unwrap()[..3], ["bench", "--instances", "1,20"]);
    assert_keys(&report["program"], &["version", "commit"]);
    assert_eq!(report["program"]["version"], env!("CARGO_PKG_VERSION"));
    assert_keys(&report["device"], &["name", "type", "driver", "api"]);
    assert_keys(&report["cpu"], &["name", "threads"]);
    assert!(report["cpu"]["threads"].as_u64().unwrap() >= 1);

    let runs = report["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    for (run, instances) in runs.iter().zip([1, 20]) {
        check_run(run, instances);
        let row = finished.stdout.lines().find(|line| line.split_whitespace().next() == Some(&instances.to_string()));
        assert!(row.is_some(), "no row for {instances}:\n{}", finished.stdout);
    }
}

fn check_run(run: &Value, instances: u32) {
    #[rustfmt::skip]
    assert_keys(run, &[
        "models", "instances", "visible", "unique_poses", "joints", "vertices", "triangles", "width", "height", "msaa",
        "shadows", "skinning", "upload", "threads", "frames", "warmup", "frame_ms", "cpu_ms", "gpu_ms", "bytes",
        "joints_per_second", "skinned_vertices_per_second", "skin_bytes_per_second", "copy_bytes_per_second",
        "rounds", "serialize", "share_poses_hz", "sharing_error_metres", "sharing_error_share_of_size",
        "lod_error_pixels", "vertices_skinned", "vertices_drawn", "triangles_drawn", "shadow_triangles_drawn", "partial",
        "level_shares", "shadow_level_shares", "nearest_median_farthest", "frames_per_second", "characters_per_second",
        "fit_limit_ms", "fit_bound", "turns_ms",
    ]);
    let expected = json!({
        "models": ["walker.glb"], "instances": instances, "visible": instances, "unique_poses": instances,
        "width": 64, "height": 48, "msaa": 1, "shadows": true, "skinning": "compute", "threads": 1, "serialize": false,
        "frames": 2, "warmup": 2, "rounds": 2, "partial": false, "lod_error_pixels": 0.0,
        "joints": 25.0, "vertices": 5262.0, "triangles": 10412.0, "vertices_skinned": 5262 * instances,
        "vertices_drawn": 5262 * instances, "triangles_drawn": 10412 * instances,
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(run[key], *value, "{key}");
    }
    assert_eq!([&run["level_shares"][0], &run["shadow_level_shares"][0]], [1.0, 1.0]);
    let character = json!({ "level": 0, "triangles": 10412, "joints": 25 });
    assert_eq!(run["nearest_median_farthest"], json!([character, character, character]));
    assert!(["direct", "staged"].contains(&run["upload"].as_str().unwrap()));

    assert_summary(&run["frame_ms"], "frame_ms");
    let median_ms = number(&run["frame_ms"], "median");
    for (key, amount) in [("frames_per_second", 1.0), ("characters_per_second", f64::from(instances))] {
        assert!((number(run, key) * median_ms / (amount * 1e3) - 1.0).abs() < 1e-9, "{key}");
    }
    // The turns have every frame.
    let [[first], [second]]: [[f64; 1]; 2] = serde_json::from_value(run["turns_ms"].clone()).unwrap();
    for (ms, statistic) in [(first.min(second), "min"), (first.max(second), "max")] {
        assert!((ms - number(&run["frame_ms"], statistic)).abs() < 1e-6, "{statistic}");
    }
    assert_keys(&run["cpu_ms"], &["cull", "animate", "record", "wait", "other"]);
    assert_keys(&run["gpu_ms"], &["upload", "skin", "shadow", "draw", "post"]);
    for side in ["cpu_ms", "gpu_ms"] {
        for (stage, summary) in run[side].as_object().unwrap() {
            assert_summary(summary, &format!("{side}.{stage}"));
        }
    }

    assert_keys(&run["bytes"], &["palette", "skinned_vertices", "static", "total_device"]);
    let bytes = |key| run["bytes"][key].as_u64().unwrap();
    assert_eq!(bytes("palette"), u64::from(instances) * 25 * 48);
    assert_eq!(bytes("skinned_vertices"), u64::from(instances) * 5262 * 16);
    assert!(bytes("static") > 5262 * 16 && bytes("total_device") > bytes("static"), "{}", run["bytes"]);

    // Rates are amounts divided by medians.
    let vertices = f64::from(instances) * 5262.0;
    for (key, amount, side, stage) in [
        ("joints_per_second", f64::from(instances) * 25.0, "cpu_ms", "animate"),
        ("skinned_vertices_per_second", vertices, "gpu_ms", "skin"),
        ("skin_bytes_per_second", vertices * 16.0, "gpu_ms", "skin"),
    ] {
        let (found, expected) = (number(run, key), amount / (number(&run[side][stage], "median") * 1e-3));
        assert!((found / expected - 1.0).abs() < 1e-6, "{key}: {found}, but the medians give {expected}");
    }
    assert!(number(run, "copy_bytes_per_second") > 1e6);
}

/// Far characters are drawn in coarser levels. Without shadows, no other view needs a finer one.
#[test]
fn levels_of_detail_are_reported() {
    let place = Place::new();
    let crowd = "--instances 300 --size 320x240 --msaa 1 --shadows off --frames 1 --warmup 0";
    let table = in_one_line(&place.succeed(&format!("bench {crowd} --json bench.json")));
    assert!(table.contains("walker.glb by level: 10412/") && table.contains("nearest/median/farthest"), "{table}");
    let report = place.report("bench.json");
    let (model, run) = (&report["models"][0], &report["runs"][0]);
    let lists = ["joints", "vertices", "triangles"].map(|key| model[key].as_array().unwrap());
    assert_eq!(lists.map(|list| list[0].as_u64().unwrap()), [25, 5262, 10412]);
    let shares = ["level_shares", "shadow_level_shares"].map(|key| run[key].as_array().unwrap());
    assert!(lists.into_iter().chain(shares).all(|list| list.len() == shares[0].len()), "{model}, {run}");
    let three = &run["nearest_median_farthest"];
    let levels = [0, 1, 2].map(|index| three[index]["level"].as_u64().unwrap() as usize);
    assert!(levels.is_sorted() && levels[0] < levels[2], "{three}");
    let expected = levels.map(|level| json!({"level": level, "joints": lists[0][level], "triangles": lists[2][level]}));
    assert_eq!(*three, json!(expected));
}

/// Here passes are timed one at a time.
#[test]
fn lists_are_swept_and_every_file_says_the_same() {
    let place = Place::new();
    let lists = "--shadows off --instances 3,1 --skinning compute,vertex --threads 1,2 --upload auto,direct,staged";
    let options = "--frames 1 --warmup 0 --serialize on --json bench.json --plot bench.svg --validation";
    let finished = place.run(&format!("bench --size 64x48 --msaa 1 {lists} {options}"));
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{}", finished.stdout);
    assert!(finished.stdout.lines().all(|line| line.chars().count() <= 100), "{}", finished.stdout);
    assert!(finished.stdout.contains("one pass at a time"), "{}", finished.stdout);

    // `auto` is one of the other two, and no row is measured twice.
    let report = place.report("bench.json");
    let runs = report["runs"].as_array().unwrap();
    let settings = |run: &Value| ["skinning", "upload", "threads", "instances"].map(|key| run[key].to_string());
    assert_eq!((runs.len(), runs.iter().map(settings).collect::<HashSet<_>>().len()), (16, 16), "{}", finished.stdout);
    for (index, run) in runs.iter().enumerate() {
        assert_eq!((&run["instances"], &run["serialize"]), (&[3, 1][index % 2].into(), &true.into()));
        let skin_ms = number(&run["gpu_ms"]["skin"], "median");
        assert!(skin_ms > 0.0 || run["skinning"] == "vertex", "{}", run["gpu_ms"]);
    }

    let svg = std::fs::read_to_string(place.file("bench.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    // Both sides of eight combinations have a band for each of five stages.
    assert_eq!(svg.matches("<polygon").count(), 8 * 2 * 5);
}

#[test]
fn what_cannot_be_measured_or_written_is_found_first() {
    let place = Place::new();
    let strip = std::fs::read(bundled("simple_strip.gltf")).unwrap();
    std::fs::write(place.file("strip.gltf"), &strip).unwrap();
    let list = |most: u32| (1..=most).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let many = format!("--lod-error {} --threads {}", list(4000), list(256));
    for (code, options, says) in [
        (2, "--json a.svg --plot ./a.svg", "--plot and --json name the same file, ./a.svg"),
        (2, "--json - --plot -", "invalid value '-' for '--plot <FILE.svg>'"),
        (2, "--json ../work/a.svg --plot a.svg", "--plot and --json name the same file, a.svg"),
        (2, "--json strip.gltf", "--json and a model name the same file, strip.gltf"),
        (1, "--json no/such.json", "cannot write no/such.json"),
        (1, "--plot no/such.svg", "cannot write no/such.svg"),
        (1, &many, "the lists of the options give 1024000 rows, but at most 1000000 "),
    ] {
        // Measuring this crowd would take hours.
        let message = place.fail(code, &format!("bench strip.gltf {options} --instances 100000 --frames 100000"));
        assert!(message.starts_with(&format!("error: {says}")), "{options}: {message}");
    }
    assert!(std::fs::read(place.file("strip.gltf")).unwrap() == strip, "the model has other contents");
    assert_eq!(place.names(""), ["strip.gltf"]);
}

/// Finished rows are reported, files are complete, and the second Ctrl-C ends at once.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_with_the_finished_rows() {
    use crate::common::program::Running;
    let options = "--size 64x48,48x64 --msaa 1 --shadows off --instances 1 --warmup 1 --frames 1200 --json a.json";
    let mut ticks = 50;
    for presses in [1, 2] {
        // Twelve turns of 200 frames. The interruption comes a little later until it finds one finished.
        loop {
            let place = Place::new();
            let arguments = format!("bench {} {options}", bundled("simple_strip.gltf"));
            let running = Running::start(&mut place.command(&arguments));
            running.wait_for_ticks(ticks);
            (0..presses).for_each(|_| running.signal(libc::SIGINT));
            let finished = running.finish();
            // Signals that arrive together are one.
            assert!(finished.code == 1 || (presses == 2 && finished.code == 130), "{finished:?}");
            assert!(finished.stderr.starts_with("interrupted: finished rows are reported"), "{finished:?}");
            // A file is complete or absent.
            let names = place.names("");
            assert!(names.iter().all(|name| name == "a.json"), "{names:?}");
            if finished.code == 130 {
                break;
            }
            assert!(finished.stderr.ends_with("error: interrupted\n"), "{finished:?}");
            if !names.is_empty() {
                let report = place.report("a.json");
                let first = &report["runs"][0];
                assert_eq!([&report["partial"], &first["partial"]], [true, true]);
                assert!((1..6).contains(&first["rounds"].as_u64().unwrap()), "{}", first["rounds"]);
                assert!(finished.stdout.contains("Partial: not all rows are complete."), "{}", finished.stdout);
                break;
            }
            ticks += ticks / 2;
        }
    }
}

/// Children get the other arguments, and a program is as fast as itself.
#[test]
fn programs_are_measured_in_turns() {
    let place = Place::new();
    let (program, strip) = (env!("CARGO_BIN_EXE_throng"), bundled("simple_strip.gltf"));
    let options = "--size 64x48 --msaa 1 --shadows off --instances 3 --frames 2 --warmup 1 --fail-above 1000";
    let text = in_one_line(&place.succeed(&format!("bench {strip} {options} --against {program}")));
    assert!(text.contains("2 processes of each program, 1 frame each"), "{text}");
    assert!(text.contains("3 of simple_strip.gltf, 64x48"), "{text}");
    let message = place.fail(1, "bench --against no/such/program");
    assert!(message.starts_with("error: --against no/such/program: cannot be read"), "{message}");
    let message = place.fail(1, &format!("bench none.glb --against {program}"));
    assert!(message.contains("bench failed (exit status: 1): error: none.glb"), "{message}");
}

/// Returns a text whose lines may be broken anywhere.
pub fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
