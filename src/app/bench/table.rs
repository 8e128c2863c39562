//! The table of `bench` on the terminal.
//!
//! Settings that all rows share are in the heading and the others are columns. Below the times, the costs of
//! joints and vertices are compared with the limits of memory.

use super::report::{Report, Run};
use super::scene_settings::SceneSettings;
use super::settings::{SETTINGS, in_words, settings, varying};
use crate::app::text::{Group, counted, grouped, name, number, paragraph};

/// Returns the whole text, or nothing for no rows.
pub(super) fn as_text(report: &Report, columns: u16) -> String {
    let runs = &report.runs[..];
    let (Some(first), Some(last)) = (runs.first(), runs.last()) else { return String::new() };
    let frames = format!(
        "{} each{}, {} to warm up before{}; medians in milliseconds",
        counted(first.frames as usize, "frame"),
        if first.rounds > 1 { format!(" in {} rounds", first.rounds) } else { String::new() },
        counted(first.warmup as usize, "frame"),
        if first.rounds > 1 { " each round" } else { "" },
    );
    // The last row describes the scene: a single instance starts at phase 0 and is seldom the point.
    let scene = last.scene.as_ref().map(SceneSettings::in_words);
    let scene = scene.map_or_else(String::new, |scene| format!(", {scene},"));
    let mut text = paragraph(
        columns,
        &format!("{}{scene} on {}, {}", models(first), name(&report.device.name), report.cpu.name.trim()),
    );
    text += &paragraph(columns, &in_words(first, varying(runs).map(|varies| !varies)));
    text += &paragraph(columns, &frames);
    text += &fits(runs).map_or_else(String::new, |sentence| paragraph(columns, &sentence));
    if report.partial {
        text += "Partial: not all rows are complete.\n";
    }
    text += "\n";
    text += &grouped(columns, &keys(runs, true), &[frame(runs), cpu(runs), gpu(runs)]);
    text += &format!("\n{}", paragraph(columns, &amounts(first)));
    text += &sharing(runs).map_or_else(String::new, |sentence| paragraph(columns, &sentence));
    text + "\n" + &grouped(columns, &keys(runs, false), &[per_second(runs), drawn(runs), joints(runs), vertices(runs)])
}

/// Names the models, up to six of them.
fn models(run: &Run) -> String {
    const MOST: usize = 6;
    let mut names: Vec<String> = run.models.iter().take(MOST).map(|model| name(model)).collect();
    if run.models.len() > MOST {
        names.push(format!("{} more", run.models.len() - MOST));
    }
    names.join(" + ")
}

/// Returns the columns that identify a row.
fn keys(runs: &[Run], with_visible: bool) -> Group {
    let column = |header, value: fn(&Run) -> String| (header, runs.iter().map(value).collect());
    let mut columns = vec![column("instances", |run| run.instances.to_string())];
    if with_visible && runs.iter().any(|run| run.visible != run.instances) {
        columns.push(column("visible", |run| run.visible.to_string()));
    }
    for (index, _) in varying(runs).into_iter().enumerate().filter(|(_, varies)| *varies) {
        let all = runs.iter().filter_map(|run| settings(run).into_iter().nth(index));
        let (headers, values): (Vec<_>, Vec<_>) = all.map(|setting| (setting.header, setting.value)).unzip();
        columns.push((headers.first().copied().unwrap_or_default(), values));
    }
    Group { title: "", columns }
}

/// Returns a column of values. A dash stands for a value that was not measured.
fn column(
    runs: &[Run],
    header: &'static str,
    of: impl Fn(&Run) -> Option<f64>,
    write: fn(f64) -> String,
) -> (&'static str, Vec<String>) {
    (header, runs.iter().map(|run| of(run).map_or_else(|| "-".to_owned(), write)).collect())
}

/// Writes milliseconds, or whole seconds if there are too many.
fn ms(value: f64) -> String {
    const MOST: f64 = 99_999.0;
    if value > MOST { format!("{:.0}s", value * 1e-3) } else { number(value) }
}

