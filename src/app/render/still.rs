//! Image files: one frame each.

use std::path::Path;

use anyhow::{Context, Result};
use image::codecs::{jpeg::JpegEncoder, png::PngEncoder};
use image::{ExtendedColorType, ImageEncoder};

use crate::app::output::{cannot_write, write_file};
use crate::cli::Size;

/// The quality of JPEG files, of 100. No artefacts are visible at normal size.
const JPEG_QUALITY: u8 = 92;

/// A file format for one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Still {
    /// Lossless, transparent if wanted.
    Png,
    /// Small and opaque.
    Jpeg,
}

impl Still {
    /// Returns the bytes of a file. `rgba` has eight bits per channel.
    ///
    /// # Errors
    /// The format cannot hold an image of this size.
    pub fn encode(self, rgba: &[u8], size: Size) -> Result<Vec<u8>> {
        let Size { width, height } = size;
        let mut bytes = Vec::new();
        match self {
            Self::Png => PngEncoder::new(&mut bytes).write_image(rgba, width, height, ExtendedColorType::Rgba8),
            Self::Jpeg => {
                let rgb: Vec<u8> = rgba.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
                let encoder = JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY);
                encoder.write_image(&rgb, width, height, ExtendedColorType::Rgb8)
            }
        }?;
        Ok(bytes)
    }

    /// Writes an image. `rgba` has eight bits per channel.
    ///
    /// # Errors
    /// The system refuses to write.
    pub fn write(self, path: &Path, rgba: &[u8], size: Size) -> Result<()> {
        let bytes = self.encode(rgba, size).with_context(|| cannot_write(path))?;
        write_file(path, &bytes)
    }
}
