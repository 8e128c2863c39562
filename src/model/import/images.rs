//! PNG, JPEG and WebP images, decoded to eight-bit RGBA.
//!
//! Only images that a drawn texture uses are decoded, each once. One that is missing or broken costs the model
//! its texture and not its life: a warning, and the material does without. A URI that leaves the model's folder is an
//! error all the same. What the file says about the format is not trusted; the first bytes tell.

use std::collections::HashMap;
use std::io::Cursor;
use std::sync::Arc;

use image::{ColorType, ImageDecoder, ImageFormat, ImageReader, Limits};

use super::decode_ahead::DecodedAhead;
use super::document::Document;
use super::error::{Fault, Result, Warnings};
use super::limits::{MAX_DECODED_IMAGE_BYTES, MAX_IMAGE_SIDE, MAX_IMAGE_SIDE_BYTES, encoded_image_bytes, texels};
use super::uri::UriFault;
use crate::model::{Image, ImageSource};

/// The images of a model while they are collected.
pub(super) struct Images {
    /// What the model gets.
    pub list: Vec<Image>,
    /// What each of them was decoded from.
    pub sources: Vec<ImageSource>,
    /// By glTF index; `None` for one that failed, so that it is tried once.
    index_of: HashMap<usize, Option<u32>>,
    texels_taken: u64,
    encoded_bytes_taken: u64,
    ahead: DecodedAhead,
}

struct Decoded {
    width: u32,
    height: u32,
    rgba: Vec<u8>,
    format: &'static str,
}

/// Why an image is left out; never fatal.
type Reason = String;

impl Images {
    /// None yet.
    pub fn new(ahead: DecodedAhead) -> Self {
        Self {
            list: Vec::new(),
            sources: Vec::new(),
            index_of: HashMap::new(),
            texels_taken: 0,
            encoded_bytes_taken: 0,
            ahead,
        }
    }

