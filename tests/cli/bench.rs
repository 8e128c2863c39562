//! `bench`: the table, the JSON contract with other programs, and the other files.

use serde_json::Value;

use crate::program::{Finished, Place};
use crate::run::repository_file;

const ORDER: [&str; 7] = ["min", "q1", "median", "q3", "p95", "p99", "max"];
/// The options of a quick run.
const QUICK: &str = "bench --size 64x48 --msaa 1 --frames 3 --warmup 1";

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

fn number(run: &Value, key: &str) -> f64 {
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

    assert_keys(&report, &["schema", "date", "partial", "program", "device", "cpu", "runs"]);
    assert_eq!((&report["schema"], &report["partial"]), (&1.into(), &false.into()));
    // 2026-11-22T16:22:00Z
    let date = report["date"].as_str().unwrap();
    let shape = date.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect::<String>();
    assert!(shape == "0000-00-00T00:00:00Z" && date > "2026", "{date}");
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
        "rounds", "serialize", "share_poses_hz", "sharing_error_metres", "sharing_error_share_of_size", "yardsticks",
        "lod_error_pixels", "vertices_skinned", "vertices_drawn", "triangles_drawn", "shadow_triangles_drawn", "level_shares",
        "scene", "partial", "frames_per_second", "characters_per_second", "fit_limit_ms", "fit_bound", "turns",
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

    assert_keys(&run["bytes"], &["palette", "skinned_vertices", "static", "total_device", "planned_device"]);
    let bytes = |key| run["bytes"][key].as_u64().unwrap();
    assert_eq!(bytes("palette"), u64::from(instances) * 25 * 48);
    assert_eq!(bytes("skinned_vertices"), u64::from(instances) * 5262 * 16);
    assert!(bytes("static") > 5262 * 16 && bytes("total_device") > bytes("static"), "{}", run["bytes"]);

    // The plan leaves out alignment and small objects.
    let (planned, total) = (bytes("planned_device") as f64, bytes("total_device") as f64);
    assert!((0.9..1.02).contains(&(planned / total)), "{planned} bytes planned, {total} allocated");

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
    let yardsticks = &run["yardsticks"];
    #[rustfmt::skip]
    assert_keys(yardsticks, &[
        "copy_buffer_bytes", "store_bytes_per_second", "animate_ns_per_joint", "store_ns_per_joint", "animate_share_of_store",
        "skin_ns_per_vertex", "skin_share_of_copy",
    ]);
    let copied = yardsticks["copy_buffer_bytes"].as_u64().unwrap();
    assert!(copied.is_power_of_two() && (64 << 20..=512 << 20).contains(&copied), "{copied}");
    assert_eq!(run["serialize"], false);
    let ratio = number(yardsticks, "store_ns_per_joint") / number(yardsticks, "animate_ns_per_joint");
    assert!((ratio / number(yardsticks, "animate_share_of_store") - 1.0).abs() < 1e-6, "{yardsticks}");
    assert!(
        (number(yardsticks, "store_bytes_per_second") * number(yardsticks, "store_ns_per_joint") / 48e9 - 1.0).abs()
            < 1e-6
    );
}

/// The turns have every frame, and the medians of every stage.
fn check_turns(run: &Value) {
    let turns = run["turns"].as_array().unwrap();
    assert_eq!((turns.len() as u64, &run["partial"]), (run["rounds"].as_u64().unwrap(), &false.into()));
    let mut frames_ms = Vec::new();
    for turn in turns {
        assert_keys(turn, &["median_ms", "work_ms", "frames_ms"]);
        #[rustfmt::skip]
        assert_keys(&turn["median_ms"], &[
            "frame", "cull", "wait", "animate", "record", "other", "upload", "skin", "shadow", "draw", "post",
        ]);
        assert!(number(turn, "work_ms") > 0.0);
        frames_ms.extend(turn["frames_ms"].as_array().unwrap().iter().map(|ms| ms.as_f64().unwrap()));
    }
    assert_eq!(frames_ms.len() as u64, run["frames"].as_u64().unwrap());
    frames_ms.sort_by(f64::total_cmp);
    for (ms, statistic) in [(frames_ms[0], "min"), (frames_ms[frames_ms.len() - 1], "max")] {
        assert!((ms - number(&run["frame_ms"], statistic)).abs() < 1e-6, "{statistic}");
    }
}

