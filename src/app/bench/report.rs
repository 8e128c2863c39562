//! The results, as `--json` writes and `--compare` reads them. The table, the CSV file and the plot are made from these
//! structs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::date;
use super::scene_settings::SceneSettings;
use super::summary::Summary;
use crate::vulkan::physical_device::PhysicalDevice;

/// The version of the file format. Adding fields does not change it.
pub(super) const SCHEMA: u32 = 1;

/// The file that `--json` writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) schema: u32,
    /// The end of the measurement in UTC, as ISO 8601 writes it. Empty in files of older versions.
    #[serde(default)]
    pub(super) date: String,
    /// Whether the measurement was interrupted or failed before all rows were complete.
    #[serde(default)]
    pub(super) partial: bool,
    pub(super) program: Program,
    pub(super) device: DeviceInfo,
    pub(super) cpu: CpuInfo,
    pub(super) runs: Vec<Run>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Program {
    pub(super) version: String,
    pub(super) commit: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct DeviceInfo {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) driver: String,
    pub(super) api: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CpuInfo {
    pub(super) name: String,
    pub(super) threads: usize,
}

/// One row: one set of settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Run {
    pub(super) models: Vec<String>,
    pub(super) instances: u32,
    pub(super) visible: u32,
    pub(super) unique_poses: u32,
    /// The value of `--share-poses`. Without it each instance has its own pose.
    #[serde(default)]
    pub(super) share_poses_hz: Option<f64>,
    /// The largest error of a vertex that sharing poses causes.
    #[serde(default)]
    pub(super) sharing_error_metres: Option<f64>,
    /// The same error as a share of the character's size: of the sphere that contains it throughout its clip.
    #[serde(default)]
    pub(super) sharing_error_share_of_size: Option<f64>,
    /// `None` in files of older versions.
    #[serde(default)]
    pub(super) scene: Option<SceneSettings>,
    /// The joint matrices per instance of the mix. Vertices and triangles are per instance as well.
    pub(super) joints: f64,
    pub(super) vertices: f64,
    pub(super) triangles: f64,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) msaa: u32,
    pub(super) shadows: bool,
    /// The value of `--lod-error`. Programs without levels of detail wrote none, and drew in full detail.
    #[serde(default)]
    pub(super) lod_error_pixels: Option<f64>,
    /// The vertices that the skin pass writes in a frame.
    #[serde(default)]
    pub(super) vertices_skinned: u64,
    /// The vertices and triangles of the camera's view in a frame, in the levels of detail of their instances.
    #[serde(default)]
    pub(super) vertices_drawn: u64,
    #[serde(default)]
    pub(super) triangles_drawn: u64,
    /// The triangles of the shadow map in a frame.
    #[serde(default)]
    pub(super) shadow_triangles_drawn: u64,
    /// The share of the drawn instances in each level of detail, finest first.
    #[serde(default)]
    pub(super) level_shares: Vec<f64>,
    pub(super) skinning: String,
    pub(super) upload: String,
    pub(super) threads: usize,
    /// The measured frames of all rounds.
    pub(super) frames: u32,
    /// The frames before them in each round, which are not measured.
    pub(super) warmup: u32,
    /// The number of turns of this row, with turns of other rows between them.
    #[serde(default = "one")]
    pub(super) rounds: u32,
    /// Whether turns are missing, because the measurement was interrupted.
    #[serde(default)]
    pub(super) partial: bool,
    /// Whether each pass waited for the one before, so that its GPU time is its own.
    #[serde(default)]
    pub(super) serialize: bool,
    /// The rate of the median frame.
    #[serde(default)]
    pub(super) frames_per_second: f64,
    /// The visible instances times the frames per second.
    #[serde(default)]
    pub(super) characters_per_second: f64,
    /// The value of `--fit`, if that chose the number of instances.
    #[serde(default)]
    pub(super) fit_limit_ms: Option<f64>,
    /// The reason why `--fit` found no larger crowd.
    #[serde(default)]
    pub(super) fit_bound: Option<String>,
    pub(super) frame_ms: Summary,
    pub(super) cpu_ms: CpuSummary,
    /// `None` if the device has no timestamps.
    pub(super) gpu_ms: Option<GpuSummary>,
    pub(super) bytes: Bytes,
    pub(super) joints_per_second: f64,
    pub(super) skinned_vertices_per_second: Option<f64>,
    pub(super) skin_bytes_per_second: Option<f64>,
    /// The rate of a copy from one device buffer to another.
    pub(super) copy_bytes_per_second: f64,
    #[serde(default)]
    pub(super) yardsticks: Yardsticks,
    /// The turns, in order. Files of older versions have none.
    #[serde(default)]
    pub(super) turns: Vec<TurnReport>,
}

