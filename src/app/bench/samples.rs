//! The measurements of a row, and their summary.
//!
//! In: the times of each frame of each turn. Out: the row of the report: order statistics, rates, and the
//! times of each turn.

use std::sync::Arc;

use super::fit::Bound;
use super::rates::CopyRate;
use super::report::{Bytes, CpuSummary, GpuSummary, Run, TurnReport, Yardsticks};
use super::scene_settings::SceneSettings;
use super::summary::{Summary, median_of};
use super::sweep::Settings;
use crate::cli::BenchArgs;
use crate::crowd::SharingError;
use crate::model::Model;
use crate::renderer::{ByteCounts, CpuStage, DrawCounts, Pass, PassTimes, StageTimes};
use crate::shader_types::JointMatrix;

/// The measurements of one turn.
#[derive(Debug, Default, Clone)]
pub(super) struct TurnSamples {
    pub(super) frame_ms: Vec<f64>,
    pub(super) cpu: Vec<StageTimes>,
    /// Empty if the device has no timestamps.
    pub(super) gpu: Vec<PassTimes>,
    /// The times of `animate` in frames that only store joint matrices.
    pub(super) store_ms: Vec<f64>,
    /// The time of [`work_ms`](super::work::work_ms) around the frames.
    pub(super) work_ms: f64,
    /// The copy rate of this round, if the round measured it.
    pub(super) copy: Option<CopyRate>,
    /// The visible instances of each model.
    pub(super) instance_counts: Vec<u32>,
    /// The visible poses of each model.
    pub(super) pose_counts: Vec<u32>,
    pub(super) sharing_error: Option<SharingError>,
    pub(super) bytes: ByteCounts,
    pub(super) drawn: DrawCounts,
}

/// The measurements of a row so far: one element for each turn.
#[derive(Debug, Default)]
pub(super) struct Samples {
    pub(super) turns: Vec<TurnSamples>,
}

/// The values of a row that are not measured.
#[derive(Debug, Default)]
pub(super) struct Planned {
    /// The device memory that was computed beforehand.
    pub(super) device_bytes: u64,
    /// The number of turns of a complete row.
    pub(super) turns: usize,
    /// The limit of `--fit` in milliseconds and the result of the search, if a search chose the crowd.
    pub(super) fit: Option<(f64, Bound)>,
}

impl TurnSamples {
    /// Returns the medians of this turn by the names of their stages, and the times of all frames.
    fn report(&self) -> TurnReport {
        let cpu = cpu_summary(&self.frame_ms, &self.cpu);
        let gpu = gpu_summary(&self.gpu).unwrap_or_default();
        let passes = gpu.passes().into_iter().filter(|_| !self.gpu.is_empty());
        let stages = cpu.stages().into_iter().chain(passes).map(|(name, times)| (name.to_owned(), times.median));
        TurnReport {
            median_ms: stages.chain([("frame".to_owned(), median_of(self.frame_ms.clone()))]).collect(),
            work_ms: self.work_ms,
            // A clock's tick is not shorter than a nanosecond.
            frames_ms: self.frame_ms.iter().map(|ms| (ms * 1e6).round() * 1e-6).collect(),
        }
    }
}

impl Samples {
    /// Returns the median of all frames.
    pub(super) fn median_ms(&self) -> f64 {
        median_of(self.all(|turn| &turn.frame_ms))
    }

    /// Returns the samples of all turns.
    fn all<T: Clone>(&self, of: fn(&TurnSamples) -> &Vec<T>) -> Vec<T> {
        self.turns.iter().flat_map(of).cloned().collect()
    }

