//! Checks the dependencies between the folders, read from the sources: each layer and each external crate has its
//! users.
//!
//! Layers that depend in one direction can be read one at a time. Rust allows cycles between modules, so only this test
//! keeps a convenient `use` from creating one. Every `crate::…` path in code counts, also in braces. Paths in comments
//! do not: documentation may refer to anything.

mod cycles;
mod harness;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The layers below `app`, each with the layers that it may name. `lib.rs` and `main.rs` belong to none.
const ARROWS: [(&str, &[&str]); 11] = [
    ("model", &[]),
    ("shader_types", &[]),
    ("vulkan", &[]),
    ("view", &["shader_types"]),
    ("animation", &["model", "shader_types"]),
    ("levels", &["animation", "model", "shader_types"]),
    ("measure", &["animation", "model", "shader_types"]),
    ("retarget", &["animation", "model"]),
    ("crowd", &["animation", "measure", "model", "view", "shader_types"]),
    ("renderer", &["vulkan", "crowd", "animation", "model", "view", "shader_types"]),
    ("cli", &["animation", "crowd", "model", "renderer", "view"]),
];

/// External crates, each with the files and folders below `src` that may name them.
const OUTSIDE: [(&str, &[&str]); 9] = [
    ("gltf", &["model/import"]),
    ("ash", &["vulkan", "renderer", "app"]),
    ("gpu_allocator", &["vulkan", "renderer", "app"]),
    ("winit", &["app"]),
    ("egui", &["app/view/hud"]),
    ("egui_winit", &["app/view/hud"]),
    ("clap", &["cli.rs", "cli", "main.rs", "app/shell.rs", "app/render/sequence.rs"]),
    ("plotters", &["app/bench/plot.rs"]),
    ("anyhow", &["app"]),
];

/// Folders whose `mod.rs` defines types that its files implement or use, and also calls these files. That is a cycle too,
/// but a common one in Rust, and the folder can still be read from its `mod.rs` downwards. New folders do without.
const FOLDERS_AROUND_THEIR_MOD: [&str; 1] = ["crowd"];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Reads every source file without its comments. Paths are relative to `src`, with `/` on every system.
fn sources() -> Vec<(String, String)> {
    let root = folder("src");
    let source = |path: PathBuf| {
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        (name, without_comments(&fs::read_to_string(&path).unwrap()))
    };
    let sources: Vec<(String, String)> = rust_files(root.clone()).into_iter().map(source).collect();
    assert!(sources.len() > 50, "only {} source files were found", sources.len());
    sources
}

/// Returns the files of Rust in a folder, which need not exist, and in its sub-folders.
fn rust_files(folder: PathBuf) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder]);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.retain(|path| path.extension().is_some_and(|end| end == "rs"));
    files
}

/// Removes line comments, the only kind in this repository. A `//` in a string also ends the line, which is harmless.
pub fn without_comments(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

/// Returns the layer of a file: its folder below `src`, or its own stem.
fn layer_of(file: &str) -> &str {
    let first = file.split('/').next().unwrap_or(file);
    first.strip_suffix(".rs").unwrap_or(first)
}

pub fn is_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[test]
fn arrows_point_one_way() {
    let arrows = BTreeMap::from(ARROWS);
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for (file, text) in sources() {
        let layer = layer_of(&file).to_owned();
        if ["app", "lib", "main"].contains(&layer.as_str()) {
            continue;
        }
        let Some(allowed) = arrows.get(layer.as_str()) else {
            wrong.push(format!("src/{file} belongs to no layer: where does {layer} stand?"));
            continue;
        };
        for named in cycles::named_layers(&text) {
            if named != layer && !allowed.contains(&named.as_str()) {
                wrong.push(format!("src/{file} names crate::{named}; {layer} may name {allowed:?}"));
            }
        }
        seen.insert(layer);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(seen.len(), ARROWS.len(), "layers without a file: only {seen:?} were found");
}

#[test]
fn the_files_of_a_folder_form_no_cycles() {
    for (folder, mut edges) in cycles::edges(&sources()) {
        if FOLDERS_AROUND_THEIR_MOD.contains(&folder.as_str()) {
            edges.retain(|(from, to)| from != cycles::MOD && to != cycles::MOD);
        }
        let leading = cycles::leading_to_cycles(&edges);
        assert!(leading.is_empty(), "src/{folder}: there is a cycle in {leading:?}; {edges:?}");
    }
}

/// External crates are named only where they may be. Each must also be found, or the test would prove nothing.
#[test]
fn outside_crates_stay_in_their_places() {
    let mut wrong = Vec::new();
    let mut found = BTreeSet::new();
    for (file, text) in sources() {
        for (krate, places) in OUTSIDE {
            let names_it = text.match_indices(&format!("{krate}::")).any(|(at, _)| {
                let before = &text[..at];
                // A module `gltf` of this crate would be preceded by `::`.
                !before.ends_with(is_name) && !before.ends_with("::")
            });
            if names_it || text.contains(&format!("use {krate};")) {
                found.insert(krate);
                let allowed = places.iter().any(|place| file == *place || file.starts_with(&format!("{place}/")));
                if !allowed {
                    wrong.push(format!("src/{file} names the crate {krate}, which belongs to {places:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(found.len(), OUTSIDE.len(), "only {found:?} are in use");
}

/// Without the cargo features `render` and `app` the package is an animation library.
#[test]
fn the_animation_library_builds_no_crate_of_the_program() {
    const PROGRAM: [&str; 14] = [
        "anyhow",
        "ash",
        "ash-window",
        "clap",
        "comfy-table",
        "egui",
        "egui-winit",
        "gpu-allocator",
        "indicatif",
        "plotters",
        "raw-window-handle",
        "tracing",
        "tracing-subscriber",
        "winit",
    ];
    let program_crates = |features: &[&str]| {
        let tree = Command::new(env!("CARGO"))
            .args(["tree", "--locked", "--offline", "--edges", "normal", "--prefix", "none", "--format", "{p}"])
            .args(features)
            .current_dir(folder(""))
            .output()
            .unwrap();
        assert!(tree.status.success(), "cargo tree: {}", String::from_utf8_lossy(&tree.stderr));
        let names = String::from_utf8(tree.stdout).unwrap();
        let names: BTreeSet<&str> = names.lines().filter_map(|line| line.split(' ').next()).collect();
        assert!(names.contains("glam"), "{names:?}");
        PROGRAM.into_iter().filter(|name| names.contains(name)).collect::<Vec<_>>()
    };
    assert_eq!(program_crates(&["--no-default-features"]), [""; 0]);
    // A list of names that are never found would prove nothing.
    assert!(program_crates(&[]).len() > 10, "{:?}", program_crates(&[]));
}

/// Each shader is named by exactly one pass, so the reader of a shader finds its pass.
#[cfg(feature = "render")]
#[test]
fn every_shader_has_a_pass_that_names_it() {
    let mut passes = rust_files(folder("src/renderer/passes"));
    passes.retain(|path| path.to_str().unwrap().ends_with("_pass.rs"));
    // The passes that run once, before the first frame.
    passes.push(folder("src/renderer/resident/environment.rs"));
    for shader in throng::vulkan::spirv::ALL {
        let constant = format!("spirv::{}", shader.file_name.replace('.', "_").to_uppercase());
        let names_it = |path: &&PathBuf| fs::read_to_string(path).unwrap().contains(&constant);
        let users: Vec<&PathBuf> = passes.iter().filter(names_it).collect();
        assert_eq!(users.len(), 1, "{constant} should be used by one pass, not by {users:?}");
    }
}
