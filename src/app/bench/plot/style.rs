//! The look of the picture: sizes, colours, fonts, and the two sides with their stages.

use plotters::prelude::*;

use crate::app::bench::report::Run;

/// The width of the picture in pixels.
pub(super) const WIDTH: u32 = 1040;
/// The height of the title, and of each line below it.
pub(super) const TITLE_HEIGHT: u32 = 38;
pub(super) const LINE_HEIGHT: u32 = 20;
pub(super) const FONT: &str = "Helvetica, Arial, sans-serif";
pub(super) const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
pub(super) const FAINT: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);
pub(super) const GREY: RGBColor = RGBColor(0x66, 0x66, 0x66);

/// A rectangle that plotters draws to.
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// The stages of the CPU or the GPU. Their colours, after Okabe and Ito, suit colour-blind readers.
pub(super) struct Side {
    pub(super) title: &'static str,
    pub(super) stages: [(&'static str, RGBColor); 5],
    /// The medians of the stages, or `None` if they were not measured.
    times: fn(&Run) -> Option<[f64; 5]>,
    /// The sum of the stages.
    pub(super) total: fn(&Run) -> f64,
    /// Whether the line of the frame time has its numbers in this panel.
    pub(super) labels_frame: bool,
}

pub(super) const CPU: Side = Side {
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

pub(super) const GPU: Side = Side {
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
    /// Returns the end of each stage within a row's time, from 0 to 1.
    pub(super) fn shares(&self, run: &Run) -> Option<[f64; 5]> {
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

/// The error of plotters.
pub(super) type DrawError = DrawingAreaErrorKind<std::io::Error>;

/// Writes milliseconds or a count without superfluous digits.
pub(super) fn tick(value: f64) -> String {
    if value >= 1000.0 {
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
    use super::*;

    #[test]
    fn ticks_have_the_digits_that_they_need() {
        let found = [0.001, 0.02, 1.0, 2.5, 10.0, 999.0, 1000.0, 1_000_000.0].map(tick);
        assert_eq!(found, ["0.001", "0.02", "1", "2.5", "10", "999", "1,000", "1,000,000"]);
    }
}
