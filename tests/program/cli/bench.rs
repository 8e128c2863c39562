//! `bench`: the table, the JSON contract with other programs, and the other files.

use serde_json::Value;

use crate::common::program::{Finished, Place};

pub const ORDER: [&str; 7] = ["min", "q1", "median", "q3", "p95", "p99", "max"];
/// The options of a quick run.
pub const QUICK: &str = "bench --size 64x48 --msaa 1 --frames 3 --warmup 1";

/// Returns the keys of an object in alphabetical order.
fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn assert_keys(value: &Value, expected: &[&str]) {
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(keys(value), expected);
}

/// Checks that all statistics are there, in ascending order, and not negative. A few frames have no high percentiles.
fn assert_summary(value: &Value, what: &str) {
    assert_keys(value, &ORDER);
    assert!(value["p95"].is_null() && value["p99"].is_null(), "{what}: {value}");
    let times = ORDER.iter().filter(|key| !["p95", "p99"].contains(key)).map(|key| value[key].as_f64().unwrap());
    let times: Vec<f64> = times.collect();
    assert!(times.iter().all(|time| time.is_finite() && *time >= 0.0), "{what}: {times:?}");
    assert!(times.is_sorted(), "{what}: {times:?}");
}

pub fn number(run: &Value, key: &str) -> f64 {
    let number = run[key].as_f64().unwrap_or_else(|| panic!("{key} is {}", run[key]));
    assert!(number.is_finite(), "{key} is {number}");
    number
}

#[test]
fn bench_json_is_what_the_contract_says() {
    let place = Place::new();
    let arguments =
        "bench --instances 1,20 --size 64x48 --msaa 1 --frames 5 --warmup 2 --threads 1 --cull off --lod-error 0";
    let finished = place.run(&format!("{arguments} --validation --json bench.json"));
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{}", finished.stdout);
    let report: Value = serde_json::from_slice(&std::fs::read(place.file("bench.json")).unwrap()).unwrap();

    assert_keys(&report, &["schema", "partial", "arguments", "program", "device", "cpu", "runs"]);
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
        "lod_error_pixels", "vertices_skinned", "vertices_drawn", "triangles_drawn", "shadow_triangles_drawn", "level_shares",
        "partial", "frames_per_second", "characters_per_second", "fit_limit_ms", "fit_bound", "turns_ms",
    ]);
    assert_eq!(run["models"], serde_json::json!(["walker.glb"]));
    let expected = [
        ("instances", instances),
        ("visible", instances),
        ("unique_poses", instances),
        ("width", 64),
        ("height", 48),
        ("msaa", 1),
        ("threads", 1),
        ("frames", 5),
        ("warmup", 2),
        ("rounds", 5),
    ];
    for (key, value) in expected {
        assert_eq!(run[key], value, "{key}");
    }
    let drawn = ["vertices_skinned", "vertices_drawn", "triangles_drawn"].map(|key| number(run, key) as u32);
    assert_eq!(drawn, [5262, 5262, 10_412].map(|count| count * instances));
    assert_eq!((number(run, "lod_error_pixels"), &run["level_shares"][0]), (0.0, &1.0.into()));
    for (key, value) in [("joints", 25.0), ("vertices", 5262.0), ("triangles", 10412.0)] {
        assert_eq!(number(run, key), value, "{key}");
    }
    assert!(run["shadows"].is_boolean());
    assert_eq!(run["skinning"], "compute");
    assert!(["direct", "staged"].contains(&run["upload"].as_str().unwrap()));

    assert_summary(&run["frame_ms"], "frame_ms");
    let median_ms = number(&run["frame_ms"], "median");
    for (key, amount) in [("frames_per_second", 1.0), ("characters_per_second", f64::from(instances))] {
        assert!((number(run, key) * median_ms / (amount * 1e3) - 1.0).abs() < 1e-9, "{key}");
    }
    check_turns(run);
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
    let over_median = |amount: f64, side: &str, stage: &str| {
        let ms = run[side][stage]["median"].as_f64().unwrap();
        amount / (ms * 1e-3)
    };
    let joints = f64::from(instances) * 25.0;
    let vertices = f64::from(instances) * 5262.0;
    for (key, expected) in [
        ("joints_per_second", over_median(joints, "cpu_ms", "animate")),
        ("skinned_vertices_per_second", over_median(vertices, "gpu_ms", "skin")),
        ("skin_bytes_per_second", over_median(vertices * 16.0, "gpu_ms", "skin")),
    ] {
        let found = number(run, key);
        assert!((found / expected - 1.0).abs() < 1e-6, "{key}: {found}, but the medians give {expected}");
    }
    assert!(number(run, "copy_bytes_per_second") > 1e6);
    assert_eq!(run["serialize"], false);
}

