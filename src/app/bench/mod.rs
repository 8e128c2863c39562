//! `bench`: draws frames offscreen, as fast as possible, and times each of their stages.
//!
//! [`sweep`] lists the rows and their order, and [`session`] measures them: [`turn`] draws the frames of one row's turn,
//! [`probe`] checks that these are what they should be, [`rates`] and [`work`] measure the speed of memory and processors.
//! [`fit`] looks for the largest crowd of a frame time, and [`against`] measures in turns with another program. The results
//! are the structs of [`report`]. The [`table`] on the terminal, [`csv`], [`plot`] and [`compare`] are made from them. All
//! times are in milliseconds: GPU times come from timestamps around each pass, CPU times from the monotonic clock.
//!
//! Files that cannot be read or written and crowds that the device cannot hold are found before the first measurement.
//! The row of such a crowd is left out with a warning. A row that fails later is left out of the following rounds, and
//! the other rows are reported before its error. So are the finished rows after Ctrl-C. Files are complete or absent.

mod against;
mod compare;
mod csv;
mod date;
mod fit;
mod fitting;
mod interrupt;
mod markdown;
mod pairs;
mod plot;
mod probe;
mod rates;
mod report;
mod samples;
mod scene_settings;
mod session;
mod settings;
#[cfg(test)]
mod simulated;
mod suite;
mod summary;
mod sweep;
mod table;
#[cfg(test)]
mod testing;
mod turn;
mod verdict;
mod work;

use std::process::ExitCode;

use anyhow::{Context, Error, Result, bail};

use self::interrupt::Interrupt;
use self::report::Report;
use self::session::Session;
use super::output::{cannot_write, check_files, is_standard_output, print, print_aside, write_file};
use super::scene::load_models;
use super::text::{number, page_columns};
use crate::cli::{BenchArgs, BenchFiles};

/// The exit code if a row is slower than `--fail-above` allows.
const SLOWER: u8 = 3;

/// The largest number of rows. More would take days, and lists of options can describe more than memory holds.
pub const MOST_ROWS: u64 = 10_000;

/// Checks the options that do not depend on files. [`run`] does so first.
///
/// # Errors
/// The lists of the options have too many combinations.
pub fn check(args: &BenchArgs) -> Result<()> {
    let rows = sweep::row_count(&args.sweep);
    if rows > MOST_ROWS {
        bail!("the lists of the options give {rows} rows, but at most {MOST_ROWS} can be measured; shorten the lists");
    }
    Ok(())
}

/// Runs the command.
///
/// # Errors
/// Loading, rendering or writing fails, or the user interrupts.
pub fn run(args: &BenchArgs) -> Result<ExitCode> {
    check(args)?;
    let limit = args.comparison.fail_above;
    if let Some(program) = &args.comparison.against {
        let slowdowns = against::run(args, program, &Interrupt::listen()?)?;
        return Ok(exit_code(limit, &slowdowns));
    }
    let models = load_models(&args.crowd)?;
    if let Some(folder) = &args.suite.suite {
        return suite::run(args, folder, &models).map(|()| ExitCode::SUCCESS);
    }
    let old = args.files.compare.as_deref().map(|path| Ok::<_, Error>((path, compare::read(path)?))).transpose()?;
    check_outputs(args)?;
    let mut session = Session::new(args, models, Interrupt::listen()?)?;
    let measured = match args.fit {
        Some(limit_ms) => fitting::measure(&mut session, limit_ms),
        None => {
            session.add(&sweep::rows(&args.sweep, args.quality, session.defaults()))?;
            session.measure_all(&sweep::rounds(args.frames, args.warmup))
        }
    };
    let failure = session.take_failure();
    let report = session.into_report(failure.is_some() || measured.is_err());
    // The rows that were measured before a failure are reported.
    let mut slowdowns = Vec::new();
    // Nothing mixes with a file that goes to standard output.
    let say = if args.files.outputs().any(|(_, path)| is_standard_output(path)) { print_aside } else { print };
    if !report.runs.is_empty() {
        say(&table::as_text(&report, page_columns()))?;
        write_files(&args.files, &report)?;
        if let Some((path, old)) = &old {
            for warning in compare::warnings(old, &report).into_iter().chain(compare::speed_warning(old, &report)) {
                tracing::warn!("{warning}");
            }
            say(&compare::as_text(path, old, &report, page_columns()))?;
            let rows = compare::rows(old, &report);
            if limit.is_some() && rows.is_empty() {
                bail!("--fail-above: {} has no row with these settings", path.display());
            }
            slowdowns = rows.iter().filter_map(|row| Some((row.describe(), row.slowdown()?))).collect();
        }
    }
    failure.map_or(measured, Err)?;
    Ok(exit_code(limit, &slowdowns))
}

/// Returns the exit code for the rows that became slower, with the ratios of their frame times. Names those beyond the
/// limit.
fn exit_code(limit_percent: Option<f64>, slowdowns: &[(String, f64)]) -> ExitCode {
    let Some(limit) = limit_percent else { return ExitCode::SUCCESS };
    let percent = |ratio: f64| 100.0 * (ratio - 1.0);
    let mut code = ExitCode::SUCCESS;
    for (row, ratio) in slowdowns.iter().filter(|(_, ratio)| percent(*ratio) > limit) {
        tracing::warn!("slower by {} %, more than {limit} %: {row}", number(percent(*ratio)));
        code = ExitCode::from(SLOWER);
    }
    code
}

/// Checks that all files can be written and that none replaces another.
fn check_outputs(args: &BenchArgs) -> Result<()> {
    let outputs: Vec<_> = args.files.outputs().collect();
    let models = args.crowd.models.iter().map(|path| ("a model", path.as_path()));
    let inputs: Vec<_> = args.files.compare.iter().map(|path| ("--compare", path.as_path())).chain(models).collect();
    check_files(&outputs, &inputs)
}

fn write_files(files: &BenchFiles, report: &Report) -> Result<()> {
    if let Some(path) = &files.json {
        write_file(path, &report.to_json().with_context(|| cannot_write(path))?)?;
    }
    if let Some(path) = &files.csv {
        write_file(path, &csv::to_csv(&report.runs).with_context(|| cannot_write(path))?)?;
    }
    if let Some(path) = &files.plot {
        write_file(path, plot::to_svg(report).with_context(|| cannot_write(path))?.as_bytes())?;
    }
    Ok(())
}
