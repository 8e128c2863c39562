//! The files of `assets/conformance`, each for one rule of glTF. `throng pose` gives the expected numbers on the CPU and on the
//! GPU. The numbers are those that the evaluator computes today. A mistake in the evaluator is found by the case that names it.
//!
//! The evaluator and the checker are programs in Python, for readers of any language.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::cli::numbers;
use crate::common::assets::path_of;
use crate::common::program::{Finished, Place, Running};

fn folder() -> PathBuf {
    path_of("assets/conformance")
}

fn names() -> Vec<String> {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let models = files.filter(|path| path.extension().is_some_and(|extension| extension == "gltf"));
    let mut names: Vec<String> = models.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

fn python(program: &str, arguments: &[&Path]) -> Finished {
    Running::start(Command::new("python3").arg("-B").arg(folder().join(program)).args(arguments)).finish()
}

/// Runs programs in one process of Python. The arguments are groups of a program, its argument and a file for its output.
const RUN: &str = "import contextlib, runpy, sys
while len(sys.argv) > 1:
    program, argument, output, *rest = sys.argv[1:]
    sys.argv[:] = [program, argument]
    with open(output, 'w') as out, contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        runpy.run_path(program, run_name='__main__')
    sys.argv[1:] = rest";

fn run(programs: impl IntoIterator<Item = [PathBuf; 3]>) {
    let arguments: Vec<PathBuf> = programs.into_iter().flatten().collect();
    let finished = Running::start(Command::new("python3").args(["-B", "-c", RUN]).args(arguments)).finish();
    assert_eq!(finished.code, 0, "{}", finished.stderr);
}

/// Returns the run of an evaluator on a file, whose numbers it writes to a folder.
fn evaluation(evaluator: &Path, name: &str, results: &Path) -> [PathBuf; 3] {
    [evaluator.to_owned(), folder().join(name).with_extension("gltf"), results.join(name).with_extension("json")]
}

/// One run for each file and device gives the poses of all frames, and the ways since the first one.
#[test]
fn poses_agree_and_ways_are_the_differences_of_two_poses() {
    let place = Place::new();
    let numbers = |frame: &Value, field: &str| -> Vec<f64> {
        frame["primitives"].as_array().unwrap().iter().flat_map(|primitive| numbers(&primitive[field])).collect()
    };
    let mut longest = 0.0f64;
    assert!(names().len() >= 40);
    for on in ["cpu", "gpu --validation"] {
        for name in names() {
            let expected = std::fs::read(folder().join(&name).with_extension("json")).unwrap();
            let expected: Value = serde_json::from_slice(&expected).unwrap();
            let frames = expected["frames"].as_array().unwrap();
            let times: Vec<f64> = frames.iter().map(|frame| frame["time"].as_f64().unwrap()).collect();
            let (start, end) = (times[0], times[times.len() - 1]);
            let seconds = end - start;
            // A key may be at the first time.
            assert_eq!(end - seconds, start, "{name}");
            let times = times.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
            let model = folder().join(&name).with_extension("gltf");
            let text =
                place.succeed(&format!("pose --json --on {on} --time={times} --motion={seconds} {}", model.display()));
            let report: Value = serde_json::from_str(&text).unwrap();
            std::fs::write(place.file(&name).with_extension("json"), text).unwrap();
            let ways = numbers(&report["frames"][frames.len() - 1], "motion");
            let [before, now] = [0, frames.len() - 1].map(|frame| numbers(&frames[frame], "positions"));
            assert_eq!(ways.len(), now.len(), "{name}");
            for ((way, now), before) in ways.iter().zip(&now).zip(&before) {
                let difference = (way - (now - before)).abs();
                assert!(difference < 1e-5 * now.abs().max(1.0), "{name} on the {on}: {difference}");
                longest = longest.max(way.abs());
            }
        }
        let checked = python("check.py", &[&place.working_folder()]);
        assert!(checked.code == 0 && !checked.stdout.contains("left out"), "on the {on}:\n{}", checked.stdout);
    }
    assert!(longest > 1.0, "{longest}");
}

#[test]
fn the_expected_numbers_are_those_of_the_evaluator() {
    let place = Place::new();
    let page = std::fs::read_to_string(folder().join("README.md")).unwrap();
    for name in names() {
        assert!(page.contains(&format!("\n| `{name}` |")), "{name} is not on the page");
    }
    let (evaluator, results) = (folder().join("evaluate.py"), place.working_folder());
    run(names().iter().map(|name| evaluation(&evaluator, name, &results)));
    // The last digit may differ between mathematical libraries, so the files are not compared byte by byte.
    let checked = python("check.py", &[&results, Path::new("1e-8")]);
    assert_eq!(checked.code, 0, "evaluate.py FILE.gltf > FILE.json refreshes a file:\n{}", checked.stdout);
}

/// A mistake of `mistakes.json`: the text of the evaluator, what takes its place, and the cases that find it.
#[derive(serde::Deserialize)]
struct Mistake {
    cases: Vec<String>,
    right: String,
    wrong: String,
}

#[test]
fn each_mistake_is_found_by_the_case_that_names_it() {
    let right = std::fs::read_to_string(folder().join("evaluate.py")).unwrap();
    let mistakes = std::fs::read(folder().join("mistakes.json")).unwrap();
    let mistakes: Vec<Mistake> = serde_json::from_slice(&mistakes).unwrap();
    assert!(mistakes.len() >= 20);
    let place = Place::new();
    let results = |mistake: usize| place.file(&mistake.to_string());
    let mut programs = Vec::new();
    for (index, Mistake { cases, right: text, wrong }) in mistakes.iter().enumerate() {
        assert_eq!(right.matches(text).count(), 1, "{text}");
        let results = results(index);
        let evaluator = results.join("evaluate.py");
        std::fs::create_dir(&results).unwrap();
        std::fs::write(&evaluator, right.replace(text, wrong)).unwrap();
        programs.extend(cases.iter().map(|name| evaluation(&evaluator, name, &results)));
        programs.push([folder().join("check.py"), results.clone(), results.join("checked")]);
    }
    run(programs);
    for (index, Mistake { cases, right: text, .. }) in mistakes.iter().enumerate() {
        let checked = std::fs::read_to_string(results(index).join("checked")).unwrap();
        for name in cases {
            let line = checked.lines().find(|line| line.split_whitespace().nth(1) == Some(name));
            let line = line.unwrap_or_else(|| panic!("{name} is not in {checked}"));
            assert!(line.starts_with("WRONG") && line.contains("frames"), "{text} is not found: {line}");
        }
    }
}

/// The last digit of a coordinate may differ between mathematical libraries.
#[test]
fn the_picture_shows_the_mistakes() {
    let drawn = python("draw.py", &[]);
    let picture = std::fs::read_to_string(folder().join("mistakes.svg")).unwrap();
    let words = |text: &str| text.split([' ', 'M', 'L', 'Z', '"']).map(str::to_owned).collect::<Vec<_>>();
    let are_alike = |a: &String, b: &String| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() < 0.15,
        _ => a == b,
    };
    let (drawn_words, words) = (words(&drawn.stdout), words(&picture));
    let is_alike = drawn_words.len() == words.len() && drawn_words.iter().zip(&words).all(|(a, b)| are_alike(a, b));
    assert!(is_alike, "draw.py > mistakes.svg draws it again: {}", drawn.stderr);
}
