//! `--against`: measures another build of this program in turns with this one.
//!
//! In: the other program and the arguments of this run. Out: the ratio of each row's times, with an interval
//! ([`pairs`](super::pairs)).
//!
//! Every turn is a process that runs `bench` with the same arguments and a share of the frames. A slow minute therefore
//! hits both programs, and the differences between processes (the places of their memory, for example) are part of the
//! noise that the interval shows. The order within a pair alternates, so that a steady change of speed hits both programs
//! equally often.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::compare;
use super::interrupt::{Interrupt, Interrupted};
use super::pairs::{Line, Row, add, as_text};
use super::report::Report;
use super::verdict::Change;
use crate::app::output::{print, progress_bar};
use crate::app::text::page_columns;
use crate::cli::BenchArgs;
use crate::model::text::printable;

/// The pairs of turns.
const PAIRS: u32 = 12;
/// The options that this process handles, with a value each.
const OWN_OPTIONS: [&str; 3] = ["--against", "--fail-above", "--frames"];
/// Options with a value that older programs do not know. Without them these do the same.
const NEWER_OPTIONS: [&str; 1] = ["--lod-error"];

/// Measures, and prints the comparison. Returns the rows whose frames became slower, with the ratios.
///
/// # Errors
/// A program fails, the programs have no row in common, or the user interrupts.
pub(super) fn run(args: &BenchArgs, other: &Path, interrupt: &Interrupt) -> Result<Vec<(String, f64)>> {
    let this = std::env::current_exe().context("cannot find this program")?;
    let other = program(other)?;
    let folder = Folder::create()?;
    let pairs = PAIRS.min(args.frames);
    let turn = TurnProcess {
        frames: args.frames.div_ceil(pairs),
        file: folder.0.join("turn.json"),
        messages: folder.0.join("messages.txt"),
        interrupt,
    };
    let arguments = without(&OWN_OPTIONS, std::env::args_os().skip(1));
    let unknown = unknown_options(&other)?;
    let other_arguments = without(&unknown, arguments.iter().cloned());
    let progress = progress_bar(u64::from(pairs) * 2, "measuring in turns {wide_bar} {percent} % {eta} left");
    let mut rows: Vec<Row> = Vec::new();
    for pair in 0..pairs {
        let measure = |program: &Path| {
            let arguments = if program == this { &arguments } else { &other_arguments };
            turn.measure(program, arguments).inspect(|_| progress.inc(1))
        };
        let (old, new) = if pair % 2 == 0 {
            let old = measure(&other)?;
            (old, measure(&this)?)
        } else {
            let new = measure(&this)?;
            (measure(&other)?, new)
        };
        if pair == 0 {
            for warning in compare::warnings(&old, &new) {
                tracing::warn!("{warning}");
            }
        }
        compare::rows(&old, &new).iter().for_each(|row| add(&mut rows, row));
    }
    progress.finish_and_clear();
    if rows.is_empty() {
        bail!("{} and this program have no row in common", other.display());
    }
    print(&as_text(&other, &rows, turn.frames, page_columns()))?;
    let frame = |row: &Row| row.lines.first().filter(|line| line.change() == Change::Slower).map(Line::ratio);
    Ok(rows.into_iter().filter_map(|row| frame(&row).map(|ratio| (row.description, ratio))).collect())
}

/// Returns the path of a program. A name without a folder is looked up in the present folder, as shells do not.
fn program(path: &Path) -> Result<PathBuf> {
    std::fs::canonicalize(path).with_context(|| format!("--against {}: cannot be read", path.display()))
}

/// Returns the newer options that a program's help does not mention.
fn unknown_options(program: &Path) -> Result<Vec<&'static str>> {
    let help = Command::new(program).args(["bench", "--help"]).output();
    let help = help.with_context(|| program.display().to_string())?.stdout;
    let help = String::from_utf8_lossy(&help);
    Ok(NEWER_OPTIONS.into_iter().filter(|option| !help.contains(option)).collect())
}

/// Returns arguments without some options and their values.
fn without(options: &[&str], mut arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut kept = Vec::new();
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy();
        let name = text.split('=').next().unwrap_or_default();
        if !options.contains(&name) {
            kept.push(argument);
        } else if !text.contains('=') {
            // Its value.
            arguments.next();
        }
    }
    kept
}

/// A folder that is removed with its files.
struct Folder(PathBuf);

impl Folder {
    fn create() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("throng-against-{}", std::process::id()));
        std::fs::create_dir(&path).with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The system removes what remains in its temporary folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The inputs of a turn.
struct TurnProcess<'a> {
    frames: u32,
    file: PathBuf,
    messages: PathBuf,
    interrupt: &'a Interrupt,
}

impl TurnProcess<'_> {
    /// Runs a program to its end and reads its results.
    ///
    /// # Errors
    /// The program cannot be started or fails, or the user interrupts.
    fn measure(&self, program: &Path, arguments: &[OsString]) -> Result<Report> {
        /// Much shorter than a turn.
        const POLL: Duration = Duration::from_millis(10);
        let failed = || program.display().to_string();
        let messages = std::fs::File::create(&self.messages).with_context(failed)?;
        let mut child = Command::new(program)
            .args(arguments)
            .arg("--frames")
            .arg(self.frames.to_string())
            .arg("--json")
            .arg(&self.file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(messages)
            .spawn()
            .with_context(failed)?;
        let status = loop {
            if let Some(status) = child.try_wait().with_context(failed)? {
                break status;
            }
            if self.interrupt.is_set() {
                // It may have ended by itself: the terminal interrupts it, too.
                let _ = child.kill();
                child.wait().with_context(failed)?;
                return Err(Interrupted.into());
            }
            std::thread::sleep(POLL);
        };
        self.interrupt.check()?;
        if !status.success() {
            let text = std::fs::read_to_string(&self.messages).unwrap_or_default();
            let first = text.lines().find(|line| line.starts_with("error")).unwrap_or("");
            bail!("{} bench failed ({status}): {}", program.display(), printable(first));
        }
        compare::read(&self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_get_the_other_arguments() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let given = "bench a.glb --against b --frames=7 --size 1x1 --frames 9 --fail-above=3 --msaa 1";
        assert_eq!(without(&OWN_OPTIONS, words(given).into_iter()), words("bench a.glb --size 1x1 --msaa 1"));
    }
}
