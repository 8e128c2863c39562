//! A benchmark session: rows with their crowds, measured in turns.
//!
//! In: the settings of rows ([`sweep`] lists those of a sweep). Out: the rows of the report. Crowds that the
//! device cannot hold are found before anything is allocated. A row that fails is left out of the following rounds.

use std::sync::Arc;

use anyhow::{Context, Error, Result};
use indicatif::ProgressBar;

use super::interrupt::{Interrupt, Interrupted};
use super::rates::{CopyRate, copy_rate};
use super::report::Report;
use super::samples::{Planned, Samples, TurnSamples};
use super::sweep::{self, Defaults, RendererChoice, Settings, Share};
use super::turn::{Turn, frames_drawn};
use crate::app::advice::in_one_line;
use crate::app::gpu::{check_memory, finish, frames_in_flight, offscreen_device, offscreen_renderer_on};
use crate::app::output::progress_bar;
use crate::app::scene::{Scene, SceneOptions};
use crate::cli::{BenchArgs, CrowdSizeArgs, GpuArgs};
use crate::model::Model;
use crate::renderer::UploadPath;
use crate::vulkan::device::Device;
use crate::vulkan::physical_device::PhysicalDevice;

/// A row with its samples or its error.
pub(super) struct Row {
    pub(super) settings: Settings,
    pub(super) planned: Planned,
    pub(super) samples: Samples,
    pub(super) failure: Option<Error>,
}

/// Rows that are being measured.
pub(super) struct Session<'a> {
    pub(super) args: &'a BenchArgs,
    pub(super) rows: Vec<Row>,
    pub(super) device: PhysicalDevice,
    pub(super) progress: ProgressBar,
    models: Arc<[Model]>,
    interrupt: Interrupt,
    /// One crowd for each number of instances.
    scenes: Vec<Scene>,
    frames_in_flight: usize,
    /// Whether the copy rate is measured only once. Otherwise the first and the last round of each measurement do.
    pub(super) copies_once: bool,
    /// The last copy rate.
    copy: Option<CopyRate>,
}

impl<'a> Session<'a> {
    /// Creates a session without rows.
    ///
    /// # Errors
    /// There is no device.
    pub(super) fn new(args: &'a BenchArgs, models: Arc<[Model]>, interrupt: Interrupt) -> Result<Self> {
        let device = offscreen_device(&args.device)?;
        Ok(Self {
            args,
            models,
            rows: Vec::new(),
            interrupt,
            scenes: Vec::new(),
            // Passes that are timed one at a time must not overlap the next frame either.
            frames_in_flight: if args.serialize { 1 } else { frames_in_flight(&device) },
            device: device.physical.clone(),
            progress: ProgressBar::hidden(),
            copies_once: false,
            copy: None,
        })
    }

    /// Returns the values of options that are not given.
    pub(super) fn defaults(&self) -> Defaults {
        Defaults {
            upload: UploadPath::best_for(&self.device),
            threads: std::thread::available_parallelism().map_or(1, |count| count.get() as u32),
        }
    }

    /// Adds rows. Those that the device cannot hold fail here.
    ///
    /// # Errors
    /// A crowd cannot be created, or the device can hold none of the rows.
    pub(super) fn add(&mut self, all: &[Settings]) -> Result<()> {
        let device = offscreen_device(&self.args.device)?;
        for &settings in all {
            let planned = self.plan(&device, settings)?;
            let (planned, failure) = match planned {
                Ok(planned) => (planned, None),
                Err(error) => (Planned::default(), Some(error)),
            };
            self.rows.push(Row { settings, planned, samples: Samples::default(), failure });
        }
        if self.rows.iter().all(|row| row.failure.is_some()) {
            return Err(self.take_failure().unwrap_or_else(|| Error::msg("there is nothing to measure")));
        }
        for Row { settings, failure, .. } in &self.rows {
            if let Some(failure) = failure {
                tracing::warn!("left out: {}: {}", settings.describe(), in_one_line(failure));
            }
        }
        Ok(())
    }

    /// Adds up the device memory of a row. The inner error says that the device cannot hold it.
    ///
    /// # Errors
    /// The crowd cannot be created.
    pub(super) fn plan(&mut self, device: &Device, settings: Settings) -> Result<Result<Planned>> {
        let gpu = self.gpu(settings.renderer);
        let frames_in_flight = self.frames_in_flight;
        let scene = self.scene(&settings)?;
        let plan = check_memory(device, &gpu, scene, frames_in_flight);
        Ok(plan.map(|plan| Planned { device_bytes: plan.device_bytes, ..Planned::default() }))
    }

    fn gpu(&self, choice: RendererChoice) -> GpuArgs {
        let RendererChoice { size, skinning, upload, quality } = choice;
        let BenchArgs { device, serialize, .. } = self.args;
        // Scenes have the error of their row: the renderer draws all of them.
        GpuArgs {
            skinning,
            upload: Some(upload),
            size,
            lod_error: 0.0,
            quality,
            device: device.clone(),
            serialize: *serialize,
            shaders: Vec::new(),
        }
    }

