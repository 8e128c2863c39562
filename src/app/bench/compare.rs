//! `--compare`: compares the results with an earlier `--json` file.
//!
//! Two rows are compared if all their settings are equal. [`verdict`](super::verdict) decides whether a difference counts:
//! the rounds of both runs show how much each of them varied. The arithmetic of [`work`](super::work) is measured with
//! every turn and shows how much the machine's speed has changed in between.
//!
//! Nothing that was measured earlier is as good as turns with the other program ([`against`](super::against)): a machine
//! changes in more ways than a yardstick sees. So differences from a file have to be larger.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::report::{Report, Run, SCHEMA};
use super::settings::{self, in_words};
use super::summary::{Summary, median_of};
use super::verdict::{Change, Evidence, Machine, Rounds};
use crate::app::text::{Group, aligned, grouped, name, number, paragraph};
use crate::model::import::read_regular_file;

/// The largest file that is read. It is far larger than the file of any sweep.
const MOST_FILE_BYTES: u64 = 128 << 20;
/// A larger difference between copy rates means another machine or another load.
const COPY_TOLERANCE: f64 = 0.15;

/// Reads an earlier file, which is not trusted.
///
/// # Errors
/// The file cannot be read, or `--json` did not write it. The error names the file and the JSON path.
pub(super) fn read(path: &Path) -> Result<Report> {
    /// The part that is checked before all others.
    #[derive(Deserialize)]
    struct Head {
        schema: u32,
    }
    let file = path.display();
    let json = read_regular_file(path, MOST_FILE_BYTES).with_context(|| format!("{file}: cannot be read"))?;
    let head: Head = parse(&json).with_context(|| format!("{file}: not a file that bench --json wrote"))?;
    if head.schema != SCHEMA {
        bail!("{file}: schema is {}, but this version reads {SCHEMA}", head.schema);
    }
    parse(&json).with_context(|| format!("{file}: not a file that bench --json wrote"))
}

/// Parses JSON. The error names the path: `runs[2].frame_ms.median: invalid type: …`.
fn parse<'json, T: Deserialize<'json>>(json: &'json [u8]) -> Result<T> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let value = serde_path_to_error::deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

fn is_same_row(old: &Run, new: &Run) -> bool {
    (old.instances, old.share_poses_hz, &old.models) == (new.instances, new.share_poses_hz, &new.models)
        && settings::same(old, new)
}

/// Pairs each new row with its old one, in the new order.
fn pairs<'a>(old: &'a Report, new: &'a Report) -> Vec<(&'a Run, &'a Run)> {
    let partner = |new: &'a Run| old.runs.iter().find(|old| is_same_row(old, new)).map(|old| (old, new));
    new.runs.iter().filter_map(partner).collect()
}

/// Returns a sentence for each difference that makes the comparison doubtful.
pub(super) fn warnings(old: &Report, new: &Report) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut differs = |what: &str, old: &str, new: &str| {
        if old != new {
            warnings.push(format!("compared with another {what}: {} then, {} now", name(old), name(new)));
        }
    };
    differs("device", &old.device.name, &new.device.name);
    differs("driver", &old.device.driver, &new.device.driver);
    differs("CPU", &old.cpu.name, &new.cpu.name);
    differs("number of CPU threads", &old.cpu.threads.to_string(), &new.cpu.threads.to_string());
    let pairs = pairs(old, new);
    let amounts = |run: &Run| (run.visible, run.joints.to_bits(), run.vertices.to_bits());
    let others = pairs.iter().filter(|(old, new)| amounts(old) != amounts(new)).count();
    if others > 0 {
        warnings.push(format!("{others} of {} rows drew another crowd then: models or camera differ", pairs.len()));
    }
    let scenes = pairs.iter().filter_map(|(old, new)| Some((old.scene.as_ref()?, new.scene.as_ref()?)));
    if let Some((old, new)) = scenes.into_iter().find(|(old, new)| old != new) {
        let (old, new) = (old.in_words(), new.in_words());
        warnings.push(format!("the scene has changed: {old} then, {new} now"));
    }
    warnings
}

