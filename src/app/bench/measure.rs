//! One row's turn: draws frames as fast as possible and times each of them.
//!
//! The warm-up frames of each turn build pipelines and touch memory, so that no measured frame does. Each turn starts a
//! thread, because a thread can join only one pool and rows may animate on different numbers of threads. The thread
//! that draws is one of those that animate, as in `view`.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Error, Result};
use indicatif::ProgressBar;

use super::rates::CopyRate;
use super::report::{Bytes, CpuSummary, GpuSummary, Run, SceneSettings, Yardsticks};
use super::summary::{Summary, median_of};
use super::sweep::{Settings, Share};
use crate::app::scene::Scene;
use crate::cli::BenchArgs;
use crate::crowd::SharingError;
use crate::model::Model;
use crate::renderer::{ByteCounts, CpuTimes, GpuTimes, Renderer};
use crate::shader_types::JointMatrix;

/// The step of the animation. It is constant, so that slow and fast runs evaluate the same poses.
const SECONDS_PER_FRAME: f64 = 1.0 / 60.0;

/// The measurements of a row so far.
#[derive(Debug, Default)]
pub(super) struct Samples {
    frame_ms: Vec<f64>,
    cpu: Vec<CpuTimes>,
    gpu: Vec<GpuTimes>,
    copies: Vec<CopyRate>,
    /// The times of `animate` in frames that only store joint matrices.
    store_ms: Vec<f64>,
    rounds: u32,
    /// The visible instances of each model.
    instance_counts: Vec<u32>,
    /// The visible poses of each model.
    pose_counts: Vec<u32>,
    sharing_error: Option<SharingError>,
    bytes: ByteCounts,
}

/// The inputs of a turn.
pub(super) struct Turn<'a> {
    pub(super) args: &'a BenchArgs,
    pub(super) settings: Settings,
    pub(super) share: Share,
    pub(super) progress: &'a ProgressBar,
    /// The number of steps on the progress bar that a frame takes.
    pub(super) frame_weight: u64,
}

/// Returns the number of frames that a turn draws, including those that fill and empty the queue.
pub(super) fn frames_drawn(args: &BenchArgs, share: &Share, frames_in_flight: usize) -> u64 {
    u64::from(args.warmup) + u64::from(share.frames) + u64::from(frames_stored(share)) + 4 * frames_in_flight as u64
}

/// Returns the number of additional frames in a turn that only store joint matrices.
fn frames_stored(share: &Share) -> u32 {
    (share.frames / 4).clamp(3, 10)
}

impl Turn<'_> {
    /// Draws this turn's frames on a new thread and adds their times to `samples`.
    ///
    /// # Errors
    /// Drawing fails, or a thread cannot be started.
    pub(super) fn take(
        &self,
        renderer: &mut Renderer,
        scene: &mut Scene,
        copy: CopyRate,
        samples: &mut Samples,
    ) -> Result<()> {
        let turn = || {
            scene.frame(self.args.crowd.camera, self.args.crowd.time, self.settings.renderer.size.aspect());
            scene.set_threads(self.settings.threads)?;
            renderer.wait()?;
            samples.copies.push(copy);
            self.draw(renderer, scene, samples)
        };
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("bench".to_owned()).spawn_scoped(scope, turn)?;
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn draw(&self, renderer: &mut Renderer, scene: &mut Scene, samples: &mut Samples) -> Result<()> {
        let lag = renderer.frames_in_flight();
        let mut time_seconds = self.args.crowd.time + f64::from(self.share.first_frame) * SECONDS_PER_FRAME;
        let mut draw = |renderer: &mut Renderer| {
            let (_, times) = scene.draw(renderer, time_seconds, self.settings.renderer.size.aspect(), false)?;
            time_seconds += SECONDS_PER_FRAME;
            Ok::<CpuTimes, Error>(times)
        };
        // The CPU waits for a frame `lag` frames later. Without the wait below, slow warm-up frames would delay the first
        // measured ones. `lag` more frames touch the memory of each frame in flight.
        for _ in 0..self.args.warmup as usize + lag {
            draw(renderer)?;
            self.progress.inc(self.frame_weight);
        }
        renderer.wait()?;
        // The queue is full from the first measured frame to the last. A frame's time is the interval between two returns,
        // so GPU work counts for the frame that waits for it. A frame's GPU times arrive `2 * lag` frames later.
        let (first, end) = (lag, lag + self.share.frames as usize);
        let mut last_return = Instant::now();
        for frame in 0..end + 2 * lag {
            let times = draw(renderer)?;
            let now = Instant::now();
            if (first..end).contains(&frame) {
                samples.frame_ms.push((now - last_return).as_secs_f64() * 1e3);
                samples.cpu.push(times);
            }
            if frame >= first + 2 * lag {
                samples.gpu.extend(renderer.gpu_times());
            }
            self.progress.inc(self.frame_weight);
            // The time to draw the progress bar does not count.
            last_return = Instant::now();
        }
        // The yardstick of `animate` stores the same bytes to the same memory, in otherwise complete frames.
        for _ in 0..frames_stored(&self.share) {
            let times = scene.draw_only_stored(renderer, self.settings.renderer.size.aspect())?;
            samples.store_ms.push(times.animate_ms);
            self.progress.inc(self.frame_weight);
        }
        renderer.wait()?;
        samples.rounds += 1;
        samples.instance_counts = scene.crowd.visible_counts().to_vec();
        samples.pose_counts = scene.crowd.pose_counts().to_vec();
        if samples.sharing_error.is_none() {
            samples.sharing_error = scene.crowd.sharing_error();
        }
        samples.bytes = renderer.byte_counts();
        Ok(())
    }
}

