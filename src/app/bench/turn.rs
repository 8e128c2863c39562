//! One row's turn: draws frames as fast as possible and times each of them.
//!
//! The warm-up frames of each turn build pipelines and touch memory, so that no measured frame does. Each turn starts a
//! thread, because a thread can join only one pool and rows may animate on different numbers of threads.

use std::time::Instant;

use anyhow::Result;

use super::interrupt::Interrupt;
use super::probe;
use super::report::{Amounts, TurnSamples};
use super::session::Session;
use super::sweep::{Settings, Share};
use crate::app::scene::{Scene, pool};
use crate::extras::Equipped;
use crate::renderer::StageTimes;

/// The step of the animation. It is constant, so that slow and fast runs evaluate the same poses.
const SECONDS_PER_FRAME: f64 = 1.0 / 60.0;

impl Session<'_> {
    /// Draws a turn of a row on a new thread and returns the times of its frames. If `is_checked`, checks them afterwards:
    /// [`probe`]. The renderer of the turn before is used again if it has the same settings.
    pub(super) fn turn(&mut self, settings: Settings, share: Share, is_checked: bool) -> Result<TurnSamples> {
        let index = self.scene(&settings)?;
        let kept = self.kept.take().filter(|(kept, _)| kept.renderer() == settings.renderer());
        let mut renderer = kept.map_or_else(|| self.renderer(&settings), |(_, renderer)| Ok(renderer))?;
        let Self { args, interrupt, scenes, .. } = self;
        let (scene, start_seconds) = (&mut scenes[index], args.crowd.time);
        let turn = || {
            scene.pool = pool(Some(settings.threads))?;
            renderer.wait()?;
            let samples = draw(&mut renderer, scene, interrupt, start_seconds, share)?;
            if is_checked {
                probe::check(&mut renderer, scene, start_seconds, scene.aim.frames_crowd())?;
            }
            Ok(samples)
        };
        let samples: Result<_> = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("bench".to_owned()).spawn_scoped(scope, turn)?;
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        self.kept = Some((settings, renderer)).filter(|_| samples.is_ok());
        samples
    }
}

fn draw(
    renderer: &mut Equipped,
    scene: &mut Scene,
    interrupt: &Interrupt,
    start_seconds: f64,
    share: Share,
) -> Result<TurnSamples> {
    let lag = renderer.frames_in_flight();
    let mut samples = TurnSamples::default();
    let mut time_seconds = start_seconds + f64::from(share.first_frame) * SECONDS_PER_FRAME;
    let mut draw = |renderer: &mut Equipped| -> Result<StageTimes> {
        interrupt.check()?;
        let (_, times) = scene.draw(renderer, time_seconds, false)?;
        time_seconds += SECONDS_PER_FRAME;
        Ok(times)
    };
    // The CPU waits for a frame `lag` frames later. Without the wait below, slow warm-up frames would delay the first
    // measured ones. `lag` more frames touch the memory of each frame in flight.
    for _ in 0..share.warmup as usize + lag {
        draw(renderer)?;
    }
    renderer.wait()?;
    // The queue is full from the first measured frame to the last. A frame's time is the interval between two returns,
    // so GPU work counts for the frame that waits for it.
    let (first, end) = (lag, lag + share.frames as usize);
    let gpu_lag = renderer.gpu_times_lag();
    let mut last_return = Instant::now();
    for frame in 0..end + gpu_lag {
        let times = draw(renderer)?;
        let now = Instant::now();
        if (first..end).contains(&frame) {
            samples.frames_ms.push((now - last_return).as_secs_f64() * 1e3);
            samples.stages.push(times);
        }
        if frame >= first + gpu_lag {
            samples.passes.extend(renderer.gpu_times());
        }
        last_return = now;
    }
    renderer.wait()?;
    samples.amounts = Amounts::of_last_frame(scene, renderer);
    Ok(samples)
}
