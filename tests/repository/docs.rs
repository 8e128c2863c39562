//! The documentation agrees with the repository: its paths and links exist, and its figures are those of the program.

#[path = "../../examples/skinning_lesson/lesson/mod.rs"]
mod lesson;

use std::fs;
use std::path::{Path, PathBuf};

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every page, with its path relative to the package.
fn pages() -> Vec<(PathBuf, String)> {
    let named = [
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "assets/README.md",
        "assets/conformance/README.md",
        "benches/peers/README.md",
        "fuzz/README.md",
    ];
    let mut paths: Vec<PathBuf> = named.map(PathBuf::from).into();
    for entry in fs::read_dir(package().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            paths.push(path.strip_prefix(package()).unwrap().to_owned());
        }
    }
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(package().join(&path)).unwrap())).collect()
}

/// Splits a page into its prose and its fenced blocks. A block begins with the rest of its opening fence.
fn prose_and_blocks(page: &str) -> (String, Vec<String>) {
    let parts: Vec<&str> = page.split("```").collect();
    assert!(parts.len() % 2 == 1, "a fence is not closed");
    let prose = parts.iter().step_by(2).copied().collect::<String>();
    (prose, parts.iter().skip(1).step_by(2).map(|block| (*block).to_owned()).collect())
}

/// The targets of the links and images in a page.
fn link_targets(prose: &str) -> Vec<&str> {
    prose.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect()
}

/// The code spans of a page that are paths of files or folders in the repository.
fn code_paths(prose: &str) -> Vec<&str> {
    let folders = ["src/", "shaders/", "tests/", "examples/", "benches/", "build/", "assets/", "docs/", "fuzz/"];
    let is_path = |span: &&str| {
        folders.iter().any(|folder| span.starts_with(folder))
            && span.chars().all(|c| c.is_ascii_alphanumeric() || "_./-".contains(c))
    };
    prose.split('`').skip(1).step_by(2).filter(is_path).collect()
}

/// The anchors of a page, as GitHub makes them from headings.
fn anchors(page: &str) -> Vec<String> {
    let anchor = |heading: &str| -> String {
        let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
    };
    let (prose, _) = prose_and_blocks(page);
    prose.lines().filter(|line| line.starts_with('#')).map(|line| anchor(line.trim_start_matches('#'))).collect()
}