/// One turn of a row.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct TurnReport {
    /// The medians of this turn: of the frame, and of each stage and pass by its name.
    pub(super) median_ms: BTreeMap<String, f64>,
    /// The time of a fixed amount of arithmetic on all processors, measured before and after the frames.
    pub(super) work_ms: f64,
    /// The times of all measured frames, in order.
    pub(super) frames_ms: Vec<f64>,
}

/// Costs, and the limits that memory sets. Older files do not have them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Yardsticks {
    /// The size of each of the two buffers of the copy.
    #[serde(default)]
    pub(super) copy_buffer_bytes: Option<u64>,
    /// The rate at which the animating threads store constants to the palette's memory.
    pub(super) store_bytes_per_second: Option<f64>,
    /// The time to animate one joint.
    pub(super) animate_ns_per_joint: Option<f64>,
    /// The time to store its 48 bytes.
    pub(super) store_ns_per_joint: Option<f64>,
    /// The second time over the first: 1 is as fast as memory.
    pub(super) animate_share_of_store: Option<f64>,
    pub(super) skin_ns_per_vertex: Option<f64>,
    /// The bytes that the skin pass writes per second, over those of a copy.
    pub(super) skin_share_of_copy: Option<f64>,
}

/// The CPU's stages of a frame, which follow each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct CpuSummary {
    pub(super) cull: Summary,
    pub(super) animate: Summary,
    pub(super) record: Summary,
    pub(super) wait: Summary,
    /// The rest of the frame time.
    #[serde(default)]
    pub(super) other: Summary,
}

impl CpuSummary {
    /// Returns the stages with their names, in the order of the frame.
    pub(super) fn stages(&self) -> [(&'static str, &Summary); 5] {
        [
            ("cull", &self.cull),
            ("wait", &self.wait),
            ("animate", &self.animate),
            ("record", &self.record),
            ("other", &self.other),
        ]
    }
}

/// The GPU's passes of a frame. They run while the CPU prepares the next frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct GpuSummary {
    pub(super) upload: Summary,
    pub(super) skin: Summary,
    pub(super) shadow: Summary,
    pub(super) draw: Summary,
    pub(super) post: Summary,
}

impl GpuSummary {
    /// Returns the passes with their names, in the order of the frame.
    pub(super) fn passes(&self) -> [(&'static str, &Summary); 5] {
        [
            ("upload", &self.upload),
            ("skin", &self.skin),
            ("shadow", &self.shadow),
            ("draw", &self.draw),
            ("post", &self.post),
        ]
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Bytes {
    pub(super) palette: u64,
    pub(super) skinned_vertices: u64,
    #[serde(rename = "static")]
    pub(super) static_data: u64,
    pub(super) total_device: u64,
    /// The total that was computed before the first allocation.
    #[serde(default)]
    pub(super) planned_device: Option<u64>,
}

fn one() -> u32 {
    1
}

impl Report {
    pub(super) fn new(device: &PhysicalDevice, runs: Vec<Run>, partial: bool) -> Self {
        Self {
            schema: SCHEMA,
            date: date::now(),
            partial,
            program: Program {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                commit: env!("THRONG_COMMIT").to_owned(),
            },
            device: DeviceInfo {
                name: device.name.clone(),
                kind: device.kind().to_owned(),
                driver: device.driver.clone(),
                api: device.api_version(),
            },
            cpu: CpuInfo {
                name: cpu_name(),
                threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            },
            runs,
        }
    }

    /// Returns the contents of the file.
    ///
    /// # Errors
    /// A value cannot be written as JSON.
    pub(super) fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        let mut json = serde_json::to_vec_pretty(self)?;
        json.push(b'\n');
        Ok(json)
    }
}

/// Returns the processor's name on Linux, and its architecture elsewhere.
fn cpu_name() -> String {
    let from_linux = || {
        let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    from_linux().unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}
