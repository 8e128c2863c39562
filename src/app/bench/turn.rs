//! One row's turn: draws frames as fast as possible and times each of them.
//!
//! The warm-up frames of each turn build pipelines and touch memory, so that no measured frame does. Each turn starts a
//! thread, because a thread can join only one pool and rows may animate on different numbers of threads. The thread
//! that draws is one of those that animate, as in `view`. A turn that fails or is interrupted leaves no samples.

use std::time::Instant;

use anyhow::{Error, Result};
use indicatif::ProgressBar;

use super::interrupt::Interrupt;
use super::probe;
use super::samples::TurnSamples;
use super::sweep::{Settings, Share};
use super::work::work_ms;
use crate::app::scene::Scene;
use crate::cli::CrowdArgs;
use crate::renderer::{CpuStage, Renderer, StageTimes};

/// The step of the animation. It is constant, so that slow and fast runs evaluate the same poses.
pub(super) const SECONDS_PER_FRAME: f64 = 1.0 / 60.0;

/// The inputs of a turn.
pub(super) struct Turn<'a> {
    pub(super) crowd: &'a CrowdArgs,
    pub(super) settings: Settings,
    pub(super) share: Share,
    pub(super) interrupt: &'a Interrupt,
    pub(super) progress: &'a ProgressBar,
    /// The number of steps on the progress bar that a frame takes.
    pub(super) frame_weight: u64,
    /// Whether the frames are checked after they were timed: [`probe`].
    pub(super) is_checked: bool,
}

/// Returns the number of frames that a turn draws, including those that fill and empty the queue.
pub(super) fn frames_drawn(share: &Share, frames_in_flight: usize) -> u64 {
    u64::from(share.warmup) + u64::from(share.frames) + u64::from(frames_stored(share)) + 4 * frames_in_flight as u64
}

/// Returns the number of additional frames in a turn that only store joint matrices.
fn frames_stored(share: &Share) -> u32 {
    (share.frames / 4).clamp(3, 10)
}

impl Turn<'_> {
    /// Draws this turn's frames on a new thread and returns their times.
    ///
    /// # Errors
    /// Drawing fails, a thread cannot be started, or the user interrupts.
    pub(super) fn take(&self, renderer: &mut Renderer, scene: &mut Scene) -> Result<TurnSamples> {
        let turn = || {
            scene.frame(self.crowd.camera, self.crowd.time, self.settings.renderer.size.aspect());
            scene.set_threads(self.settings.threads)?;
            renderer.wait()?;
            let before_ms = work_ms();
            let mut samples = TurnSamples::default();
            self.draw(renderer, scene, &mut samples)?;
            samples.work_ms = (before_ms + work_ms()) / 2.0;
            if self.is_checked {
                let aspect = self.settings.renderer.size.aspect();
                probe::check(renderer, scene, self.crowd.time, aspect, self.crowd.camera.is_none())?;
            }
            Ok(samples)
        };
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("bench".to_owned()).spawn_scoped(scope, turn)?;
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn draw(&self, renderer: &mut Renderer, scene: &mut Scene, samples: &mut TurnSamples) -> Result<()> {
        let lag = renderer.frames_in_flight();
        let mut time_seconds = self.crowd.time + f64::from(self.share.first_frame) * SECONDS_PER_FRAME;
        let mut draw = |renderer: &mut Renderer| {
            self.interrupt.check()?;
            let (_, times) = scene.draw(renderer, time_seconds, self.settings.renderer.size.aspect(), false)?;
            time_seconds += SECONDS_PER_FRAME;
            Ok::<StageTimes, Error>(times)
        };
        // The CPU waits for a frame `lag` frames later. Without the wait below, slow warm-up frames would delay the first
        // measured ones. `lag` more frames touch the memory of each frame in flight.
        for _ in 0..self.share.warmup as usize + lag {
            draw(renderer)?;
            self.progress.inc(self.frame_weight);
        }
        renderer.wait()?;
        // The queue is full from the first measured frame to the last. A frame's time is the interval between two returns,
        // so GPU work counts for the frame that waits for it. A frame's GPU times arrive `2 * lag` frames later.
        let (first, mut end) = (lag, lag + self.share.frames as usize);
        let (started, mut last_return) = (Instant::now(), Instant::now());
        let mut frame = 0;
        while frame < end + 2 * lag {
            let times = draw(renderer)?;
            let now = Instant::now();
            let is_over = self.share.most_ms.is_some_and(|ms| (now - started).as_millis() >= ms.into());
            if is_over && (first + 1..end).contains(&frame) {
                self.progress.inc(self.frame_weight * (end - frame - 1) as u64);
                end = frame + 1;
            }
            if (first..end).contains(&frame) {
                samples.frame_ms.push((now - last_return).as_secs_f64() * 1e3);
                samples.cpu.push(times);
            }
            if frame >= first + 2 * lag {
                samples.gpu.extend(renderer.gpu_times());
            }
            self.progress.inc(self.frame_weight);
            frame += 1;
            // The time to draw the progress bar does not count.
            last_return = Instant::now();
        }
        // The yardstick of `animate` stores the same bytes to the same memory, in otherwise complete frames.
        for _ in 0..frames_stored(&self.share) {
            self.interrupt.check()?;
            let times = scene.draw_only_stored(renderer, self.settings.renderer.size.aspect())?;
            samples.store_ms.push(times[CpuStage::Animate]);
            self.progress.inc(self.frame_weight);
        }
        renderer.wait()?;
        samples.instance_counts = scene.crowd.visible_counts().to_vec();
        samples.pose_counts = scene.crowd.pose_counts().to_vec();
        samples.sharing_error = scene.crowd.sharing_error();
        samples.bytes = renderer.byte_counts();
        samples.drawn = renderer.draw_counts();
        Ok(())
    }
}