    /// Index in the model of glTF image `source`, decoding it at its first use; `None` if that fails.
    pub fn load(&mut self, document: &mut Document, source: usize, warnings: &mut Warnings) -> Result<Option<u32>> {
        if let Some(&known) = self.index_of.get(&source) {
            return Ok(known);
        }
        let encoded = match self.check_encoded_bytes(document.file_bytes()) {
            Ok(()) => encoded_bytes(document, source)?,
            Err(reason) => Err(reason),
        };
        let decoded = encoded.and_then(|bytes| {
            let decoded = self.decode(source, &bytes, document)?;
            Ok((decoded, bytes.len() as u64))
        });
        let index = match decoded {
            Ok((Decoded { width, height, rgba, format }, bytes)) => {
                let name = document.root.images.get(source).and_then(|image| image.name.clone());
                let name = name.unwrap_or_else(|| format!("image {source}"));
                self.list.push(Image { name, width, height, rgba });
                self.sources.push(ImageSource { index: source as u32, format, bytes });
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

    /// What was refused counts as well: from then on no image is even looked for.
    fn check_encoded_bytes(&self, file_bytes: u64) -> std::result::Result<(), Reason> {
        let limit = encoded_image_bytes(file_bytes);
        if self.encoded_bytes_taken <= limit {
            return Ok(());
        }
        Err(format!("all images of a model with files of this size may have {limit} bytes, those before have more"))
    }

    fn decode(&mut self, source: usize, bytes: &[u8], document: &Document) -> std::result::Result<Decoded, Reason> {
        let file_bytes = document.file_bytes();
        self.encoded_bytes_taken = self.encoded_bytes_taken.saturating_add(bytes.len() as u64);
        self.check_encoded_bytes(file_bytes)?;
        let (decoder, format_name) = open_decoder(bytes)?;
        let (width, height) = decoder.dimensions();
        // Paid before decoding: a small file may unpack to gigabytes.
        let (texels, limit) = (texel_count(&decoder), texels(file_bytes));
        if texels > limit.saturating_sub(self.texels_taken) || decoder.total_bytes() > MAX_DECODED_IMAGE_BYTES {
            let problem = "texels are too many: all images of a model with files of this size may have";
            return Err(format!("{width}x{height} {problem} {limit}"));
        }
        document
            .purse()
            .take_texels(texels)
            .map_err(|too_much| format!("{width}x{height} texels are too many: {too_much}"))?;
        self.texels_taken += texels;
        let rgba = match self.ahead.take(source) {
            Some(rgba) => rgba,
            None => decode_rgba(decoder)?,
        };
        Ok(Decoded { width, height, rgba, format: format_name })
    }
}

/// Reads an image's header, by the format that its first bytes tell; returns that format's name as well.
pub(super) fn open_decoder(bytes: &[u8]) -> std::result::Result<(impl ImageDecoder, &'static str), Reason> {
    let (format, format_name) = match image::guess_format(bytes) {
        Ok(format @ ImageFormat::Png) => (format, "PNG"),
        Ok(format @ ImageFormat::Jpeg) => (format, "JPEG"),
        Ok(format @ ImageFormat::WebP) => (format, "WebP"),
        _ => return Err(format!("{} bytes that are neither PNG, JPEG nor WebP", bytes.len())),
    };
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_IMAGE_SIDE);
    limits.max_image_height = Some(MAX_IMAGE_SIDE);
    limits.max_alloc = Some(MAX_IMAGE_SIDE_BYTES);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    let decoder = reader.into_decoder().map_err(|error| format!("cannot be decoded: {error}"))?;
    Ok((decoder, format_name))
}

/// Of an image whose header has been read.
pub(super) fn texel_count(decoder: &impl ImageDecoder) -> u64 {
    let (width, height) = decoder.dimensions();
    u64::from(width) * u64::from(height)
}

/// Decodes in memory that was asked for first: an image that does not fit is an image left out, not an abort.
pub(super) fn decode_rgba(decoder: impl ImageDecoder) -> std::result::Result<Vec<u8>, Reason> {
    let color = decoder.color_type();
    let (width, height) = decoder.dimensions();
    let mut samples = zeros(usize::try_from(decoder.total_bytes()).unwrap_or(usize::MAX))?;
    decoder.read_image(&mut samples).map_err(|error| format!("cannot be decoded: {error}"))?;
    if color == ColorType::Rgba8 {
        return Ok(samples);
    }
    let channels = usize::from(color.channel_count());
    let channel_bytes = usize::from(color.bytes_per_pixel()) / channels.max(1);
    let mut rgba = zeros(4 * width as usize * height as usize)?;
    // The decoder delivers 16-bit samples in the order of this machine.
    let sample_of = |bytes: &[u8]| match *bytes {
        [a, b] => rounded_to_8_bits(u16::from_ne_bytes([a, b])),
        [a] => a,
        _ => 0,
    };
    for (to, from) in rgba.chunks_exact_mut(4).zip(samples.chunks_exact(channels * channel_bytes)) {
        let sample = |channel: usize| sample_of(&from[channel * channel_bytes..][..channel_bytes]);
        let texel = match channels {
            1 => [sample(0), sample(0), sample(0), 255],
            2 => [sample(0), sample(0), sample(0), sample(1)],
            3 => [sample(0), sample(1), sample(2), 255],
            _ => [sample(0), sample(1), sample(2), sample(3)],
        };
        to.copy_from_slice(&texel);
    }
    Ok(rgba)
}

fn rounded_to_8_bits(sample: u16) -> u8 {
    ((u32::from(sample) + 128) / 257) as u8
}

fn zeros(count: usize) -> std::result::Result<Vec<u8>, Reason> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(count).map_err(|_| format!("there is no memory for {count} bytes"))?;
    bytes.resize(count, 0);
    Ok(bytes)
}

/// The file's bytes of an image. The outer error is fatal, the inner one is not.
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
