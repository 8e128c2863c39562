//! The format of the output, by the extension of its name, and the limits of each format.

use std::path::Path;

use anyhow::{Result, bail};

use super::ffmpeg::Container;
use super::still::Still;
use crate::app::output::is_special;
use crate::cli::Size;

/// The format of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// One file for each frame.
    Still(Still),
    /// One file for all frames: lossless, transparent if wanted, shown by every browser.
    Apng,
    /// One file for all frames, made by `ffmpeg`.
    Film(Container),
}

impl Format {
    /// Returns the format of a name. A device or a pipe without an extension gets PNG (`--out /dev/stdout`).
    ///
    /// # Errors
    /// The extension is missing or unknown.
    pub fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
        Ok(match extension.as_deref() {
            Some("png") => Self::Still(Still::Png),
            Some("jpg" | "jpeg") => Self::Still(Still::Jpeg),
            Some("apng") => Self::Apng,
            Some("mp4") => Self::Film(Container::Mp4),
            Some("webm") => Self::Film(Container::Webm),
            None if is_special(path) => Self::Still(Still::Png),
            found => {
                let found = match found {
                    Some(extension) => format!("the extension .{extension} is unknown"),
                    None => "the name has no extension".to_owned(),
                };
                bail!(
                    "--out {}: {found}; use .png or .jpg for images, or .apng, .mp4 or .webm for a film",
                    path.display()
                )
            }
        })
    }

    /// Checks that the format can hold such images.
    ///
    /// # Errors
    /// The format has no transparency, or not this size.
    pub fn check(self, path: &Path, size: Size, transparent: bool) -> Result<()> {
        let path = path.display();
        if transparent && matches!(self, Self::Still(Still::Jpeg) | Self::Film(Container::Mp4)) {
            bail!("--out {path}: this format has no transparency for --background none; use .png, .apng or .webm");
        }
        if self == Self::Film(Container::Mp4) && !(size.width.is_multiple_of(2) && size.height.is_multiple_of(2)) {
            let Size { width, height } = size;
            let (even_width, even_height) = (width.next_multiple_of(2), height.next_multiple_of(2));
            bail!(
                "--out {path}: .mp4 needs an even width and height, not {width}x{height}; use --size \
                 {even_width}x{even_height}"
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides() {
        for (name, format) in [
            ("a.png", Format::Still(Still::Png)),
            ("a.b/c.PNG", Format::Still(Still::Png)),
            ("a_%04d.jpeg", Format::Still(Still::Jpeg)),
            ("a.JPG", Format::Still(Still::Jpeg)),
            ("a.apng", Format::Apng),
            ("a.png.mp4", Format::Film(Container::Mp4)),
            ("a.webm", Format::Film(Container::Webm)),
        ] {
            assert_eq!(Format::of(Path::new(name)).unwrap(), format, "{name}");
        }
        for (name, found) in [("a.gif", "extension .gif is unknown"), ("a", "no extension"), (".png", "no extension")] {
            let error = Format::of(Path::new(name)).unwrap_err().to_string();
            assert!(error.contains(found) && error.contains(".png or .jpg") && error.contains(".webm"), "{error}");
        }
    }

    #[test]
    fn limits_of_a_format_are_errors() {
        let even = Size { width: 64, height: 48 };
        let odd = Size { width: 63, height: 48 };
        let check = |name: &str, size, transparent| {
            let path = Path::new(name);
            Format::of(path).unwrap().check(path, size, transparent).map_err(|error| error.to_string())
        };
        for name in ["a.png", "a.apng", "a.webm"] {
            check(name, odd, true).unwrap();
        }
        for name in ["a.jpg", "a.mp4"] {
            check(name, even, false).unwrap();
            assert!(check(name, even, true).unwrap_err().contains("--background none"), "{name}");
        }
        check("a.jpg", odd, false).unwrap();
        assert!(check("a.mp4", odd, false).unwrap_err().ends_with("use --size 64x48"));
    }
}
