//! What was measured, as the file of `--json` has it and `--compare` reads it. All else that is said comes from these
//! structs: the table, the CSV file, the plot.

use serde::{Deserialize, Serialize};

use super::summary::Summary;
use crate::app::inspect::name;
use crate::cli::{SceneArgs, Switch};
use crate::crowd::{ClipChoice, PhaseMode};
use crate::vulkan::physical_device::PhysicalDevice;

/// The version of the file's form. Fields may be added under the same number.
pub(super) const SCHEMA: u32 = 1;

/// The file that `--json` writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) schema: u32,
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
    /// As `--share-poses`; `None`: each instance has a pose of its own.
    #[serde(default)]
    pub(super) share_poses_hz: Option<f64>,
    /// The farthest that sharing poses puts a vertex off.
    #[serde(default)]
    pub(super) sharing_error_metres: Option<f64>,
    /// The same, as a share of the character's size: of the sphere that it stays in throughout its clip.
    #[serde(default)]
    pub(super) sharing_error_share_of_size: Option<f64>,
    /// `None` in files of versions that did not write it.
    #[serde(default)]
    pub(super) scene: Option<SceneSettings>,
    /// Joint matrices per instance of the mix.
    pub(super) joints: f64,
    /// Skinned vertices per instance of the mix.
    pub(super) vertices: f64,
    /// Per instance of the mix.
    pub(super) triangles: f64,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) msaa: u32,
    pub(super) shadows: bool,
    pub(super) skinning: String,
    pub(super) upload: String,
    pub(super) threads: usize,
    /// Measured, over all rounds.
    pub(super) frames: u32,
    /// Before them, in each round.
    pub(super) warmup: u32,
    /// Turns in which the frames were measured, others' between them.
    #[serde(default = "one")]
    pub(super) rounds: u32,
    pub(super) frame_ms: Summary,
    pub(super) cpu_ms: CpuSummary,
    /// `None` where the device has no timestamps.
    pub(super) gpu_ms: Option<GpuSummary>,
    pub(super) bytes: Bytes,
    pub(super) joints_per_second: f64,
    pub(super) skinned_vertices_per_second: Option<f64>,
    pub(super) skin_bytes_per_second: Option<f64>,
    /// Device to device.
    pub(super) copy_bytes_per_second: f64,
    #[serde(default)]
    pub(super) yardsticks: Yardsticks,
}

/// What is played and seen: the options of these names.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SceneSettings {
    pub(super) clip: String,
    pub(super) phase: String,
    pub(super) speed: f64,
    /// Of the first frame, in seconds.
    pub(super) time: f64,
    pub(super) seed: u64,
    /// In metres; `None`: by the models' size.
    pub(super) spacing: Option<f64>,
    /// Degrees round the crowd, degrees above the ground, factor on the distance; `None`: frames the crowd.
    pub(super) camera: Option<[f32; 3]>,
    pub(super) cull: bool,
    /// Of the files.
    pub(super) scene: Option<String>,
}

impl SceneSettings {
    pub(super) fn new(args: &SceneArgs, instance_count: u32) -> Self {
        let phase = match args.phase_mode(instance_count) {
            PhaseMode::Random => "random",
            PhaseMode::Zero => "zero",
        };
        Self {
            clip: match &args.clip {
                ClipChoice::None => "none".to_owned(),
                ClipChoice::All => "all".to_owned(),
                ClipChoice::Index(index) => index.to_string(),
                ClipChoice::Name(name) => name.clone(),
            },
            phase: phase.to_owned(),
            speed: args.speed,
            time: args.time,
            seed: args.seed,
            spacing: args.spacing,
            camera: args.camera.map(|camera| [camera.yaw_degrees, camera.pitch_degrees, camera.zoom]),
            cull: args.cull == Switch::On,
            scene: args.scene.scene.as_ref().map(ToString::to_string),
        }
    }

    /// What is usually as it is left out.
    pub(super) fn in_words(&self) -> String {
        let mut words = format!("clip {}, {} phase", name(&self.clip), name(&self.phase));
        let mut add = |differs: bool, word: String| {
            if differs {
                words += &format!(", {word}");
            }
        };
        add(self.speed != 1.0, format!("speed {}", self.speed));
        add(self.time != 0.0, format!("from {} s on", self.time));
        add(self.seed != 1, format!("seed {}", self.seed));
        add(self.spacing.is_some(), format!("spacing {} m", self.spacing.unwrap_or_default()));
        let [yaw, pitch, zoom] = self.camera.unwrap_or_default();
        add(self.camera.is_some(), format!("camera {yaw},{pitch},{zoom}"));
        add(!self.cull, "cull off".to_owned());
        add(self.scene.is_some(), format!("scene {}", name(self.scene.as_deref().unwrap_or_default())));
        words
    }
}

/// Amounts of work next to what memory alone would take. Absent from the files of older versions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Yardsticks {
    /// The threads that animate, storing to the memory that joint matrices are written to.
    pub(super) store_bytes_per_second: Option<f64>,
    /// Animating one joint.
    pub(super) animate_ns_per_joint: Option<f64>,
    /// Storing its 48 bytes.
    pub(super) store_ns_per_joint: Option<f64>,
    /// The second over the first: 1 is as fast as memory.
    pub(super) animate_share_of_store: Option<f64>,
    pub(super) skin_ns_per_vertex: Option<f64>,
    /// Bytes written by the skin pass in a second over those written by a copy.
    pub(super) skin_share_of_copy: Option<f64>,
}

/// What the CPU does in a frame, one after the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct CpuSummary {
    pub(super) cull: Summary,
    pub(super) animate: Summary,
    pub(super) record: Summary,
    pub(super) wait: Summary,
    /// The rest of the frame.
    #[serde(default)]
    pub(super) other: Summary,
}

impl CpuSummary {
    /// With their names, in the order in which they follow each other.
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

/// What the GPU does in a frame, one after the other, while the CPU does the next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct GpuSummary {
    pub(super) upload: Summary,
    pub(super) skin: Summary,
    pub(super) shadow: Summary,
    pub(super) draw: Summary,
    pub(super) post: Summary,
}

impl GpuSummary {
    /// With their names, in their order.
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
    /// What the total was worked out to be before anything was allocated.
    #[serde(default)]
    pub(super) planned_device: Option<u64>,
}

fn one() -> u32 {
    1
}

impl Report {
    pub(super) fn new(device: &PhysicalDevice, runs: Vec<Run>) -> Self {
        Self {
            schema: SCHEMA,
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

    /// As the file has it.
    ///
    /// # Errors
    /// Where a value cannot be written as JSON.
    pub(super) fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        let mut json = serde_json::to_vec_pretty(self)?;
        json.push(b'\n');
        Ok(json)
    }
}

/// As the system calls it; there is no portable way to ask.
fn cpu_name() -> String {
    let from_linux = || {
        let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    from_linux().unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}
