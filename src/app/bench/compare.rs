//! `--compare`: what has changed since an earlier `--json` file was written.
//!
//! Rows are the same where their settings are: models, instances, size, samples, shadows, skinning, upload, threads.
//! Medians are compared. A change counts as such where the *middle halves* of both samples (from the first quartile to
//! the third) do not overlap: then three quarters of the new frames lie on one side of three quarters of the old ones.
//! That is coarse on purpose. Quartiles do not care about single slow frames, they do not shrink as more frames are
//! measured while a machine that is 10 % slower today stays 10 % slower, and since rows are measured in turns they
//! hold how the machine drifted in the meantime. What the clock cannot tell apart never counts, nor what a handful of
//! frames says.
//!
//! No statistics can tell a slower program from a slower machine if the two runs lie days apart. The copy rate that
//! every file has can: where it differs, a warning says so.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::grid::{Column, Group, as_text as grid, number};
use super::report::{Report, Run, SCHEMA};
use super::summary::{Summary, median_of};
use crate::app::inspect::name;
use crate::model::import::read_regular_file;

/// Far more than any sweep comes to.
const MOST_FILE_BYTES: u64 = 32 << 20;
/// Differences below this are the clock's, and the scheduler's.
const RESOLUTION_MS: f64 = 0.005;
/// Quartiles of fewer frames say nothing of what lies between them.
const FEWEST_FRAMES: u32 = 8;
/// Copy rates that differ by more than this are another machine's, or another day's.
const COPY_TOLERANCE: f64 = 0.15;

/// An earlier file, which may be anybody's.
///
/// # Errors
/// Where it cannot be read, or is none that `--json` wrote: which file, and where in it.
pub(super) fn read(path: &Path) -> Result<Report> {
    /// What must be right before anything else can be expected to be.
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

/// The error names the place: `runs[2].frame_ms.median: invalid type: …`.
fn parse<'json, T: Deserialize<'json>>(json: &'json [u8]) -> Result<T> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let value = serde_path_to_error::deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// What has become of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Faster,
    Slower,
    WithinNoise,
    /// What it would take to tell.
    TooFewFrames,
}

impl Change {
    fn between(old: &Summary, new: &Summary, frames: u32) -> Self {
        if frames < FEWEST_FRAMES {
            return Self::TooFewFrames;
        }
        let ((old_low, old_high), (new_low, new_high)) = (old.middle_half(), new.middle_half());
        if (new.median - old.median).abs() < RESOLUTION_MS {
            Self::WithinNoise
        } else if new_high < old_low {
            Self::Faster
        } else if new_low > old_high {
            Self::Slower
        } else {
            Self::WithinNoise
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::WithinNoise => "within noise",
            Self::TooFewFrames => "too few frames",
        }
    }
}

fn is_same_row(old: &Run, new: &Run) -> bool {
    let settings =
        |run: &Run| (run.instances, run.share_poses_hz, run.width, run.height, run.msaa, run.shadows, run.threads);
    let names = |run: &Run| (run.models.clone(), run.skinning.clone(), run.upload.clone());
    settings(old) == settings(new) && names(old) == names(new)
}

/// Each new row with its old one, in the new order.
fn pairs<'a>(old: &'a Report, new: &'a Report) -> Vec<(&'a Run, &'a Run)> {
    let partner = |new: &'a Run| old.runs.iter().find(|old| is_same_row(old, new)).map(|old| (old, new));
    new.runs.iter().filter_map(partner).collect()
}

/// What makes the comparison one of apples and pears, a sentence each.
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
        warnings.push(format!("what is played is not what was then: {old} then, {new} now"));
    }
    let speeds = pairs.iter().map(|(old, new)| new.copy_bytes_per_second / old.copy_bytes_per_second);
    let speed = median_of(speeds.filter(|speed| speed.is_finite()).collect());
    if speed > 0.0 && !(1.0 - COPY_TOLERANCE..=1.0 + COPY_TOLERANCE).contains(&speed) {
        warnings.push(format!(
            "the machine is not what it was: copying memory runs at {} times the speed of then",
            number(speed)
        ));
    }
    warnings
}

/// Every row's changes, and which rows have no partner.
pub(super) fn as_text(path: &Path, old: &Report, new: &Report) -> String {
    let pairs = pairs(old, new);
    let mut text = format!(
        "\nCompared with {} (version {}, commit {}); medians in milliseconds\n",
        path.display(),
        name(&old.program.version),
        name(&old.program.commit)
    );
    for (old, new) in &pairs {
        text += &format!("\n{}\n{}", describe(new), changes(old, new));
    }
    let alone = |runs: &[Run], other: &Report| -> Vec<String> {
        let has_no_partner = |run: &&Run| !other.runs.iter().any(|other| is_same_row(other, run));
        runs.iter().filter(has_no_partner).map(describe).collect()
    };
    text += &list("only now", &alone(&new.runs, old));
    text += &list("only then", &alone(&old.runs, new));
    text
}

fn list(when: &str, rows: &[String]) -> String {
    /// Enough to see what is the matter.
    const MOST: usize = 20;
    let mut text = if rows.is_empty() { String::new() } else { format!("\nMeasured {when}:\n") };
    for row in rows.iter().take(MOST) {
        text += &format!("  {row}\n");
    }
    if rows.len() > MOST {
        text += &format!("  and {} more\n", rows.len() - MOST);
    }
    text
}