/// Returns a sentence if the machine copied memory at another rate in the earlier run.
pub(super) fn speed_warning(old: &Report, new: &Report) -> Option<String> {
    let pairs = pairs(old, new);
    let speeds = pairs.iter().map(|(old, new)| new.copy_bytes_per_second / old.copy_bytes_per_second);
    let speed = median_of(speeds.filter(|speed| speed.is_finite()).collect());
    let has_changed = speed > 0.0 && !(1.0 - COPY_TOLERANCE..=1.0 + COPY_TOLERANCE).contains(&speed);
    has_changed.then(|| {
        format!("the machine's speed has changed: it copies memory at {} times the rate of then", number(speed))
    })
}

/// A row that was measured in both runs.
pub(super) struct ComparedRow<'a> {
    pub(super) new: &'a Run,
    /// The evidence on the frame, and on each stage and pass.
    pub(super) lines: Vec<(&'static str, Evidence)>,
}

impl ComparedRow<'_> {
    /// Returns the ratio of the frame times if the frames became slower.
    pub(super) fn slowdown(&self) -> Option<f64> {
        let frame = self.lines.iter().find(|(name, _)| *name == "frame")?;
        (frame.1.change() == Change::Slower).then_some(frame.1.ratio())
    }

    /// Describes the row in words.
    pub(super) fn describe(&self) -> String {
        describe(self.new)
    }
}

/// Compares the rows that both runs have.
pub(super) fn rows<'a>(old: &'a Report, new: &'a Report) -> Vec<ComparedRow<'a>> {
    let compared = |(old, new): (&'a Run, &'a Run)| ComparedRow { new, lines: lines(old, new) };
    pairs(old, new).into_iter().map(compared).collect()
}

