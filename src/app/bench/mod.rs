//! `bench`: draws frames offscreen, as fast as possible, and times each of their stages.
//!
//! [`sweep`] lists the rows and their order, [`measure`] takes one row's turn, and [`rates`] measures the speed of
//! memory. The results are the structs of [`report`]. The [`table`] on the terminal, [`csv`], [`plot`] and [`compare`]
//! are made from them. All times are in milliseconds: GPU times come from timestamps around each pass, CPU times from
//! the monotonic clock.
//!
//! Files that cannot be read or written and crowds that the device cannot hold are found before the first measurement.
//! The row of such a crowd is left out with a warning. A row that fails later is left out of the following rounds, and
//! the other rows are reported before its error.

mod compare;
mod csv;
mod measure;
mod plot;
mod rates;
mod report;
mod settings;
mod summary;
mod sweep;
mod table;
#[cfg(test)]
mod testing;

use std::sync::Arc;

use anyhow::{Context, Error, Result};
use indicatif::ProgressBar;

use self::measure::{Samples, Turn, frames_drawn};
use self::rates::{CopyRate, copy_rate};
use self::report::Report;
use self::sweep::{Defaults, RendererChoice, Settings, Share};
use super::gpu::{check_memory, finish, frames_in_flight, offscreen_device, offscreen_renderer_on};
use super::output::{cannot_write, check_files, print, progress_bar, write_file};
use super::scene::{Scene, load_models};
use super::text::page_columns;
use crate::cli::{BenchArgs, BenchFiles, CrowdSizeArgs};
use crate::model::Model;
use crate::renderer::UploadPath;
use crate::vulkan::physical_device::PhysicalDevice;

/// A row of the sweep with its samples or its error.
struct Row {
    settings: Settings,
    /// The device memory that was computed beforehand.
    planned_device: u64,
    samples: Samples,
    failure: Option<Error>,
}

/// A sweep that is being measured.
struct Bench<'a> {
    args: &'a BenchArgs,
    models: Arc<[Model]>,
    rows: Vec<Row>,
    /// One crowd for each number of instances.
    scenes: Vec<Scene>,
    frames_in_flight: usize,
    progress: ProgressBar,
}

/// Runs the command.
///
/// # Errors
/// Loading, rendering or writing fails.
pub fn run(args: &BenchArgs) -> Result<()> {
    let models = load_models(&args.crowd)?;
    let old = args.files.compare.as_deref().map(|path| Ok::<_, Error>((path, compare::read(path)?))).transpose()?;
    check_outputs(args)?;
    let (mut bench, device) = Bench::new(args, models)?;
    bench.measure();
    let failure = bench.take_failure();
    let report = Report::new(&device, bench.into_runs());
    // The rows that were measured before a failure are reported.
    if !report.runs.is_empty() {
        print(&table::as_text(&report, page_columns()))?;
        write_files(&args.files, &report)?;
        if let Some((path, old)) = &old {
            for warning in compare::warnings(old, &report) {
                tracing::warn!("{warning}");
            }
            print(&compare::as_text(path, old, &report, page_columns()))?;
        }
    }
    failure.map_or(Ok(()), Err)
}