fn report(place: &Place, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(place.file(name)).unwrap()).unwrap()
}

/// Returns the value at the path that is a column's name.
fn at<'v>(run: &'v Value, column: &str) -> Option<&'v Value> {
    column.split('.').try_fold(run, |value, key| value.get(key))
}

#[test]
fn lists_are_swept_and_every_file_says_the_same() {
    let place = Place::new();
    let lists = "--instances 3,1 --skinning compute,vertex --threads 1,2 --upload auto,direct,staged";
    let files = "--json bench.json --csv bench.csv --plot bench.svg";
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

    let mut csv = csv::Reader::from_path(place.file("bench.csv")).unwrap();
    let columns = csv.headers().unwrap().clone();
    let lines: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
    assert_eq!(lines.len(), runs.len());
    for (line, run) in lines.iter().zip(runs) {
        for (column, cell) in columns.iter().zip(line) {
            let value = at(run, column).unwrap_or_else(|| panic!("the JSON file has no {column}"));
            match value {
                Value::Array(values) => {
                    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    let number = |text: &str| text.parse::<f64>().map_err(|_| text.to_owned());
                    let expected: Vec<_> = values.iter().map(|value| number(&text(value))).collect();
                    assert_eq!(cell.split(" + ").map(number).collect::<Vec<_>>(), expected, "{column}");
                }
                Value::String(text) => assert_eq!(cell, text),
                Value::Null => assert_eq!(cell, "", "{column}"),
                Value::Bool(on) => assert_eq!(cell, on.to_string()),
                number => {
                    let (cell, number): (f64, f64) = (cell.parse().unwrap(), number.as_f64().unwrap());
                    // The JSON parser may be off by the last bit.
                    assert!((cell - number).abs() <= 1e-15 * number.abs(), "{column}: {cell}, {number}");
                }
            }
        }
    }
    assert_eq!(columns.len(), 32 + 9 + 7 * 11 + 16);

    let svg = std::fs::read_to_string(place.file("bench.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    // Both sides of eight combinations have a band for each of five stages.
    assert_eq!(svg.matches("<polygon").count(), 8 * 2 * 5);
}

#[test]
fn results_are_compared_with_an_earlier_file() {
    let place = Place::new();
    place.succeed(&format!("{QUICK} --instances 1,2 --json old.json"));
    let finished = place.run(&format!("{QUICK} --instances 2,3 --compare old.json --json new.json"));
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    let (_, compared) = finished.stdout.split_once("Compared with old.json").unwrap();
    for stage in ["frame", "cull", "wait", "animate", "record", "upload", "skin", "shadow", "draw", "post"] {
        let lines = compared.lines().filter(|line| line.split_whitespace().next() == Some(stage)).count();
        assert_eq!(lines, 1, "{stage}: {compared}");
    }
    assert!(compared.contains("Measured only now:\n  3 of walker.glb, 64x48"), "{compared}");
    assert!(compared.contains("Measured only then:\n  1 of walker.glb, 64x48"), "{compared}");
    assert!(!compared.contains("another"), "{compared}");

    // A file of another machine is compared with a warning.
    let mut old = report(&place, "old.json");
    old["device"]["name"] = "A device\u{1b}[31m of old".into();
    std::fs::write(place.file("other.json"), old.to_string()).unwrap();
    let finished = place.run(&format!("{QUICK} --instances 2 --compare other.json"));
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    assert!(
        finished.stderr.contains("another device") && !finished.stderr.contains("\u{1b}[31m of old"),
        "{finished:?}"
    );
}

#[test]
fn a_file_that_cannot_be_compared_is_refused_before_the_first_measurement() {
    let place = Place::new();
    place.succeed(&format!("{QUICK} --instances 1 --json good.json"));
    let good = report(&place, "good.json");
    let broken = |name: &str, change: &dyn Fn(&mut Value)| {
        let mut value = good.clone();
        change(&mut value);
        std::fs::write(place.file(name), value.to_string()).unwrap();
    };
    broken("text.json", &|report| report["runs"][0]["frame_ms"]["median"] = "fast".into());
    broken("missing.json", &|report| drop(report["runs"][0].as_object_mut().unwrap().remove("instances")));
    broken("negative.json", &|report| report["runs"][0]["width"] = (-1).into());
    broken("schema.json", &|report| report["schema"] = 2.into());
    broken("runs.json", &|report| report["runs"] = 7.into());
    std::fs::write(place.file("cut.json"), &good.to_string()[..300]).unwrap();
    std::fs::write(place.file("deep.json"), "[".repeat(100_000)).unwrap();
    std::fs::write(place.file("empty.json"), "").unwrap();
    std::fs::write(place.file("more.json"), format!("{good} x")).unwrap();
    std::fs::write(place.file("huge.json"), good.to_string().replacen("\"min\":", "\"min\":1e999,\"x\":", 1)).unwrap();
    std::fs::create_dir(place.file("folder.json")).unwrap();
    let not_ours = "not a file that bench --json wrote";
    for (file, says, place_in_file) in [
        ("text.json", not_ours, "runs[0].frame_ms.median: invalid type: string \"fast\""),
        ("missing.json", not_ours, "runs[0]: missing field `instances`"),
        ("negative.json", not_ours, "runs[0].width: invalid value: integer `-1`"),
        ("schema.json", "schema is 2, but this version reads 1", ""),
        ("runs.json", not_ours, "runs: invalid type: integer `7`"),
        ("cut.json", not_ours, "EOF while parsing"),
        ("deep.json", not_ours, "invalid type: sequence"),
        ("empty.json", not_ours, "EOF while parsing"),
        ("more.json", not_ours, "trailing characters"),
        ("huge.json", not_ours, "number out of range"),
        ("folder.json", "cannot be read", "it is a folder"),
        ("none.json", "cannot be read", ""),
    ] {
        let message = place.fail(1, &format!("{QUICK} --instances 1 --compare {file} --csv {file}.csv"));
        assert!(message.starts_with(&format!("error: {file}: {says}")), "{message}");
        assert!(message.contains(place_in_file), "{file}: {message}");
        assert!(!place.file(&format!("{file}.csv")).exists());
    }
}

#[test]
fn files_that_cannot_be_written_are_found_first() {
    let place = Place::new();
    let walker = crate::run::repository_file("assets/walker.glb");
    std::fs::copy(walker, place.file("walker.glb")).unwrap();
    for (files, says) in [
        ("--json a --csv ./a", "--csv and --json name the same file, ./a"),
        ("--plot a.svg --json a.svg", "--plot and --json name the same file, a.svg"),
        ("walker.glb --csv walker.glb", "--csv and a model name the same file, walker.glb"),
        ("--json no/such.json", "cannot write no/such.json"),
        ("--csv no/such.csv", "cannot write no/such.csv"),
        ("--plot no/such.svg", "cannot write no/such.svg"),
    ] {
        // Measuring this crowd would take hours.
        let message = place.fail(1, &format!("bench {files} --instances 100000 --frames 100000"));
        assert!(message.starts_with(&format!("error: {says}")), "{files}: {message}");
    }
    place.succeed(&format!("{QUICK} --instances 1 --json old.json"));
    let message = place.fail(1, &format!("{QUICK} --instances 1 --compare old.json --json old.json"));
    assert!(message.starts_with("error: --json and --compare name the same file"), "{message}");
    // The files still have their contents.
    place.succeed(&format!("{QUICK} walker.glb --instances 1 --compare old.json"));
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

#[test]
fn only_bench_takes_lists() {
    let place = Place::new();
    for (arguments, says) in [
        ("render --out x.png --skinning compute,vertex", "compute, vertex"),
        ("render --out x.png --threads 1,2", "invalid value '1,2'"),
        ("view --size 1x1,2x2", "invalid value '1x1,2x2'"),
        ("bench --skinning compute,foo", "compute, vertex"),
        ("bench --upload foo,auto", "auto, direct, staged"),
        ("bench --threads 1,0", "1..=256"),
        ("bench --size 64x48,64", "such as 1280x720"),
        ("bench --instances 1,many", "invalid value 'many'"),
        ("bench --instances 1,,2", "invalid value ''"),
    ] {
        let message = place.fail(2, arguments);
        assert!(message.starts_with("error: ") && message.contains(says), "throng {arguments}: {message}");
    }
}

/// The error names the row that cannot be drawn.
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
    let row = "1 instance, 64x48, lod 1, compute skinning, direct upload, 1 thread";
    assert_eq!(lines[0], format!("error: 2 rows failed; the first: {row}"));
    assert!(lines.len() == 2 && lines[1].starts_with("  caused by: --msaa 2 is not supported by"), "{message}");
    let message = place.fail(1, &format!("{arguments} --instances 1"));
    assert!(message.starts_with("error: --msaa 2 is not supported by"), "{message}");
}

/// Runs on a device with little memory. Any other device may hold these crowds.
#[test]
fn a_crowd_that_the_device_cannot_hold_is_refused_before_it_is_allocated() {
    let place = Place::new();
    let devices: Value = serde_json::from_str(&place.succeed("devices --json")).unwrap();
    let is_small = |device: &Value| device["obstacle"].is_null() && device["heaps"][0]["bytes"] == 2_u64 << 30;
    let Some(device) = devices.as_array().unwrap().iter().find(|device| is_small(device)) else {
        return println!("skipped: no device has as little memory as 2 GiB");
    };
    let crowd = format!("--device {} --cull off --msaa 1 --shadows off", device["index"]);
    // An image has one frame in flight. So has a benchmark on a software driver, and such a device has one.
    for command in ["render --size 64x48 --out x.png --instances", "bench --size 64x48 --instances"] {
        let message = place.fail(1, &format!("{command} 100000 {crowd}"));
        let says = "the crowd needs about 8.0 GiB of device memory (skinned vertices in full detail 7.9 GiB, joint matrices \
                    130.4 MiB), but only 1.6 GiB are available; --skinning vertex takes 7.9 GiB less, --share-poses HZ takes less, about ";
        assert!(message.contains(says), "{message}");
        let message = place.fail(1, &format!("{command} 200000 {crowd}"));
        let says = "error: the palette of 200000 visible instances takes 228.9 MiB, but the device's maxStorageBufferRange is ";
        assert!(message.starts_with(says), "{message}");
    }
    assert!(!place.file("x.png").exists());
    // The other rows are measured.
    let rows = "--size 64x48 --instances 1,100000 --frames 2 --warmup 0 --json one.json";
    let Finished { code, stderr: message, .. } = place.run(&format!("bench {rows} {crowd}"));
    assert_eq!(code, 1, "{message}");
    let row = "100000 instances, 64x48, lod 1, compute skinning, direct upload, ";
    assert!(message.contains(&format!("WARN left out: {row}")), "{message}");
    assert!(message.contains(&format!("error: one row failed: {row}")), "{message}");
    let report = report(&place, "one.json");
    assert!(report["runs"].as_array().unwrap().len() == 1 && report["runs"][0]["instances"] == 1, "{report}");
}

/// The report has the number of poses and the largest error of a vertex.
#[test]
fn shared_poses_are_counted_and_their_error_is_reported() {
    let place = Place::new();
    let table = place.succeed("bench --size 64x48 --instances 50 --share-poses 4 --frames 2 --warmup 0 --json s.json");
    let report: Value = serde_json::from_str(&std::fs::read_to_string(place.file("s.json")).unwrap()).unwrap();
    let run = &report["runs"][0];
    let poses = run["unique_poses"].as_u64().unwrap();
    assert!((2..20).contains(&poses) && run["visible"] == 50, "{run}");
    assert_eq!(run["share_poses_hz"], 4.0);
    let error_metres = run["sharing_error_metres"].as_f64().unwrap();
    assert!(error_metres > 0.01 && error_metres < 0.5, "{error_metres}");
    let share = run["sharing_error_share_of_size"].as_f64().unwrap();
    // The walker and its steps fit into a sphere of two metres.
    assert!((1.8..2.8).contains(&(error_metres / share)), "{error_metres} m, {share}");
    // Lines may be broken anywhere.
    let text = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(" % of its character's size."), "{text}");
    assert!(
        text.contains(&format!("50 visible characters show {poses} poses. At the sampled times no vertex is off")),
        "{text}"
    );
    let message = place.fail(2, "bench --share-poses 0");
    assert!(message.contains("--share-poses"), "{message}");
}

/// Only the poses of these characters are animated and skinned.
#[test]
fn a_hundred_thousand_characters_run_where_poses_are_shared() {
    let place = Place::new();
    let model = repository_file("assets/simple_strip.gltf");
    let crowd = "--size 64x48 --msaa 1 --shadows off --instances 100000 --share-poses 10 --frames 1 --warmup 0";
    place.succeed(&format!("bench {} {crowd} --json crowd.json", model.display()));
    let run = &report(&place, "crowd.json")["runs"][0];
    assert_eq!(run["visible"], 100_000);
    // The clip lasts 5.5 seconds.
    assert_eq!(run["unique_poses"], 55, "{run}");
    // There are two joints of 48 bytes and ten vertices of 16.
    assert_eq!([&run["bytes"]["palette"], &run["bytes"]["skinned_vertices"]], [55 * 2 * 48, 55 * 10 * 16]);
}

/// All files are there, and the README's table has the same columns.
#[test]
fn the_suite_fills_a_folder() {
    let place = Place::new();
    let strip = repository_file("assets/simple_strip.gltf");
    place.succeed(&format!("bench {} --suite results --quick", strip.display()));
    let report: Value = serde_json::from_slice(&std::fs::read(place.file("results/suite.json")).unwrap()).unwrap();
    let rows = report["runs"].as_array().unwrap().len();
    assert!(rows >= 19, "{rows} rows");
    let markdown = std::fs::read_to_string(place.file("results/suite.md")).unwrap();
    assert_eq!(markdown.lines().filter(|line| line.starts_with('|')).count(), rows + 2, "{markdown}");
    assert_eq!(std::fs::read_to_string(place.file("results/suite.csv")).unwrap().lines().count(), rows + 1);
    for plot in ["1280x720.svg", "64x64.svg"] {
        assert!(std::fs::read_to_string(place.file(&format!("results/{plot}"))).unwrap().starts_with("<svg "));
    }
    assert_eq!(std::fs::read_dir(place.file("results")).unwrap().count(), 5);
    let header = markdown.lines().find(|line| line.starts_with("| crowd")).unwrap();
    let readme = std::fs::read_to_string(repository_file("README.md")).unwrap();
    assert!(readme.lines().any(|line| line == header), "docs/performance.sh refreshes the README's table: {header}");
}

/// A program is not slower than itself, and a crowd of a thousand is slower than one.
#[test]
fn slower_rows_end_with_exit_code_3() {
    let place = Place::new();
    let arguments = "bench --size 64x48 --msaa 1 --shadows off --frames 12 --warmup 1 --instances 20";
    place.succeed(&format!("{arguments} --json old.json"));
    let mut old = report(&place, "old.json");
    // Then everything took no time at all.
    let run = &mut old["runs"][0];
    for statistic in ORDER {
        run["frame_ms"][statistic] = if statistic.starts_with('p') { Value::Null } else { 0.001.into() };
    }
    for turn in run["turns"].as_array_mut().unwrap() {
        turn["median_ms"]["frame"] = 0.001.into();
        // The machine has not changed in between: the fastest one ever was not faster.
        turn["work_ms"] = 0.0.into();
    }
    std::fs::write(place.file("fast.json"), old.to_string()).unwrap();
    let finished = place.run(&format!("{arguments} --compare fast.json --fail-above 5 --csv new.csv"));
    assert_eq!(finished.code, 3, "{finished:?}");
    assert!(finished.stderr.contains("WARN slower by ") && finished.stderr.contains("more than 5 %: 20 of walker.glb"));
    assert!(finished.stdout.contains("slower") && place.file("new.csv").exists(), "{}", finished.stdout);
    // Without the option this is a result like any other.
    place.succeed(&format!("{arguments} --compare fast.json"));
    // Nothing can be slower than that.
    place.succeed(&format!("{arguments} --compare old.json --fail-above 10000"));
    let message = place.run(&format!("{arguments} --lod-error 3 --compare old.json --fail-above 5"));
    assert_eq!(message.code, 1, "{message:?}");
    assert!(message.stderr.contains("error: --fail-above: old.json has no row with these settings"), "{message:?}");
}

/// Children get the other arguments, and a program is as fast as itself.
#[test]
fn programs_are_measured_in_turns() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_throng");
    let finished = place.run(&format!("{QUICK} --instances 3 --shadows off --against {program} --fail-above 1000"));
    assert_eq!(finished.code, 0, "{finished:?}");
    // Lines may be broken anywhere.
    let text = finished.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("3 processes of each program, 1 frame each"), "{text}");
    assert!(text.contains("3 of walker.glb, 64x48"), "{text}");
    let message = place.fail(1, &format!("{QUICK} --against no/such/program"));
    assert!(message.starts_with("error: --against no/such/program: cannot be read"), "{message}");
    let message = place.fail(1, &format!("{QUICK} none.glb --against {program}"));
    assert!(message.contains("bench failed (exit status: 1): error: none.glb"), "{message}");
}

