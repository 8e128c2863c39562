//! The documentation agrees with the repository: its paths and links exist, and its figures are those of the program.

#[path = "../../examples/skinning_lesson/lesson/mod.rs"]
mod lesson;

use std::fs;

use super::files::{bytes, entries, path_of, text};

fn pages() -> Vec<(String, String)> {
    let folders = ["assets", "assets/conformance", "benches/peers", "docs", "docs/gpus", "fuzz"];
    let in_folders = folders.into_iter().flat_map(entries).filter(|path| path.ends_with(".md"));
    let paths = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"].map(str::to_owned).into_iter();
    paths.chain(in_folders).map(|path| (path.clone(), text(&path))).collect()
}

/// Splits a page into its prose and its fenced blocks. A block begins with the rest of its opening fence.
fn prose_and_blocks(page: &str) -> (String, Vec<&str>) {
    let parts: Vec<&str> = page.split("```").collect();
    assert!(parts.len() % 2 == 1, "a fence is not closed");
    (parts.iter().step_by(2).copied().collect(), parts.into_iter().skip(1).step_by(2).collect())
}

fn link_targets(prose: &str) -> Vec<&str> {
    prose.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect()
}

/// The code spans of a page that are paths of files or folders in the repository.
fn code_paths(prose: &str) -> Vec<&str> {
    let folders = ["src", "shaders", "tests", "examples", "benches", "build", "assets", "docs", "fuzz"];
    let is_path = |span: &&str| {
        span.split_once('/').is_some_and(|(folder, _)| folders.contains(&folder))
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
fn links_and_paths_are_found() {
    let page = "# A `b`: c_d\n[x](y.md#z) and `src/lib.rs`, `src/*.rs`\n```text\n[no](no) `src/no`\n```\n![p](q.png)";
    let (prose, blocks) = prose_and_blocks(page);
    assert_eq!(link_targets(&prose), ["y.md#z", "q.png"]);
    assert_eq!(code_paths(&prose), ["src/lib.rs"]);
    assert_eq!((blocks.len(), anchors(page)), (1, vec!["a-b-c_d".to_owned()]));
}

#[test]
fn paths_and_links_exist() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (path, page) in pages() {
        let (prose, _) = prose_and_blocks(&page);
        for target in link_targets(&prose).into_iter().filter(|target| !target.contains("://")) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { path_of(&path) } else { path_of(&path).with_file_name(file) };
            let has_anchor = || anchors(&fs::read_to_string(&file).unwrap()).iter().any(|known| known == anchor);
            if !file.exists() || !(anchor.is_empty() || has_anchor()) {
                wrong.push(format!("{path}: the link {target} leads nowhere"));
            }
            count += 1;
        }
        let missing = code_paths(&prose).into_iter().filter(|file| !path_of(file).exists());
        wrong.extend(missing.map(|file| format!("{path}: there is no {file}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 30, "only {count} links were found");
}

/// `benches/standard.py` writes the part between the markers. The text before the table says what was measured, and when.
#[test]
fn the_table_of_the_suite_is_complete() {
    let page = text("docs/measurements.md");
    let parts: Vec<&str> = page.split("<!-- suite: ").collect();
    let [_, suite, rest] = parts[..] else { panic!("each marker is there once") };
    assert!(rest.starts_with("end -->\n"), "{rest}");
    let (facts, table) = suite.split_once("\n\n").unwrap();
    let facts = facts.strip_prefix("begin (benches/standard.py) -->\nMeasured on ").unwrap();
    let (date, rest) = facts.split_once(" with version ").unwrap();
    assert_eq!(date.replace(|c: char| c.is_ascii_digit(), "0"), "0000-00-00T00:00:00Z");
    let commit = rest.split(", commit ").nth(1).unwrap().split(':').next().unwrap();
    let hash = commit.trim_end_matches("-dirty");
    assert!(hash.len() >= 7 && hash.chars().all(|c| c.is_ascii_hexdigit()), "{commit}");
    let rows = table.lines().map(|line| line.trim_matches('|').split('|').map(str::trim).collect());
    let rows: Vec<Vec<&str>> = rows.collect();
    assert!(rows.len() > 10, "{table}");
    for column in ["crowd", "image", "skinning", "frame", "frames/s", "characters/s", "animate", "skin", "draw"] {
        assert!(rows[0].contains(&column), "there is no column {column}");
    }
    for row in &rows {
        assert!(row.len() == rows[0].len() && row.iter().all(|cell| !cell.is_empty()), "{row:?}");
    }
    let counts = rows[2..].iter().map(|row| row[0].split(' ').next().unwrap().replace(',', "").parse::<u32>().unwrap());
    assert!(counts.clone().min() == Some(1) && counts.max() >= Some(100), "{table}");
}

#[test]
fn the_figures_of_the_lesson_are_up_to_date() {
    let refresh = "`cargo run --example skinning_lesson` refreshes it";
    let lesson = lesson::lesson().unwrap();
    for lesson::Drawing { file_name, svg } in &lesson.drawings {
        let present = text(&format!("docs/pictures/{file_name}"));
        assert!(present == *svg, "docs/pictures/{file_name} is out of date: {refresh}");
    }
    let pages = lesson::PAGES.map(|page| text(&format!("docs/{page}")));
    let current = lesson::with_numbers(pages.clone(), &lesson.numbers).unwrap();
    for (file_name, (page, current)) in lesson::PAGES.iter().zip(pages.iter().zip(&current)) {
        let old = page.lines().zip(current.lines()).find(|(present, current)| present != current);
        assert!(page == current, "docs/{file_name} is out of date: {refresh}: {old:?}");
    }
}

#[test]
fn the_wrong_walkers_are_valid_files() {
    let right = throng::model::import::load(&path_of("assets/walker.glb")).unwrap();
    for (file_name, glb) in lesson::wrong_walkers(&bytes("assets/walker.glb")).unwrap() {
        let wrong = throng::model::import::load_glb(file_name, &glb).unwrap();
        assert_eq!((wrong.palette.len(), &wrong.warnings), (right.palette.len(), &right.warnings), "{file_name}");
        let has_same_parents = wrong.skeleton.parents == right.skeleton.parents;
        let has_same_binds = wrong.skins[0].has_inverse_binds == right.skins[0].has_inverse_binds;
        assert!(!(has_same_parents && has_same_binds), "{file_name}");
    }
}

#[cfg(feature = "app")]
fn output_of(arguments: &str) -> String {
    let mut throng = std::process::Command::new(env!("CARGO_BIN_EXE_throng"));
    let output = throng.args(arguments.split_whitespace()).current_dir(path_of("")).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// `view --help`, the help page of the window and docs/using.md list the same keys.
#[cfg(feature = "app")]
#[test]
fn the_keys_of_the_window_are_listed() {
    let help = output_of("view --help");
    let mut table = "| mouse or key | does |\n|---|---|\n".to_owned();
    for (keys, does) in throng::cli::keys::rows() {
        table += &format!("| {} | {does} |\n", keys.replace('|', "\\|"));
        let is_listed = help.lines().any(|line| line.trim().starts_with(&keys) && line.ends_with(does));
        assert!(is_listed, "{keys}: {does}\n{help}");
    }
    assert!(text("docs/using.md").contains(&table), "docs/using.md should contain\n{table}");
}

/// Returns what a command prints, or the lines of it that `| sed -n 3,5p` or `| grep TEXT` lets through.
#[cfg(feature = "app")]
fn lines_of(command: &str) -> String {
    let (command, filter) = command.split_once(" | ").unwrap_or((command, "grep "));
    let output = output_of(command);
    let lines = output.split_inclusive('\n');
    let Some(range) = filter.strip_prefix("sed -n ") else {
        let text = filter.strip_prefix("grep ").unwrap();
        return lines.filter(|line| line.contains(text)).collect();
    };
    let (first, last) = range.strip_suffix('p').unwrap().split_once(',').unwrap();
    lines.take(last.parse().unwrap()).skip(first.parse::<usize>().unwrap() - 1).collect()
}

/// A block that begins with `$ throng` holds a command and its output, or some lines of it.
#[cfg(feature = "app")]
#[test]
fn commands_print_what_the_pages_show() {
    let mut count = 0;
    for (path, page) in pages() {
        let (_, blocks) = prose_and_blocks(&page);
        let commands = blocks.iter().filter_map(|block| block.strip_prefix("text\n$ throng ")?.split_once('\n'));
        for (command, output) in commands {
            assert_eq!(output, lines_of(command), "{path}: `throng {command}` prints something else");
            count += 1;
        }
    }
    assert!(count > 0, "no command was found");
}
