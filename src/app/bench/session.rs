//! A benchmark session: rows with their crowds, measured in turns.
//!
//! In: the settings of rows ([`sweep`] lists those of a sweep). Out: the rows of the report. Crowds that the
//! device cannot hold are found before anything is allocated. A row that fails is left out of the following rounds.

use std::sync::Arc;

use anyhow::{Error, Result};
use indicatif::ProgressBar;

use super::interrupt::Interrupt;
use super::rates::copy_bytes_per_second;
use super::report::{Fit, Report, Run, TurnSamples, cpu_name};
use super::sweep::{self, RunSettings, Settings, Share};
use crate::app::advice::in_one_line;
use crate::app::aim::Shows;
use crate::app::gpu::{check_memory, finish, frames_in_flight, offscreen_device, offscreen_renderer_on, settings};
use crate::app::output::progress_bar;
use crate::app::scene::{Scene, SceneOptions};
use crate::cli::{BenchArgs, CrowdSizeArgs};
use crate::extras::Equipped;
use crate::model::Model;
use crate::renderer::RendererSettings;
use crate::vulkan::device::Device;

struct Row {
    settings: Settings,
    /// The same settings, as they are reported.
    reported: RunSettings,
    fit: Fit,
    turns: Vec<TurnSamples>,
    failure: Option<Error>,
}

pub(super) struct Session<'a> {
    pub(super) args: &'a BenchArgs,
    pub(super) device: Arc<Device>,
    models: Arc<[Model]>,
    pub(super) interrupt: Interrupt,
    rows: Vec<Row>,
    /// One crowd for each number of instances. Clearing them frees memory; they are created again when they are drawn.
    pub(super) scenes: Vec<Scene>,
    frames_in_flight: usize,
    copy_bytes_per_second: f64,
}

impl<'a> Session<'a> {
    pub(super) fn new(args: &'a BenchArgs, models: Arc<[Model]>, interrupt: Interrupt) -> Result<Self> {
        let device = offscreen_device(&args.device)?;
        Ok(Self {
            args,
            models,
            interrupt,
            rows: Vec::new(),
            scenes: Vec::new(),
            // Passes that are timed one at a time must not overlap the next frame either.
            frames_in_flight: if args.serialize { 1 } else { frames_in_flight(&device) },
            copy_bytes_per_second: copy_bytes_per_second(&device)?,
            device,
        })
    }

    /// Adds a row. A row that the device cannot hold fails here.
    pub(super) fn add(&mut self, settings: Settings, fit: Fit) -> Result<()> {
        let failure = self.check_memory(settings)?.err();
        let reported = RunSettings::new(self.args, &self.models, &settings);
        self.rows.push(Row { settings, reported, fit, turns: Vec::new(), failure });
        Ok(())
    }

    /// Checks the device memory of a row. The inner error says that the device cannot hold it.
    pub(super) fn check_memory(&mut self, settings: Settings) -> Result<Result<()>> {
        let (renderer, index) = (self.renderer_settings(&settings), self.scene(&settings)?);
        Ok(check_memory(&self.device, &renderer, settings.size, &mut self.scenes[index], false))
    }

