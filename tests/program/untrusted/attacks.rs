//! Files of at most one MiB that take as much memory or time as possible. They use every known way to turn few bytes
//! into many or into long work, up to the limit that bounds it and beyond.

mod clips;
mod content;
mod geometry;
mod structure;
mod writing;

pub use clips::clip_attacks;
pub use content::images;

/// A file, and whether import should accept it.
pub struct Attack {
    pub name: String,
    pub file: Vec<u8>,
    /// A part of the error message for a file that import should refuse.
    pub refused: Option<&'static str>,
}

/// Returns the attacks of all kinds, except for those of images and of files of clips.
pub fn attacks() -> Vec<Attack> {
    [structure::attacks(), geometry::attacks(), content::animations()].into_iter().flatten().collect()
}
