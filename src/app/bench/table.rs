//! What `bench` says on the terminal: settings that all rows share in the heading, those that vary as columns, and
//! below the times what they come to per joint and per vertex, next to what memory alone would take.

use super::grid::{Column, Group, as_text as grid, number, optional};
use super::report::{GpuSummary, Report, Run, SceneSettings};
use super::summary::Summary;
use crate::app::inspect::{PAGE_COLUMNS, counted, name, wrapped};

/// A setting: what the column is called, a row's value, and how the heading says it.
struct Setting {
    header: &'static str,
    value: fn(&Run) -> String,
    in_words: fn(&Run) -> String,
}

/// Those that are columns where they vary; the number of instances always is one.
const SETTINGS: [Setting; 4] = [
    Setting { header: "size", value: size, in_words: size },
    Setting {
        header: "skinning",
        value: |run| run.skinning.clone(),
        in_words: |run| format!("{} skinning", run.skinning),
    },
    Setting { header: "upload", value: |run| run.upload.clone(), in_words: |run| format!("{} upload", run.upload) },
    Setting { header: "threads", value: |run| run.threads.to_string(), in_words: |run| counted(run.threads, "thread") },
];

fn size(run: &Run) -> String {
    format!("{}x{}", run.width, run.height)
}

fn varies<T: PartialEq>(runs: &[Run], of: impl Fn(&Run) -> T) -> bool {
    runs.windows(2).any(|pair| matches!(pair, [left, right] if of(left) != of(right)))
}

/// All of it. Nothing for no rows.
pub(super) fn as_text(report: &Report) -> String {
    let runs = &report.runs[..];
    let Some(first) = runs.first() else { return String::new() };
    let frames = format!(
        "{} each{}, {} to warm up before{}; medians in milliseconds",
        counted(first.frames as usize, "frame"),
        if first.rounds > 1 { format!(" in {} rounds", first.rounds) } else { String::new() },
        counted(first.warmup as usize, "frame"),
        if first.rounds > 1 { " each round" } else { "" },
    );
    // Of the last row: one character alone starts at 0, and is seldom the point.
    let scene = runs.last().and_then(|run| run.scene.as_ref()).map(SceneSettings::in_words);
    let played = scene.map_or_else(String::new, |scene| format!(", {scene},"));
    let mut text =
        paragraph(&format!("{}{played} on {}, {}", models(first), name(&report.device.name), report.cpu.name.trim()));
    text += &paragraph(&common_settings(runs));
    text += &paragraph(&frames);
    text.push('\n');
    text += &grid(&keys(runs, true), &[frame(runs), cpu(runs), gpu(runs)]);
    text.push('\n');
    text += &paragraph(&amounts(runs));
    text += &sharing(runs).map_or_else(String::new, |sentence| paragraph(&sentence));
    text += &grid(&keys(runs, false), &[joints(runs), vertices(runs)]);
    text
}

/// At most so many names.
fn models(run: &Run) -> String {
    const MOST: usize = 6;
    let mut names: Vec<String> = run.models.iter().take(MOST).map(|model| name(model)).collect();
    if run.models.len() > MOST {
        names.push(format!("{} more", run.models.len() - MOST));
    }
    names.join(" + ")
}

fn paragraph(text: &str) -> String {
    wrapped(text, PAGE_COLUMNS).into_iter().map(|line| format!("{line}\n")).collect()
}

fn common_settings(runs: &[Run]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let shadows = if first.shadows { "on" } else { "off" };
    let fixed: Vec<&Setting> = SETTINGS.iter().filter(|setting| !varies(runs, setting.value)).collect();
    let (size, rest): (Vec<&Setting>, Vec<&Setting>) = fixed.into_iter().partition(|setting| setting.header == "size");
    let mut parts: Vec<String> = size.into_iter().map(|setting| (setting.in_words)(first)).collect();
    parts.extend([format!("msaa {}", first.msaa), format!("shadows {shadows}")]);
    parts.extend(rest.into_iter().map(|setting| (setting.in_words)(first)));
    parts.join(", ")
}

/// What a row is. Who is culled is of interest once.
fn keys(runs: &[Run], with_visible: bool) -> Group {
    let column = |header, value: fn(&Run) -> String| Column { header, cells: runs.iter().map(value).collect() };
    let mut columns = vec![column("instances", |run| run.instances.to_string())];
    if with_visible && runs.iter().any(|run| run.visible != run.instances) {
        columns.push(column("visible", |run| run.visible.to_string()));
    }
    let varying = SETTINGS.iter().filter(|setting| varies(runs, setting.value));
    columns.extend(varying.map(|setting| column(setting.header, setting.value)));
    Group { title: String::new(), columns }
}

/// Milliseconds, or whole seconds where those would take too many digits.
fn ms(runs: &[Run], header: &'static str, of: impl Fn(&Run) -> Option<f64>) -> Column {
    const MOST: f64 = 99_999.0;
    let cell = |value: Option<f64>| match value {
        Some(value) if value > MOST => format!("{:.0}s", value * 1e-3),
        value => optional(value),
    };
    Column { header, cells: runs.iter().map(|run| cell(of(run))).collect() }
}

fn values(runs: &[Run], header: &'static str, of: impl Fn(&Run) -> Option<f64>) -> Column {
    Column { header, cells: runs.iter().map(|run| optional(of(run))).collect() }
}

fn frame(runs: &[Run]) -> Group {
    let columns =
        vec![ms(runs, "median", |run| Some(run.frame_ms.median)), ms(runs, "p95", |run| Some(run.frame_ms.p95))];
    Group { title: "frame".to_owned(), columns }
}

