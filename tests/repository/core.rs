//! The core: the files that a reader of a first evening needs, and those that they consult. It stays small, and stands alone.
//!
//! Every file has a limit, and so have the two sums. A feature that does not fit belongs beside the core (`src/extras`). Making a
//! file shorter is good work: lower its limit then.

use super::files::{code, entries, is_name, rust_files, text};

/// The number of files of [`CORE`] that are read in the first evening (`docs/first_evening.md`). The others are consulted.
const EVENING: usize = 34;
const EVENING_LINES: usize = 4_400;
const CORE_LINES: usize = 5_800;

/// The files of the core in reading order, each with its most lines.
const CORE: [(&str, usize); 44] = [
    ("src/lib.rs", 120),
    ("src/model/skeleton.rs", 153),
    ("src/model/clip.rs", 73),
    ("src/animation/mod.rs", 153),
    ("src/animation/sample.rs", 182),
    ("src/animation/pose.rs", 38),
    ("src/animation/palette.rs", 38),
    ("shaders/shared.glsl", 139),
    ("shaders/unpacked.glsl", 29),
    ("shaders/morph.glsl", 37),
    ("shaders/blend.glsl", 39),
    ("shaders/skinning.glsl", 69),
    ("shaders/skin.comp", 59),
    ("shaders/instance.glsl", 32),
    ("shaders/character.glsl", 38),
    ("shaders/character.vert", 25),
    ("src/renderer/layouts.rs", 90),
    ("src/renderer/resident/model.rs", 245),
    ("src/crowd/mod.rs", 167),
    ("src/crowd/playback.rs", 155),
    ("src/crowd/sight.rs", 124),
    ("src/crowd/visible.rs", 119),
    ("src/crowd/plan.rs", 266),
    ("src/crowd/evaluate.rs", 153),
    ("src/renderer/slot/mod.rs", 246),
    ("src/renderer/slot/buffers.rs", 191),
    ("src/renderer/passes/mod.rs", 48),
    ("src/renderer/passes/skin_pass.rs", 96),
    ("src/renderer/passes/crowd_draw.rs", 157),
    ("src/renderer/passes/character_pass.rs", 81),
    ("src/renderer/assembly.rs", 270),
    ("src/renderer/extras.rs", 52),
    ("src/renderer/frame.rs", 277),
    ("src/vulkan/barrier.rs", 106),
    ("src/animation/skin.rs", 270),
    ("src/shader_types.rs", 332),
    ("src/shader_types/specialization.rs", 102),
    ("shaders/specialization.glsl", 64),
    ("shaders/varyings.glsl", 17),
    ("src/model/mod.rs", 87),
    ("src/model/geometry.rs", 169),
    ("src/renderer/passes/vertex_input.rs", 71),
    ("src/renderer/resident/skin_runs.rs", 120),
    ("src/renderer/mod.rs", 41),
];

fn extras() -> Vec<String> {
    let stem = |file: &String| Some(file.strip_prefix("src/extras/")?.strip_suffix(".rs")?.to_owned());
    let extras: Vec<String> = rust_files("src/extras").iter().filter_map(stem).filter(|stem| stem != "mod").collect();
    assert!(!extras.is_empty(), "src/extras was not found");
    extras
}

fn lines_with<'c>(code: &'c str, word: &str) -> Vec<&'c str> {
    let has_word = |line: &&str| line.split(|character| !is_name(character)).any(|own| own == word);
    code.lines().filter(has_word).collect()
}

#[test]
fn no_file_of_the_core_grows() {
    let lines = CORE.map(|(file, most)| {
        let lines = text(file).matches('\n').count();
        assert!(lines <= most, "{file} has {lines} lines, and at most {most} are allowed");
        lines
    });
    let sums = [&lines[..EVENING], &lines].map(|lines| lines.iter().sum::<usize>());
    let allowed = [EVENING_LINES, CORE_LINES];
    assert!(sums[0] <= allowed[0] && sums[1] <= allowed[1], "{sums:?} lines, and at most {allowed:?} are allowed");
}

/// The list has a line for each file, with the path and a phrase.
#[test]
fn the_library_lists_the_core() {
    let library = text("src/lib.rs");
    let is_path = |word: &str| ["src/", "shaders/"].iter().any(|folder| word.starts_with(folder));
    let lines = library.lines().filter_map(|line| line.strip_prefix("//! ")?.split_once(' '));
    let listed: Vec<(&str, &str)> = lines.filter(|(path, _)| is_path(path)).collect();
    assert!(listed.iter().map(|(path, _)| *path).eq(CORE.iter().map(|(path, _)| *path)), "{listed:#?}");
    assert!(listed.iter().all(|(_, phrase)| phrase.split_whitespace().count() > 1), "{listed:#?}");
}

/// `docs/first_evening.md` links the evening's files in the same order.
#[test]
fn the_first_evening_reads_the_core() {
    let page = text("docs/first_evening.md");
    let targets = page.split("](../").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    let linked: Vec<&str> = targets.filter(|path| CORE[..EVENING].iter().any(|(file, _)| file == path)).collect();
    let evening: Vec<&str> = CORE[..EVENING].iter().map(|(file, _)| *file).collect();
    assert_eq!(linked, evening);
}

/// A program without extras is the core and what its pictures need. The seam is `src/renderer/extras.rs`.
///
/// `outline` is also the name of a function of crowds, `Crowd::outline`, which returns bounds. The core does not call it, but its
/// examples do. There, the word counts only as the module or as a shader.
#[test]
fn the_core_names_no_extra() {
    for extra in extras() {
        for (file, _) in CORE {
            assert_eq!(lines_with(&code(file), &extra), [""; 0], "{file} names the extra {extra}");
        }
        let shader = extra.to_uppercase();
        for file in entries("examples").into_iter().filter(|file| file.ends_with(".rs")) {
            let code = code(&file);
            let names = [format!("extras::{extra}"), format!("{shader}_VERT"), format!("{shader}_FRAG")];
            assert!(!names.iter().any(|name| code.contains(name)), "{file} names the extra {extra}");
        }
    }
    for file in rust_files("src/renderer") {
        assert!(!code(&file).contains("crate::extras"), "{file} names the extras");
    }
}

/// An extra is deleted with its file, its shaders and whole lines of `src/extras/mod.rs`.
#[test]
fn extras_do_not_name_each_other() {
    let extras = extras();
    for extra in &extras {
        let code = code(&format!("src/extras/{extra}.rs"));
        for other in extras.iter().filter(|other| *other != extra) {
            assert_eq!(lines_with(&code, other), [""; 0], "the extra {extra} names {other}");
        }
    }
    for line in code("src/extras/mod.rs").lines() {
        let named: Vec<&String> = extras.iter().filter(|extra| !lines_with(line, extra).is_empty()).collect();
        assert!(named.len() <= 1, "a line of src/extras/mod.rs names {named:?}: {line}");
    }
}
