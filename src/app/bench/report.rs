//! The results, as `--json` writes them and `--against` reads them. The table and the plot are made from these structs.
//!
//! In: the samples of a row. Out: amounts, rates, and order statistics, which a single slow frame cannot spoil.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use glam::Affine3A;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::sweep::{RunSettings, rounds};
use crate::app::scene::Scene;
use crate::cli::BenchArgs;
use crate::crowd::{LevelSize, PoseSize, VisiblePose};
use crate::model::Model;
use crate::renderer::{ByteCounts, CpuStage, DrawCounts, Pass, PassTimes, Renderer, StageTimes, ViewCounts};
use crate::shader_types::JointMatrix;
use crate::vulkan::physical_device::PhysicalDevice;

pub(super) struct Report {
    /// Whether the measurement was interrupted or failed before all rows were complete.
    pub(super) partial: bool,
    pub(super) device: String,
    pub(super) cpu: String,
    pub(super) models: Arc<[Model]>,
    pub(super) runs: Vec<Run>,
}

/// One row: one set of settings. The file has the fields of all four structs side by side.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Run {
    #[serde(flatten)]
    pub(super) settings: RunSettings,
    #[serde(flatten)]
    pub(super) amounts: Amounts,
    #[serde(flatten)]
    pub(super) times: Times,
    #[serde(flatten)]
    pub(super) rates: Rates,
}

