//! The lesson of `docs/skinning.md` and its pages: the bundled strip, posed by the library, right and wrong.
//!
//! * [`strip`] poses and skins the strip, with the mistakes of the lesson.
//! * [`numbers`] prints each step of the calculation.
//! * [`drawings`] draws the strip, [`order`] draws the three ways to walk a skeleton, and [`svg`] writes the files.
//! * [`walkers`] makes the mistakes in the walker's file. [`tube`] compares the two blends of joints.

mod drawings;
mod numbers;
mod order;
mod strip;
mod svg;
mod tube;
mod walkers;

use std::error::Error;

pub use walkers::wrong_walkers;

/// One SVG file of `docs/pictures`.
pub struct Drawing {
    /// The file name, without a folder.
    pub file_name: &'static str,
    /// The content of the file.
    pub svg: String,
}

/// The pages of `docs` that have blocks of numbers.
pub const PAGES: [&str; 7] =
    ["blends.md", "interpolation.md", "inverse_bind.md", "mistakes.md", "morphs.md", "normals.md", "parents_first.md"];

/// A block of numbers in one of the [`PAGES`].
pub struct Numbers {
    /// The name in its marker, `<!-- numbers: NAME -->`.
    pub name: &'static str,
    /// The lines of the block, each with its line end.
    pub text: String,
}

/// All figures of the pages.
pub struct Lesson {
    pub drawings: Vec<Drawing>,
    pub numbers: Vec<Numbers>,
}

/// Computes all figures.
///
/// # Errors
/// If the bundled strip cannot be imported.
pub fn lesson() -> Result<Lesson, Box<dyn Error>> {
    let strip = strip::Strip::load()?;
    let drawings = vec![
        Drawing { file_name: "interpolation.svg", svg: drawings::interpolation() },
        Drawing { file_name: "spaces.svg", svg: drawings::spaces(&strip) },
        Drawing { file_name: "weights.svg", svg: drawings::weights(&strip) },
        Drawing { file_name: "mistakes.svg", svg: drawings::mistakes(&strip) },
        Drawing { file_name: "normals.svg", svg: drawings::normals() },
        Drawing { file_name: "rest.svg", svg: drawings::rest(&strip) },
        Drawing { file_name: "order.svg", svg: order::order() },
    ];
    let mut numbers = numbers::all(&strip);
    numbers.push(Numbers { name: "dual quaternions", text: tube::numbers(&tube::load()?) });
    Ok(Lesson { drawings, numbers })
}

/// Returns `pages` with the current numbers: each marker is followed by a fenced block, which this replaces.
///
/// # Errors
/// If a marker is on no page or on several, or the fence after it is missing.
pub fn with_numbers<const N: usize>(
    mut pages: [String; N],
    numbers: &[Numbers],
) -> Result<[String; N], Box<dyn Error>> {
    for Numbers { name, text } in numbers {
        let start = format!("<!-- numbers: {name} -->\n```text\n");
        let missing = || format!("not one block for the numbers \"{name}\" is on the pages");
        let mut with_marker = pages.iter_mut().filter(|page| page.contains(&start));
        let (Some(page), None) = (with_marker.next(), with_marker.next()) else { return Err(missing().into()) };
        let from = page.find(&start).ok_or_else(missing)? + start.len();
        let length = page[from..].find("```\n").ok_or_else(missing)?;
        page.replace_range(from..from + length, text);
    }
    Ok(pages)
}
