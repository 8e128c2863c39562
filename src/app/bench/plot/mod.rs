//! The file of `--plot`: what a frame takes, and which stages it goes to.
//!
//! Over several numbers of characters both axes are logarithmic, and stacking on a logarithmic axis needs a word. Bands
//! of summed times would be true to the axis and false to the eye: the lowest would be the widest whatever it takes.
//! So the upper edge alone is read on the axis (it is the time), and below it each stage has its share of the *height*:
//! half the height is half the time, at every number of characters. The picture says so. With one number of characters
//! there are bars instead, on a linear axis, where lengths are times.
//!
//! The CPU's stages follow each other and make up the frame; the GPU's passes run meanwhile, and the CPU's waiting is
//! for them. So there are two panels side by side on one scale, and the frame's median is a line in both.

mod bands;
mod bars;
mod legend;

use anyhow::{Result, anyhow};
use plotters::prelude::*;

use super::report::{Report, Run};
use crate::app::inspect::name;
use crate::model::text::shortened;

/// Width of the picture, in pixels.
const WIDTH: u32 = 1040;
/// Of the title, and of each line below it.
const TITLE_HEIGHT: u32 = 38;
const LINE_HEIGHT: u32 = 20;
const FONT: &str = "Helvetica, Arial, sans-serif";
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
const FAINT: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);
const GREY: RGBColor = RGBColor(0x66, 0x66, 0x66);

/// Where plotters draws to.
type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// The stages of one side, with the colours that tell them apart (after Okabe and Ito: to everybody).
struct Side {
    title: &'static str,
    stages: [(&'static str, RGBColor); 5],
    /// Medians in the order of the stages; `None` where they were not measured.
    times: fn(&Run) -> Option<[f64; 5]>,
    /// What the stages add up to.
    total: fn(&Run) -> f64,
    /// The frame's line has its numbers here.
    labels_frame: bool,
}

const CPU: Side = Side {
    title: "CPU: the frame",
    stages: [
        ("cull", RGBColor(0x56, 0xb4, 0xe9)),
        ("wait for the GPU", RGBColor(0xd4, 0xd4, 0xd4)),
        ("animate", RGBColor(0x00, 0x72, 0xb2)),
        ("record", RGBColor(0xe6, 0x9f, 0x00)),
        ("other", RGBColor(0x80, 0x80, 0x80)),
    ],
    times: |run| Some(run.cpu_ms.stages().map(|(_, times)| times.median)),
    total: |run| run.frame_ms.median,
    labels_frame: true,
};

const GPU: Side = Side {
    title: "GPU: its passes, meanwhile",
    stages: [
        ("upload", RGBColor(0x8c, 0x6b, 0xb1)),
        ("skin", RGBColor(0x00, 0x9e, 0x73)),
        ("shadow", RGBColor(0x6e, 0x7f, 0x94)),
        ("draw", RGBColor(0xd5, 0x5e, 0x00)),
        ("post", RGBColor(0xf0, 0xe4, 0x42)),
    ],
    times: |run| run.gpu_ms.map(|gpu| gpu.passes().map(|(_, times)| times.median)),
    total: |run| run.gpu_ms.map_or(0.0, |gpu| gpu.passes().iter().map(|(_, times)| times.median).sum()),
    labels_frame: false,
};

impl Side {
    /// How a row's time divides among the stages: where each ends, from 0 to 1.
    fn shares(&self, run: &Run) -> Option<[f64; 5]> {
        let times = (self.times)(run)?;
        let sum: f64 = times.iter().sum();
        let mut end = 0.0;
        (sum > 0.0).then(|| {
            times.map(|time| {
                end += time / sum;
                f64::min(end, 1.0)
            })
        })
    }
}

/// The whole picture.
///
/// # Errors
/// Where it cannot be drawn.
pub(super) fn to_svg(report: &Report) -> Result<String> {
    let runs = &report.runs[..];
    let first = runs.first().ok_or_else(|| anyhow!("nothing was measured"))?;
    let several_counts = runs.iter().any(|run| run.instances != first.instances);
    let mut svg = String::new();
    let drawn = if several_counts { bands::draw(&mut svg, report) } else { bars::draw(&mut svg, report) };
    // The error is of a lifetime that the picture does not have.
    drawn.map_err(|error| anyhow!("{error}"))?;
    Ok(svg)
}

/// A setting in the title, and in the panels where it varies.
fn settings(run: &Run) -> [String; 6] {
    [
        format!("{}x{}", run.width, run.height),
        format!("msaa {}", run.msaa),
        format!("shadows {}", if run.shadows { "on" } else { "off" }),
        format!("{} skinning", run.skinning),
        format!("{} upload", run.upload),
        format!("{} thread{}", run.threads, if run.threads == 1 { "" } else { "s" }),
    ]
}

/// Those that all rows share, or those that tell them apart.
fn settings_that(vary: bool, runs: &[Run], of: &Run) -> String {
    let own = settings(of);
    let varies = |index: usize| runs.iter().any(|run| settings(run).get(index) != own.get(index));
    let parts = settings(of).into_iter().enumerate().filter(|&(index, _)| varies(index) == vary);
    parts.map(|(_, part)| part).collect::<Vec<_>>().join(", ")
}

/// White, with the title, what all rows share, and a remark; returns what is left.
fn page<'a>(svg: &'a mut String, height: u32, report: &Report, remark: &str) -> Result<Area<'a>, DrawError> {
    const MOST_CHARS: usize = 100;
    const MOST_SMALL_CHARS: usize = 160;
    let root = SVGBackend::with_string(svg, (WIDTH, height)).into_drawing_area();
    root.fill(&WHITE)?;
    let runs = &report.runs[..];
    let (title, shared) = match runs.first() {
        Some(first) => {
            let models: Vec<String> = first.models.iter().take(4).map(|model| name(model)).collect();
            let more = if first.models.len() > 4 { " and more" } else { "" };
            let title = format!("{}{more} on {}", models.join(" + "), name(&report.device.name));
            (title, settings_that(false, runs, first))
        }
        None => (String::new(), String::new()),
    };
    root.draw(&Text::new(shortened(&title, MOST_CHARS), (16, 12), (FONT, 21).into_font().color(&INK)))?;
    let (line, small) = (TITLE_HEIGHT as i32, (FONT, 13).into_font().color(&GREY));
    let scene = runs.last().and_then(|run| run.scene.as_ref());
    let played = scene.map_or_else(String::new, |scene| format!("{}; ", scene.in_words()));
    let settings = shortened(&format!("{played}{shared}; {}", name(&report.cpu.name)), MOST_SMALL_CHARS);
    root.draw(&Text::new(settings, (16, line), small.clone()))?;
    root.draw(&Text::new(remark.to_owned(), (16, line + LINE_HEIGHT as i32), small))?;
    Ok(root.margin(TITLE_HEIGHT + 2 * LINE_HEIGHT, 8, 0, 12))
}

