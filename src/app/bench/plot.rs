//! The file of `--plot`: the time of a frame by number of instances, divided into its stages.
//!
//! Both axes are logarithmic. Bands of summed times would mislead there: the lowest would always be the widest. So only
//! the upper edge is read on the axis, and below it each stage has its share of the *height*: half the height is half the
//! time, at every number of instances. The picture says so. A single number of instances gives a bar.
//!
//! The CPU's stages follow each other and make up the frame. The GPU's passes run meanwhile, and the CPU waits for them.
//! So there are two panels on one scale, and both show the frame's median. Each combination has its own row of panels.

use std::ops::Range;

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::report::{Report, Run};
use super::sweep::varying;
use crate::app::colors;
use crate::app::text::{name, number, thousands};
use crate::model::text::shortened;
use crate::renderer::{CpuStage, Pass};

const WIDTH: u32 = 1040;
/// The height of everything above the panels.
const HEAD_HEIGHT: u32 = 106;
const ROW_HEIGHT: u32 = 360;
const HEADING_HEIGHT: u32 = 30;
/// The left edge of the panels. The axis and its numbers are left of it.
const LEFT: i32 = 72;
const FONT: &str = "Helvetica, Arial, sans-serif";
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
const FAINT: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);
const GREY: RGBColor = RGBColor(0x66, 0x66, 0x66);
const REMARK: &str =
    "Both axes are logarithmic. The upper edge is the time; below it each stage has its share of the height.";

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type DrawError = DrawingAreaErrorKind<std::io::Error>;

