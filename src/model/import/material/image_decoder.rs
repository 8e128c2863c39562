//! From the bytes of a PNG, JPEG or WebP image to eight-bit RGBA.
//!
//! The first bytes determine the format, not the file's statement about it.

use std::io::Cursor;

use image::{ColorType, ImageDecoder, ImageFormat, ImageReader, Limits};

use crate::model::import::limits::{MAX_DECODER_BYTES, MAX_IMAGE_SIDE};

/// The reason why an image is left out, for a warning.
pub(super) type Reason = String;

/// Reads the header of an image. Returns its decoder and the name of its format.
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
    limits.max_alloc = Some(MAX_DECODER_BYTES);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    let decoder = reader.into_decoder().map_err(|error| format!("cannot be decoded: {error}"))?;
    Ok((decoder, format_name))
}

/// Returns the number of texels that the header gives.
pub(super) fn texel_count(decoder: &impl ImageDecoder) -> u64 {
    let (width, height) = decoder.dimensions();
    u64::from(width) * u64::from(height)
}

/// Decodes an image. Memory is allocated fallibly, so that an image that is too large is left out.
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
    // The decoder returns 16-bit samples in native byte order.
    let sample_of = |bytes: &[u8]| match *bytes {
        [a, b] => rounded_to_8_bits(u16::from_ne_bytes([a, b])),
        [a] => a,
        _ => 0,
    };
    let (texels, _) = rgba.as_chunks_mut::<4>();
    if color == ColorType::Rgb8 {
        // Most images: without a branch per channel.
        for (texel, &[r, g, b]) in texels.iter_mut().zip(samples.as_chunks::<3>().0) {
            *texel = [r, g, b, 255];
        }
        return Ok(rgba);
    }
    for (to, from) in texels.iter_mut().zip(samples.chunks_exact(channels * channel_bytes)) {
        let sample = |channel: usize| sample_of(&from[channel * channel_bytes..][..channel_bytes]);
        *to = match channels {
            1 => [sample(0), sample(0), sample(0), 255],
            2 => [sample(0), sample(0), sample(0), sample(1)],
            3 => [sample(0), sample(1), sample(2), 255],
            _ => [sample(0), sample(1), sample(2), sample(3)],
        };
    }
    Ok(rgba)
}

fn rounded_to_8_bits(sample: u16) -> u8 {
    ((u32::from(sample) + 128) / 257) as u8
}

fn zeros(count: usize) -> std::result::Result<Vec<u8>, Reason> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(count).map_err(|_| format!("cannot allocate {count} bytes"))?;
    bytes.resize(count, 0);
    Ok(bytes)
}