/// The amounts of work and memory of a frame. Files of other versions may lack fields.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Amounts {
    pub(super) visible: u32,
    pub(super) unique_poses: u32,
    /// The largest error of a vertex that sharing poses causes.
    pub(super) sharing_error_metres: Option<f64>,
    /// The same error as a share of the character's size: of the sphere that contains it throughout its clip.
    pub(super) sharing_error_share_of_size: Option<f64>,
    /// The joint matrices per instance of the mix. Vertices and triangles are per instance as well.
    pub(super) joints: f64,
    pub(super) vertices: f64,
    pub(super) triangles: f64,
    /// The vertices that the skin pass writes in a frame.
    pub(super) vertices_skinned: u64,
    /// The vertices and triangles of the camera's view in a frame, in the levels of detail of their instances.
    pub(super) vertices_drawn: u64,
    pub(super) triangles_drawn: u64,
    pub(super) shadow_triangles_drawn: u64,
    /// The share of the drawn instances in each level of detail, finest first, for the camera and in the shadow map.
    pub(super) level_shares: Vec<f64>,
    pub(super) shadow_level_shares: Vec<f64>,
    /// Three of the characters that the camera draws, by the distances of their origins. `None` if it draws none.
    pub(super) nearest_median_farthest: Option<[Character; 3]>,
    pub(super) bytes: Bytes,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Character {
    /// The camera's level of detail, and its triangles.
    pub(super) level: usize,
    pub(super) triangles: usize,
    /// The joints that are evaluated: those of the finer level of the camera and the light.
    pub(super) joints: usize,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Bytes {
    pub(super) palette: u64,
    pub(super) skinned_vertices: u64,
    #[serde(rename = "static")]
    pub(super) static_data: u64,
    pub(super) total_device: u64,
}

#[derive(Debug, Default)]
pub(super) struct TurnSamples {
    pub(super) frames_ms: Vec<f64>,
    pub(super) stages: Vec<StageTimes>,
    /// Empty if the device has no timestamps.
    pub(super) passes: Vec<PassTimes>,
    pub(super) amounts: Amounts,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Times {
    pub(super) frames: u32,
    /// The frames before them in each round, which are not measured.
    pub(super) warmup: u32,
    /// The number of turns of this row, with turns of other rows between them.
    pub(super) rounds: usize,
    /// Whether turns are missing, because the measurement was interrupted.
    pub(super) partial: bool,
    /// The value of `--fit`, if that chose the number of instances.
    pub(super) fit_limit_ms: Option<f64>,
    pub(super) fit_bound: Option<Bound>,
    pub(super) frame_ms: Summary,
    /// The CPU's stages, which follow each other and make up the frame.
    pub(super) cpu_ms: Parts,
    /// The GPU's passes, which run while the CPU prepares the next frame. `None` if the device has no timestamps.
    pub(super) gpu_ms: Option<Parts>,
    /// The times of all measured frames, in order, a list for each turn.
    pub(super) turns_ms: Vec<Vec<f64>>,
}

/// The times of the stages or passes, by name.
pub(super) type Parts = BTreeMap<String, Summary>;

/// Order statistics of a sample, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub min: f64,
    pub q1: f64,
    pub median: f64,
    pub q3: f64,
    /// `None` for fewer than 60 frames. A percentile counts if at least three frames lie above it. Otherwise one or two
    /// late frames would decide it.
    pub p95: Option<f64>,
    /// `None` for fewer than 300 frames.
    pub p99: Option<f64>,
    pub max: f64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Rates {
    pub(super) frames_per_second: f64,
    /// The visible instances times the frames per second.
    pub(super) characters_per_second: f64,
    /// The joints that are evaluated per second of `animate`.
    pub(super) joints_per_second: f64,
    pub(super) skinned_vertices_per_second: Option<f64>,
    /// The bytes that the skin pass writes per second.
    pub(super) skin_bytes_per_second: Option<f64>,
    /// The rate of a copy from one device buffer to another.
    pub(super) copy_bytes_per_second: f64,
}

/// The limit of `--fit` in milliseconds and the result of the search, if a search chose the crowd.
pub(super) type Fit = Option<(f64, Bound)>;

/// The reason why `--fit` found no larger crowd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    Time,
    Memory,
    MostInstances,
    OneIsTooSlow,
    /// During the search, the crowd was on the other side of the limit than when it was measured.
    Unsteady,
}

impl Run {
    /// Sums up the turns of a row.
    pub(super) fn new(args: &BenchArgs, settings: RunSettings, turns: &[TurnSamples], fit: Fit, copy: f64) -> Self {
        let mut amounts = turns.last().map_or_else(Amounts::default, |turn| turn.amounts.clone());
        // Buffers only grow, and the rows of later rounds share them.
        amounts.bytes.total_device = turns.first().map_or(0, |turn| turn.amounts.bytes.total_device);
        let times = Times::new(args, turns, fit);
        let rates = Rates::new(&amounts, &times, copy);
        Self { settings, amounts, times, rates }
    }
}

impl Amounts {
    /// Reads the amounts of a row's last frame from its scene and renderer, after a turn.
    pub(super) fn of_last_frame(scene: &Scene, renderer: &Renderer) -> Self {
        let counts = scene.crowd.visible_counts();
        let visible: u32 = counts.iter().sum();
        let per_instance = |of: fn(&Model) -> usize| {
            let all = scene.models.iter().zip(counts).map(|(model, &count)| of(model) as f64 * f64::from(count));
            all.sum::<f64>() / f64::from(visible.max(1))
        };
        let sharing_error = scene.crowd.sharing_error();
        let DrawCounts { skinned_vertices: vertices_skinned, camera, light } = renderer.draw_counts();
        let shares = |ViewCounts { instances, by_level, .. }: &ViewCounts| {
            by_level.iter().map(|&count| count as f64 / (*instances).max(1) as f64).collect()
        };
        let ByteCounts { palette, skinned_vertices, static_data, total_device } = renderer.byte_counts();
        Self {
            visible,
            unique_poses: scene.crowd.pose_counts().iter().sum(),
            sharing_error_metres: sharing_error.map(|error| error.metres.into()),
            sharing_error_share_of_size: sharing_error.map(|error| error.share_of_size.into()),
            joints: per_instance(|model| model.palette.len()),
            vertices: per_instance(|model| model.geometry.vertex_count()),
            triangles: per_instance(|model| model.geometry.triangle_count()),
            vertices_skinned,
            vertices_drawn: camera.vertices,
            triangles_drawn: camera.triangles,
            shadow_triangles_drawn: light.triangles,
            level_shares: shares(&camera),
            shadow_level_shares: shares(&light),
            nearest_median_farthest: nearest_median_farthest(scene, camera.instances as usize),
            bytes: Bytes { palette, skinned_vertices, static_data, total_device },
        }
    }
}

/// Looks at the characters that the camera draws: the first `seen` of the visible ones.
fn nearest_median_farthest(scene: &Scene, seen: usize) -> Option<[Character; 3]> {
    let camera = scene.camera.position().into();
    let distance = |world_from_model| Affine3A::from(world_from_model).translation.distance(camera);
    let seen = scene.crowd.visible_instances().take(seen);
    let mut seen: Vec<(f32, u32)> = seen.map(|seen| (distance(seen.world_from_model), seen.pose)).collect();
    seen.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let last = seen.len().checked_sub(1)?;
    Some([0, last / 2, last].map(|index| {
        let VisiblePose { model, levels, .. } = scene.crowd.visible_poses()[seen[index].1 as usize];
        let (level, [joints, _, triangles]) = (levels.camera as usize, by_level(&scene.models[model as usize]));
        Character { level, triangles: triangles[level], joints: joints[levels.finest() as usize] }
    }))
}

/// Returns the joints, the vertices and the triangles of a model in each level of detail, finest first.
pub(super) fn by_level(model: &Model) -> [Vec<usize>; 3] {
    let of = |of: fn(&LevelSize) -> u32| PoseSize::of(model).levels.iter().map(|size| of(size) as usize).collect();
    [of(|size| size.joint_count), of(|size| size.vertex_count), model.geometry.triangles_by_level().collect()]
}

impl Times {
    fn new(args: &BenchArgs, turns: &[TurnSamples], fit: Fit) -> Self {
        let stages = || turns.iter().flat_map(|turn| &turn.stages);
        let passes = || turns.iter().flat_map(|turn| &turn.passes);
        let frames_ms: Vec<f64> = turns.iter().flat_map(|turn| &turn.frames_ms).copied().collect();
        let other = frames_ms.iter().zip(stages()).map(|(ms, stages)| (ms - stages.0.iter().sum::<f64>()).max(0.0));
        let part = |name: &str, sample: Vec<f64>| (name.to_owned(), Summary::new(sample));
        let cpu = CpuStage::ALL
            .map(|stage| part(stage.name(), stages().map(|times| times.0[stage as usize]).collect()))
            .into_iter()
            .chain([part("other", other.collect())]);
        let gpu = Pass::ALL.map(|pass| part(pass.name(), passes().map(|times| times.0[pass as usize]).collect()));
        let frame_ms = Summary::new(frames_ms.clone());
        let bound = |(limit_ms, bound)| match bound {
            Bound::Time | Bound::Memory | Bound::MostInstances if frame_ms.median >= limit_ms => Bound::Unsteady,
            Bound::OneIsTooSlow if frame_ms.median < limit_ms => Bound::Unsteady,
            bound => bound,
        };
        // A clock's tick is not shorter than a nanosecond.
        let rounded = |turn: &TurnSamples| turn.frames_ms.iter().map(|ms| (ms * 1e6).round() * 1e-6).collect();
        Self {
            frames: frames_ms.len() as u32,
            warmup: args.warmup,
            rounds: turns.len(),
            partial: turns.len() < rounds(args.frames, args.warmup).len(),
            fit_limit_ms: fit.map(|(limit_ms, _)| limit_ms),
            fit_bound: fit.map(bound),
            frame_ms,
            cpu_ms: cpu.collect(),
            gpu_ms: passes().next().is_some().then(|| gpu.into()),
            turns_ms: turns.iter().map(rounded).collect(),
        }
    }

    /// Returns the median of the frame, or of a stage or pass by its name, if it was measured.
    pub(super) fn median(&self, name: &str) -> Option<f64> {
        let gpu = || self.gpu_ms.as_ref()?.get(name);
        let found = if name == "frame" { Some(&self.frame_ms) } else { self.cpu_ms.get(name).or_else(gpu) };
        found.map(|times| times.median)
    }
}

impl Rates {
    fn new(amounts: &Amounts, times: &Times, copy_bytes_per_second: f64) -> Self {
        let per_second = |amount: f64, ms: f64| amount / (ms * 1e-3).max(1e-9);
        let frames_per_second = per_second(1.0, times.frame_ms.median);
        let joints = amounts.bytes.palette as f64 / size_of::<JointMatrix>() as f64;
        let skinned_bytes = amounts.bytes.skinned_vertices;
        let skin_ms = times.median(Pass::Skin.name()).filter(|&ms| ms > 0.0 && skinned_bytes > 0);
        Self {
            frames_per_second,
            characters_per_second: f64::from(amounts.visible) * frames_per_second,
            joints_per_second: per_second(joints, times.median(CpuStage::Animate.name()).unwrap_or_default()),
            skinned_vertices_per_second: skin_ms.map(|ms| per_second(amounts.vertices_skinned as f64, ms)),
            skin_bytes_per_second: skin_ms.map(|ms| per_second(skinned_bytes as f64, ms)),
            copy_bytes_per_second,
        }
    }
}

impl Summary {
    /// Computes nearest-rank percentiles. The median of an even count is the mean of the middle two.
    pub fn new(mut sample: Vec<f64>) -> Self {
        sample.sort_by(f64::total_cmp);
        let count = sample.len();
        let rank = |share: f64| {
            let rank = ((share * count as f64).ceil() as usize).clamp(1, count.max(1));
            sample.get(rank - 1).copied().unwrap_or(0.0)
        };
        Self {
            min: rank(0.0),
            q1: rank(0.25),
            q3: rank(0.75),
            p95: (count >= 60).then(|| rank(0.95)),
            p99: (count >= 300).then(|| rank(0.99)),
            max: rank(1.0),
            median: median_of(sample),
        }
    }
}

/// Returns the median of a sample in any order: the mean of the middle two for an even count, 0 for an empty sample.
pub fn median_of(mut sample: Vec<f64>) -> f64 {
    sample.sort_by(f64::total_cmp);
    let middle = |index: usize| sample.get(index).copied().unwrap_or(0.0);
    (middle(sample.len().saturating_sub(1) / 2) + middle(sample.len() / 2)) / 2.0
}

impl Report {
    /// Returns the file that `--json` writes.
    pub(super) fn to_json(&self, device: &PhysicalDevice) -> serde_json::Result<Vec<u8>> {
        let arguments: Vec<_> = std::env::args_os().skip(1).map(|text| text.to_string_lossy().into_owned()).collect();
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let (kind, driver, api) = (device.kind(), &device.driver, device.api_version());
        let models = self.models.iter().map(|model| {
            let [joints, vertices, triangles] = by_level(model);
            json!({ "name": model.name, "joints": joints, "vertices": vertices, "triangles": triangles })
        });
        let mut json = serde_json::to_vec_pretty(&json!({
            // Adding fields does not change the version of the format.
            "schema": 1,
            "partial": self.partial,
            "unix_seconds": UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs()),
            "arguments": arguments,
            "program": { "version": env!("CARGO_PKG_VERSION"), "commit": env!("THRONG_COMMIT") },
            "device": { "name": device.name, "type": kind, "driver": driver, "api": api },
            "cpu": { "name": self.cpu, "threads": threads },
            "models": models.collect::<Vec<_>>(),
            "runs": self.runs,
        }))?;
        json.push(b'\n');
        Ok(json)
    }
}

/// Returns the processor's name on Linux, and its architecture elsewhere.
pub(super) fn cpu_name() -> String {
    let from_linux = || {
        let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    from_linux().unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}
