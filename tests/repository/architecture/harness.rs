//! Test binaries without the standard harness list their tests themselves (`tests/common/gpu.rs`). There, a function with
//! `#[test]` would silently be left out of the build.

use std::fs;
use std::path::{Path, PathBuf};

use super::{folder, rust_files};

/// Returns the names of the test binaries without the standard harness.
fn own_harnesses(manifest: &str) -> Vec<&str> {
    let tests = manifest.split("[[test]]").skip(1).map(|table| table.split("\n[").next().unwrap_or(table));
    let own = tests.filter(|table| table.contains("harness = false"));
    own.filter_map(|table| table.split("name = \"").nth(1)?.split('"').next()).collect()
}

/// Returns the sources of a test binary: one file, and all files of its folder.
fn sources_of(test: &str) -> Vec<PathBuf> {
    let mut sources = rust_files(folder("tests").join(test));
    sources.push(folder("tests").join(format!("{test}.rs")));
    sources
}

#[test]
fn no_test_is_left_out() {
    let manifest = fs::read_to_string(folder("Cargo.toml")).unwrap();
    let tests = own_harnesses(&manifest);
    assert_eq!(tests, ["gpu"]);
    for path in tests.into_iter().flat_map(sources_of) {
        let shown = Path::strip_prefix(&path, folder("")).unwrap_or(&path).display().to_string();
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("#[test]"), "{shown} has #[test], but a harness of its own: list the test in `main`");
    }
}