/// Returns the evidence on the frame, and on each stage and pass.
fn lines(old: &Run, new: &Run) -> Vec<(&'static str, Evidence)> {
    let mut times: Vec<(&'static str, &Summary, &Summary)> = vec![("frame", &old.frame_ms, &new.frame_ms)];
    let pair = |((stage, old), (_, new))| (stage, old, new);
    times.extend(old.cpu_ms.stages().into_iter().zip(new.cpu_ms.stages()).map(pair));
    if let (Some(old), Some(new)) = (&old.gpu_ms, &new.gpu_ms) {
        times.extend(old.passes().into_iter().zip(new.passes()).map(pair));
    }
    let machine = Machine::between(old, new);
    let evidence = |(name, old_ms, new_ms)| {
        (name, Evidence { old: Rounds::of(old, name, old_ms), new: Rounds::of(new, name, new_ms), machine })
    };
    times.into_iter().map(evidence).collect()
}

/// Lists the changes of every row, and the rows without a partner.
pub(super) fn as_text(path: &Path, old: &Report, new: &Report, columns: u16) -> String {
    let date = if old.date.is_empty() { String::new() } else { format!(", {}", name(&old.date)) };
    let mut text = format!(
        "\nCompared with {} (version {}, commit {}{date})\n",
        path.display(),
        name(&old.program.version),
        name(&old.program.commit)
    );
    text += &paragraph(
        columns,
        "Medians in milliseconds. A ratio counts if it is outside of the range that the rounds of both runs and the \
         machine's own change explain.",
    );
    for row in rows(old, new) {
        text += &format!("\n{}{}", paragraph(columns, &row.describe()), changes(&row.lines, columns));
    }
    let alone = |runs: &[Run], other: &Report| -> Vec<String> {
        let has_no_partner = |run: &&Run| !other.runs.iter().any(|other| is_same_row(other, run));
        runs.iter().filter(has_no_partner).map(describe).collect()
    };
    text += &list("only now", &alone(&new.runs, old), columns);
    text += &list("only then", &alone(&old.runs, new), columns);
    text
}

fn list(when: &str, rows: &[String], columns: u16) -> String {
    const MOST: usize = 20;
    let mut text = if rows.is_empty() { String::new() } else { format!("\nMeasured {when}:\n") };
    for row in rows.iter().take(MOST) {
        text += &aligned(columns, 2, [[row.clone()]]);
    }
    if rows.len() > MOST {
        text += &format!("  and {} more\n", rows.len() - MOST);
    }
    text
}

fn describe(run: &Run) -> String {
    let mix = if run.models.len() > 1 { format!(" and {} more", run.models.len() - 1) } else { String::new() };
    let shared = run.share_poses_hz.map_or_else(String::new, |hz| format!(", poses at {} Hz", number(hz)));
    let model = run.models.first().map_or_else(String::new, |model| name(model));
    format!("{} of {model}{mix}, {}{shared}", run.instances, in_words(run, [true; settings::SETTINGS]))
}

/// Returns a table with a line for the frame and for each stage.
fn changes(lines: &[(&'static str, Evidence)], columns: u16) -> String {
    let column =
        |header, of: &dyn Fn(&Evidence) -> String| (header, lines.iter().map(|(_, evidence)| of(evidence)).collect());
    let changes = vec![
        column("then", &|evidence| number(evidence.old.median)),
        column("now", &|evidence| number(evidence.new.median)),
        column("ratio", &|evidence| if evidence.old.median > 0.0 { number(evidence.ratio()) } else { "-".to_owned() }),
        column("explained", &|evidence| {
            let (low, high) = evidence.explained();
            format!("{} to {}", number(low), number(high))
        }),
        column("", &|evidence| evidence.change().word().to_owned()),
    ];
    let stages = ("", lines.iter().map(|(stage, _)| (*stage).to_owned()).collect());
    grouped(columns, &Group { title: "", columns: vec![stages] }, &[Group { title: "", columns: changes }])
}

#[cfg(test)]
mod tests {
    use super::super::testing::{report, run};
    use super::*;

    fn around(middle: f64, spread: f64) -> Summary {
        Summary::new((0..101).map(|step| middle + spread * f64::from(step - 50) / 50.0).collect())
    }

    #[test]
    fn rows_are_matched_by_their_settings() {
        let (hundred, thousand) = (run(100, "compute"), run(1000, "compute"));
        let vertex = run(100, "vertex");
        let mut slower = hundred.clone();
        slower.frame_ms = around(hundred.frame_ms.median * 2.0, 0.1);
        let (old, new) = (report(vec![thousand, hundred]), report(vec![vertex, slower]));
        let text = as_text(Path::new("old.json"), &old, &new, 100);
        let frame = text.lines().find(|line| line.trim_start().starts_with("frame")).unwrap();
        assert!(frame.contains("2.00") && frame.ends_with("slower"), "{text}");
        assert_eq!(text.matches("slower").count(), 1, "{text}");
        assert!(text.contains("Measured only now:\n  100 of walker.glb"), "{text}");
        assert!(text.contains("Measured only then:\n  1000 of walker.glb"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(warnings(&old, &new).is_empty());
    }

    #[test]
    fn doubtful_comparisons_are_pointed_out() {
        let old = report(vec![run(100, "compute")]);
        let mut new = old.clone();
        new.device.name = "another".to_owned();
        new.cpu.threads = 64;
        new.runs[0].visible = 7;
        new.runs[0].copy_bytes_per_second /= 2.0;
        new.runs[0].scene.as_mut().unwrap().clip = "all".to_owned();
        let warnings = warnings(&old, &new);
        assert_eq!(warnings.len(), 4, "{warnings:#?}");
        assert!(warnings[0].contains("another device") && warnings[0].ends_with("another now"), "{}", warnings[0]);
        assert!(warnings[3].contains("clip 0, random phase then, clip all, random phase now"), "{}", warnings[3]);
        assert!(speed_warning(&old, &new).unwrap().contains("at 0.50 times the rate"));
        assert_eq!(speed_warning(&old, &old), None);
    }
}
