//! `bench`: the table, and the JSON contract that other programs rely on.

use serde_json::Value;

use crate::program::Place;

const ORDER: [&str; 5] = ["min", "median", "p95", "p99", "max"];

/// All keys of an object, in alphabetical order.
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

/// Times in milliseconds, in order, none negative.
fn assert_summary(value: &Value, what: &str) {
    assert_keys(value, &ORDER);
    let times: Vec<f64> = ORDER.iter().map(|key| value[key].as_f64().unwrap()).collect();
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
    let arguments = "bench --instances 1,20 --size 64x48 --msaa 1 --frames 5 --warmup 2 --threads 1 --cull off";
    let finished = place.run(&format!("{arguments} --validation --json bench.json"));
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{}", finished.stdout);
    let report: Value = serde_json::from_slice(&std::fs::read(place.file("bench.json")).unwrap()).unwrap();

    assert_keys(&report, &["schema", "program", "device", "cpu", "runs"]);
    assert_eq!(report["schema"], 1);
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
    ];
    for (key, value) in expected {
        assert_eq!(run[key], value, "{key}");
    }
    for (key, value) in [("joints", 25.0), ("vertices", 5262.0), ("triangles", 10412.0)] {
        assert_eq!(number(run, key), value, "{key}");
    }
    assert!(run["shadows"].is_boolean());
    assert_eq!(run["skinning"], "compute");
    assert!(["direct", "staged"].contains(&run["upload"].as_str().unwrap()));

    assert_summary(&run["frame_ms"], "frame_ms");
    assert_keys(&run["cpu_ms"], &["cull", "animate", "record", "wait"]);
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

    // Rates are amounts over medians.
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
}
