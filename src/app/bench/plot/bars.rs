//! One number of instances: two bars for each combination of the other settings. Their lengths are times.

use plotters::prelude::*;

use super::legend;
use super::page::{own_settings, page};
use super::style::{CPU, DrawError, FAINT, FONT, GPU, GREY, INK, LINE_HEIGHT, Side, TITLE_HEIGHT, tick};
use crate::app::bench::report::{Report, Run};
use crate::app::text::number;

/// The height of a combination in pixels.
const ROW_HEIGHT: u32 = 74;
const AXIS_HEIGHT: u32 = 46;
/// The width of the names at the left.
const NAMES_WIDTH: u32 = 300;

pub(super) fn draw(svg: &mut String, report: &Report) -> Result<(), DrawError> {
    let runs = &report.runs[..];
    let rows = runs.len().max(1);
    let height = TITLE_HEIGHT + 2 * LINE_HEIGHT + 2 * legend::HEIGHT + rows as u32 * ROW_HEIGHT + AXIS_HEIGHT + 12;
    let instances = runs.first().map_or(0, |run| run.instances);
    let remark = format!(
        "{} instances. Medians; the GPU's passes run while the CPU does the next frame.",
        tick(instances.into())
    );
    let area = page(svg, height, report, &remark)?;
    let (cpu_legend, area) = area.split_vertically(legend::HEIGHT);
    let (gpu_legend, area) = area.split_vertically(legend::HEIGHT);
    for (legend_area, side, title) in [(&cpu_legend, &CPU, "CPU"), (&gpu_legend, &GPU, "GPU")] {
        legend_area.draw(&Text::new(title, (16, 5), (FONT, 13).into_font().color(&INK)))?;
        legend::draw(legend_area, 58, side, None)?;
    }
    let longest = runs.iter().flat_map(|run| [(CPU.total)(run), (GPU.total)(run)]).fold(0.0, f64::max);
    let longest = if longest > 0.0 { longest } else { 1.0 };
    let (names, bars) = area.split_horizontally(NAMES_WIDTH);
    let mut chart = ChartBuilder::on(&bars)
        .margin_right(60)
        .x_label_area_size(AXIS_HEIGHT)
        .build_cartesian_2d(0.0..longest * 1.02, 0.0..rows as f64)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .x_labels(10)
        .bold_line_style(FAINT)
        .light_line_style(TRANSPARENT)
        .axis_style(GREY)
        .label_style((FONT, 12).into_font().color(&INK))
        .axis_desc_style((FONT, 13).into_font().color(&INK))
        .x_desc("milliseconds")
        .x_label_formatter(&|ms| tick(*ms))
        .draw()?;
    for (row, run) in runs.iter().enumerate() {
        // The first row is at the top.
        let base = (rows - 1 - row) as f64;
        for (side, low, high) in [(&CPU, 0.52, 0.88), (&GPU, 0.12, 0.48)] {
            for (color, start, end) in pieces(side, run) {
                let corners = [(start, base + low), (end, base + high)];
                chart.draw_series(std::iter::once(Rectangle::new(corners, color.filled())))?;
            }
            let total = (side.total)(run);
            let label = format!("{} ms", number(total));
            let style = (FONT, 12).into_font().color(&INK);
            let label = EmptyElement::at((total, base + high - 0.08)) + Text::new(label, (5, 0), style);
            if side.shares(run).is_some() {
                chart.draw_series(std::iter::once(label))?;
            }
        }
        let y = row as i32 * ROW_HEIGHT as i32 + ROW_HEIGHT as i32 / 2 - 8;
        names.draw(&Text::new(own_settings(runs, run), (16, y), (FONT, 14).into_font().color(&INK)))?;
        for (title, offset) in [("CPU", -10), ("GPU", 18)] {
            names.draw(&Text::new(
                title,
                (NAMES_WIDTH as i32 - 34, y + offset),
                (FONT, 12).into_font().color(&GREY),
            ))?;
        }
    }
    Ok(())
}

/// Returns the colour, start and end of each stage in a row's bar.
fn pieces(side: &Side, run: &Run) -> Vec<(RGBColor, f64, f64)> {
    let total = (side.total)(run);
    let ends = side.shares(run).map_or(Vec::new(), Vec::from);
    let starts = std::iter::once(0.0).chain(ends.iter().copied());
    let pieces = side.stages.iter().zip(starts.zip(&ends));
    pieces.map(|((_, color), (start, end))| (*color, start * total, end * total)).collect()
}
