//! The table of `--suite` in Markdown, as the README shows it, with the machine and the date.

use super::report::{Report, Run};
use crate::app::text::{number, thousands};
use crate::model::text::printable;

/// A column: its name and its cells.
type Column = (&'static str, fn(&Run) -> String);

/// The columns. Times are medians in milliseconds.
const COLUMNS: [Column; 16] = [
    ("crowd", |run| format!("{} {}", thousands(run.instances.into()), models(run))),
    ("image", |run| format!("{}x{}", run.width, run.height)),
    ("MSAA, shadows", |run| format!("{}, {}", run.msaa, if run.shadows { "on" } else { "off" })),
    ("skinning", |run| run.skinning.clone()),
    ("lod error", |run| run.lod_error_pixels.unwrap_or(0.0).to_string()),
    ("triangles", |run| thousands(run.triangles_drawn)),
    ("frame", |run| number(run.frame_ms.median)),
    ("frames/s", |run| number(run.frames_per_second)),
    ("characters/s", |run| thousands(run.characters_per_second.round() as u64)),
    ("cull", |run| number(run.cpu_ms.cull.median)),
    ("animate", |run| number(run.cpu_ms.animate.median)),
    ("record", |run| number(run.cpu_ms.record.median)),
    ("skin", |run| pass(run, |gpu| gpu.skin.median)),
    ("shadow", |run| pass(run, |gpu| gpu.shadow.median)),
    ("draw", |run| pass(run, |gpu| gpu.draw.median)),
    ("post", |run| pass(run, |gpu| gpu.post.median)),
];
/// The columns of text. The others have numbers, which are aligned to the right.
const TEXT_COLUMNS: usize = 4;

/// Returns the paragraph and the table.
pub(super) fn to_markdown(report: &Report) -> String {
    let Report { date, program, device, cpu, runs, .. } = report;
    let first = runs.first();
    let (threads, frames) = (first.map_or(0, |run| run.threads), first.map_or(0, |run| run.frames));
    let mut text = format!(
        "Measured on {} with version {}, commit {}: {}, {threads} threads; {} with {}. Medians of up to {frames} frames, in \
         milliseconds.{}\n\n",
        cell(date),
        cell(&program.version),
        cell(&program.commit),
        cell(cpu.name.trim()),
        cell(&device.name),
        cell(&device.driver),
        if report.partial { " The measurement was interrupted." } else { "" },
    );
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    text += &line(COLUMNS.iter().map(|(name, _)| (*name).to_owned()).collect());
    let rule = |index| if index < TEXT_COLUMNS { "---" } else { "---:" };
    text += &format!("|{}|\n", (0..COLUMNS.len()).map(rule).collect::<Vec<_>>().join("|"));
    for run in runs {
        text += &line(COLUMNS.iter().map(|(_, of)| cell(&of(run))).collect());
    }
    text
}

/// Names the models without their extensions.
fn models(run: &Run) -> String {
    let stem = |name: &String| name.rsplit_once('.').map_or(name.clone(), |(stem, _)| stem.to_owned());
    run.models.iter().map(stem).collect::<Vec<_>>().join(" + ")
}

fn pass(run: &Run, of: fn(&super::report::GpuSummary) -> f64) -> String {
    run.gpu_ms.as_ref().map_or_else(|| "-".to_owned(), |gpu| number(of(gpu)))
}

/// Escapes what Markdown or a terminal would obey.
fn cell(text: &str) -> String {
    printable(text).chars().flat_map(|c| if "|\\`*_<>[]".contains(c) { vec!['\\', c] } else { vec![c] }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{report, run};
    use super::*;

    #[test]
    fn every_row_has_every_column() {
        let mut odd = run(10_000, "vertex");
        (odd.gpu_ms, odd.models) = (None, vec!["a|b_c.glb".to_owned(), "walker.glb".to_owned()]);
        let text = to_markdown(&report(vec![run(1, "compute"), odd]));
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(lines.len(), 4, "{text}");
        for line in &lines {
            assert_eq!(line.replace("\\|", "").matches('|').count(), COLUMNS.len() + 1, "{line}");
        }
        assert!(
            lines[2].starts_with("| 1 walker | 1280x720 | 4, on | compute | 1 | 10,412 | 12.1 | 82.4 | 82 |"),
            "{text}"
        );
        assert!(
            lines[3].starts_with("| 10,000 a\\|b\\_c + walker |") && lines[3].ends_with("| - | - | - | - |"),
            "{text}"
        );
        assert!(text.starts_with("Measured on 2026-11-22T16:22:00Z with version 0.1.0, commit 0123456789: "), "{text}");
    }
}