fn describe(run: &Run) -> String {
    let mix = if run.models.len() > 1 { format!(" and {} more", run.models.len() - 1) } else { String::new() };
    let shared = run.share_poses_hz.map_or_else(String::new, |hz| format!(", poses at {} Hz", number(hz)));
    format!(
        "{} of {}{mix}, {}x{}, msaa {}, shadows {}, {} skinning, {} upload, {} threads{shared}",
        run.instances,
        run.models.first().map_or_else(String::new, |model| name(model)),
        run.width,
        run.height,
        run.msaa,
        if run.shadows { "on" } else { "off" },
        name(&run.skinning),
        name(&run.upload),
        run.threads
    )
}

/// A line for the frame and for each stage.
fn changes(old: &Run, new: &Run) -> String {
    let mut rows: Vec<(&str, &Summary, &Summary)> = vec![("frame", &old.frame_ms, &new.frame_ms)];
    let pair = |((stage, old), (_, new))| (stage, old, new);
    rows.extend(old.cpu_ms.stages().into_iter().zip(new.cpu_ms.stages()).map(pair));
    if let (Some(old), Some(new)) = (&old.gpu_ms, &new.gpu_ms) {
        rows.extend(old.passes().into_iter().zip(new.passes()).map(pair));
    }
    let column = |header, of: &dyn Fn(&Summary, &Summary) -> String| Column {
        header,
        cells: rows.iter().map(|(_, old, new)| of(old, new)).collect(),
    };
    let frames = old.frames.min(new.frames);
    let columns = vec![
        column("then", &|old, _| number(old.median)),
        column("now", &|_, new| number(new.median)),
        column("ratio", &|old, new| if old.median > 0.0 { number(new.median / old.median) } else { "-".to_owned() }),
        column("", &|old, new| Change::between(old, new, frames).word().to_owned()),
    ];
    let stages = Column { header: "", cells: rows.iter().map(|(stage, ..)| (*stage).to_owned()).collect() };
    let keys = Group { title: String::new(), columns: vec![stages] };
    grid(&keys, &[Group { title: String::new(), columns }])
}

#[cfg(test)]
mod tests {
    use super::super::testing::run;
    use super::*;

    fn report(runs: Vec<Run>) -> Report {
        super::super::testing::report(runs)
    }

    fn around(middle: f64, spread: f64) -> Summary {
        Summary::new((0..101).map(|step| middle + spread * f64::from(step - 50) / 50.0).collect())
    }

    #[test]
    fn a_change_counts_where_the_middle_halves_do_not_overlap() {
        let old = around(10.0, 1.0);
        for (new, expected) in [
            (around(10.0, 1.0), Change::WithinNoise),
            (around(10.9, 1.0), Change::WithinNoise),
            (around(11.1, 1.0), Change::Slower),
            (around(8.9, 1.0), Change::Faster),
            // A noisy sample needs a larger change.
            (around(11.1, 8.0), Change::WithinNoise),
        ] {
            assert_eq!(Change::between(&old, &new, 101), expected, "{new:?}");
        }
        // Exact, but nothing that a clock could tell.
        assert_eq!(Change::between(&around(0.001, 0.0), &around(0.003, 0.0), 101), Change::WithinNoise);
        // However far apart.
        assert_eq!(Change::between(&old, &around(20.0, 1.0), 7), Change::TooFewFrames);
    }

    #[test]
    fn rows_are_matched_by_their_settings() {
        let (hundred, thousand) = (run(100, "compute"), run(1000, "compute"));
        let vertex = run(100, "vertex");
        let mut slower = hundred.clone();
        slower.frame_ms = around(hundred.frame_ms.median * 2.0, 0.1);
        let (old, new) = (report(vec![thousand, hundred]), report(vec![vertex, slower]));
        let text = as_text(Path::new("old.json"), &old, &new);
        let frame = text.lines().find(|line| line.trim_start().starts_with("frame")).unwrap();
        assert!(frame.contains("2.00") && frame.ends_with("slower"), "{text}");
        assert_eq!(text.matches("slower").count(), 1, "{text}");
        assert!(text.contains("Measured only now:\n  100 of walker.glb"), "{text}");
        assert!(text.contains("Measured only then:\n  1000 of walker.glb"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(warnings(&old, &new).is_empty());
    }

    #[test]
    fn apples_and_pears_are_pointed_out() {
        let old = report(vec![run(100, "compute")]);
        let mut new = old.clone();
        new.device.name = "another".to_owned();
        new.cpu.threads = 64;
        new.runs[0].visible = 7;
        new.runs[0].copy_bytes_per_second /= 2.0;
        new.runs[0].scene.as_mut().unwrap().clip = "all".to_owned();
        let warnings = warnings(&old, &new);
        assert_eq!(warnings.len(), 5, "{warnings:#?}");
        assert!(warnings[0].contains("another device") && warnings[0].ends_with("another now"), "{}", warnings[0]);
        assert!(warnings[3].contains("clip 0, random phase then, clip all, random phase now"), "{}", warnings[3]);
        assert!(warnings[4].contains("at 0.50 times the speed"), "{}", warnings[4]);
    }
}
