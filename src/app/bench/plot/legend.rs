//! Which colour is which stage.

use plotters::prelude::*;

use super::{Area, DrawError, FONT, INK, Side};

/// Height that it takes, in pixels.
pub(super) const HEIGHT: u32 = 26;

/// One line of swatches and names, from `left`; with `line`, also what the line is.
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

/// In pixels, roughly: no font is at hand to ask.
fn text_width(text: &str) -> i32 {
    const CHARACTER: i32 = 7;
    text.chars().count() as i32 * CHARACTER
}
