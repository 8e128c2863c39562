//! The files of the package. Their paths are relative to it, with `/` on every system.

use std::fs;

pub use crate::common::assets::path_of;

pub fn bytes(file: &str) -> Vec<u8> {
    fs::read(path_of(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

pub fn text(file: &str) -> String {
    String::from_utf8(bytes(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Returns the text of a file of Rust or GLSL without its line comments, the only kind in this repository. A `//` in a
/// string also ends the line, which is harmless.
pub fn code(file: &str) -> String {
    text(file).lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

pub fn entries(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(path_of(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names.into_iter().map(|name| format!("{folder}/{name}")).collect()
}

pub fn rust_files(folder: &str) -> Vec<String> {
    let below = |entry: String| if path_of(&entry).is_dir() { rust_files(&entry) } else { vec![entry] };
    entries(folder).into_iter().flat_map(below).filter(|file| file.ends_with(".rs")).collect()
}

/// Returns whether a character may stand in a name of Rust or GLSL.
pub fn is_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}
