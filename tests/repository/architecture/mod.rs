//! Checks the dependencies between the folders, read from the sources: each layer and each external crate has its users.
//!
//! Layers that depend in one direction can be read one at a time. Rust allows cycles between modules, so only this test
//! keeps a convenient `use` from creating one. Every `crate::…` path in code counts, also in braces. Paths in comments
//! do not: documentation may refer to anything.

mod cycles;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::files::{code, path_of, rust_files, text};
use cycles::{MOD, Names};

/// The layers below `app`, each with the layers that it may name. `lib.rs` and `main.rs` belong to none.
const ARROWS: [(&str, &[&str]); 12] = [
    ("model", &[]),
    ("shader_types", &[]),
    ("vulkan", &[]),
    ("view", &["shader_types"]),
    ("animation", &["model", "shader_types"]),
    ("levels", &["animation", "model", "shader_types"]),
    ("measure", &["animation", "model", "shader_types"]),
    ("retarget", &["animation", "measure", "model"]),
    ("crowd", &["animation", "measure", "model", "view", "shader_types"]),
    ("renderer", &["vulkan", "crowd", "animation", "model", "view", "shader_types"]),
    ("extras", &["renderer", "vulkan", "crowd", "model", "shader_types"]),
    ("cli", &["animation", "crowd", "extras", "model", "renderer", "view"]),
];

/// External crates, each with the files and folders below `src` that may name them.
const OUTSIDE: [(&str, &[&str]); 9] = [
    ("gltf", &["model/import"]),
    ("ash", &["vulkan", "renderer", "extras", "app"]),
    ("gpu_allocator", &["vulkan", "renderer", "app"]),
    ("winit", &["app"]),
    ("egui", &["app/label.rs", "app/paint.rs", "app/view/hud"]),
    ("egui_winit", &["app/view/hud"]),
    ("clap", &["cli.rs", "cli", "main.rs", "app/shell.rs", "app/render/sequence.rs"]),
    ("plotters", &["app/bench/plot.rs"]),
    ("anyhow", &["app"]),
];

/// Folders whose `mod.rs` defines types that its files implement or use, and also calls these files. That is a cycle too,
/// but a common one in Rust, and the folder can still be read from its `mod.rs` downwards. New folders do without.
const FOLDERS_AROUND_THEIR_MOD: [&str; 1] = ["crowd"];

/// Reads every source file without its comments. Paths are relative to `src`.
fn sources() -> Vec<(String, String)> {
    let files = rust_files("src").into_iter();
    let sources: Vec<_> = files.map(|file| (file["src/".len()..].to_owned(), code(&file))).collect();
    assert!(sources.len() > 50, "only {} source files were found", sources.len());
    sources
}

/// Each layer and each crate must also be found, or the test would prove nothing.
#[test]
fn layers_and_outside_crates_are_named_only_where_they_may_be() {
    let mut found = BTreeSet::new();
    for (file, code) in sources() {
        // The folder below `src`, or the file's own stem.
        let layer = file.split(['/', '.']).next().unwrap_or(&file);
        let arrows = ARROWS.iter().find(|(name, _)| *name == layer);
        let has_place = arrows.is_some() || ["app", "lib", "main"].contains(&layer);
        assert!(has_place, "src/{file} belongs to no layer: where does {layer} stand?");
        found.extend(arrows.map(|(name, _)| name));
        for path in Names::of(&code).paths() {
            if let (Some((_, allowed)), ["crate", named, ..]) = (arrows, &path[..]) {
                let may_name = *named == layer || allowed.contains(named);
                assert!(may_name, "src/{file} names crate::{named}; {layer} may name {allowed:?}");
            }
            let Some((krate, places)) = OUTSIDE.iter().find(|(krate, _)| path.first() == Some(krate)) else { continue };
            let is_in_place = places.iter().any(|place| Path::new(&file).starts_with(place));
            assert!(is_in_place, "src/{file} names the crate {krate}, which belongs to {places:?}");
            found.insert(krate);
        }
    }
    assert_eq!(found.len(), ARROWS.len() + OUTSIDE.len(), "only {found:?} were found");
}

#[test]
fn the_files_of_a_folder_form_no_cycles() {
    for (folder, mut edges) in cycles::edges(&sources()) {
        if FOLDERS_AROUND_THEIR_MOD.contains(&folder.as_str()) {
            edges.retain(|&(from, to)| from != MOD && to != MOD);
        }
        let leading = cycles::leading_to_cycles(edges);
        assert!(leading.is_empty(), "src/{folder}: there is a cycle in {leading:?}");
    }
}

/// Without the cargo features `render` and `app` the package is an animation library.
#[test]
fn the_animation_library_builds_no_crate_of_the_program() {
    const PROGRAM: &str = "anyhow ash ash-window clap comfy-table egui egui-winit gpu-allocator indicatif plotters \
        raw-window-handle tracing tracing-subscriber winit x11rb";
    let program_crates = |features: &[&str]| {
        let tree = Command::new(env!("CARGO"))
            .args(["tree", "--locked", "--offline", "--edges", "normal", "--prefix", "none", "--format", "{p}"])
            .args(features)
            .current_dir(path_of(""))
            .output()
            .unwrap();
        assert!(tree.status.success(), "cargo tree: {}", String::from_utf8_lossy(&tree.stderr));
        let names = String::from_utf8(tree.stdout).unwrap();
        let names: BTreeSet<&str> = names.lines().filter_map(|line| line.split(' ').next()).collect();
        assert!(names.contains("glam"), "{names:?}");
        PROGRAM.split(' ').filter(|name| names.contains(name)).collect::<Vec<_>>()
    };
    assert_eq!(program_crates(&["--no-default-features"]), [""; 0]);
    // A list of names that are never found would prove nothing.
    assert!(program_crates(&[]).len() > 10, "{:?}", program_crates(&[]));
}

/// Each shader is named by exactly one pass or extra, so the reader of a shader finds it.
#[cfg(feature = "extras")]
#[test]
fn every_shader_has_a_pass_that_names_it() {
    let mut passes = rust_files("src/renderer/passes");
    passes.retain(|file| file.ends_with("_pass.rs"));
    // The passes that run once, before the first frame.
    passes.push("src/renderer/resident/environment.rs".to_owned());
    passes.extend(rust_files("src/extras"));
    for shader in throng::vulkan::spirv::ALL {
        let constant = format!("spirv::{}", shader.file_name.replace('.', "_").to_uppercase());
        let users: Vec<&String> = passes.iter().filter(|file| text(file).contains(&constant)).collect();
        assert_eq!(users.len(), 1, "{constant} should be used by one pass, not by {users:?}");
    }
}

/// Test binaries without the standard harness list their tests themselves (`tests/common/gpu.rs`). There, a function with
/// `#[test]` would silently be left out of the build.
#[test]
fn no_test_is_left_out() {
    let manifest = text("Cargo.toml");
    let tests = manifest.split("\n[").filter(|table| table.starts_with("[test]]") && table.contains("harness = false"));
    let names: Vec<&str> = tests.filter_map(|table| table.split("name = \"").nth(1)?.split('"').next()).collect();
    assert_eq!(names, ["gpu"]);
    for file in [rust_files("tests/gpu"), vec!["tests/gpu.rs".to_owned()]].concat() {
        assert!(!text(&file).contains("#[test]"), "{file} has #[test], but an own harness: list the test in `main`");
    }
}
