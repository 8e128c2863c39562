//! `bench` with crowds of special sizes: too large for the device, with shared poses, and of a frame time.

use serde_json::Value;

use super::bench::{QUICK, number, report};
use super::run::repository_file;
use crate::common::program::{Finished, Place};

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
        let says = "100000 visible instances need 8158 MiB of device memory; the device's limit is 2048 MiB";
        assert!(message.contains(says) && message.contains("about 25077 visible --instances fit"), "{message}");
        // Without skinned vertices in memory, the palette is the first buffer that is too large.
        let message = place.fail(1, &format!("{command} 200000 {crowd} --skinning vertex"));
        let says = "200000 visible instances need 228 MiB for the palette; the device's limit is 128 MiB";
        assert!(message.contains(says) && message.contains("about 111848 visible --instances fit"), "{message}");
    }
    assert!(!place.file("x.png").exists());
    // The other rows are measured.
    let rows = "--size 64x48 --instances 1,100000 --frames 2 --warmup 0 --json one.json";
    let Finished { code, stderr: message, .. } = place.run(&format!("bench {rows} {crowd}"));
    assert_eq!(code, 1, "{message}");
    let row = "100000 of walker.glb, 64x48, msaa 1, shadows off, lod 1, compute skinning, direct upload, ";
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

#[test]
fn the_largest_crowd_of_a_frame_time_is_found() {
    let place = Place::new();
    // No driver draws a frame in a nanosecond, and every one draws one in a day.
    place.succeed(&format!("{QUICK} --shadows off --fit 0.000001 --json none.json"));
    let run = &report(&place, "none.json")["runs"][0];
    assert_eq!((&run["instances"], &run["fit_bound"]), (&1.into(), &"one_is_too_slow".into()));
    assert_eq!(run["fit_limit_ms"], 1e-6);
    let table = place.succeed(&format!("{QUICK} --shadows off --lod-error 0,1 --fit 9 --json fit.json"));
    let report = report(&place, "fit.json");
    assert_eq!(report["runs"].as_array().unwrap().len(), 2, "{report}");
    for run in report["runs"].as_array().unwrap() {
        let is_below = number(&run["frame_ms"], "median") < 9.0;
        let bound = run["fit_bound"].as_str().unwrap();
        assert!(bound == "unsteady" || is_below == (bound != "one_is_too_slow"), "{run}");
        assert_eq!(run["rounds"], 3);
    }
    assert!(table.contains("The largest crowds whose median frame stays below 9.00 ms."), "{table}");
}
