//! The table of `bench` on the terminal.
//!
//! Settings that all rows share are in the heading and the others are columns. Below the times are the rates, and the rate
//! of a copy, which the skin pass cannot exceed.

use super::report::{Bound, Character, Report, Run, by_level};
use super::sweep::{SETTINGS, varying};
use crate::app::text::{ColumnGroup, counted, grouped, name, number, paragraph};
use crate::model::Model;
use crate::renderer::{CpuStage, Pass};

/// The title of a group of columns, and the header and the cell of one of them.
type Column = (&'static str, &'static str, fn(&Run) -> String);

const FRAME: [Column; 2] = [
    ("frame", "median", |run| number(run.times.frame_ms.median)),
    ("frame", "p95", |run| optional(run.times.frame_ms.p95)),
];
/// The skin pass cannot be faster than a copy from one device buffer to another.
const RATES: [Column; 11] = [
    ("per second", "frames", |run| number(run.rates.frames_per_second)),
    ("per second", "characters", |run| format!("{:.0}", run.rates.characters_per_second)),
    ("per second", "M joints", |run| number(run.rates.joints_per_second * 1e-6)),
    ("drawn, thousands", "vertices", |run| number(run.amounts.vertices_drawn as f64 * 1e-3)),
    ("drawn, thousands", "triangles", |run| number(run.amounts.triangles_drawn as f64 * 1e-3)),
    ("drawn, thousands", "levels, %", level_percents),
    ("skinned per second", "M vertices", |run| optional(run.rates.skinned_vertices_per_second.map(|rate| rate * 1e-6))),
    ("skinned per second", "GB", |run| optional(run.rates.skin_bytes_per_second.map(|rate| rate * 1e-9))),
    ("skinned per second", "GB of a copy", |run| number(run.rates.copy_bytes_per_second * 1e-9)),
    ("nearest/median/farthest", "joints", |run| of_three(run, |of| of.joints)),
    ("nearest/median/farthest", "triangles", |run| of_three(run, |of| of.triangles)),
];

/// Returns the whole text, or nothing for no rows.
pub(super) fn as_text(report: &Report, columns: u16) -> String {
    let runs = &report.runs[..];
    let Some(first) = runs.first() else { return String::new() };
    let varies = varying(runs.iter().map(|run| &run.settings));
    let (rounds, each) = match first.times.rounds {
        1 => (String::new(), ""),
        rounds => (format!(" in {rounds} rounds"), " each round"),
    };
    let [frames, warmup] = [first.times.frames, first.times.warmup].map(|count| counted(count as usize, "frame"));
    let frames = format!("{frames} each{rounds}, {warmup} to warm up before{each}; medians in milliseconds");
    let (device, cpu) = (name(&report.device), report.cpu.trim());
    let mut text = paragraph(columns, &format!("{} on {device}, {cpu}", first.settings.model_names()));
    text += &paragraph(columns, &first.settings.in_words(varies.map(|varies| !varies)));
    text += &paragraph(columns, &frames);
    text += &fits(runs).map_or_else(String::new, |sentence| paragraph(columns, &sentence));
    if report.partial {
        text += "Partial: not all rows are complete.\n";
    }
    text += "\n";
    let stages = CpuStage::ALL.map(CpuStage::name).into_iter().chain(["other"]);
    let stages = medians(runs, "CPU: adds up to the frame", stages);
    let is_serialized = runs.iter().all(|run| run.settings.serialize);
    let passes = if is_serialized { "GPU: one pass at a time" } else { "GPU: meanwhile" };
    let passes = medians(runs, passes, Pass::ALL.map(Pass::name));
    text += &grouped(columns, &keys(runs, varies), &[group(runs, &FRAME), stages, passes]);
    text += "\n";
    text += &report.models.iter().take(4).map(|model| paragraph(columns, &levels(model))).collect::<String>();
    text += &sharing(runs).map_or_else(String::new, |sentence| paragraph(columns, &sentence));
    let rates: Vec<_> = RATES.chunk_by(|a, b| a.0 == b.0).map(|columns| group(runs, columns)).collect();
    text + "\n" + &grouped(columns, &keys(runs, varies), &rates)
}