/// Which the frame is made of.
fn cpu(runs: &[Run]) -> Group {
    let columns = vec![
        ms(runs, "cull", |run| Some(run.cpu_ms.cull.median)),
        ms(runs, "wait", |run| Some(run.cpu_ms.wait.median)),
        ms(runs, "animate", |run| Some(run.cpu_ms.animate.median)),
        ms(runs, "record", |run| Some(run.cpu_ms.record.median)),
        ms(runs, "other", |run| Some(run.cpu_ms.other.median)),
    ];
    Group { title: "CPU: adds up to the frame".to_owned(), columns }
}

fn gpu(runs: &[Run]) -> Group {
    let pass = |header, of: fn(&GpuSummary) -> &Summary| {
        ms(runs, header, move |run| run.gpu_ms.as_ref().map(|gpu| of(gpu).median))
    };
    let columns = vec![
        pass("upload", |gpu| &gpu.upload),
        pass("skin", |gpu| &gpu.skin),
        pass("shadow", |gpu| &gpu.shadow),
        pass("draw", |gpu| &gpu.draw),
        pass("post", |gpu| &gpu.post),
    ];
    Group { title: "GPU: meanwhile".to_owned(), columns }
}

/// What sharing poses saves and costs, where it is on.
fn sharing(runs: &[Run]) -> Option<String> {
    let last = runs.last()?;
    let worst = |of: fn(&Run) -> Option<f64>| runs.iter().filter_map(of).reduce(f64::max);
    Some(format!(
        "Poses are shared: {} visible characters show {}. At the moments looked at no vertex is off by more than {} m, nor by more than {} of \
         its character's size.",
        last.visible,
        counted(last.unique_poses as usize, "pose"),
        number(worst(|run| run.sharing_error_metres)?),
        percent(worst(|run| run.sharing_error_share_of_size))
    ))
}

/// What one character is, in a sentence.
fn amounts(runs: &[Run]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let mix = if first.models.len() > 1 { " on average" } else { "" };
    format!(
        "Each character{mix}: {:.0} joints, {:.0} vertices, {:.0} triangles.",
        first.joints, first.vertices, first.triangles
    )
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{} %", number(100.0 * share)))
}

/// Next to storing the 48 bytes of each and doing nothing else.
fn joints(runs: &[Run]) -> Group {
    let columns = vec![
        values(runs, "M/s", |run| Some(run.joints_per_second * 1e-6)),
        values(runs, "ns each", |run| run.yardsticks.animate_ns_per_joint),
        values(runs, "only stored", |run| run.yardsticks.store_ns_per_joint),
        Column {
            header: "share",
            cells: runs.iter().map(|run| percent(run.yardsticks.animate_share_of_store)).collect(),
        },
    ];
    Group { title: "joints: animated".to_owned(), columns }
}

/// Next to a copy from one device buffer to another.
fn vertices(runs: &[Run]) -> Group {
    let columns = vec![
        values(runs, "M/s", |run| run.skinned_vertices_per_second.map(|rate| rate * 1e-6)),
        values(runs, "ns each", |run| run.yardsticks.skin_ns_per_vertex),
        values(runs, "GB/s", |run| run.skin_bytes_per_second.map(|rate| rate * 1e-9)),
        values(runs, "a copy's", |run| Some(run.copy_bytes_per_second * 1e-9)),
        Column { header: "share", cells: runs.iter().map(|run| percent(run.yardsticks.skin_share_of_copy)).collect() },
    ];
    Group { title: "vertices: skinned".to_owned(), columns }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{report, run};
    use super::*;

    /// Rows with every setting varying and numbers as wide as they come.
    fn widest() -> Vec<Run> {
        let mut runs = Vec::new();
        for (skinning, upload, threads, width) in [("compute", "direct", 1, 64), ("vertex", "staged", 256, 16_384)] {
            for instances in [1, 10_000_000] {
                let mut run = run(instances, skinning);
                (run.upload, run.threads) = (upload.to_owned(), threads);
                (run.width, run.height) = (width, width);
                run.visible = instances - 1;
                runs.push(run);
            }
        }
        runs
    }

    #[test]
    fn no_line_is_longer_than_the_page() {
        for runs in [widest(), vec![run(10_000_000, "compute")], vec![run(1, "compute"), run(1000, "compute")]] {
            let text = as_text(&report(runs));
            let longest = text.lines().max_by_key(|line| line.chars().count()).unwrap();
            assert!(longest.chars().count() <= PAGE_COLUMNS, "{longest}\n{text}");
        }
    }

    #[test]
    fn settings_are_columns_where_they_vary_and_words_where_they_do_not() {
        let text = as_text(&report(vec![run(1, "compute"), run(1000, "vertex")]));
        let header = text.lines().find(|line| line.trim_start().starts_with("instances")).unwrap();
        assert!(header.contains("skinning") && !header.contains("threads") && !header.contains("visible"), "{text}");
        assert!(text.contains("1280x720, msaa 4, shadows on, direct upload, 2 threads\n"), "{text}");
        let row = text.lines().find(|line| line.split_whitespace().next() == Some("1000")).unwrap();
        assert!(row.contains("vertex") && row.contains("152"), "{text}");
        // The vertex shader skins: there is nothing to time.
        let last = text.lines().rfind(|line| line.split_whitespace().next() == Some("1000")).unwrap();
        assert!(last.contains(" - "), "{text}");
    }

    #[test]
    fn shared_settings_are_in_the_heading() {
        let text = as_text(&report(vec![run(1, "compute")]));
        assert!(text.contains("1280x720, msaa 4, shadows on, compute skinning, direct upload, 2 threads\n"), "{text}");
        assert_eq!(as_text(&report(Vec::new())), "");
    }
}
