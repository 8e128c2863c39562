//! `THRONG_COMMIT` for `env!`: the commit that the program was built from, so that a benchmark's figures can be traced.

use std::path::Path;
use std::process::Command;

/// What the program is built from, beside the shaders, which are watched anyhow.
const SOURCES: [&str; 4] = ["src", "assets", "Cargo.toml", "Cargo.lock"];

/// Sets `THRONG_COMMIT` to the short hash, with `-dirty` behind it where files that git tracks are not as committed, or to
/// `unknown` where this folder is no git checkout or git is missing.
pub fn declare() {
    let commit = checked_out_commit().unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=THRONG_COMMIT={commit}");
}

fn checked_out_commit() -> Option<String> {
    // A source archive unpacked somewhere below another repository must not report that one's commit.
    if !git(&["rev-parse", "--show-prefix"])?.is_empty() {
        return None;
    }
    watch("HEAD");
    // A commit moves the branch and leaves HEAD as it is. The branch may stand in a file of its own or among the
    // packed ones; the log of HEAD moves with both. Git finds these files in a worktree too.
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

/// Runs this script again when git's `file` changes. Cargo would run it at every build for a file that is missing.
fn watch(file: &str) {
    if let Some(path) = git(&["rev-parse", "--git-path", file]).filter(|path| Path::new(path).exists()) {
        println!("cargo::rerun-if-changed={path}");
    }
}

/// What git prints, or nothing where it fails.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim_end().to_owned())
}
