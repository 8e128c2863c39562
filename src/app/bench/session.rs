//! A benchmark session: rows with their crowds, measured in turns.
//!
//! In: the settings of rows ([`sweep`] lists those of a sweep). Out: the rows of the report. Crowds that the
//! device cannot hold are found before anything is allocated. A row that fails is left out of the following rounds.

use std::sync::Arc;

use anyhow::{Error, Result};

use super::interrupt::Interrupt;
use super::rates::copy_bytes_per_second;
use super::report::{Fit, Report, Run, TurnSamples, cpu_name};
use super::sweep::{self, RunSettings, Settings};
use crate::app::advice::in_one_line;
use crate::app::aim::Shows;
use crate::app::gpu::{check_memory, finish, frames_in_flight, offscreen_device, offscreen_renderer_on, settings};
use crate::app::output::progress_bar;
use crate::app::scene::{Scene, SceneOptions};
use crate::cli::{BenchArgs, CrowdSizeArgs};
use crate::crowd::MAX_INSTANCES;
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
    /// The renderer of the last rows. Two of them could take too much memory.
    pub(super) kept: Option<(Settings, Equipped)>,
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
            kept: None,
            // Passes that are timed one at a time must not overlap the next frame either.
            frames_in_flight: if args.serialize { 1 } else { frames_in_flight(&device) },
            copy_bytes_per_second: copy_bytes_per_second(&device)?,
            device,
        })
    }

    pub(super) fn add(&mut self, settings: Settings, fit: Fit) {
        let reported = RunSettings::new(self.args, &self.models, &settings);
        self.rows.push(Row { settings, reported, fit, turns: Vec::new(), failure: None });
    }

    /// Finds the rows that the device cannot hold. If it holds a row, it also holds smaller crowds with the same renderer.
    fn check_rows(&mut self) -> Result<()> {
        let mut fits = None;
        for (index, settings) in self.order().into_iter().rev() {
            self.interrupt.check()?;
            if fits != Some(settings.renderer()) {
                self.rows[index].failure = self.check_memory(settings)?.err();
                fits = self.rows[index].failure.is_none().then(|| settings.renderer());
            }
        }
        Ok(())
    }

    /// Returns the rows that have not failed, with their indices. Those with the same renderer follow each other, small crowds
    /// first: buffers grow and never shrink, so in the first round each crowd has the buffers that it would have alone.
    fn order(&self) -> Vec<(usize, Settings)> {
        let alive = self.rows.iter().enumerate().filter(|(_, row)| row.failure.is_none());
        let mut order: Vec<_> = alive.map(|(index, row)| (index, row.settings)).collect();
        for alike in order.chunk_by_mut(|(_, a), (_, b)| a.renderer() == b.renderer()) {
            // A larger error takes less memory.
            alike.sort_by(|(_, a), (_, b)| a.instances.cmp(&b.instances).then(b.lod_error.total_cmp(&a.lod_error)));
        }
        order
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
        if found.is_none() {
            let instances: usize = self.scenes.iter().map(|scene| scene.crowd.instance_count()).sum();
            if instances > MAX_INSTANCES as usize {
                self.scenes.clear();
            }
            // Each turn sets its own number of threads.
            let count = CrowdSizeArgs { instances: Some(settings.instances), threads: Some(1) };
            let (crowd, size, lod_error) = (&self.args.crowd, settings.size, settings.lod_error);
            let options = SceneOptions { crowd, count, size, lod_error };
            self.scenes.push(Scene::new(Arc::clone(&self.models), options)?);
        }
        let index = found.unwrap_or(self.scenes.len() - 1);
        let scene = &mut self.scenes[index];
        scene.frame(Shows::Asked, self.args.crowd.time, settings.size.aspect());
        scene.lod_error_pixels = settings.lod_error as f32;
        Ok(index)
    }

    /// Measures all rows in turns, with a progress bar, until the user presses Ctrl-C. The errors of rows are kept in the rows.
    pub(super) fn measure(&mut self) -> Result<()> {
        self.check_rows()?;
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
            for (index, settings) in self.order() {
                self.interrupt.check()?;
                // The first turn is checked, so that nothing is measured in vain.
                match self.turn(settings, share, self.rows[index].turns.is_empty()) {
                    Ok(turn) => self.rows[index].turns.push(turn),
                    Err(error) => {
                        self.interrupt.check()?;
                        self.rows[index].failure = Some(error);
                    }
                }
                progress.inc(1);
            }
        }
        progress.finish_and_clear();
        self.kept.take().map_or(Ok(()), |(_, renderer)| finish(renderer))
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
        Report { partial, device: self.device.physical.name.clone(), cpu: cpu_name(), models: self.models, runs }
    }
}