impl Samples {
    /// Returns the number of rounds that the samples come from.
    pub(super) fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Sums up the samples. `planned_device` is the device memory that was computed beforehand.
    pub(super) fn summarize(
        self,
        args: &BenchArgs,
        models: &Arc<[Model]>,
        settings: &Settings,
        planned_device: u64,
    ) -> Run {
        let visible: u32 = self.instance_counts.iter().sum();
        let unique_poses: u32 = self.pose_counts.iter().sum();
        let total = |of: fn(&Model) -> usize, counts: &[u32]| -> f64 {
            models.iter().zip(counts).map(|(model, &count)| of(model) as f64 * f64::from(count)).sum()
        };
        let per_instance = |of| total(of, &self.instance_counts) / f64::from(visible.max(1));
        let per_frame = |of| total(of, &self.pose_counts);
        let (cpu_ms, gpu_ms) = (self.cpu_summary(), self.gpu_summary());
        let ByteCounts { palette, skinned_vertices, static_data, total_device } = self.bytes;
        let skin_ms = gpu_ms.map(|gpu| gpu.skin.median).filter(|&ms| ms > 0.0 && skinned_vertices > 0);
        let skin_bytes_per_second = skin_ms.map(|ms| per_second(skinned_vertices as f64, ms));
        let skinned_vertices_per_second = skin_ms.map(|ms| per_second(per_frame(vertices_of), ms));
        let copy_bytes_per_second = median_of(self.copies.iter().map(|copy| copy.bytes_per_second).collect());
        let store_ms = median_of(self.store_ms);
        let store_bytes_per_second = per_second(per_frame(joints_of) * size_of::<JointMatrix>() as f64, store_ms);
        let joints_per_second = per_second(per_frame(joints_of), cpu_ms.animate.median);
        let animate_ns_per_joint = positive(1e9 / joints_per_second);
        let store_ns_per_joint = positive(1e9 * size_of::<JointMatrix>() as f64 / store_bytes_per_second);
        let size = settings.renderer.size;
        Run {
            models: models.iter().map(|model| model.name.clone()).collect(),
            instances: settings.instances,
            visible,
            unique_poses,
            share_poses_hz: args.crowd.share_poses,
            sharing_error_metres: self.sharing_error.map(|error| error.metres.into()),
            sharing_error_share_of_size: self.sharing_error.map(|error| error.share_of_size.into()),
            scene: Some(SceneSettings::new(&args.crowd, settings.instances)),
            joints: per_instance(joints_of),
            vertices: per_instance(vertices_of),
            triangles: per_instance(|model| model.geometry.triangle_count()),
            width: size.width,
            height: size.height,
            msaa: args.quality.msaa,
            shadows: args.quality.shadows,
            skinning: settings.renderer.skinning.name().to_owned(),
            upload: settings.renderer.upload.name().to_owned(),
            threads: settings.threads as usize,
            frames: self.frame_ms.len() as u32,
            warmup: args.warmup,
            rounds: self.rounds,
            serialize: args.serialize,
            frame_ms: Summary::new(self.frame_ms),
            cpu_ms,
            gpu_ms,
            bytes: Bytes { palette, skinned_vertices, static_data, total_device, planned_device: Some(planned_device) },
            joints_per_second,
            skinned_vertices_per_second,
            skin_bytes_per_second,
            copy_bytes_per_second,
            yardsticks: Yardsticks {
                copy_buffer_bytes: self.copies.iter().map(|copy| copy.buffer_bytes).min(),
                store_bytes_per_second: positive(store_bytes_per_second),
                animate_ns_per_joint,
                store_ns_per_joint,
                animate_share_of_store: share(store_ns_per_joint, animate_ns_per_joint),
                skin_ns_per_vertex: skinned_vertices_per_second.and_then(|rate| positive(1e9 / rate)),
                skin_share_of_copy: share(skin_bytes_per_second, positive(copy_bytes_per_second)),
            },
        }
    }

    fn cpu_summary(&self) -> CpuSummary {
        let summary = |of: fn(&CpuTimes) -> f64| Summary::new(self.cpu.iter().map(of).collect());
        let stages = |times: &CpuTimes| times.cull_ms + times.wait_ms + times.animate_ms + times.record_ms;
        let rest = self.frame_ms.iter().zip(&self.cpu).map(|(frame_ms, times)| (frame_ms - stages(times)).max(0.0));
        CpuSummary {
            cull: summary(|times| times.cull_ms),
            animate: summary(|times| times.animate_ms),
            record: summary(|times| times.record_ms),
            wait: summary(|times| times.wait_ms),
            other: Summary::new(rest.collect()),
        }
    }

    /// Sums up the GPU times, or returns `None` if the device has no timestamps.
    fn gpu_summary(&self) -> Option<GpuSummary> {
        let summary = |of: fn(&GpuTimes) -> f64| Summary::new(self.gpu.iter().map(of).collect());
        (!self.gpu.is_empty()).then(|| GpuSummary {
            upload: summary(|times| times.upload_ms),
            skin: summary(|times| times.skin_ms),
            shadow: summary(|times| times.shadow_ms),
            draw: summary(|times| times.draw_ms),
            post: summary(|times| times.post_ms),
        })
    }
}

fn joints_of(model: &Model) -> usize {
    model.palette.len()
}

fn vertices_of(model: &Model) -> usize {
    model.geometry.vertex_count()
}

fn per_second(amount: f64, ms: f64) -> f64 {
    amount / (ms * 1e-3).max(1e-9)
}

fn positive(value: f64) -> Option<f64> {
    (value.is_finite() && value > 0.0).then_some(value)
}

fn share(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    positive(part? / whole?)
}
