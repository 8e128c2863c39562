//! Lost devices: everything on a lost device is built again from the models and the crowd, which live on the CPU.
//!
//! In: a function that builds a renderer, and a clock. Out: drawn frames, as if no device had been lost. A frame that loses its
//! device may do so always, so at most two losses within a minute are forgiven. The third error names the pass that ran last.

use std::time::{Duration, Instant};

use anyhow::Result;
use ash::vk;

use super::advice::vulkan_error;
use super::gpu::finish;
use super::scene::Scene;
use crate::extras::Equipped;
use crate::vulkan;

/// The number of losses that are forgiven within [`PERIOD`].
const MOST_LOSSES: usize = 2;
const PERIOD: Duration = Duration::from_secs(60);

/// The last losses of a device, and a clock for the next one.
pub struct Losses<'a> {
    clock: Box<dyn FnMut() -> Instant + 'a>,
    /// The times of forgiven losses within the last period.
    times: Vec<Instant>,
}

impl<'a> Losses<'a> {
    /// Returns losses by a clock, such as [`Instant::now`].
    pub fn new(clock: impl FnMut() -> Instant + 'a) -> Self {
        Self { clock: Box::new(clock), times: Vec::new() }
    }

    /// Forgives the loss of a device, so that the caller builds everything again. `last_pass` is the pass that ran last.
    ///
    /// # Errors
    /// `error` itself, if it is another one, or if this is the third loss within a minute.
    pub fn forgive(&mut self, error: anyhow::Error, last_pass: Option<&str>) -> Result<()> {
        if vulkan_result(&error) != Some(vk::Result::ERROR_DEVICE_LOST) {
            return Err(error);
        }
        let pass = last_pass.map_or_else(String::new, |pass| format!("; the pass '{pass}' ran last"));
        let now = (self.clock)();
        self.times.retain(|time| now.saturating_duration_since(*time) < PERIOD);
        if self.times.len() == MOST_LOSSES {
            let number = MOST_LOSSES + 1;
            return Err(error.context(format!("the device was lost {number} times within a minute{pass}")));
        }
        self.times.push(now);
        tracing::warn!("the device was lost{pass}; everything on it is built again");
        Ok(())
    }
}

/// Returns the result of the Vulkan call that failed, if one did.
pub fn vulkan_result(error: &anyhow::Error) -> Option<vk::Result> {
    let &vulkan::Error::Call { result, .. } = vulkan_error(error)? else { return None };
    Some(result)
}

type Build<'a> = dyn FnMut(&mut Scene) -> Result<Equipped> + 'a;

/// A renderer that is built when it is needed, and again when its device was lost.
pub struct Rebuilding<'a> {
    build: Box<Build<'a>>,
    renderer: Option<Equipped>,
    losses: Losses<'a>,
}

impl<'a> Rebuilding<'a> {
    /// Returns a renderer that is not built yet.
    pub fn new(losses: Losses<'a>, build: impl FnMut(&mut Scene) -> Result<Equipped> + 'a) -> Self {
        Self { build: Box::new(build), renderer: None, losses }
    }

    /// Calls `step` until it does not lose the device, and returns the renderer.
    ///
    /// # Errors
    /// The step, or building the renderer, fails for another reason, or the device is lost too often. The validation layer
    /// has reported something about a lost device.
    pub fn run(
        &mut self,
        scene: &mut Scene,
        mut step: impl FnMut(&mut Scene, &mut Equipped) -> Result<()>,
    ) -> Result<&mut Equipped> {
        loop {
            let mut renderer = match self.renderer.take().map_or_else(|| (self.build)(scene), Ok) {
                Ok(renderer) => renderer,
                Err(error) => {
                    self.losses.forgive(error, None)?;
                    continue;
                }
            };
            match step(scene, &mut renderer) {
                Ok(()) => return Ok(self.renderer.insert(renderer)),
                Err(error) => {
                    let last_pass = renderer.last_pass();
                    let finished = finish(renderer);
                    self.losses.forgive(error, last_pass)?;
                    finished?;
                }
            }
        }
    }

    /// Returns the renderer, and builds it first if there is none.
    pub fn renderer(&mut self, scene: &mut Scene) -> Result<&mut Equipped> {
        self.run(scene, |_, _| Ok(()))
    }

    /// Destroys the renderer, then checks that the validation layer has reported nothing.
    pub fn finish(self) -> Result<()> {
        self.renderer.map_or(Ok(()), finish)
    }
}
