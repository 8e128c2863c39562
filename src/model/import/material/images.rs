//! From glTF image indices to the images of a model.
//!
//! Only images that a material uses are read, each once, and decoded, to know that they are whole. If an image is missing or broken, there is a warning, and
//! the texture is left out. However, a URI that leads out of the model's folder is an error.

use std::collections::HashMap;
use std::sync::Arc;

use image::ImageDecoder;

use super::decode_ahead::DecodedAhead;
use crate::model::image::{Reason, decode_rgba, open_decoder, texel_count};
use crate::model::import::decode::Document;
use crate::model::import::error::{Fault, Result, Warnings};
use crate::model::import::file::UriFault;
use crate::model::import::limits::{MAX_DECODED_IMAGE_BYTES, max_encoded_image_bytes, max_texels};
use crate::model::{Image, ImageSource};

/// Collects the images of a model.
#[derive(Default)]
pub(super) struct Images {
    /// The images.
    pub list: Vec<Image>,
    /// The origin of each image.
    pub sources: Vec<ImageSource>,
    /// The index in `list` for each glTF index that has been tried; `None` if it failed.
    index_of: HashMap<usize, Option<u32>>,
    texels_taken: u64,
    encoded_bytes_taken: u64,
    ahead: DecodedAhead,
}

impl Images {
    /// Starts without images. `ahead` holds images that are already decoded.
    pub fn new(ahead: DecodedAhead) -> Self {
        Self { ahead, ..Self::default() }
    }

    /// Returns the model's index of the glTF image `source`, which is decoded at its first use; `None` if that fails.
    pub fn load(&mut self, document: &mut Document, source: usize, warnings: &mut Warnings) -> Result<Option<u32>> {
        if let Some(&known) = self.index_of.get(&source) {
            return Ok(known);
        }
        let encoded = match self.check_encoded_bytes(document.file_bytes()) {
            Ok(()) => encoded_bytes(document, source)?,
            Err(reason) => Err(reason),
        };
        let index = match encoded.and_then(|bytes| self.decode(source, bytes, document)) {
            Ok((image, origin)) => {
                self.list.push(image);
                self.sources.push(origin);
                Some(self.list.len() as u32 - 1)
            }
            Err(reason) => {
                warnings.add(format_args!("images[{source}]"), format_args!("{reason}; the image is left out"));
                None
            }
        };
        self.index_of.insert(source, index);
        Ok(index)
    }

    /// Checks the encoded bytes so far. The bytes of refused images count too, so once this fails, no further image is
    /// read.
    fn check_encoded_bytes(&self, file_bytes: u64) -> std::result::Result<(), Reason> {
        let limit = max_encoded_image_bytes(file_bytes);
        if self.encoded_bytes_taken <= limit {
            return Ok(());
        }
        Err(format!("all images of a model with files of this size may have {limit} bytes, and earlier ones have more"))
    }

    fn decode(
        &mut self,
        source: usize,
        bytes: Vec<u8>,
        document: &Document,
    ) -> std::result::Result<(Image, ImageSource), Reason> {
        let file_bytes = document.file_bytes();
        self.encoded_bytes_taken = self.encoded_bytes_taken.saturating_add(bytes.len() as u64);
        self.check_encoded_bytes(file_bytes)?;
        let (decoder, format) = open_decoder(&bytes)?;
        let (width, height) = decoder.dimensions();
        // The limits are checked before decoding, because a small file may decode to gigabytes.
        let (texels, limit) = (texel_count(&decoder), max_texels(file_bytes));
        if texels > limit.saturating_sub(self.texels_taken) || decoder.total_bytes() > MAX_DECODED_IMAGE_BYTES {
            let problem = "texels are too many; all images of a model with files of this size may have";
            return Err(format!("{width}x{height} {problem} {limit}"));
        }
        document
            .total_budget()
            .take_image(texels, bytes.len() as u64)
            .map_err(|too_much| format!("{width}x{height} texels are too many: {too_much}"))?;
        self.texels_taken += texels;
        let rgba = self.ahead.remove(&source).map_or_else(|| decode_rgba(decoder), Ok)?;
        let name = document.root.images.get(source).and_then(|image| image.name.clone());
        let name = name.unwrap_or_else(|| format!("image {source}"));
        let origin = ImageSource { index: source as u32, format, bytes: bytes.len() as u64 };
        Ok((Image::encoded(name, [width, height], bytes, rgba), origin))
    }
}

/// Returns the encoded bytes of an image. The outer error is fatal, the inner one is not.
fn encoded_bytes(document: &mut Document, source: usize) -> Result<std::result::Result<Vec<u8>, Reason>> {
    let at = format!("images[{source}]");
    let Some(entry) = document.root.images.get(source) else {
        return Err(Fault::dangling(at, "images", source, document.root.images.len()));
    };
    if let Some(uri) = &entry.uri {
        return match document.files.fetch(uri) {
            Ok(bytes) => Ok(Ok(Arc::unwrap_or_clone(bytes))),
            Err(UriFault::Unreadable(why)) => Ok(Err(why)),
            Err(UriFault::Refused(why)) => Err(Fault::content(format_args!("{at}.uri"), why)),
        };
    }
    match entry.buffer_view {
        Some(view) => document.view(view.value(), &format!("{at}.bufferView")).map(|(bytes, _)| Ok(bytes.to_vec())),
        None => Ok(Err("has neither a uri nor a bufferView".to_owned())),
    }
}
