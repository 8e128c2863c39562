//! Frame time by number of instances: two panels for each combination of the other settings.

use std::ops::Range;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::legend;
use super::page::{own_settings, page};
use super::style::{Area, CPU, DrawError, FAINT, FONT, GPU, GREY, INK, LINE_HEIGHT, Side, TITLE_HEIGHT, WIDTH, tick};
use crate::app::bench::report::{Report, Run};
use crate::app::bench::settings;
use crate::app::text::number;

/// The height of a row of panels in pixels.
const PANEL_HEIGHT: u32 = 340;
const HEADING_HEIGHT: u32 = 34;
/// The left edge of the panels. The axis and its numbers are left of it.
const LEFT: i32 = 72;
const AXIS_WIDTH: u32 = 54;
const REMARK: &str = "Both axes are logarithmic. The upper edge is the time; below it each stage has its share of the \
                      height. Whiskers: fastest frame to 95th percentile (with few frames: third quartile).";

/// The room left and right of the measured range, as a share of the axis.
const MARGIN: f64 = 0.05;

type Chart<'a, X, Y> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<X, Y>>;

/// The ranges of both axes: instances and milliseconds.
#[derive(Clone)]
struct Scales {
    instances: Range<f64>,
    ms: Range<f64>,
    /// The measured numbers of instances, where the first axis has ticks.
    counts: Vec<f64>,
}

pub(super) fn draw(svg: &mut String, report: &Report) -> Result<(), DrawError> {
    let combinations = combinations(&report.runs);
    let rows = combinations.len().max(1) as u32;
    let has_headings = combinations.len() > 1;
    let row_height = PANEL_HEIGHT + if has_headings { HEADING_HEIGHT } else { 0 };
    let height = TITLE_HEIGHT + 2 * LINE_HEIGHT + legend::HEIGHT + rows * row_height;
    let area = page(svg, height, report, REMARK)?;
    let (keys, panels) = area.split_vertically(legend::HEIGHT);
    let half = WIDTH as i32 / 2;
    legend::draw(&keys, LEFT, &CPU, None)?;
    legend::draw(&keys, half + LEFT, &GPU, Some("frame"))?;
    let scales = Scales::of(&report.runs);
    for (area, runs) in panels.split_evenly((combinations.len().max(1), 1)).iter().zip(&combinations) {
        let area = match runs.first() {
            Some(first) if has_headings => {
                let style = (FONT, 16).into_font().color(&INK);
                area.draw(&Text::new(own_settings(&report.runs, first), (LEFT, 12), style))?;
                area.margin(HEADING_HEIGHT, 0, 0, 0)
            }
            _ => area.clone(),
        };
        for (area, side) in area.split_evenly((1, 2)).iter().zip([&CPU, &GPU]) {
            panel(area, side, runs, &scales)?;
        }
    }
    Ok(())
}

/// Groups rows that differ only in the number of instances, and sorts each group by it.
fn combinations(runs: &[Run]) -> Vec<Vec<Run>> {
    let mut combinations: Vec<Vec<Run>> = Vec::new();
    for run in runs {
        let is_same = |other: &Run| settings::same(other, run);
        match combinations.iter_mut().find(|members| members.first().is_some_and(is_same)) {
            Some(members) => members.push(run.clone()),
            None => combinations.push(vec![run.clone()]),
        }
    }
    for members in &mut combinations {
        members.sort_by_key(|run| run.instances);
    }
    combinations
}

impl Scales {
    fn of(runs: &[Run]) -> Self {
        let mut counts: Vec<f64> = runs.iter().map(|run| f64::from(run.instances)).collect();
        counts.sort_by(f64::total_cmp);
        counts.dedup();
        let fewest = counts.first().copied().unwrap_or(1.0);
        let most = counts.last().copied().unwrap_or(10.0).max(fewest * 2.0);
        let tops = || runs.iter().flat_map(|run| [(CPU.total)(run), (GPU.total)(run)]).filter(|&ms| ms > 0.0);
        let least = tops().fold(f64::INFINITY, f64::min);
        let slowest = tops().chain(runs.iter().map(|run| run.frame_ms.high())).fold(0.0, f64::max);
        let (least, slowest) = if least.is_finite() { (least, slowest) } else { (1.0, 10.0) };
        Self {
            instances: fewest * (most / fewest).powf(-MARGIN)..most * (most / fewest).powf(MARGIN),
            // There is room below the lowest edge, so that its stages can be told apart.
            ms: 10f64.powf((least / 5.0).log10().floor())..slowest * 1.25,
            counts,
        }
    }
}