#[test]
fn paths_and_links_exist() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (path, page) in pages() {
        let (prose, _) = prose_and_blocks(&page);
        for target in link_targets(&prose).into_iter().filter(|target| !target.contains("://")) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let anchor_exists =
                || anchors(&fs::read_to_string(package().join(&file)).unwrap()).contains(&anchor.to_owned());
            if !package().join(&file).exists() || !(anchor.is_empty() || anchor_exists()) {
                wrong.push(format!("{}: the link {target} leads nowhere", path.display()));
            }
            count += 1;
        }
        for file in code_paths(&prose).into_iter().filter(|file| !package().join(file).exists()) {
            wrong.push(format!("{}: there is no {file}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 30, "only {count} links were found");
}

/// `benches/standard.py` writes the part between the markers. The text before the table says what was measured, and when.
#[test]
fn the_table_of_the_suite_is_complete() {
    let readme = fs::read_to_string(package().join("README.md")).unwrap();
    let markers = ["<!-- suite: begin (benches/standard.py) -->\n", "<!-- suite: end -->\n"];
    assert!(markers.iter().all(|marker| readme.matches(marker).count() == 1), "each marker is there once");
    let suite = readme.split(markers[0]).nth(1).unwrap().split(markers[1]).next().unwrap();
    let (facts, table) = suite.split_once("\n\n").unwrap();
    let (date, rest) = facts.strip_prefix("Measured on ").unwrap().split_once(" with version ").unwrap();
    let shape: String = date.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(shape, "0000-00-00T00:00:00Z");
    let commit = rest.split(", commit ").nth(1).unwrap().split(':').next().unwrap();
    let hash = commit.trim_end_matches("-dirty");
    assert!(hash.len() >= 7 && hash.chars().all(|c| c.is_ascii_hexdigit()), "{commit}");
    let rows: Vec<Vec<&str>> =
        table.lines().map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect();
    assert!(rows.len() > 10, "{table}");
    let header = &rows[0];
    for column in ["crowd", "image", "skinning", "frame", "frames/s", "characters/s", "animate", "skin", "draw"] {
        assert!(header.contains(&column), "there is no column {column}");
    }
    for row in &rows {
        assert_eq!(row.len(), header.len(), "{row:?}");
        assert!(row.iter().all(|cell| !cell.is_empty()), "{row:?}");
    }
    let counts = rows[2..].iter().map(|row| row[0].split(' ').next().unwrap().replace(',', "").parse::<u32>().unwrap());
    assert!(counts.clone().min() == Some(1) && counts.max() >= Some(100), "{table}");
}

#[test]
fn links_and_paths_are_found() {
    let page = "# A `b`: c_d\n[x](y.md#z) and `src/lib.rs`, `src/*.rs`\n```text\n[no](no) `src/no`\n```\n![p](q.png)";
    let (prose, blocks) = prose_and_blocks(page);
    assert_eq!(link_targets(&prose), ["y.md#z", "q.png"]);
    assert_eq!(code_paths(&prose), ["src/lib.rs"]);
    assert_eq!((blocks.len(), anchors(page)), (1, vec!["a-b-c_d".to_owned()]));
}

#[test]
fn the_figures_of_the_lesson_are_up_to_date() {
    let refresh = "`cargo run --example skinning_lesson` refreshes it";
    let lesson = lesson::lesson().unwrap();
    let docs = package().join("docs");
    for drawing in &lesson.drawings {
        let present = fs::read_to_string(docs.join("pictures").join(drawing.file_name)).unwrap();
        assert!(present == drawing.svg, "docs/pictures/{} is out of date: {refresh}", drawing.file_name);
    }
    let page = fs::read_to_string(docs.join("skinning.md")).unwrap();
    let current = lesson::with_numbers(&page, &lesson.numbers).unwrap();
    for (present, current) in page.lines().zip(current.lines()) {
        assert_eq!(present, current, "docs/skinning.md is out of date: {refresh}");
    }
    assert_eq!(page.len(), current.len(), "docs/skinning.md is out of date: {refresh}");
}

/// Returns what the program prints, started in the folder of the package.
#[cfg(feature = "app")]
fn output_of(arguments: &str) -> String {
    let mut throng = std::process::Command::new(env!("CARGO_BIN_EXE_throng"));
    let output = throng.args(arguments.split_whitespace()).current_dir(package()).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// `view --help`, the help page of the window and docs/using.md list the same keys.
#[cfg(feature = "app")]
#[test]
fn the_keys_of_the_window_are_listed() {
    let using = fs::read_to_string(package().join("docs/using.md")).unwrap();
    let rows: String =
        throng::cli::keys::rows().map(|(keys, text)| format!("| {} | {text} |\n", keys.replace('|', "\\|"))).collect();
    let table = format!("| mouse or key | does |\n|---|---|\n{rows}");
    assert!(using.contains(&table), "docs/using.md should contain\n{table}");
    let help = output_of("view --help");
    for (keys, text) in throng::cli::keys::rows() {
        assert!(
            help.lines().any(|line| line.trim().starts_with(&keys) && line.ends_with(text)),
            "{keys}: {text}\n{help}"
        );
    }
}

/// A block that begins with `$ throng` holds a command and its output.
#[cfg(feature = "app")]
#[test]
fn commands_print_what_the_pages_show() {
    let mut count = 0;
    for (path, page) in pages() {
        let (_, blocks) = prose_and_blocks(&page);
        let commands = blocks.iter().filter_map(|block| block.strip_prefix("text\n$ throng ")?.split_once('\n'));
        for (command, output) in commands {
            let printed = output_of(command);
            assert_eq!(output, printed, "{}: `throng {command}` prints something else", path.display());
            count += 1;
        }
    }
    assert!(count > 0, "no command was found");
}

#[test]
fn the_wrong_walkers_are_valid_files() {
    let walker = package().join("assets/walker.glb");
    let right = throng::model::import::load(&walker).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (file_name, glb) in lesson::wrong_walkers(&fs::read(walker).unwrap()).unwrap() {
        let path = folder.path().join(file_name);
        fs::write(&path, glb).unwrap();
        let wrong = throng::model::import::load(&path).unwrap();
        assert_eq!((wrong.palette.len(), &wrong.warnings), (right.palette.len(), &right.warnings), "{file_name}");
        assert_ne!(
            (&wrong.skeleton.parents, wrong.skins[0].has_inverse_binds),
            (&right.skeleton.parents, right.skins[0].has_inverse_binds),
            "{file_name}"
        );
    }
}
