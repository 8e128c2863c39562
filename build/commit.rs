//! Sets `THRONG_COMMIT` for `env!`: the commit that the program was built from, which makes benchmarks traceable.

use std::path::Path;
use std::process::Command;

/// The program's sources, except for the shaders, which cargo watches anyway.
const SOURCES: [&str; 4] = ["src", "assets", "Cargo.toml", "Cargo.lock"];

/// Sets `THRONG_COMMIT` to the short hash, with the suffix `-dirty` if a tracked file differs from the commit. It is
/// `unknown` if this folder is not a git checkout or git is missing.
pub fn declare() {
    let commit = checked_out_commit().unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=THRONG_COMMIT={commit}");
}

fn checked_out_commit() -> Option<String> {
    // A source archive may be unpacked inside another repository. It must not report that repository's commit.
    if !git(&["rev-parse", "--show-prefix"])?.is_empty() {
        return None;
    }
    watch("HEAD");
    // A commit moves the branch and leaves HEAD unchanged. The branch is either a file or a line in `packed-refs`. The
    // log of HEAD changes in both cases. Git finds these files in a worktree too.
    if let Some(branch) = git(&["symbolic-ref", "--quiet", "HEAD"]) {
        watch(&branch);
    }
    watch("packed-refs");
    watch("logs/HEAD");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
    }
    let commit = git(&["rev-parse", "--short", "HEAD"])?;
    let changes = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changes.is_empty() { commit } else { format!("{commit}-dirty") })
}

/// Runs this script again when git's `file` changes. Does not watch a missing file: cargo would run it at every build.
fn watch(file: &str) {
    if let Some(path) = git(&["rev-parse", "--git-path", file]).filter(|path| Path::new(path).exists()) {
        println!("cargo::rerun-if-changed={path}");
    }
}

/// Returns the output of git, or `None` if git fails.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim_end().to_owned())
}