fn panel(area: &Area<'_>, side: &Side, runs: &[Run], scales: &Scales) -> Result<(), DrawError> {
    let title = area.titled(side.title, (FONT, 14).into_font().color(&GREY))?;
    let mut chart = ChartBuilder::on(&title)
        .margin_right(24)
        .margin_left(LEFT as u32 - AXIS_WIDTH)
        .margin_top(4)
        .x_label_area_size(42)
        .y_label_area_size(AXIS_WIDTH)
        .build_cartesian_2d(scales.instances.clone().log_scale(), scales.ms.clone().log_scale())?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .set_tick_mark_size(LabelAreaPosition::Bottom, 0)
        .y_labels(12)
        .bold_line_style(FAINT)
        .light_line_style(TRANSPARENT)
        .axis_style(GREY)
        .label_style((FONT, 12).into_font().color(&INK))
        .axis_desc_style((FONT, 13).into_font().color(&INK))
        .x_desc("instances")
        .y_desc("milliseconds")
        .x_label_formatter(&|_| String::new())
        .y_label_formatter(&|ms| if starts_with_1_2_or_5(*ms) { tick(*ms) } else { String::new() })
        .draw()?;
    let bottom = scales.ms.start;
    let measured: Vec<(&Run, [f64; 5])> = runs.iter().filter_map(|run| Some((run, side.shares(run)?))).collect();
    // On a logarithmic axis a share of the height is a power.
    let at = |run: &Run, share: f64| {
        let top = (side.total)(run).max(bottom);
        (f64::from(run.instances), bottom * (top / bottom).powf(share))
    };
    for (stage, (_, color)) in side.stages.iter().enumerate() {
        let end = |shares: &[f64; 5]| shares.get(stage).copied().unwrap_or(1.0);
        let start =
            |shares: &[f64; 5]| stage.checked_sub(1).and_then(|below| shares.get(below)).copied().unwrap_or(0.0);
        let above = measured.iter().map(|(run, shares)| at(run, end(shares)));
        let below = measured.iter().rev().map(|(run, shares)| at(run, start(shares)));
        chart.draw_series(std::iter::once(Polygon::new(above.chain(below).collect::<Vec<_>>(), color.filled())))?;
    }
    count_ticks(&mut chart, scales)?;
    frame_line(&mut chart, runs, bottom, side.labels_frame)
}

/// Draws a line for each measured number of instances, and its name if there is room.
fn count_ticks<X, Y>(chart: &mut Chart<'_, X, Y>, scales: &Scales) -> Result<(), DrawError>
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    /// The share of the axis that a name may take.
    const NAME_SHARE: f64 = 0.09;
    let style = (FONT, 12).into_font().color(&INK).pos(Pos::new(HPos::Center, VPos::Top));
    let Range { start: bottom, end: top } = scales.ms;
    let position =
        |count: f64| (count / scales.instances.start).ln() / (scales.instances.end / scales.instances.start).ln();
    let mut named = f64::NEG_INFINITY;
    for &count in &scales.counts {
        let line = PathElement::new([(count, bottom), (count, top)], WHITE.mix(0.35).stroke_width(1));
        chart.draw_series(std::iter::once(line))?;
        let mark = EmptyElement::at((count, bottom)) + PathElement::new([(0, 0), (0, 5)], GREY.stroke_width(1));
        chart.draw_series(std::iter::once(mark))?;
        if position(count) - named >= NAME_SHARE {
            named = position(count);
            let name = EmptyElement::at((count, bottom)) + Text::new(tick(count), (0, 8), style.clone());
            chart.draw_series(std::iter::once(name))?;
        }
    }
    Ok(())
}

/// Returns whether a tick has a name. There is no room for all names.
fn starts_with_1_2_or_5(value: f64) -> bool {
    let leading = value / 10f64.powf((value.log10() + 1e-9).floor());
    [1.0, 2.0, 5.0].into_iter().any(|digit| (leading - digit).abs() < 1e-3)
}

/// Draws the median of the frame time, which is the same line in both panels.
fn frame_line<X, Y>(chart: &mut Chart<'_, X, Y>, runs: &[Run], bottom: f64, with_numbers: bool) -> Result<(), DrawError>
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    let at = |run: &Run, ms: f64| (f64::from(run.instances), ms.max(bottom));
    let medians: Vec<(f64, f64)> = runs.iter().map(|run| at(run, run.frame_ms.median)).collect();
    chart.draw_series(std::iter::once(PathElement::new(medians.clone(), INK.stroke_width(2))))?;
    chart.draw_series(
        runs.iter().map(|run| {
            PathElement::new([at(run, run.frame_ms.min), at(run, run.frame_ms.high())], INK.stroke_width(1))
        }),
    )?;
    chart.draw_series(medians.iter().map(|&point| Circle::new(point, 3, INK.filled())))?;
    if with_numbers {
        let style = (FONT, 12).into_font().color(&INK).pos(Pos::new(HPos::Center, VPos::Bottom));
        let number = |point: (f64, f64)| EmptyElement::at(point) + Text::new(number(point.1), (-6, -8), style.clone());
        chart.draw_series(medians.into_iter().map(number))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_ticks_have_names() {
        let named: Vec<u32> = (1..=1000).filter(|&ms| starts_with_1_2_or_5(ms.into())).collect();
        assert_eq!(named, [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]);
        assert!([0.001, 0.02, 0.5].into_iter().all(starts_with_1_2_or_5));
    }
}
