//! The page around the panels: background, title, shared settings and a remark.

use plotters::prelude::*;

use super::style::{Area, DrawError, FONT, GREY, INK, LINE_HEIGHT, TITLE_HEIGHT, WIDTH};
use crate::app::bench::report::{Report, Run};
use crate::app::bench::settings::{in_words, varying};
use crate::app::text::name;
use crate::model::text::shortened;

/// Describes the settings that tell a row from the others.
pub(super) fn own_settings(runs: &[Run], run: &Run) -> String {
    in_words(run, varying(runs))
}

/// Starts a white page with the title, the settings that all rows share, and a remark. Returns the rest of its area.
pub(super) fn page<'a>(svg: &'a mut String, height: u32, report: &Report, remark: &str) -> Result<Area<'a>, DrawError> {
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
            (title, in_words(first, varying(runs).map(|varies| !varies)))
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