/// Returns the columns that identify a row.
fn keys(runs: &[Run], varies: [bool; SETTINGS]) -> ColumnGroup {
    let mut columns = vec![column(runs, "instances", |run| run.settings.instances.to_string())];
    if runs.iter().any(|run| run.amounts.visible != run.settings.instances) {
        columns.push(column(runs, "visible", |run| run.amounts.visible.to_string()));
    }
    for index in (0..SETTINGS).filter(|&index| varies[index]) {
        let (header, ..) = runs[0].settings.list()[index];
        columns.push(column(runs, header, |run| run.settings.list()[index].1.clone()));
    }
    ColumnGroup { title: "", columns }
}

fn column(runs: &[Run], header: &'static str, of: impl Fn(&Run) -> String) -> (&'static str, Vec<String>) {
    (header, runs.iter().map(of).collect())
}

fn group(runs: &[Run], columns: &[Column]) -> ColumnGroup {
    let title = columns.first().map_or("", |(title, ..)| title);
    ColumnGroup { title, columns: columns.iter().map(|(_, header, of)| column(runs, header, of)).collect() }
}

/// Returns the share of the view's characters in each level of detail, finest first.
fn level_percents(run: &Run) -> String {
    slashed(run.amounts.level_shares.iter().map(|share| format!("{:.0}", share * 100.0)))
}

fn of_three(run: &Run, of: fn(&Character) -> usize) -> String {
    run.amounts.nearest_median_farthest.as_ref().map_or_else(|| "-".to_owned(), |three| slashed(three.iter().map(of)))
}

fn slashed<T: ToString>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join("/")
}

/// Writes a number, or a dash if it was not measured.
fn optional(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), number)
}

fn medians(runs: &[Run], title: &'static str, names: impl IntoIterator<Item = &'static str>) -> ColumnGroup {
    let column = |name| column(runs, name, |run| optional(run.times.median(name)));
    ColumnGroup { title, columns: names.into_iter().map(column).collect() }
}

/// Says how `--fit` chose the crowds, and where time is not what bounds them.
fn fits(runs: &[Run]) -> Option<String> {
    let limit_ms = runs.first()?.times.fit_limit_ms?;
    let mut text = format!("The largest crowds whose median frame stays below {} ms.", number(limit_ms));
    for run in runs {
        let bound = match run.times.fit_bound? {
            Bound::Time => continue,
            Bound::Memory => "the device cannot hold more",
            Bound::MostInstances => "no larger crowd is accepted",
            Bound::OneIsTooSlow => "even one instance takes longer",
            Bound::Unsteady => "the frame took longer or shorter than during the search",
        };
        text += &format!(" {}: {bound}.", run.settings.describe());
    }
    Some(text)
}

/// Says what shared poses save and cost, if they are on.
fn sharing(runs: &[Run]) -> Option<String> {
    let last = &runs.last()?.amounts;
    let worst = |of: fn(&Run) -> Option<f64>| runs.iter().filter_map(of).reduce(f64::max);
    Some(format!(
        "Poses are shared: {} visible characters show {}. At the sampled times no vertex is off by more than {} m, or \
         by more than {} % of its character's size.",
        last.visible,
        counted(last.unique_poses as usize, "pose"),
        number(worst(|run| run.amounts.sharing_error_metres)?),
        number(100.0 * worst(|run| run.amounts.sharing_error_share_of_size)?)
    ))
}

fn levels(model: &Model) -> String {
    let [joints, vertices, triangles] = by_level(model).map(slashed);
    format!("{} by level: {triangles} triangles, {vertices} vertices, {joints} joints.", name(&model.name))
}
