//! What `bench` says: the file of `--json` and the table on the terminal, from the same figures.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Result;
use comfy_table::{CellAlignment, Table};
use serde::Serialize;

use crate::vulkan::physical_device::PhysicalDevice;

/// The file that `--json` writes.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) schema: u32,
    pub(super) program: Program,
    pub(super) device: DeviceInfo,
    pub(super) cpu: CpuInfo,
    pub(super) runs: Vec<Run>,
}

#[derive(Debug, Serialize)]
pub(super) struct Program {
    pub(super) version: &'static str,
    pub(super) commit: &'static str,
}

#[derive(Debug, Serialize)]
pub(super) struct DeviceInfo {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) driver: String,
    pub(super) api: String,
}

#[derive(Debug, Serialize)]
pub(super) struct CpuInfo {
    pub(super) name: String,
    pub(super) threads: usize,
}

/// One row: one set of settings.
#[derive(Debug, Serialize)]
pub(super) struct Run {
    pub(super) models: Vec<String>,
    pub(super) instances: u32,
    pub(super) visible: u32,
    pub(super) unique_poses: u32,
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
    pub(super) skinning: &'static str,
    pub(super) upload: &'static str,
    pub(super) threads: usize,
    pub(super) frames: u32,
    pub(super) warmup: u32,
    pub(super) frame_ms: Summary,
    pub(super) cpu_ms: CpuSummary,
    pub(super) gpu_ms: Option<GpuSummary>,
    pub(super) bytes: Bytes,
    pub(super) joints_per_second: f64,
    pub(super) skinned_vertices_per_second: Option<f64>,
    pub(super) skin_bytes_per_second: Option<f64>,
    pub(super) copy_bytes_per_second: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct CpuSummary {
    pub(super) cull: Summary,
    pub(super) animate: Summary,
    pub(super) record: Summary,
    pub(super) wait: Summary,
}

#[derive(Debug, Serialize)]
pub(super) struct GpuSummary {
    pub(super) upload: Summary,
    pub(super) skin: Summary,
    pub(super) shadow: Summary,
    pub(super) draw: Summary,
    pub(super) post: Summary,
}

#[derive(Debug, Serialize)]
pub(super) struct Bytes {
    pub(super) palette: u64,
    pub(super) skinned_vertices: u64,
    #[serde(rename = "static")]
    pub(super) static_data: u64,
    pub(super) total_device: u64,
}

/// Order statistics of a sample, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(super) struct Summary {
    pub(super) min: f64,
    pub(super) median: f64,
    pub(super) p95: f64,
    pub(super) p99: f64,
    pub(super) max: f64,
}

impl Summary {
    /// Nearest-rank percentiles; the median of an even count is the mean of the middle two.
    pub(super) fn new(mut sample: Vec<f64>) -> Self {
        sample.sort_by(f64::total_cmp);
        let Some((&min, &max)) = sample.first().zip(sample.last()) else { return Self::default() };
        let count = sample.len();
        let rank = |share: f64| sample[((share * count as f64).ceil() as usize).clamp(1, count) - 1];
        let median = (sample[(count - 1) / 2] + sample[count / 2]) / 2.0;
        Self { min, median, p95: rank(0.95), p99: rank(0.99), max }
    }
}

pub(super) fn report(device: &PhysicalDevice, runs: Vec<Run>) -> Report {
    Report {
        schema: 1,
        program: Program { version: env!("CARGO_PKG_VERSION"), commit: env!("THRONG_COMMIT") },
        device: DeviceInfo {
            name: device.name.clone(),
            kind: device.kind(),
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

pub(super) fn as_text(device: &PhysicalDevice, runs: &[Run]) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header([
        "instances",
        "visible",
        "frame",
        "p95",
        "cull",
        "animate",
        "record",
        "wait",
        "| upload",
        "skin",
        "shadow",
        "draw",
        "post",
    ]);
    for run in runs {
        let ms = |value: f64| if value < 10.0 { format!("{value:.2}") } else { format!("{value:.1}") };
        let mut row = vec![
            run.instances.to_string(),
            run.visible.to_string(),
            ms(run.frame_ms.median),
            ms(run.frame_ms.p95),
            ms(run.cpu_ms.cull.median),
            ms(run.cpu_ms.animate.median),
            ms(run.cpu_ms.record.median),
            ms(run.cpu_ms.wait.median),
        ];
        match &run.gpu_ms {
            Some(gpu) => {
                row.extend([gpu.upload, gpu.skin, gpu.shadow, gpu.draw, gpu.post].map(|stage| ms(stage.median)))
            }
            None => row.extend(["-"; 5].map(str::to_owned)),
        }
        table.add_row(row);
    }
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
        column.set_padding((0, 1));
    }
    let mut text = String::new();
    let plural = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    if let Some(run) = runs.first() {
        text += &format!("{} on {}, {}\n", run.models.join(" + "), device.name, plural(run.threads, "thread"));
        text += &format!(
            "{}x{}, msaa {}, shadows {}, {} skinning, {} upload\n",
            run.width,
            run.height,
            run.msaa,
            if run.shadows { "on" } else { "off" },
            run.skinning,
            run.upload,
        );
        text += &format!(
            "{} after {} to warm up; milliseconds, medians: CPU stages | GPU passes\n\n",
            plural(run.frames as usize, "frame"),
            run.warmup,
        );
    }
    text += &format!("{table}\n");
    for run in runs {
        text += &format!(
            "\n{}, each {:.0} joints, {:.0} vertices, {:.0} triangles\n  {:.1} M joints/s animated\n",
            plural(run.instances as usize, "instance"),
            run.joints,
            run.vertices,
            run.triangles,
            run.joints_per_second * 1e-6
        );
        if let (Some(vertices), Some(bytes)) = (run.skinned_vertices_per_second, run.skin_bytes_per_second) {
            text += &format!(
                "  {:.1} M vertices/s skinned: {:.2} GB/s, {:.0} % of a copy ({:.2} GB/s)\n",
                vertices * 1e-6,
                bytes * 1e-9,
                100.0 * bytes / run.copy_bytes_per_second,
                run.copy_bytes_per_second * 1e-9
            );
        }
    }
    text
}

pub(super) fn write_json(path: &Path, report: &Report) -> Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    serde_json::to_writer_pretty(&mut out, report)?;
    writeln!(out)?;
    out.flush()?;
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_order_statistics() {
        let of = |values: std::ops::RangeInclusive<u32>| Summary::new(values.rev().map(f64::from).collect());
        assert_eq!(of(1..=100), Summary { min: 1.0, median: 50.5, p95: 95.0, p99: 99.0, max: 100.0 });
        assert_eq!(of(1..=3), Summary { min: 1.0, median: 2.0, p95: 3.0, p99: 3.0, max: 3.0 });
        assert_eq!(of(7..=7), Summary { min: 7.0, median: 7.0, p95: 7.0, p99: 7.0, max: 7.0 });
        assert_eq!(Summary::new(Vec::new()), Summary::default());
    }
}
