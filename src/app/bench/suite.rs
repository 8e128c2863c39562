//! `--suite`: the standard set of measurements, in a folder with all files.
//!
//! In: the models of the command line. Out: `suite.json`, `suite.csv`, a plot for each size of the image, and `suite.md`
//! with the table that the README shows. The set is always the same, so suites of different machines and versions can be
//! compared. Slow frames are few: a turn ends after [`MOST_MS`], and after two frames at least. So the whole set takes
//! about ten minutes on two cores without a GPU. Rows that the device cannot hold are left out with a warning.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};

use super::interrupt::Interrupt;
use super::report::{Report, Run};
use super::session::Session;
use super::sweep::{self, Defaults, RendererChoice, Settings, Share};
use super::{csv, markdown, plot, table};
use crate::app::output::{cannot_write, print, write_file};
use crate::app::text::page_columns;
use crate::cli::{BenchArgs, QualityArgs, Size};
use crate::model::Model;
use crate::renderer::Skinning;

/// The measured frames of each row, if they are fast.
const FRAMES: u32 = 60;
const WARMUP: u32 = 2;
/// A turn measures no further frame after this time.
const MOST_MS: u32 = 700;
/// A part for `--quick`: everything runs once, and the figures mean little.
const QUICK_FRAMES: u32 = 2;

const HD: Size = Size { width: 1280, height: 720 };
/// So few pixels that only the characters' vertices count.
const SMALL: Size = Size { width: 64, height: 64 };
const PLAIN: QualityArgs = QualityArgs { msaa: Some(1), shadows: Some(false) };
/// The program's defaults.
const FINE: QualityArgs = QualityArgs { msaa: Some(4), shadows: Some(true) };

/// The crowds of one size, way of skinning and quality, and their errors of levels of detail.
type Part = (Size, Skinning, QualityArgs, &'static [f64], &'static [u32]);

const FULL: f64 = 0.0;
/// The default.
const PIXEL: f64 = 1.0;

/// The set of one model.
const PARTS: [Part; 8] = [
    (HD, Skinning::Compute, PLAIN, &[FULL, PIXEL], &[1, 10, 100, 1_000, 10_000]),
    (HD, Skinning::Compute, PLAIN, &[PIXEL], &[100_000]),
    (SMALL, Skinning::Compute, PLAIN, &[FULL, PIXEL], &[1, 10, 100, 1_000, 10_000]),
    (SMALL, Skinning::Compute, PLAIN, &[PIXEL], &[100_000]),
    (HD, Skinning::Vertex, PLAIN, &[FULL, PIXEL], &[1_000]),
    (SMALL, Skinning::Vertex, PLAIN, &[FULL, PIXEL], &[1_000]),
    (HD, Skinning::Compute, FINE, &[PIXEL], &[1, 1_000, 10_000]),
    (HD, Skinning::Vertex, FINE, &[PIXEL], &[1_000]),
];
/// The set of a mix of models.
const MIXED: [Part; 2] =
    [(HD, Skinning::Compute, PLAIN, &[FULL, PIXEL], &[1_000]), (HD, Skinning::Compute, PLAIN, &[PIXEL], &[10_000])];

/// Measures the set and writes the files.
///
/// # Errors
/// A row cannot be drawn, a file cannot be written, or the user interrupts.
pub(super) fn run(args: &BenchArgs, folder: &Path, models: &Arc<[Model]>) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| cannot_write(folder))?;
    let interrupt = Interrupt::listen()?;
    let is_quick = args.suite.quick;
    let args = &BenchArgs { frames: if is_quick { QUICK_FRAMES } else { FRAMES }, warmup: WARMUP, ..args.clone() };
    let first: Arc<[Model]> = models.iter().take(1).cloned().collect();
    let mut report = measure(args, first, &PARTS, &interrupt)?;
    if models.len() > 1 && !report.partial {
        let mixed = measure(args, Arc::clone(models), &MIXED, &interrupt)?;
        report = Report { partial: mixed.partial, runs: [report.runs, mixed.runs].concat(), ..mixed };
    }
    if !report.runs.is_empty() {
        print(&table::as_text(&report, page_columns()))?;
        write(folder, &report)?;
    }
    interrupt.check()
}

/// Measures the parts of the set with a crowd of these models. The report is partial after Ctrl-C.
fn measure(args: &BenchArgs, models: Arc<[Model]>, parts: &[Part], interrupt: &Interrupt) -> Result<Report> {
    let mut session = Session::new(args, models, interrupt.clone())?;
    session.add(&rows(parts, session.defaults(), args.suite.quick))?;
    session.rows.retain(|row| row.failure.is_none());
    let share = |share| Share { most_ms: Some(MOST_MS), ..share };
    let rounds: Vec<Share> = sweep::rounds(args.frames, args.warmup).into_iter().map(share).collect();
    let measured = session.measure_all(&rounds);
    match session.take_failure() {
        Some(failure) => Err(failure),
        None => Ok(session.into_report(measured.is_err())),
    }
}

/// Returns the rows of the parts. A quick suite has crowds of at most a hundred.
fn rows(parts: &[Part], defaults: Defaults, is_quick: bool) -> Vec<Settings> {
    const MOST_QUICK: u32 = 100;
    let most = if is_quick { MOST_QUICK } else { u32::MAX };
    let mut rows: Vec<Settings> = Vec::new();
    for &(size, skinning, quality, lod_errors, counts) in parts {
        let renderer = RendererChoice { size, skinning, upload: defaults.upload, quality };
        for &lod_error in lod_errors {
            for &instances in counts {
                let (instances, threads) = (instances.min(most), defaults.threads);
                let row = Settings { renderer, lod_error, threads, instances };
                if !rows.contains(&row) {
                    rows.push(row);
                }
            }
        }
    }
    rows
}

fn write(folder: &Path, report: &Report) -> Result<()> {
    let file = |name: &str, bytes: &[u8]| write_file(&folder.join(name), bytes);
    let failed = || cannot_write(folder);
    file("suite.json", &report.to_json().with_context(failed)?)?;
    file("suite.csv", &csv::to_csv(&report.runs).with_context(failed)?)?;
    file("suite.md", markdown::to_markdown(report).as_bytes())?;
    for size in [HD, SMALL] {
        let is_plotted = |run: &&Run| {
            let models = report.runs.first().map(|first| &first.models);
            (run.width, run.height) == (size.width, size.height)
                && (run.msaa, run.shadows) == (PLAIN.samples(), PLAIN.has_shadows())
                && run.skinning == Skinning::Compute.name()
                && Some(&run.models) == models
        };
        let runs: Vec<Run> = report.runs.iter().filter(is_plotted).cloned().collect();
        if !runs.is_empty() {
            let svg = plot::to_svg(&Report { runs, ..report.clone() }).with_context(failed)?;
            file(&format!("{}x{}.svg", size.width, size.height), svg.as_bytes())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::renderer::UploadPath;

    #[test]
    fn rows_are_measured_once() {
        let defaults = Defaults { upload: UploadPath::Direct, threads: 2 };
        let all = rows(&PARTS, defaults, false);
        assert_eq!(all.len(), 30);
        let quick = rows(&PARTS, defaults, true);
        assert!(quick.iter().all(|row| row.instances <= 100) && quick.len() == 19, "{}", quick.len());
        assert!(quick.iter().enumerate().all(|(index, row)| !quick[..index].contains(row)));
    }
}