#[test]
fn the_largest_crowd_of_a_frame_time_is_found() {
    let place = Place::new();
    // No driver draws a frame in a nanosecond, and every one draws one in a day.
    place.succeed(&format!("{QUICK} --shadows off --fit 0.000001 --json none.json"));
    let run = &report(&place, "none.json")["runs"][0];
    assert_eq!((&run["instances"], &run["fit_bound"]), (&1.into(), &"one is too slow".into()));
    assert_eq!(run["fit_limit_ms"], 1e-6);
    let table = place.succeed(&format!("{QUICK} --shadows off --lod-error 0,1 --fit 9 --json fit.json"));
    let report = report(&place, "fit.json");
    assert_eq!(report["runs"].as_array().unwrap().len(), 2, "{report}");
    for run in report["runs"].as_array().unwrap() {
        let is_below = number(&run["frame_ms"], "median") < 9.0;
        let bound = run["fit_bound"].as_str().unwrap();
        assert!(is_below == (bound != "one is too slow" && bound != "unsteady") || bound == "unsteady", "{run}");
        assert_eq!(run["rounds"], 3);
    }
    assert!(table.contains("The largest crowds whose median frame stays below 9.00 ms."), "{table}");
}

/// Finished rows are reported, files are complete, and the second Ctrl-C ends at once.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_with_the_finished_rows() {
    use crate::program::Running;
    let arguments = "bench --size 64x48,48x64 --msaa 1 --shadows off --instances 1 --warmup 1 --frames 6000";
    for presses in [1, 2] {
        let place = Place::new();
        let running = Running::start(&mut place.command(&format!("{arguments} --json a.json --csv a.csv")));
        // The first renderer has done its turn, and writes its pipelines. Eleven turns of a thousand frames follow.
        while !place.cache_folder().join("throng").exists() {
            std::thread::yield_now();
        }
        (0..presses).for_each(|_| running.interrupt());
        let finished = running.finish();
        // Signals that arrive together are one.
        assert!(finished.code == 1 || (presses == 2 && finished.code == 130), "{finished:?}");
        assert!(finished.stderr.starts_with("interrupted: finished rows are reported"), "{finished:?}");
        if finished.code == 1 {
            assert!(finished.stderr.ends_with("error: interrupted\n"), "{finished:?}");
            let report = report(&place, "a.json");
            let first = &report["runs"][0];
            assert_eq!([&report["partial"], &first["partial"]], [true, true]);
            assert!((1..6).contains(&first["rounds"].as_u64().unwrap()), "{}", first["rounds"]);
            assert!(finished.stdout.contains("Partial: not all rows are complete."), "{}", finished.stdout);
        }
        // A file is complete or absent.
        for entry in std::fs::read_dir(place.working_folder()).unwrap() {
            let name = entry.unwrap().file_name();
            assert!(name == "a.json" || name == "a.csv", "{name:?}");
        }
    }
}