/// The turns have every frame.
fn check_turns(run: &Value) {
    let turns = run["turns_ms"].as_array().unwrap();
    assert_eq!((turns.len() as u64, &run["partial"]), (run["rounds"].as_u64().unwrap(), &false.into()));
    let frames = turns.iter().flat_map(|turn| turn.as_array().unwrap());
    let mut frames_ms: Vec<f64> = frames.map(|ms| ms.as_f64().unwrap()).collect();
    assert_eq!(frames_ms.len() as u64, run["frames"].as_u64().unwrap());
    frames_ms.sort_by(f64::total_cmp);
    for (ms, statistic) in [(frames_ms[0], "min"), (frames_ms[frames_ms.len() - 1], "max")] {
        assert!((ms - number(&run["frame_ms"], statistic)).abs() < 1e-6, "{statistic}");
    }
}

pub fn report(place: &Place, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(place.file(name)).unwrap()).unwrap()
}

#[test]
fn lists_are_swept_and_every_file_says_the_same() {
    let place = Place::new();
    let lists = "--shadows off --instances 3,1 --skinning compute,vertex --threads 1,2 --upload auto,direct,staged";
    let files = "--json bench.json --plot bench.svg";
    let finished = place.run(&format!("{QUICK} {lists} {files} --validation"));
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{}", finished.stdout);
    assert!(finished.stdout.lines().all(|line| line.chars().count() <= 100), "{}", finished.stdout);

    // `auto` is one of the other two, and no row is measured twice.
    let report = report(&place, "bench.json");
    let runs = report["runs"].as_array().unwrap();
    let settings = |run: &Value| ["skinning", "upload", "threads", "instances"].map(|key| run[key].to_string());
    let rows: Vec<_> = runs.iter().map(settings).collect();
    assert_eq!(rows.len(), 2 * 2 * 2 * 2);
    assert!(rows.iter().enumerate().all(|(index, row)| !rows[..index].contains(row)), "{rows:?}");
    let instances: Vec<&Value> = runs.iter().map(|run| &run["instances"]).collect();
    assert!(instances.chunks(2).all(|pair| *pair[0] == 3 && *pair[1] == 1), "{instances:?}");

    let svg = std::fs::read_to_string(place.file("bench.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    // Both sides of eight combinations have a band for each of five stages.
    assert_eq!(svg.matches("<polygon").count(), 8 * 2 * 5);
}

#[test]
fn files_that_cannot_be_written_are_found_first() {
    let place = Place::new();
    let walker = super::run::repository_file("assets/walker.glb");
    std::fs::copy(walker, place.file("walker.glb")).unwrap();
    for (code, files, says) in [
        (2, "--json a.svg --plot ./a.svg", "--plot and --json name the same file, ./a.svg"),
        (2, "--json - --plot -", "--plot and --json name the same file, -"),
        (2, "--json ../work/a.svg --plot a.svg", "--plot and --json name the same file, a.svg"),
        (2, "walker.glb --json walker.glb", "--json and a model name the same file, walker.glb"),
        (1, "--json no/such.json", "cannot write no/such.json"),
        (1, "--plot no/such.svg", "cannot write no/such.svg"),
    ] {
        // Measuring this crowd would take hours.
        let message = place.fail(code, &format!("bench {files} --instances 100000 --frames 100000"));
        assert!(message.starts_with(&format!("error: {says}")), "{files}: {message}");
    }
    // The model still has its contents.
    place.succeed(&format!("{QUICK} walker.glb --instances 1"));
}

#[test]
fn passes_can_be_timed_one_at_a_time() {
    let place = Place::new();
    let finished = place.run(&format!("{QUICK} --instances 5 --serialize on --validation --json one.json"));
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{}", finished.stdout);
    assert!(finished.stdout.contains("one pass at a time"), "{}", finished.stdout);
    let run = &report(&place, "one.json")["runs"][0];
    assert_eq!(run["serialize"], true);
    assert!(number(&run["gpu_ms"]["skin"], "median") > 0.0, "{}", run["gpu_ms"]);
}

/// The error names the row that cannot be drawn.
#[test]
fn more_rows_than_can_be_measured_are_refused() {
    let list = (1..=101).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let Finished { code, stderr, .. } = Place::new().run(&format!("bench --instances {list} --threads {list}"));
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("the lists of the options give 10201 rows, but at most 10000 can be measured"), "{stderr}");
}

#[test]
fn rows_that_fail_are_named() {
    let place = Place::new();
    let devices: Value = serde_json::from_str(&place.succeed("devices --json")).unwrap();
    let mut usable = devices.as_array().unwrap().iter().filter(|device| device["obstacle"].is_null());
    // A device that supports every count refuses nothing.
    let Some(device) = usable.find(|device| !device["msaa"].as_array().unwrap().contains(&2.into())) else {
        return println!("skipped: every device supports every number of samples");
    };
    let arguments = format!("bench --device {} --msaa 2 --size 64x48 --upload direct --threads 1", device["index"]);
    let message = place.fail(1, &format!("{arguments} --instances 1,2"));
    let lines: Vec<&str> = message.lines().collect();
    let row = "1 of walker.glb, 64x48, msaa 2, shadows on, lod 1, compute skinning, direct upload, 1 thread";
    assert_eq!(lines[0], format!("error: 2 rows failed; the first: {row}"));
    assert!(lines[1].contains(" does not support 2 samples per pixel; it supports: "), "{message}");
    assert_eq!(lines[2..], ["  advice: use another --msaa"]);
    let message = place.fail(1, &format!("{arguments} --instances 1"));
    assert!(message.contains(" does not support 2 samples per pixel; it supports: "), "{message}");
}

/// Finished rows are reported, files are complete, and the second Ctrl-C ends at once.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_with_the_finished_rows() {
    use crate::common::program::Running;
    let arguments = "bench --size 64x48,48x64 --msaa 1 --shadows off --instances 1 --warmup 1 --frames 1200";
    let mut ticks = 50;
    for presses in [1, 2] {
        // Twelve turns of 200 frames. The interruption comes a little later until it finds one finished.
        loop {
            let place = Place::new();
            let running = Running::start(&mut place.command(&format!("{arguments} --json a.json")));
            running.wait_for_ticks(ticks);
            ticks += 25;
            (0..presses).for_each(|_| running.interrupt());
            let finished = running.finish();
            // Signals that arrive together are one.
            assert!(finished.code == 1 || (presses == 2 && finished.code == 130), "{finished:?}");
            assert!(finished.stderr.starts_with("interrupted: finished rows are reported"), "{finished:?}");
            // A file is complete or absent.
            for entry in std::fs::read_dir(place.working_folder()).unwrap() {
                let name = entry.unwrap().file_name();
                assert!(name == "a.json", "{name:?}");
            }
            if finished.code == 130 {
                break;
            }
            assert!(finished.stderr.ends_with("error: interrupted\n"), "{finished:?}");
            if place.file("a.json").exists() {
                let report = report(&place, "a.json");
                let first = &report["runs"][0];
                assert_eq!([&report["partial"], &first["partial"]], [true, true]);
                assert!((1..6).contains(&first["rounds"].as_u64().unwrap()), "{}", first["rounds"]);
                assert!(finished.stdout.contains("Partial: not all rows are complete."), "{}", finished.stdout);
                break;
            }
        }
    }
}

/// Children get the other arguments, and a program is as fast as itself.
#[test]
fn programs_are_measured_in_turns() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_throng");
    let options = "--size 64x48 --msaa 1 --shadows off --instances 3 --frames 2 --warmup 1 --fail-above 1000";
    let finished = place.run(&format!("bench {options} --against {program}"));
    assert_eq!(finished.code, 0, "{finished:?}");
    // Lines may be broken anywhere.
    let text = finished.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("2 processes of each program, 1 frame each"), "{text}");
    assert!(text.contains("3 of walker.glb, 64x48"), "{text}");
    let message = place.fail(1, &format!("{QUICK} --against no/such/program"));
    assert!(message.starts_with("error: --against no/such/program: cannot be read"), "{message}");
    let message = place.fail(1, &format!("{QUICK} none.glb --against {program}"));
    assert!(message.contains("bench failed (exit status: 1): error: none.glb"), "{message}");
}