fn percent(share: f64) -> String {
    format!("{} %", number(100.0 * share))
}

fn frame(runs: &[Run]) -> Group {
    let median = column(runs, "median", |run| Some(run.frame_ms.median), ms);
    Group { title: "frame", columns: vec![median, column(runs, "p95", |run| run.frame_ms.p95, ms)] }
}

/// Returns the CPU's stages, which make up the frame.
fn cpu(runs: &[Run]) -> Group {
    let stages = runs.first().map(|run| run.cpu_ms.stages()).into_iter().flatten().enumerate();
    let stage = |(index, (header, _)): (usize, _)| {
        column(runs, header, |run| run.cpu_ms.stages().get(index).map(|(_, times)| times.median), ms)
    };
    Group { title: "CPU: adds up to the frame", columns: stages.map(stage).collect() }
}

/// Returns the GPU's passes.
fn gpu(runs: &[Run]) -> Group {
    let passes = runs.first().map(|run| run.gpu_ms.unwrap_or_default().passes().map(|(header, _)| header));
    let pass = |(index, header): (usize, &'static str)| {
        let median = |run: &Run| run.gpu_ms.as_ref()?.passes().get(index).map(|(_, times)| times.median);
        column(runs, header, median, ms)
    };
    let title = if runs.iter().all(|run| run.serialize) { "GPU: one pass at a time" } else { "GPU: meanwhile" };
    Group { title, columns: passes.into_iter().flatten().enumerate().map(pass).collect() }
}

/// Says how `--fit` chose the crowds, and where time is not what bounds them.
fn fits(runs: &[Run]) -> Option<String> {
    let limit_ms = runs.first()?.fit_limit_ms?;
    let mut text = format!("The largest crowds whose median frame stays below {} ms.", number(limit_ms));
    for run in runs {
        let bound = match run.fit_bound.as_deref()? {
            "time" => continue,
            "memory" => "the device cannot hold more",
            "most instances" => "no larger crowd is accepted",
            "one is too slow" => "even one instance takes longer",
            _ => "the machine's speed changed too much during the search",
        };
        text += &format!(
            " {} with {}: {bound}.",
            counted(run.instances as usize, "instance"),
            in_words(run, [true; SETTINGS])
        );
    }
    Some(text)
}

/// Says what shared poses save and cost, if they are on.
fn sharing(runs: &[Run]) -> Option<String> {
    let last = runs.last()?;
    let worst = |of: fn(&Run) -> Option<f64>| runs.iter().filter_map(of).reduce(f64::max);
    Some(format!(
        "Poses are shared: {} visible characters show {}. At the sampled times no vertex is off by more than {} m, or \
         by more than {} of its character's size.",
        last.visible,
        counted(last.unique_poses as usize, "pose"),
        number(worst(|run| run.sharing_error_metres)?),
        worst(|run| run.sharing_error_share_of_size).map_or_else(|| "-".to_owned(), percent)
    ))
}

/// Describes the size of one character.
fn amounts(run: &Run) -> String {
    let mix = if run.models.len() > 1 { " on average" } else { "" };
    let Run { joints, vertices, triangles, .. } = run;
    format!("Each character{mix}: {joints:.0} joints, {vertices:.0} vertices, {triangles:.0} triangles.")
}

/// Returns the rates of the median frame.
fn per_second(runs: &[Run]) -> Group {
    let frames = column(runs, "frames", |run| Some(run.frames_per_second), number);
    let characters = column(runs, "characters", |run| Some(run.characters_per_second), |rate| format!("{rate:.0}"));
    Group { title: "per second", columns: vec![frames, characters] }
}

