//! `bench`: draws frames offscreen, as fast as possible, and times each of their stages.
//!
//! [`sweep`] lists the rows and their order, and [`session`] measures them: [`turn`] draws the frames of one row's turn,
//! [`probe`] checks that these are what they should be, [`rates`] measures the speed of memory. [`fit`] looks for the
//! largest crowd of a frame time, and [`against`] measures in turns with another program. The results are the structs of
//! [`report`]. The [`table`] on the terminal and the [`plot`] are made from them. All times are in milliseconds: GPU times
//! come from timestamps around each pass, CPU times from the clock. `benches/standard.py` makes the table of `docs/measurements.md`.
//!
//! Files that cannot be written and crowds that the device cannot hold are found before the first measurement. The row of
//! such a crowd is left out with a warning, and so is a row that fails later. The other rows are reported before its error,
//! and after Ctrl-C. Files are complete or absent.

pub mod against;
pub mod fit;
mod interrupt;
mod plot;
mod probe;
mod rates;
pub mod report;
mod session;
pub mod sweep;
mod table;
mod turn;

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, bail};

use self::interrupt::Interrupt;
use self::session::Session;
use super::models::load_models;
use super::output::{cannot_write, check_files, is_standard_output, print, print_aside, write_file};
use super::text::page_columns;
use crate::cli::BenchArgs;
use crate::cli::files::named_files;
use crate::crowd::ClipChoice;
use crate::renderer::UploadPath;

/// The largest number of rows, each of some kilobytes: lists of options can describe more than memory holds.
pub const MOST_ROWS: u64 = 1_000_000;

/// Checks the options that do not depend on files. [`run`] does so first.
pub fn check(args: &BenchArgs) -> Result<()> {
    let rows = sweep::row_count(&args.sweep);
    if rows > MOST_ROWS {
        bail!("the lists of the options give {rows} rows, but at most {MOST_ROWS} can be measured; shorten the lists");
    }
    Ok(())
}

pub fn run(args: &BenchArgs) -> Result<ExitCode> {
    check(args)?;
    let mut args = args.clone();
    if args.crowd.clip == ClipChoice::Auto {
        // Names may not decide about the work, nor builds that choose otherwise.
        args.crowd.clip = ClipChoice::Index(0);
    }
    let args = &args;
    if let Some(program) = &args.against {
        return against::run(args, program, &Interrupt::listen()?);
    }
    let models = load_models(&args.crowd)?;
    let outputs = [("--json", &args.json), ("--plot", &args.plot)];
    let outputs: Vec<_> = outputs.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?))).collect();
    let files = named_files(&args.crowd.models);
    let inputs: Vec<_> = files.iter().map(|(path, _)| ("a model", path.as_path())).collect();
    check_files(&outputs, &inputs)?;
    let mut session = Session::new(args, models, Interrupt::listen()?)?;
    match args.fit {
        Some(limit_ms) => fit::add_rows(&mut session, limit_ms)?,
        None => sweep::rows(&args.sweep, UploadPath::best_for(&session.device.physical))
            .into_iter()
            .for_each(|settings| session.add(settings, None)),
    }
    let measured = session.measure();
    let device = Arc::clone(&session.device);
    let failure = session.take_failure();
    let report = session.into_report(failure.is_some() || measured.is_err());
    // The rows that were measured before a failure are reported.
    if !report.runs.is_empty() {
        // Nothing mixes with a file that goes to standard output.
        let text = table::as_text(&report, page_columns());
        if outputs.iter().any(|(_, path)| is_standard_output(path)) { print_aside(&text) } else { print(text) }?;
        if let Some(path) = &args.json {
            write_file(path, &report.to_json(&device.physical).with_context(|| cannot_write(path))?)?;
        }
        if let Some(path) = &args.plot {
            write_file(path, plot::to_svg(&report).with_context(|| cannot_write(path))?.as_bytes())?;
        }
    }
    failure.map_or(measured, Err)?;
    Ok(ExitCode::SUCCESS)
}