/// The stages of the CPU, or the passes of the GPU.
struct Side {
    title: &'static str,
    parts: Vec<(&'static str, RGBColor)>,
}

pub(super) fn to_svg(report: &Report) -> Result<String> {
    let mut svg = String::new();
    // The error borrows the picture, so only its text is returned.
    draw(&mut svg, report).map_err(|error| anyhow!("{error}"))?;
    Ok(svg)
}

fn sides() -> [Side; 2] {
    let color = |[red, green, blue]: [u8; 3]| RGBColor(red, green, blue);
    let stages = CpuStage::ALL.into_iter().map(|stage| (stage.name(), color(colors::STAGES[stage as usize])));
    let passes = Pass::ALL.into_iter().map(|pass| (pass.name(), color(colors::PASSES[pass as usize])));
    let stages = stages.chain([("other", GREY)]).collect();
    [Side { title: "CPU, the frame:", parts: stages }, Side { title: "GPU, meanwhile:", parts: passes.collect() }]
}

fn draw(svg: &mut String, report: &Report) -> Result<(), DrawError> {
    let runs = &report.runs[..];
    let varies = varying(runs.iter().map(|run| &run.settings));
    let words = |run: &Run| run.settings.in_words(varies);
    // Rows that differ only in the number of instances follow each other.
    let combinations = || runs.chunk_by(|a, b| words(a) == words(b));
    let rows = combinations().count();
    let root = SVGBackend::with_string(svg, (WIDTH, HEAD_HEIGHT + ROW_HEIGHT * rows as u32)).into_drawing_area();
    root.fill(&WHITE)?;
    let first = &runs[0].settings;
    let (models, shared) = (first.model_names(), first.in_words(varies.map(|varies| !varies)));
    write(&root, &shortened(&format!("{models} on {}", name(&report.device)), 100), (16, 12), 21, &INK)?;
    write(&root, &shortened(&format!("{shared}; {}", name(&report.cpu)), 160), (16, 40), 13, &GREY)?;
    write(&root, REMARK, (16, 58), 13, &GREY)?;
    let sides = sides();
    for (side, left) in sides.iter().zip([LEFT, WIDTH as i32 / 2 + LEFT]) {
        legend(&root, side, left)?;
    }
    let (instances, ms) = ranges(runs, &sides);
    let panels = root.margin(HEAD_HEIGHT, 0, 0, 12).split_evenly((rows, 1));
    for (area, runs) in panels.iter().zip(combinations()) {
        write(area, &words(&runs[0]), (LEFT, 8), 16, &INK)?;
        let mut runs: Vec<&Run> = runs.iter().collect();
        runs.sort_by_key(|run| run.settings.instances);
        let area = area.margin(HEADING_HEIGHT, 0, 0, 0);
        for (area, side) in area.split_evenly((1, 2)).iter().zip(&sides) {
            panel(area, side, &runs, instances.clone(), ms.clone())?;
        }
    }
    Ok(())
}

fn write(area: &Area<'_>, text: &str, at: (i32, i32), size: i32, color: &RGBColor) -> Result<(), DrawError> {
    area.draw(&Text::new(text.to_owned(), at, (FONT, size).into_font().color(color)))
}

/// Draws the title, and a swatch and a name for each stage.
fn legend(area: &Area<'_>, side: &Side, left: i32) -> Result<(), DrawError> {
    /// The estimated width of a character in pixels. The font is not known here.
    const CHARACTER: i32 = 7;
    const TOP: i32 = HEAD_HEIGHT as i32 - 24;
    const SWATCH: i32 = 12;
    write(area, side.title, (left, TOP), 13, &GREY)?;
    let mut x = left + side.title.len() as i32 * CHARACTER + 8;
    for (part, color) in &side.parts {
        area.draw(&Rectangle::new([(x, TOP + 1), (x + SWATCH, TOP + 1 + SWATCH)], color.filled()))?;
        write(area, part, (x + SWATCH + 5, TOP), 13, &INK)?;
        x += SWATCH + 5 + part.len() as i32 * CHARACTER + 12;
    }
    Ok(())
}

/// Returns the sum of the first stages of one side.
fn sum(side: &Side, run: &Run, count: usize) -> f64 {
    side.parts.iter().take(count).filter_map(|(part, _)| run.times.median(part)).sum()
}

/// Returns the ranges of both axes: instances and milliseconds.
fn ranges(runs: &[Run], sides: &[Side]) -> (Range<f64>, Range<f64>) {
    let counts = || runs.iter().map(|run| f64::from(run.settings.instances));
    let (fewest, most) = (counts().fold(f64::INFINITY, f64::min), counts().fold(1.0, f64::max));
    let tops = || {
        runs.iter()
            .flat_map(|run| sides.iter().map(|side| sum(side, run, usize::MAX)).chain([run.times.frame_ms.median]))
    };
    let least = tops().filter(|&ms| ms > 0.0).fold(f64::INFINITY, f64::min);
    let least = if least.is_finite() { least } else { 1.0 };
    // There is room below the lowest edge, so that its stages can be told apart.
    let bottom = 10f64.powf((least / 5.0).log10().floor());
    (fewest / 1.4..most * 1.4, bottom..tops().fold(least, f64::max) * 1.25)
}

fn panel(area: &Area<'_>, side: &Side, runs: &[&Run], instances: Range<f64>, ms: Range<f64>) -> Result<(), DrawError> {
    let bottom = ms.start;
    let mut chart = ChartBuilder::on(area)
        .margin_right(24)
        .margin_left(18)
        .x_label_area_size(42)
        .y_label_area_size(LEFT as u32 - 18)
        .build_cartesian_2d(instances.log_scale(), ms.log_scale())?;
    let label = |value: &f64| if starts_with_1_2_or_5(*value) { tick(*value) } else { String::new() };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(12)
        .y_labels(12)
        .bold_line_style(FAINT)
        .light_line_style(TRANSPARENT)
        .axis_style(GREY)
        .label_style((FONT, 12).into_font().color(&INK))
        .axis_desc_style((FONT, 13).into_font().color(&INK))
        .x_desc("instances")
        .y_desc("milliseconds")
        .x_label_formatter(&label)
        .y_label_formatter(&label)
        .draw()?;
    let at = |run: &Run| f64::from(run.settings.instances);
    // The outline of each stage: where it starts and where it ends. A single number of instances becomes a bar.
    let widths: &[f64] = if runs.len() == 1 { &[1.0 / 1.2, 1.2] } else { &[1.0] };
    let edge = |run: &Run, stage: usize| {
        let total = sum(side, run, usize::MAX).max(bottom);
        // On a logarithmic axis a share of the height is a power.
        let y = bottom * (total / bottom).powf((sum(side, run, stage) / total).min(1.0));
        widths.iter().map(|width| (at(run) * width, y)).collect::<Vec<_>>()
    };
    for (stage, (_, color)) in side.parts.iter().enumerate() {
        let above = runs.iter().flat_map(|run| edge(run, stage + 1));
        let below: Vec<_> = runs.iter().flat_map(|run| edge(run, stage)).collect();
        let outline: Vec<_> = above.chain(below.into_iter().rev()).collect();
        chart.draw_series([Polygon::new(outline, color.filled())])?;
    }
    let medians: Vec<(f64, f64)> = runs.iter().map(|run| (at(run), run.times.frame_ms.median.max(bottom))).collect();
    chart.draw_series([PathElement::new(medians.clone(), INK.stroke_width(2))])?;
    chart.draw_series(medians.iter().map(|&point| Circle::new(point, 3, INK.filled())))?;
    let style = (FONT, 12).into_font().color(&INK).pos(Pos::new(HPos::Center, VPos::Bottom));
    let number = |point: (f64, f64)| EmptyElement::at(point) + Text::new(number(point.1), (-6, -8), style.clone());
    chart.draw_series(medians.into_iter().map(number))?;
    Ok(())
}

/// Returns whether a tick has a name. There is no room for all names.
fn starts_with_1_2_or_5(value: f64) -> bool {
    let leading = value / 10f64.powf((value.log10() + 1e-9).floor());
    [1.0, 2.0, 5.0].into_iter().any(|digit| (leading - digit).abs() < 1e-3)
}

/// Writes milliseconds or a count without superfluous digits.
fn tick(value: f64) -> String {
    match value {
        value if value >= 1000.0 => thousands(value.round() as u64),
        value => format!("{value:.4}").trim_end_matches('0').trim_end_matches('.').to_owned(),
    }
}