/// What plotters says where it cannot draw.
type DrawError = DrawingAreaErrorKind<std::io::Error>;

/// Milliseconds, or a count, with no more digits than it needs.
fn tick(value: f64) -> String {
    if value >= 1000.0 {
        // 10,000 rather than 10000.
        let whole = format!("{value:.0}");
        let mut text = String::new();
        for (index, digit) in whole.chars().enumerate() {
            if index > 0 && (whole.len() - index) % 3 == 0 {
                text.push(',');
            }
            text.push(digit);
        }
        return text;
    }
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{report, run};
    use super::*;

    #[test]
    fn several_counts_are_bands_a_panel_for_each_combination() {
        let svg = to_svg(&report(vec![run(1, "compute"), run(1000, "compute"), run(1, "vertex"), run(1000, "vertex")]))
            .unwrap();
        // Five stages on each side of two combinations.
        assert_eq!(svg.matches("<polygon").count(), 2 * 2 * 5);
        for text in
            ["walker.glb on llvmpipe", "compute skinning", "vertex skinning", "animate", "milliseconds", "1,000"]
        {
            assert!(svg.contains(text), "{text} is missing:\n{svg}");
        }
        if let Some(folder) = std::env::var_os("THRONG_PLOT_FOLDER") {
            std::fs::write(std::path::Path::new(&folder).join("bands.svg"), svg).unwrap();
        }
    }

    #[test]
    fn one_count_is_bars() {
        let svg = to_svg(&report(vec![run(1000, "compute"), run(1000, "vertex")])).unwrap();
        for text in ["compute skinning", "vertex skinning", "animate", "milliseconds", "1,000 instances"] {
            assert!(svg.contains(text), "{text} is missing:\n{svg}");
        }
    }

    #[test]
    fn odd_results_can_be_drawn() {
        // No timestamps, times of nothing, names that are markup.
        let mut odd = [run(1, "compute"), run(10, "compute")];
        for run in &mut odd {
            run.gpu_ms = None;
            run.frame_ms = Default::default();
            run.cpu_ms = Default::default();
            run.models = vec!["<script>\u{1b}[31m & co.glb".to_owned(); 9];
        }
        let svg = to_svg(&report(odd.to_vec())).unwrap();
        assert!(!svg.contains("<script>") && !svg.contains('\u{1b}'));
        to_svg(&report(vec![odd[0].clone()])).unwrap();
        assert!(to_svg(&report(Vec::new())).is_err());
    }

    #[test]
    fn ticks_have_the_digits_that_they_need() {
        let found = [0.001, 0.02, 1.0, 2.5, 10.0, 999.0, 1000.0, 1_000_000.0].map(tick);
        assert_eq!(found, ["0.001", "0.02", "1", "2.5", "10", "999", "1,000", "1,000,000"]);
    }
}
