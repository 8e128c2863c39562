//! Sets `THRONG_COMMIT` for `env!`: the commit that the program was built from, which makes benchmarks traceable. And
//! `THRONG_VERSION`: the version with the commit and its date, which `throng --version` prints.

use std::path::Path;
use std::process::Command;

/// The program's sources, except for the shaders, which cargo watches anyway.
const SOURCES: [&str; 4] = ["src", "assets", "Cargo.toml", "Cargo.lock"];

/// Sets `THRONG_COMMIT` to the first eight digits of the hash, with the suffix `-dirty` if a tracked file differs from the
/// commit. It is `unknown` if this folder is neither a git checkout with git at hand nor an unpacked package.
pub fn declare() {
    let (commit, details) = match (checked_out_commit(), packaged_commit()) {
        (Some((commit, date)), _) => (commit.clone(), format!(" ({commit}, {date})")),
        (None, Some(commit)) => (commit.clone(), format!(" ({commit})")),
        (None, None) => ("unknown".to_owned(), String::new()),
    };
    println!("cargo::rustc-env=THRONG_COMMIT={commit}");
    println!("cargo::rustc-env=THRONG_VERSION={}{details}", env!("CARGO_PKG_VERSION"));
}

/// Returns the commit that cargo wrote into the package.
fn packaged_commit() -> Option<String> {
    let info = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = info.split_once("\"sha1\": \"")?;
    Some(rest.get(..8)?.to_owned())
}

/// Returns the commit and its date.
fn checked_out_commit() -> Option<(String, String)> {
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
    // Not `--short`, whose length depends on the clone.
    let commit = git(&["rev-parse", "HEAD"])?.get(..8)?.to_owned();
    let changes = git(&["status", "--porcelain", "--untracked-files=no"])?;
    let date = git(&["show", "--no-patch", "--format=%cs", "HEAD"])?;
    Some((if changes.is_empty() { commit } else { format!("{commit}-dirty") }, date))
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
