//! `bench --compare` and `--against`: comparisons with an earlier file and with another program.

use serde_json::Value;

use super::bench::{ORDER, QUICK, report};
use crate::common::program::Place;

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