    /// Sums up the samples. Without a turn they are all zero.
    pub(super) fn summarize(
        self,
        args: &BenchArgs,
        models: &Arc<[Model]>,
        settings: &Settings,
        planned: &Planned,
    ) -> Run {
        let last = self.turns.last().cloned().unwrap_or_default();
        let visible: u32 = last.instance_counts.iter().sum();
        let unique_poses: u32 = last.pose_counts.iter().sum();
        let total = |of: fn(&Model) -> usize, counts: &[u32]| -> f64 {
            models.iter().zip(counts).map(|(model, &count)| of(model) as f64 * f64::from(count)).sum()
        };
        let per_instance = |of| total(of, &last.instance_counts) / f64::from(visible.max(1));
        let per_frame = |of| total(of, &last.pose_counts);
        let frames_ms = self.all(|turn| &turn.frame_ms);
        let cpu_ms = cpu_summary(&frames_ms, &self.all(|turn| &turn.cpu));
        let gpu_ms = gpu_summary(&self.all(|turn| &turn.gpu));
        let ByteCounts { palette, skinned_vertices, static_data, total_device } = last.bytes;
        let skin_ms = gpu_ms.map(|gpu| gpu.skin.median).filter(|&ms| ms > 0.0 && skinned_vertices > 0);
        let skin_bytes_per_second = skin_ms.map(|ms| per_second(skinned_vertices as f64, ms));
        let skinned_vertices_per_second = skin_ms.map(|ms| per_second(last.drawn.skinned_vertices as f64, ms));
        let copies = || self.turns.iter().filter_map(|turn| turn.copy);
        let copy_bytes_per_second = median_of(copies().map(|copy| copy.bytes_per_second).collect());
        let store_ms = median_of(self.all(|turn| &turn.store_ms));
        let store_bytes_per_second = per_second(per_frame(joints_of) * size_of::<JointMatrix>() as f64, store_ms);
        let joints_per_second = per_second(per_frame(joints_of), cpu_ms.animate.median);
        let animate_ns_per_joint = positive(1e9 / joints_per_second);
        let store_ns_per_joint = positive(1e9 * size_of::<JointMatrix>() as f64 / store_bytes_per_second);
        let size = settings.renderer.size;
        let (frame_count, frame_ms) = (frames_ms.len() as u32, Summary::new(frames_ms));
        Run {
            models: models.iter().map(|model| model.name.clone()).collect(),
            instances: settings.instances,
            visible,
            unique_poses,
            share_poses_hz: args.crowd.share_poses,
            sharing_error_metres: last.sharing_error.map(|error| error.metres.into()),
            sharing_error_share_of_size: last.sharing_error.map(|error| error.share_of_size.into()),
            scene: Some(SceneSettings::new(&args.crowd, settings.instances)),
            joints: per_instance(joints_of),
            vertices: per_instance(vertices_of),
            triangles: per_instance(|model| model.geometry.triangle_count()),
            width: size.width,
            height: size.height,
            msaa: settings.renderer.quality.samples(),
            shadows: settings.renderer.quality.has_shadows(),
            lod_error_pixels: Some(settings.lod_error),
            vertices_skinned: last.drawn.skinned_vertices,
            vertices_drawn: last.drawn.camera.vertices,
            triangles_drawn: last.drawn.camera.triangles,
            shadow_triangles_drawn: last.drawn.light.triangles,
            level_shares: level_shares(&last.drawn),
            skinning: settings.renderer.skinning.name().to_owned(),
            upload: settings.renderer.upload.name().to_owned(),
            threads: settings.threads as usize,
            frames: frame_count,
            warmup: args.warmup,
            rounds: self.turns.len() as u32,
            partial: self.turns.len() < planned.turns,
            serialize: args.serialize,
            frames_per_second: 1e3 / frame_ms.median.max(1e-6),
            characters_per_second: f64::from(visible) * 1e3 / frame_ms.median.max(1e-6),
            fit_limit_ms: planned.fit.map(|(limit_ms, _)| limit_ms),
            fit_bound: planned.fit.map(|(_, bound)| bound.name().to_owned()),
            turns: self.turns.iter().map(TurnSamples::report).collect(),
            frame_ms,
            cpu_ms,
            gpu_ms,
            bytes: Bytes {
                palette,
                skinned_vertices,
                static_data,
                total_device,
                planned_device: Some(planned.device_bytes),
            },
            joints_per_second,
            skinned_vertices_per_second,
            skin_bytes_per_second,
            copy_bytes_per_second,
            yardsticks: Yardsticks {
                copy_buffer_bytes: copies().map(|copy| copy.buffer_bytes).min(),
                store_bytes_per_second: positive(store_bytes_per_second),
                animate_ns_per_joint,
                store_ns_per_joint,
                animate_share_of_store: share(store_ns_per_joint, animate_ns_per_joint),
                skin_ns_per_vertex: skinned_vertices_per_second.and_then(|rate| positive(1e9 / rate)),
                skin_share_of_copy: share(skin_bytes_per_second, positive(copy_bytes_per_second)),
            },
        }
    }
}

fn cpu_summary(frame_ms: &[f64], cpu: &[StageTimes]) -> CpuSummary {
    let [cull, wait, animate, record] =
        CpuStage::ALL.map(|stage| Summary::new(cpu.iter().map(|times| times[stage]).collect()));
    let rest = frame_ms.iter().zip(cpu).map(|(frame_ms, times)| (frame_ms - times.0.iter().sum::<f64>()).max(0.0));
    CpuSummary { cull, animate, record, wait, other: Summary::new(rest.collect()) }
}

/// Sums up the GPU times, or returns `None` if the device has no timestamps.
fn gpu_summary(gpu: &[PassTimes]) -> Option<GpuSummary> {
    let [upload, skin, shadow, draw, post] =
        Pass::ALL.map(|pass| Summary::new(gpu.iter().map(|times| times[pass]).collect()));
    (!gpu.is_empty()).then_some(GpuSummary { upload, skin, shadow, draw, post })
}

/// Returns the share of the drawn instances in each level of detail, finest first.
fn level_shares(drawn: &DrawCounts) -> Vec<f64> {
    drawn.seen_by_level.iter().map(|&seen| seen as f64 / drawn.camera.instances.max(1) as f64).collect()
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
