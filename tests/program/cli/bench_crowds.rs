//! `bench` with crowds of special sizes: too large for the device, with shared poses, and of a frame time.

use serde_json::Value;

use super::bench::{in_one_line, number};
use super::bundled;
use super::usage::{devices, is_usable};
use crate::common::program::{Finished, Place};

/// Runs on a device with little memory. Any other device may hold these crowds.
#[test]
fn a_crowd_that_the_device_cannot_hold_is_refused_before_it_is_allocated() {
    let place = Place::new();
    let is_small = |device: &&Value| is_usable(device) && device["heaps"][0]["bytes"] == 2_u64 << 30;
    let Some(device) = devices(&place).iter().find(is_small).map(|device| device["index"].clone()) else {
        return println!("skipped: no device has as little memory as 2 GiB");
    };
    let crowd = format!("--device {device} --cull off --msaa 1 --shadows off --size 64x48");
    let of_memory = "100000 visible instances need 8157 MiB of device memory; the device's limit is 2048 MiB";
    // Without skinned vertices in memory, the palette is the first buffer that is too large.
    let of_palette = "200000 visible instances need 228 MiB for the palette; the device's limit is 128 MiB";
    // An image has one frame in flight. So has a benchmark on a software driver, and such a device has one.
    for (options, says, fitting) in
        [("--instances 100000", of_memory, 25078), ("--instances 200000 --skinning vertex", of_palette, 111848)]
    {
        for command in ["render --out x.png", "bench"] {
            let message = place.fail(1, &format!("{command} {options} {crowd}"));
            let fitting = format!("about {fitting} visible --instances fit");
            assert!(message.contains(says) && message.contains(&fitting), "{message}");
        }
    }
    assert!(!place.file("x.png").exists());
    // The other rows are measured.
    let rows = "--instances 1,100000 --frames 2 --warmup 0 --json one.json";
    let Finished { code, stderr: message, .. } = place.run(&format!("bench {rows} {crowd}"));
    assert_eq!(code, 1, "{message}");
    let row = "100000 of walker.glb, 64x48, msaa 1, shadows off, lod 1, compute skinning, direct upload, ";
    assert!(message.contains(&format!("WARN left out: {row}")), "{message}");
    assert!(message.contains(&format!("error: one row failed: {row}")), "{message}");
    let report = place.report("one.json");
    assert!(report["runs"].as_array().unwrap().len() == 1 && report["runs"][0]["instances"] == 1, "{report}");
}

/// Only the poses are animated and skinned. The report has their number and the largest error of a vertex.
#[test]
fn a_hundred_thousand_characters_share_poses() {
    let place = Place::new();
    let crowd = "--size 64x48 --msaa 1 --shadows off --instances 100000 --share-poses 10 --frames 1 --warmup 0";
    let table = place.succeed(&format!("bench {} {crowd} --json crowd.json", bundled("simple_strip.gltf")));
    let run = &place.report("crowd.json")["runs"][0];
    // The clip lasts 5.5 seconds.
    assert_eq!((&run["visible"], &run["unique_poses"]), (&100_000.into(), &55.into()), "{run}");
    // There are two joints of 48 bytes and ten vertices of 16.
    assert_eq!([&run["bytes"]["palette"], &run["bytes"]["skinned_vertices"]], [55 * 2 * 48, 55 * 10 * 16]);
    assert_eq!(run["share_poses_hz"], 10.0);
    let (metres, share) = (number(run, "sharing_error_metres"), number(run, "sharing_error_share_of_size"));
    // The strip fits into a sphere of three and a half metres while it bends.
    assert!((0.01..0.5).contains(&metres) && (3.4..3.6).contains(&(metres / share)), "{metres} m, {share}");
    let text = in_one_line(&table);
    let says = "100000 visible characters show 55 poses. At the sampled times no vertex is off";
    assert!(text.contains(says) && text.contains(" % of its character's size."), "{text}");
    assert!(place.fail(2, "bench --share-poses 0").contains("--share-poses"));
}

#[test]
fn the_largest_crowd_of_a_frame_time_is_found() {
    let place = Place::new();
    let options = format!("bench {} --size 64x48 --msaa 1 --shadows off --warmup 0", bundled("simple_strip.gltf"));
    // No driver draws a frame in a nanosecond, and every one draws one in a day.
    place.succeed(&format!("{options} --frames 1 --fit 0.000001 --json none.json"));
    let run = &place.report("none.json")["runs"][0];
    assert_eq!((&run["instances"], &run["fit_bound"]), (&1.into(), &"one_is_too_slow".into()));
    assert_eq!(run["fit_limit_ms"], 1e-6);
    let table = place.succeed(&format!("{options} --frames 2 --lod-error 0,1 --fit 9 --json fit.json"));
    let report = place.report("fit.json");
    let runs = report["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2, "{report}");
    for run in runs {
        let is_below = number(&run["frame_ms"], "median") < 9.0;
        let bound = run["fit_bound"].as_str().unwrap();
        assert!(bound == "unsteady" || is_below == (bound != "one_is_too_slow"), "{run}");
        assert_eq!(run["rounds"], 2);
    }
    assert!(table.contains("The largest crowds whose median frame stays below 9.00 ms."), "{table}");
}