/// Checks that all files can be written and that none replaces another.
fn check_outputs(args: &BenchArgs) -> Result<()> {
    let BenchFiles { json, csv, plot, compare } = &args.files;
    let outputs = [("--json", json), ("--csv", csv), ("--plot", plot)];
    let outputs: Vec<_> = outputs.iter().filter_map(|(option, path)| Some((*option, path.as_deref()?))).collect();
    let models = args.crowd.models.iter().map(|path| ("a model", path.as_path()));
    let inputs: Vec<_> = compare.iter().map(|path| ("--compare", path.as_path())).chain(models).collect();
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

impl<'a> Bench<'a> {
    /// Creates the rows and their crowds, and checks whether the device can hold them.
    fn new(args: &'a BenchArgs, models: Arc<[Model]>) -> Result<(Self, PhysicalDevice)> {
        let device = offscreen_device(&args.device)?;
        let defaults = Defaults {
            upload: UploadPath::best_for(&device.physical),
            threads: std::thread::available_parallelism().map_or(1, |count| count.get() as u32),
        };
        let settings = sweep::rows(&args.sweep, defaults);
        let mut bench = Self {
            args,
            models,
            rows: Vec::with_capacity(settings.len()),
            scenes: Vec::new(),
            // Passes that are timed one at a time must not overlap the next frame either.
            frames_in_flight: if args.serialize { 1 } else { frames_in_flight(&device) },
            progress: ProgressBar::hidden(),
        };
        for settings in settings {
            let RendererChoice { size, skinning, .. } = settings.renderer;
            let gpu = args.gpu(size, skinning, Some(settings.renderer.upload));
            let frames_in_flight = bench.frames_in_flight;
            let scene = bench.scene(&settings)?;
            let (planned_device, failure) = match check_memory(&device, &gpu, scene, frames_in_flight) {
                Ok(plan) => (plan.total(), None),
                Err(error) => (0, Some(error)),
            };
            bench.rows.push(Row { settings, planned_device, samples: Samples::default(), failure });
        }
        if bench.rows.iter().all(|row| row.failure.is_some()) {
            return Err(bench.take_failure().unwrap_or_else(|| Error::msg("there is nothing to measure")));
        }
        for Row { settings, failure, .. } in &bench.rows {
            if let Some(failure) = failure {
                tracing::warn!("left out: {}: {failure:#}", settings.describe());
            }
        }
        Ok((bench, device.physical.clone()))
    }

    /// Returns the crowd of a row, with the camera framed for the row's aspect ratio. The first call creates the crowd.
    fn scene(&mut self, settings: &Settings) -> Result<&mut Scene> {
        let aspect = settings.renderer.size.aspect();
        let count = settings.instances as usize;
        let index = match self.scenes.iter().position(|scene| scene.crowd.instance_count() == count) {
            Some(index) => index,
            None => {
                // Each turn sets its own number of threads.
                let size = CrowdSizeArgs { instances: settings.instances, threads: Some(1) };
                self.scenes.push(Scene::new(Arc::clone(&self.models), &self.args.crowd, size, aspect)?);
                self.scenes.len() - 1
            }
        };
        let scene = self.scenes.get_mut(index).context("the crowd was just placed")?;
        scene.frame(self.args.crowd.camera, self.args.crowd.time, aspect);
        Ok(scene)
    }

    fn measure(&mut self) {
        let settings: Vec<Settings> = self.rows.iter().map(|row| row.settings).collect();
        let rounds = sweep::rounds(settings.len(), self.args.frames);
        let groups = sweep::by_renderer(&settings);
        let alive = self.rows.iter().filter(|row| row.failure.is_none());
        let weights: u64 = alive.map(|row| frame_weight(&row.settings)).sum();
        let frames: u64 = rounds.iter().map(|share| frames_drawn(self.args, share, self.frames_in_flight)).sum();
        self.progress = progress_bar(frames * weights, "measuring {wide_bar} {percent} % {eta} left");
        for share in &rounds {
            let mut copy = None;
            for (choice, members) in &groups {
                if let Err(error) = self.measure_group(*choice, members, *share, &mut copy) {
                    self.fail(members, error);
                }
            }
        }
        self.progress.finish_and_clear();
    }

    /// Measures one round of the rows that share a renderer. A row that fails keeps its error. The first group of a round
    /// measures `copy`.
    ///
    /// # Errors
    /// All of these rows fail.
    fn measure_group(
        &mut self,
        choice: RendererChoice,
        members: &[usize],
        share: Share,
        copy: &mut Option<CopyRate>,
    ) -> Result<()> {
        let alive = |bench: &Self, index: &usize| bench.rows.get(*index).is_some_and(|row| row.failure.is_none());
        if !members.iter().any(|index| alive(self, index)) {
            return Ok(());
        }
        let gpu = self.args.gpu(choice.size, choice.skinning, Some(choice.upload));
        let device = offscreen_device(&gpu.device)?;
        let mut renderer = offscreen_renderer_on(&device, &gpu, &self.models, self.frames_in_flight)?;
        let copy = match *copy {
            Some(copy) => copy,
            None => *copy.insert(copy_rate(&device)?),
        };
        drop(device);
        for index in members {
            let Some(row) = self.rows.get_mut(*index).filter(|row| row.failure.is_none()) else { continue };
            let (settings, mut samples) = (row.settings, std::mem::take(&mut row.samples));
            let (args, progress) = (self.args, self.progress.clone());
            let turn = Turn { args, settings, share, progress: &progress, frame_weight: frame_weight(&settings) };
            let taken = self.scene(&settings).and_then(|scene| turn.take(&mut renderer, scene, copy, &mut samples));
            if let Some(row) = self.rows.get_mut(*index) {
                row.samples = samples;
                row.failure = taken.err();
            }
        }
        finish(renderer)
    }

    /// Marks the remaining ones of these rows as failed. The first one keeps the reason.
    fn fail(&mut self, members: &[usize], error: Error) {
        let mut reason = Some(error);
        for &index in members {
            if let Some(row) = self.rows.get_mut(index).filter(|row| row.failure.is_none()) {
                row.failure = Some(reason.take().unwrap_or_else(|| Error::msg("as the row before it")));
            }
        }
    }

    /// Returns the first failure, with the name of its row if there are several rows.
    fn take_failure(&mut self) -> Option<Error> {
        let several = self.rows.len() > 1;
        let failed = self.rows.iter().filter(|row| row.failure.is_some()).count();
        let first = self.rows.iter_mut().find(|row| row.failure.is_some())?;
        let (failure, row) = (first.failure.take()?, first.settings.describe());
        // A row without samples is not reported.
        first.samples = Samples::default();
        Some(match failed {
            _ if !several => failure,
            1 => failure.context(format!("one row failed: {row}")),
            count => failure.context(format!("{count} rows failed; the first: {row}")),
        })
    }

    /// Sums up the rows that were measured in all rounds.
    fn into_runs(self) -> Vec<report::Run> {
        let Self { args, models, rows, .. } = self;
        let complete = rows.into_iter().filter(|row| row.failure.is_none() && row.samples.rounds() > 0);
        complete.map(|row| row.samples.summarize(args, &models, &row.settings, row.planned_device)).collect()
    }
}

/// Estimates the relative cost of a frame, so that the progress bar is realistic before all rows have been drawn.
fn frame_weight(settings: &Settings) -> u64 {
    /// The cost of a thousand empty pixels on a software driver, compared with a character.
    const EMPTY_THOUSAND_PIXELS: f64 = 0.6;
    let size = settings.renderer.size;
    let thousand_pixels = f64::from(size.width) * f64::from(size.height) * 1e-3;
    1 + (EMPTY_THOUSAND_PIXELS * thousand_pixels) as u64 + u64::from(settings.instances)
}