/// Returns the work of the camera's view, and the share of its characters in each level of detail, finest first.
fn drawn(runs: &[Run]) -> Group {
    let thousands = |count: u64| number(count as f64 * 1e-3);
    let cells = |of: &dyn Fn(&Run) -> String| runs.iter().map(of).collect();
    let shares = |run: &Run| {
        let percents: Vec<String> = run.level_shares.iter().map(|share| format!("{:.0}", share * 100.0)).collect();
        percents.join("/")
    };
    let columns = vec![
        ("vertices", cells(&|run| thousands(run.vertices_drawn))),
        ("triangles", cells(&|run| thousands(run.triangles_drawn))),
        ("levels, %", cells(&shares)),
    ];
    Group { title: "drawn, thousands", columns }
}

/// Compares animation with a store of each joint's 48 bytes.
fn joints(runs: &[Run]) -> Group {
    let columns = vec![
        column(runs, "M/s", |run| Some(run.joints_per_second * 1e-6), number),
        column(runs, "ns each", |run| run.yardsticks.animate_ns_per_joint, number),
        column(runs, "only stored", |run| run.yardsticks.store_ns_per_joint, number),
        column(runs, "share", |run| run.yardsticks.animate_share_of_store, percent),
    ];
    Group { title: "joints: animated", columns }
}

/// Compares the skin pass with a copy from one device buffer to another.
fn vertices(runs: &[Run]) -> Group {
    let columns = vec![
        column(runs, "M/s", |run| run.skinned_vertices_per_second.map(|rate| rate * 1e-6), number),
        column(runs, "ns each", |run| run.yardsticks.skin_ns_per_vertex, number),
        column(runs, "GB/s", |run| run.skin_bytes_per_second.map(|rate| rate * 1e-9), number),
        column(runs, "a copy's", |run| Some(run.copy_bytes_per_second * 1e-9), number),
        column(runs, "share", |run| run.yardsticks.skin_share_of_copy, percent),
    ];
    Group { title: "vertices: skinned", columns }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{report, run};
    use super::*;

    /// Returns rows in which every setting varies and every number is as wide as it gets.
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
        let ordinary = vec![run(1, "compute"), run(1000, "compute")];
        for (columns, runs) in [(80, ordinary.clone()), (100, widest()), (100, ordinary.clone()), (120, widest())] {
            let text = as_text(&report(runs), columns);
            let longest = text.lines().max_by_key(|line| line.chars().count()).unwrap();
            assert!(longest.chars().count() <= columns.into(), "{longest}\n{text}");
        }
        // On 80 columns the first table is two, and the second one is three.
        let tables = |columns| as_text(&report(ordinary.clone()), columns).matches("instances").count();
        assert_eq!([80, 100, 120].map(tables), [5, 3, 3]);
    }

    #[test]
    fn settings_are_columns_where_they_vary_and_words_where_they_do_not() {
        let text = as_text(&report(vec![run(1, "compute"), run(1000, "vertex")]), 100);
        let header = text.lines().find(|line| line.trim_start().starts_with("instances")).unwrap();
        assert!(header.contains("skinning") && !header.contains("threads") && !header.contains("visible"), "{text}");
        assert!(text.contains("1280x720, msaa 4, shadows on, lod 1, direct upload, 2 threads\n"), "{text}");
        let row = text.lines().find(|line| line.split_whitespace().next() == Some("1000")).unwrap();
        assert!(row.contains("vertex") && row.contains("152"), "{text}");
        // Without a skin pass there is nothing to time.
        let last = text.lines().rfind(|line| line.split_whitespace().next() == Some("1000")).unwrap();
        assert!(last.contains(" - "), "{text}");
    }

    #[test]
    fn shared_settings_are_in_the_heading() {
        let text = as_text(&report(vec![run(1, "compute")]), 100);
        assert!(
            text.contains("1280x720, msaa 4, shadows on, lod 1, compute skinning, direct upload, 2 threads\n"),
            "{text}"
        );
        assert_eq!(as_text(&report(Vec::new()), 100), "");
        let serialized = as_text(&report(vec![Run { serialize: true, ..run(1, "compute") }]), 100);
        assert!(serialized.contains("2 threads, one pass at a time\n"), "{serialized}");
    }
}
