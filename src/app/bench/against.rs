//! `--against`: measures another build of this program in turns with this one.
//!
//! In: the other program and the arguments of this run. Out: the ratio of each row's times, with an interval.
//!
//! Every turn is a process that runs `bench --json -` with the same arguments and a share of the frames. A slow minute
//! therefore hits both programs, and the differences between processes are part of the noise that the interval shows. The
//! order within a pair alternates, so that a steady change of speed hits both programs equally often.
//!
//! The ratio of a row is the median of the pairs' ratios. Its interval lies between the second lowest and the second
//! highest pair. With 12 pairs it contains the true median in 99 of 100 cases, for any distribution: otherwise at least
//! 11 pairs lie on one side of it, which 2 × (1 + 12) of 4096 cases do. A change counts if the interval does not contain 1.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::Value;

use super::interrupt::Interrupt;
use super::report::{Run, median_of};
use super::sweep::RunSettings;
use crate::app::output::{print, progress_bar};
use crate::app::text::{ColumnGroup, counted, grouped, number, page_columns, paragraph};
use crate::cli::BenchArgs;
use crate::model::text::printable;
use crate::renderer::{CpuStage, Pass};

/// The pairs of turns. Fewer pairs have no interval.
const PAIRS: u32 = 12;
/// Smaller differences are not worth a word.
const LEAST: f64 = 0.01;
/// Shorter times are mostly the clock's and the scheduler's.
const SHORTEST_MS: f64 = 0.02;
/// The options that this process handles, with a value each.
const OWN_OPTIONS: [&str; 3] = ["--against", "--fail-above", "--frames"];
/// The exit code if a row is slower than `--fail-above` allows.
const EXIT_SLOWER: u8 = 3;
const SLOWER: &str = "slower";

/// A row that both programs have measured.
struct Row {
    settings: RunSettings,
    /// The frame, its stages and its passes.
    lines: Vec<Line>,
}

/// The medians of a time, one for each pair of turns.
pub struct Line {
    pub name: &'static str,
    pub this_ms: Vec<f64>,
    pub other_ms: Vec<f64>,
}

/// Measures, and prints the comparison. The exit code says whether a row is slower than `--fail-above` allows.
pub(super) fn run(args: &BenchArgs, other: &Path, interrupt: &Interrupt) -> Result<ExitCode> {
    let this = std::env::current_exe().context("cannot find this program")?;
    // A name without a folder is looked up in the present folder, as shells do not.
    let other =
        std::fs::canonicalize(other).with_context(|| format!("--against {}: cannot be read", other.display()))?;
    let pairs = PAIRS.min(args.frames);
    let frames = args.frames.div_ceil(pairs);
    let mut arguments = without_own_options(std::env::args_os().skip(1));
    arguments.extend(["--frames".into(), frames.to_string().into(), "--json".into(), "-".into()]);
    let progress = progress_bar(u64::from(pairs) * 2, "measuring in turns {wide_bar} {percent} % {eta} left");
    let mut rows: Vec<Row> = Vec::new();
    for pair in 0..pairs {
        let measure = |program: &Path| {
            interrupt.check()?;
            measure(program, &arguments).inspect(|_| progress.inc(1))
        };
        let (old, new) = if pair % 2 == 0 {
            (measure(&other)?, measure(&this)?)
        } else {
            let new = measure(&this)?;
            (measure(&other)?, new)
        };
        add(&mut rows, &old, &new);
    }
    interrupt.check()?;
    progress.finish_and_clear();
    if rows.is_empty() {
        bail!("{} and this program have no row in common", other.display());
    }
    print(as_text(&other, &rows, frames, page_columns()))?;
    let mut code = ExitCode::SUCCESS;
    for (row, limit) in rows.iter().zip(args.fail_above.into_iter().cycle()) {
        let slower = row.lines.first().filter(|frame| frame.verdict() == SLOWER);
        let percent = slower.map_or(0.0, |frame| 100.0 * (frame.ratio() - 1.0));
        if percent > limit {
            tracing::warn!("slower by {} %, more than {limit} %: {}", number(percent), row.settings.describe());
            code = ExitCode::from(EXIT_SLOWER);
        }
    }
    Ok(code)
}

fn without_own_options(mut arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut kept = Vec::new();
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy();
        let name = text.split('=').next().unwrap_or_default();
        if !OWN_OPTIONS.contains(&name) {
            kept.push(argument);
        } else if !text.contains('=') {
            // Its value.
            arguments.next();
        }
    }
    kept
}