    /// Returns the crowd of a row, with the camera framed for the row's aspect ratio. The first call creates the crowd.
    fn scene(&mut self, settings: &Settings) -> Result<&mut Scene> {
        let aspect = settings.renderer.size.aspect();
        let count = settings.instances as usize;
        let index = match self.scenes.iter().position(|scene| scene.crowd.instance_count() == count) {
            Some(index) => index,
            None => {
                // Each turn sets its own number of threads.
                let count = CrowdSizeArgs { instances: Some(settings.instances), threads: Some(1) };
                let (crowd, size, lod_error) = (&self.args.crowd, settings.renderer.size, settings.lod_error);
                let options = SceneOptions { crowd, count, size, lod_error };
                self.scenes.push(Scene::new(Arc::clone(&self.models), options)?);
                self.scenes.len() - 1
            }
        };
        let scene = self.scenes.get_mut(index).context("the crowd was just placed")?;
        scene.frame(self.args.crowd.camera, self.args.crowd.time, aspect);
        scene.lod_error_pixels = settings.lod_error as f32;
        Ok(scene)
    }

    /// Frees the crowds. The rows that are measured next create theirs again.
    pub(super) fn forget_crowds(&mut self) {
        self.scenes.clear();
    }

    /// Measures all rows, with a progress bar.
    ///
    /// # Errors
    /// [`Interrupted`]. The errors of rows are kept in the rows.
    pub(super) fn measure_all(&mut self, rounds: &[Share]) -> Result<()> {
        let alive = self.rows.iter().filter(|row| row.failure.is_none());
        let weights: u64 = alive.map(|row| frame_weight(&row.settings)).sum();
        let frames: u64 = rounds.iter().map(|share| frames_drawn(share, self.frames_in_flight)).sum();
        self.progress = progress_bar(frames * weights, "measuring {wide_bar} {percent} % {eta} left");
        let all: Vec<usize> = (0..self.rows.len()).collect();
        let measured = self.measure(&all, rounds, true);
        self.progress.finish_and_clear();
        measured
    }

    /// Measures rows, given by index, in turns. If `is_full`, the first and the last round measure the copy rate, and each
    /// row is probed after its first turn.
    ///
    /// # Errors
    /// [`Interrupted`]. The errors of rows are kept in the rows.
    pub(super) fn measure(&mut self, rows: &[usize], rounds: &[Share], is_full: bool) -> Result<()> {
        let settings: Vec<(usize, Settings)> =
            rows.iter().filter_map(|&index| Some((index, self.rows.get(index)?.settings))).collect();
        for &index in rows {
            if let Some(row) = self.rows.get_mut(index) {
                row.planned.turns += rounds.len();
            }
        }
        let groups = sweep::by_renderer(&settings);
        for (number, share) in rounds.iter().enumerate() {
            let mut copy = self.copy.filter(|_| self.copies_once);
            let copies = is_full && (number == 0 || number + 1 == rounds.len());
            for (choice, members) in &groups {
                self.interrupt.check()?;
                if let Err(error) = self.measure_group(*choice, members, *share, copies.then_some(&mut copy)) {
                    if error.is::<Interrupted>() {
                        return Err(error);
                    }
                    self.fail(members, error);
                }
            }
            self.copy = copy.or(self.copy);
        }
        Ok(())
    }

    /// Measures one round of the rows that share a renderer. A row that fails keeps its error. The first group of a round
    /// measures `copy`.
    ///
    /// # Errors
    /// All of these rows fail, or [`Interrupted`].
    fn measure_group(
        &mut self,
        choice: RendererChoice,
        members: &[usize],
        share: Share,
        copy: Option<&mut Option<CopyRate>>,
    ) -> Result<()> {
        let alive = |session: &Self, index: &usize| session.rows.get(*index).is_some_and(|row| row.failure.is_none());
        if !members.iter().any(|index| alive(self, index)) {
            return Ok(());
        }
        let gpu = self.gpu(choice);
        let device = offscreen_device(&gpu.device)?;
        let mut renderer = offscreen_renderer_on(&device, &gpu, &self.models, self.frames_in_flight)?;
        let copy = match copy {
            Some(Some(copy)) => Some(*copy),
            Some(copy) => Some(*copy.insert(copy_rate(&device)?)),
            None => None,
        };
        drop(device);
        for &index in members {
            let Some(row) = self.rows.get(index).filter(|row| row.failure.is_none()) else { continue };
            let (settings, args) = (row.settings, self.args);
            let (interrupt, progress) = (self.interrupt.clone(), self.progress.clone());
            let frame_weight = frame_weight(&settings);
            let (interrupt, progress) = (&interrupt, &progress);
            // Early, so that nothing is measured in vain.
            let is_checked = copy.is_some() && row.samples.turns.is_empty();
            let turn = Turn { crowd: &args.crowd, settings, share, interrupt, progress, frame_weight, is_checked };
            let taken = self.scene(&settings).and_then(|scene| turn.take(&mut renderer, scene));
            let Some(row) = self.rows.get_mut(index) else { continue };
            match taken {
                Ok(turn) => row.samples.turns.push(TurnSamples { copy, ..turn }),
                Err(error) if error.is::<Interrupted>() => return Err(error),
                Err(error) => row.failure = Some(error),
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
    pub(super) fn take_failure(&mut self) -> Option<Error> {
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

    /// Sums up the rows that have at least one turn and did not fail.
    pub(super) fn into_report(self, partial: bool) -> Report {
        let Self { args, models, rows, device, .. } = self;
        let measured = rows.into_iter().filter(|row| row.failure.is_none() && !row.samples.turns.is_empty());
        let runs = measured.map(|row| row.samples.summarize(args, &models, &row.settings, &row.planned)).collect();
        Report::new(&device, runs, partial)
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
