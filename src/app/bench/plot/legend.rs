//! The legend: the colours of the stages.

use plotters::prelude::*;

use super::style::{Area, DrawError, FONT, INK, Side};

/// The height of the legend in pixels.
pub(super) const HEIGHT: u32 = 26;

/// Draws swatches and names from `left` on, and explains the line in the panel if there is one.
pub(super) fn draw(area: &Area<'_>, left: i32, side: &Side, line: Option<&str>) -> Result<(), DrawError> {
    const SWATCH: i32 = 12;
    let style = (FONT, 13).into_font().color(&INK);
    let mut x = left;
    for (stage, color) in &side.stages {
        area.draw(&Rectangle::new([(x, 6), (x + SWATCH, 6 + SWATCH)], color.filled()))?;
        area.draw(&Text::new((*stage).to_owned(), (x + SWATCH + 5, 5), style.clone()))?;
        x += SWATCH + 5 + text_width(stage) + 16;
    }
    if let Some(text) = line {
        let middle = 6 + SWATCH / 2;
        area.draw(&PathElement::new([(x, middle), (x + 2 * SWATCH, middle)], INK.stroke_width(2)))?;
        area.draw(&Circle::new((x + SWATCH, middle), 3, INK.filled()))?;
        area.draw(&Text::new(text.to_owned(), (x + 2 * SWATCH + 5, 5), style))?;
    }
    Ok(())
}

/// Estimates the width of a text in pixels. The font is not known here.
fn text_width(text: &str) -> i32 {
    const CHARACTER: i32 = 7;
    text.chars().count() as i32 * CHARACTER
}