/// Runs a program to its end and reads its rows.
fn measure(program: &Path, arguments: &[OsString]) -> Result<Vec<Run>> {
    let program_name = || program.display().to_string();
    let finished = Command::new(program).args(arguments).stdin(Stdio::null()).output().with_context(program_name)?;
    if !finished.status.success() {
        let messages = String::from_utf8_lossy(&finished.stderr);
        let first = messages.lines().find(|line| line.starts_with("error")).unwrap_or_default();
        bail!("{} bench failed ({}): {}", program.display(), finished.status, printable(first));
    }
    let rows = serde_json::from_slice(&finished.stdout).and_then(|json: Value| Vec::deserialize(&json["runs"]));
    rows.with_context(|| format!("{}: not the JSON of bench", program.display()))
}

/// Adds the medians of a pair of turns to those of their rows.
fn add(rows: &mut Vec<Row>, old: &[Run], new: &[Run]) {
    let stages = CpuStage::ALL.map(CpuStage::name).into_iter().chain(["other"]);
    let names = || ["frame"].into_iter().chain(stages.clone()).chain(Pass::ALL.map(Pass::name));
    for new in new {
        let Some(old) = old.iter().find(|old| old.settings == new.settings) else { continue };
        let index = rows.iter().position(|row| row.settings == new.settings).unwrap_or_else(|| {
            let crowd = |run: &Run| (run.amounts.visible, run.amounts.vertices);
            if crowd(old) != crowd(new) {
                tracing::warn!("the other program draws another crowd: {}", new.settings.describe());
            }
            let lines = names().map(|name| Line { name, this_ms: Vec::new(), other_ms: Vec::new() }).collect();
            rows.push(Row { settings: new.settings.clone(), lines });
            rows.len() - 1
        });
        for line in rows.get_mut(index).into_iter().flat_map(|row| &mut row.lines) {
            if let (Some(other_ms), Some(this_ms)) = (old.times.median(line.name), new.times.median(line.name)) {
                line.other_ms.push(other_ms);
                line.this_ms.push(this_ms);
            }
        }
    }
}

impl Line {
    /// Returns the ratios of the pairs in ascending order.
    fn ratios(&self) -> Vec<f64> {
        let pairs = self.this_ms.iter().zip(&self.other_ms).filter(|(_, other)| **other > 0.0);
        let mut ratios: Vec<f64> = pairs.map(|(this, other)| this / other).collect();
        ratios.sort_by(f64::total_cmp);
        ratios
    }

    fn ratio(&self) -> f64 {
        median_of(self.ratios())
    }

    /// Returns the interval of the ratio, if there are enough pairs.
    fn interval(&self) -> Option<(f64, f64)> {
        let ratios = self.ratios();
        let (low, high) = (ratios.get(1)?, ratios.len().checked_sub(2).and_then(|index| ratios.get(index))?);
        (ratios.len() >= PAIRS as usize).then_some((*low, *high))
    }

    pub fn verdict(&self) -> &'static str {
        let Some((low, high)) = self.interval() else { return "too few pairs" };
        let is_short = median_of(self.this_ms.clone()).max(median_of(self.other_ms.clone())) < SHORTEST_MS;
        match self.ratio() {
            ratio if !is_short && low > 1.0 && ratio > 1.0 + LEAST => SLOWER,
            ratio if !is_short && high < 1.0 && ratio < 1.0 - LEAST => "faster",
            _ => "no change",
        }
    }
}

fn as_text(other: &Path, rows: &[Row], frames: u32, columns: u16) -> String {
    let pairs = rows.first().and_then(|row| row.lines.first()).map_or(0, |line| line.this_ms.len());
    let head = format!(
        "In turns with {}: {} of each program, {} each. Medians in milliseconds; a ratio below 1 means that this program \
         is faster. Its interval is right in 99 of 100 cases.",
        printable(&other.display().to_string()),
        counted(pairs, "process"),
        counted(frames as usize, "frame"),
    );
    let mut text = paragraph(columns, &head);
    for row in rows {
        let column = |header, of: &dyn Fn(&Line) -> String| (header, row.lines.iter().map(of).collect());
        let dash = || "-".to_owned();
        let changes = vec![
            column("other", &|line| number(median_of(line.other_ms.clone()))),
            column("this", &|line| number(median_of(line.this_ms.clone()))),
            column("ratio", &|line| if line.ratios().is_empty() { dash() } else { format!("{:.3}", line.ratio()) }),
            column("interval", &|line| {
                line.interval().map_or_else(dash, |(low, high)| format!("{low:.3} to {high:.3}"))
            }),
            column("", &|line| line.verdict().to_owned()),
        ];
        let names = column("", &|line| line.name.to_owned());
        text += &format!("\n{}", paragraph(columns, &row.settings.describe()));
        let group = |columns| ColumnGroup { title: "", columns };
        text += &grouped(columns, &group(vec![names]), &[group(changes)]);
    }
    text
}