    fn renderer_settings(&self, row: &Settings) -> RendererSettings<'static> {
        let settings = settings(row.skinning, Some(row.upload), self.args.quality, self.frames_in_flight);
        RendererSettings { serialize: self.args.serialize, ..settings }
    }

    pub(super) fn renderer(&self, settings: &Settings) -> Result<Equipped> {
        offscreen_renderer_on(&self.device, self.renderer_settings(settings), settings.size, &self.models)
    }

    /// Returns the index of a row's crowd, with the camera framed for the row's aspect ratio. The first call creates the crowd.
    pub(super) fn scene(&mut self, settings: &Settings) -> Result<usize> {
        let found = self.scenes.iter().position(|scene| scene.crowd.instance_count() == settings.instances as usize);
        let index = found.unwrap_or(self.scenes.len());
        if found.is_none() {
            // Each turn sets its own number of threads.
            let count = CrowdSizeArgs { instances: Some(settings.instances), threads: Some(1) };
            let (crowd, size, lod_error) = (&self.args.crowd, settings.size, settings.lod_error);
            let options = SceneOptions { crowd, count, size, lod_error };
            self.scenes.push(Scene::new(Arc::clone(&self.models), options)?);
        }
        let scene = &mut self.scenes[index];
        scene.frame(Shows::Asked, self.args.crowd.time, settings.size.aspect());
        scene.lod_error_pixels = settings.lod_error as f32;
        Ok(index)
    }

    /// Measures all rows in turns, with a progress bar, until the user presses Ctrl-C. The errors of rows are kept in the rows.
    pub(super) fn measure(&mut self) -> Result<()> {
        if self.rows.iter().all(|row| row.failure.is_some()) {
            return Ok(());
        }
        for row in &self.rows {
            if let Some(failure) = &row.failure {
                tracing::warn!("left out: {}: {}", row.reported.describe(), in_one_line(failure));
            }
        }
        let rounds = sweep::rounds(self.args.frames, self.args.warmup);
        let progress =
            progress_bar((rounds.len() * self.rows.len()) as u64, "measuring {wide_bar} {percent} % {eta} left");
        for share in rounds {
            let alive = self.rows.iter().enumerate().filter(|(_, row)| row.failure.is_none());
            let alive: Vec<(usize, Settings)> = alive.map(|(index, row)| (index, row.settings)).collect();
            for members in sweep::by_renderer(&alive) {
                self.interrupt.check()?;
                if let Err(error) = self.measure_group(&members, share, &progress) {
                    self.interrupt.check()?;
                    // The first row keeps the reason.
                    let reasons = std::iter::once(error).chain(std::iter::repeat_with(|| Error::msg("as before")));
                    for ((index, _), reason) in members.into_iter().zip(reasons) {
                        self.rows[index].failure.get_or_insert(reason);
                    }
                }
            }
        }
        progress.finish_and_clear();
        Ok(())
    }

    /// Measures one round of the rows that share a renderer. A row that fails keeps its error. An error is that of all rows, or
    /// the user has pressed Ctrl-C.
    fn measure_group(&mut self, members: &[(usize, Settings)], share: Share, progress: &ProgressBar) -> Result<()> {
        let Some((_, first)) = members.first() else { return Ok(()) };
        let mut renderer = self.renderer(first)?;
        for &(index, settings) in members {
            // The first turn is checked, so that nothing is measured in vain.
            let is_checked = self.rows[index].turns.is_empty();
            match self.turn(&mut renderer, settings, share, is_checked) {
                Ok(turn) => self.rows[index].turns.push(turn),
                Err(error) => {
                    self.interrupt.check()?;
                    self.rows[index].failure = Some(error);
                }
            }
            progress.inc(1);
        }
        finish(renderer)
    }

    /// Returns the first failure, with the name of its row if there are several rows.
    pub(super) fn take_failure(&mut self) -> Option<Error> {
        let failed = self.rows.iter().filter(|row| row.failure.is_some()).count();
        let first = self.rows.iter_mut().find(|row| row.failure.is_some())?;
        let (failure, row) = (first.failure.take()?, first.reported.describe());
        // A row without turns is not reported.
        first.turns.clear();
        Some(match failed {
            _ if self.rows.len() == 1 => failure,
            1 => failure.context(format!("one row failed: {row}")),
            count => failure.context(format!("{count} rows failed; the first: {row}")),
        })
    }

    /// Sums up the rows that have at least one turn and did not fail.
    pub(super) fn into_report(self, partial: bool) -> Report {
        let copy = self.copy_bytes_per_second;
        let measured = self.rows.into_iter().filter(|row| row.failure.is_none() && !row.turns.is_empty());
        let runs = measured.map(|row| Run::new(self.args, row.reported, &row.turns, row.fit, copy)).collect();
        Report { partial, device: self.device.physical.name.clone(), cpu: cpu_name(), runs }
    }
}
