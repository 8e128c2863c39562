//! PNG, JPEG and WebP images, decoded to eight-bit RGBA.
//!
//! Only images that a drawn texture uses are decoded, each once. One that is missing or broken costs the model
//! its texture and not its life: a warning, and the material does without. A URI that leaves the model's folder is an
//! error all the same. What the file says about the format is not trusted; the first bytes tell.

use std::collections::HashMap;
use std::io::Cursor;

use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

use super::document::Document;
use super::error::{Fault, Result, Warnings};
use super::limits::{MAX_IMAGE_DECODER_BYTES, MAX_IMAGE_SIDE, MAX_TEXELS};
use super::uri::UriFault;
use crate::model::Image;

/// The images of a model while they are collected.
pub(super) struct Images {
    /// What the model gets.
    pub list: Vec<Image>,
    /// By glTF index; `None` for one that failed, so that it is tried once.
    index_of: HashMap<usize, Option<u32>>,
    texels_left: u64,
}

/// Why an image is left out; never fatal.
type Reason = String;

impl Images {
    pub fn new() -> Self {
        Self { list: Vec::new(), index_of: HashMap::new(), texels_left: MAX_TEXELS }
    }

    /// Index in the model of glTF image `source`, decoding it at its first use; `None` if that fails.
    pub fn load(&mut self, document: &mut Document, source: usize, warnings: &mut Warnings) -> Result<Option<u32>> {
        if let Some(&known) = self.index_of.get(&source) {
            return Ok(known);
        }
        let decoded = match encoded_bytes(document, source)? {
            Ok(bytes) => self.decode(&bytes),
            Err(reason) => Err(reason),
        };
        let index = match decoded {
            Ok((width, height, rgba)) => {
                let name = document.root.images.get(source).and_then(|image| image.name.clone());
                let name = name.unwrap_or_else(|| format!("image {source}"));
                self.list.push(Image { name, width, height, rgba });
                Some(self.list.len() as u32 - 1)
            }
            Err(reason) => {
                warnings.add(format_args!("images[{source}]"), format_args!("{reason}; it is not shown"));
                None
            }
        };
        self.index_of.insert(source, index);
        Ok(index)
    }

    fn decode(&mut self, bytes: &[u8]) -> std::result::Result<(u32, u32, Vec<u8>), Reason> {
        let format = match image::guess_format(bytes) {
            Ok(format @ (ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::WebP)) => format,
            _ => return Err(format!("{} bytes that are neither PNG, JPEG nor WebP", bytes.len())),
        };
        let mut limits = Limits::default();
        limits.max_image_width = Some(MAX_IMAGE_SIDE);
        limits.max_image_height = Some(MAX_IMAGE_SIDE);
        limits.max_alloc = Some(MAX_IMAGE_DECODER_BYTES);
        let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
        reader.limits(limits);
        let broken = |error: image::ImageError| format!("cannot be decoded: {error}");
        let decoder = reader.into_decoder().map_err(broken)?;
        let (width, height) = decoder.dimensions();
        // Paid before decoding: a small file may unpack to gigabytes.
        let texels = u64::from(width) * u64::from(height);
        self.texels_left = self.texels_left.checked_sub(texels).ok_or_else(|| {
            format!("{width}x{height} texels are too many: all images of a model may have {MAX_TEXELS}")
        })?;
        let image = DynamicImage::from_decoder(decoder).map_err(broken)?.into_rgba8();
        Ok((image.width(), image.height(), image.into_raw()))
    }
}

/// The file's bytes of an image. The outer error is fatal, the inner one is not.
fn encoded_bytes(document: &mut Document, source: usize) -> Result<std::result::Result<Vec<u8>, Reason>> {
    let at = format!("images[{source}]");
    let Some(entry) = document.root.images.get(source) else {
        return Err(Fault::dangling(at, "images", source, document.root.images.len()));
    };
    if let Some(uri) = &entry.uri {
        return match document.files.fetch(uri) {
            Ok(bytes) => Ok(Ok(bytes.to_vec())),
            Err(UriFault::Unreadable(why)) => Ok(Err(why)),
            Err(UriFault::Refused(why)) => Err(Fault::content(format_args!("{at}.uri"), why)),
        };
    }
    match entry.buffer_view {
        Some(view) => document.view(view.value(), &format!("{at}.bufferView")).map(|(bytes, _)| Ok(bytes.to_vec())),
        None => Ok(Err("has neither a uri nor a bufferView".to_owned())),
    }
}
