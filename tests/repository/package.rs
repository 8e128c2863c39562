//! What a release consists of agrees: version, changelog, manual pages, desktop entry, thumbnailer, types of files.

use clap::{CommandFactory, Parser};
use throng::cli::{Cli, Command};

use super::files::text;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the text behind `key` in the line that starts with it.
fn value(file: &str, key: &str) -> String {
    let text = text(file);
    let value = text.lines().find_map(|line| line.strip_prefix(key));
    value.unwrap_or_else(|| panic!("{file}: no line starts with {key}")).to_owned()
}

#[test]
fn the_changelog_and_all_lock_files_have_the_version() {
    let changelog = text("CHANGELOG.md");
    let mut headings = changelog.lines().filter_map(|line| line.strip_prefix("## "));
    let released = headings.find(|heading| *heading != "Unreleased").unwrap();
    let date = released.strip_prefix(&format!("{VERSION} (")).and_then(|rest| rest.strip_suffix(')'));
    let date = date.unwrap_or_else(|| panic!("CHANGELOG.md: found {released}, expected {VERSION} (DATE)"));
    let is_date = date.len() == 10 && date.split('-').all(|part| part.parse::<u32>().is_ok());
    assert!(is_date, "CHANGELOG.md: {date}");
    for file in ["Cargo.lock", "fuzz/Cargo.lock"] {
        assert!(text(file).contains(&format!("name = \"throng\"\nversion = \"{VERSION}\"")), "{file}");
    }
}

#[test]
fn the_package_has_a_manual_page_for_each_command() {
    let pages = value("packaging/build.sh", "commands=(");
    let commands = Cli::command();
    let names: Vec<&str> = commands.get_subcommands().map(clap::Command::get_name).collect();
    assert_eq!(pages.trim_end_matches(')').split(' ').collect::<Vec<_>>(), names);
    assert!(commands.render_version().starts_with(&format!("throng {VERSION}")));
}

#[test]
fn the_desktop_knows_the_same_types_everywhere() {
    let types = value("packaging/throng.desktop", "MimeType=");
    assert_eq!(types, value("packaging/throng.thumbnailer", "MimeType="));
    let described = text("packaging/throng.xml");
    let described = described.split("<mime-type type=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    assert_eq!(types.trim_end_matches(';').split(';').collect::<Vec<_>>(), described.collect::<Vec<_>>());
}

#[test]
fn a_file_manager_can_call_the_program() {
    let parse = |file: &str| {
        let line = value(file, "Exec=").replace("%s", "128").replace("%i", "a.glb").replace("%F", "a.glb b.vrm");
        let line = line.replace("%o", "/tmp/.thumbnail.X1");
        Cli::try_parse_from(line.split(' ').skip_while(|word| *word != "throng")).unwrap().command
    };
    let Some(Command::Render(render)) = parse("packaging/throng.thumbnailer") else { panic!("not render") };
    assert_eq!((render.gpu.size.width, render.gpu.size.height), (128, 128));
    let Some(Command::View(view)) = parse("packaging/throng.desktop") else { panic!("not view") };
    assert_eq!(view.crowd.models.len(), 2);
}
