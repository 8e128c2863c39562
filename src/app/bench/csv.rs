//! The file of `--csv`: a line for each row of the sweep, for spreadsheets and data frames.
//!
//! A column's name is the path of the value in the JSON file: `cpu_ms.animate.median`. Text is quoted if RFC 4180 demands
//! it. Several models are joined by ` + `, and so are the shares
//! of the levels of detail. A value that was not measured is empty.

use anyhow::{Context, Result};

use super::report::Run;
use super::scene_settings::SceneSettings;
use super::summary::Summary;

/// Returns the contents of the file.
///
/// # Errors
/// There is no memory for a line.
pub(super) fn to_csv(runs: &[Run]) -> Result<Vec<u8>> {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let rows: Vec<Cells> = runs.iter().map(cells).collect();
    if let Some(first) = rows.first() {
        writer.write_record(first.iter().map(|(name, _)| name))?;
    }
    for row in &rows {
        writer.write_record(row.iter().map(|(_, value)| value))?;
    }
    writer.into_inner().context("the last line is not complete")
}

/// The names and values of a row. Every row has the same names.
type Cells = Vec<(String, String)>;

fn cells(run: &Run) -> Cells {
    let mut cells = settings(run);
    cells.extend(statistics("frame_ms", Some(&run.frame_ms)));
    for (stage, times) in run.cpu_ms.stages() {
        cells.extend(statistics(&format!("cpu_ms.{stage}"), Some(times)));
    }
    for (pass, times) in run.gpu_ms.unwrap_or_default().passes() {
        cells.extend(statistics(&format!("gpu_ms.{pass}"), run.gpu_ms.is_some().then_some(times)));
    }
    cells.extend(rates(run));
    cells
}

/// Returns all statistics of a summary.
fn statistics(name: &str, summary: Option<&Summary>) -> Cells {
    let statistics = summary.copied().unwrap_or_default().statistics().into_iter();
    let value = |value: Option<f64>| optional(value.filter(|_| summary.is_some()));
    statistics.map(|(statistic, number)| (format!("{name}.{statistic}"), value(number))).collect()
}

fn settings(run: &Run) -> Cells {
    let cells = [
        ("models", run.models.join(" + ")),
        ("instances", run.instances.to_string()),
        ("visible", run.visible.to_string()),
        ("unique_poses", run.unique_poses.to_string()),
        ("share_poses_hz", optional(run.share_poses_hz)),
        ("sharing_error_metres", optional(run.sharing_error_metres)),
        ("sharing_error_share_of_size", optional(run.sharing_error_share_of_size)),
        ("joints", run.joints.to_string()),
        ("vertices", run.vertices.to_string()),
        ("triangles", run.triangles.to_string()),
        ("width", run.width.to_string()),
        ("height", run.height.to_string()),
        ("msaa", run.msaa.to_string()),
        ("shadows", run.shadows.to_string()),
        ("lod_error_pixels", optional(run.lod_error_pixels)),
        ("vertices_skinned", run.vertices_skinned.to_string()),
        ("vertices_drawn", run.vertices_drawn.to_string()),
        ("triangles_drawn", run.triangles_drawn.to_string()),
        ("shadow_triangles_drawn", run.shadow_triangles_drawn.to_string()),
        ("level_shares", run.level_shares.iter().map(f64::to_string).collect::<Vec<_>>().join(" + ")),
        ("skinning", run.skinning.clone()),
        ("upload", run.upload.clone()),
        ("threads", run.threads.to_string()),
        ("frames", run.frames.to_string()),
        ("warmup", run.warmup.to_string()),
        ("rounds", run.rounds.to_string()),
        ("partial", run.partial.to_string()),
        ("serialize", run.serialize.to_string()),
        ("frames_per_second", run.frames_per_second.to_string()),
        ("characters_per_second", run.characters_per_second.to_string()),
        ("fit_limit_ms", optional(run.fit_limit_ms)),
        ("fit_bound", optional(run.fit_bound.clone())),
    ];
    let mut cells: Cells = cells.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    cells.extend(scene(run));
    cells
}

fn scene(run: &Run) -> Cells {
    let scene = run.scene.as_ref();
    let value = |of: fn(&SceneSettings) -> String| scene.map_or_else(String::new, of);
    let numbers = |numbers: &[f32; 3]| numbers.map(|number| number.to_string()).join(",");
    let cells = [
        ("clip", value(|scene| scene.clip.clone())),
        ("phase", value(|scene| scene.phase.clone())),
        ("speed", value(|scene| scene.speed.to_string())),
        ("time", value(|scene| scene.time.to_string())),
        ("seed", value(|scene| scene.seed.to_string())),
        ("spacing", optional(scene.and_then(|scene| scene.spacing))),
        ("camera", optional(scene.and_then(|scene| scene.camera.as_ref().map(numbers)))),
        ("cull", value(|scene| scene.cull.to_string())),
        ("scene", optional(scene.and_then(|scene| scene.scene.clone()))),
    ];
    cells.into_iter().map(|(name, value)| (format!("scene.{name}"), value)).collect()
}

fn optional<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn rates(run: &Run) -> Cells {
    let yardsticks = &run.yardsticks;
    let cells = [
        ("bytes.palette", run.bytes.palette.to_string()),
        ("bytes.skinned_vertices", run.bytes.skinned_vertices.to_string()),
        ("bytes.static", run.bytes.static_data.to_string()),
        ("bytes.total_device", run.bytes.total_device.to_string()),
        ("bytes.planned_device", optional(run.bytes.planned_device)),
        ("joints_per_second", run.joints_per_second.to_string()),
        ("skinned_vertices_per_second", optional(run.skinned_vertices_per_second)),
        ("skin_bytes_per_second", optional(run.skin_bytes_per_second)),
        ("copy_bytes_per_second", run.copy_bytes_per_second.to_string()),
        ("yardsticks.copy_buffer_bytes", optional(yardsticks.copy_buffer_bytes)),
        ("yardsticks.store_bytes_per_second", optional(yardsticks.store_bytes_per_second)),
        ("yardsticks.animate_ns_per_joint", optional(yardsticks.animate_ns_per_joint)),
        ("yardsticks.store_ns_per_joint", optional(yardsticks.store_ns_per_joint)),
        ("yardsticks.animate_share_of_store", optional(yardsticks.animate_share_of_store)),
        ("yardsticks.skin_ns_per_vertex", optional(yardsticks.skin_ns_per_vertex)),
        ("yardsticks.skin_share_of_copy", optional(yardsticks.skin_share_of_copy)),
    ];
    cells.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
