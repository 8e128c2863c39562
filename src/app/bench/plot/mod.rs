//! The file of `--plot`: the time of a frame, divided into its stages.
//!
//! For several numbers of instances both axes are logarithmic. Bands of summed times would mislead there: the lowest
//! would always be the widest. So only the upper edge is read on the axis, and below it each stage has its
//! share of the *height*: half the height is half the time, at every number of instances. The picture says so. For one
//! number of instances there are bars on a linear axis, and their lengths are times.
//!
//! The CPU's stages follow each other and make up the frame. The GPU's passes run meanwhile, and the CPU waits for them.
//! So there are two panels next to each other on one scale, and both show the frame's median as a line.

mod bands;
mod bars;
mod legend;
mod page;
mod style;

use anyhow::{Result, anyhow};

use super::report::Report;

/// Draws the picture.
///
/// # Errors
/// There are no rows, or plotters fails.
pub(super) fn to_svg(report: &Report) -> Result<String> {
    let runs = &report.runs[..];
    let first = runs.first().ok_or_else(|| anyhow!("nothing was measured"))?;
    let several_counts = runs.iter().any(|run| run.instances != first.instances);
    let mut svg = String::new();
    let drawn = if several_counts { bands::draw(&mut svg, report) } else { bars::draw(&mut svg, report) };
    // The error borrows the picture, so only its text is returned.
    drawn.map_err(|error| anyhow!("{error}"))?;
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{report, run};
    use super::*;

    #[test]
    fn several_counts_are_bands_a_panel_for_each_combination() {
        let svg = to_svg(&report(vec![run(1, "compute"), run(1000, "compute"), run(1, "vertex"), run(1000, "vertex")]))
            .unwrap();
        // There are five stages on each side of two combinations.
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
        // There are no timestamps, the times are zero, and the names are markup.
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
}
