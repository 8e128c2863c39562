//! Images: the encoded bytes of a PNG, JPEG or WebP file, and eight-bit RGBA made of them.
//!
//! A model keeps its images encoded. Decoded, they are often its largest part, and only an upload needs them. But a lost
//! device, or other settings, need another upload of the same model, and its file may be gone by then. So [`Image::texels`]
//! decodes again each time. The first upload need not, because import has decoded each image already, to know that it is whole:
//! the first call of `texels` moves these texels out of the image.
//!
//! The first bytes determine the format, not the file's statement about it.

use std::borrow::Cow;
use std::io::Cursor;
use std::sync::{Arc, Mutex, PoisonError};

use glam::Vec3;
use image::{ColorType, ImageDecoder, ImageFormat, ImageReader, Limits};

/// The largest width and height of an image, in texels.
const MAX_IMAGE_SIDE: u32 = 16_384;
/// The most bytes that a decoder may take in addition to the image, for example for a compressed colour profile.
const MAX_DECODER_BYTES: u64 = 32 << 20;

/// The reason why an image cannot be shown, for a message.
pub(crate) type Reason = String;

/// An image. The slots that use it determine its colour space.
#[derive(Debug, Clone)]
pub struct Image {
    pub name: String,
    /// The width in texels, at least 1.
    pub width: u32,
    /// The height in texels, at least 1.
    pub height: u32,
    /// How colourful it is: the mean of [`hued`].
    pub hued: f32,
    content: Content,
}

#[derive(Debug, Clone)]
enum Content {
    /// RGBA.
    Texels(Vec<u8>),
    Encoded {
        bytes: Vec<u8>,
        /// The texels that import has decoded, until the first call of [`Image::texels`]. All clones share them.
        decoded: Arc<Mutex<Option<Vec<u8>>>>,
    },
}

impl Image {
    /// Returns an image of these texels: eight-bit RGBA, rows from the top, without padding.
    ///
    /// # Panics
    /// If there are not `4 * width * height` bytes.
    pub fn new(name: &str, width: u32, height: u32, rgba: Vec<u8>) -> Self {
        assert_eq!(rgba.len(), decoded_bytes(width, height), "bytes of {width}x{height} texels");
        let hued = mean_hued(rgba.as_chunks().0);
        Self { name: name.to_owned(), width, height, hued, content: Content::Texels(rgba) }
    }

    /// Returns an image of encoded bytes and of the texels that they decode to.
    pub(crate) fn encoded(name: String, [width, height]: [u32; 2], bytes: Vec<u8>, texels: Vec<u8>) -> Self {
        let hued = mean_hued(texels.as_chunks().0);
        let decoded = Arc::new(Mutex::new(Some(texels)));
        Self { name, width, height, hued, content: Content::Encoded { bytes, decoded } }
    }

    /// Returns the texels: eight-bit RGBA, rows from the top, without padding. The first call returns those that import has
    /// decoded, and each later call decodes them again.
    ///
    /// # Errors
    /// No memory, as a reason for a message.
    pub fn texels(&self) -> Result<Cow<'_, [u8]>, String> {
        let (bytes, decoded) = match &self.content {
            Content::Texels(rgba) => return Ok(Cow::Borrowed(rgba)),
            Content::Encoded { bytes, decoded } => (bytes, decoded),
        };
        let ready = decoded.lock().unwrap_or_else(PoisonError::into_inner).take();
        ready.map_or_else(|| decode_rgba(open_decoder(bytes)?.0), Ok).map(Cow::Owned)
    }

    /// Returns the bytes of the file's PNG, JPEG or WebP image; none for an image of texels.
    pub fn encoded_bytes(&self) -> &[u8] {
        match &self.content {
            Content::Texels(_) => &[],
            Content::Encoded { bytes, .. } => bytes,
        }
    }

    /// Returns the number of bytes that the image keeps in memory once its texels have been moved out.
    pub fn kept_bytes(&self) -> usize {
        match &self.content {
            Content::Texels(bytes) | Content::Encoded { bytes, .. } => bytes.len(),
        }
    }

    pub fn decoded_bytes(&self) -> usize {
        decoded_bytes(self.width, self.height)
    }
}

/// Returns how colourful a colour is: the difference between its strongest and its weakest channel, and 0 if red is strongest and
/// blue weakest, as in fur, skin, wood and earth.
pub(crate) fn hued(rgb: Vec3) -> f32 {
    if rgb.x >= rgb.y && rgb.y >= rgb.z { 0.0 } else { rgb.max_element() - rgb.min_element() }
}

/// Returns the mean of [`hued`] over some thousand texels or vertices.
pub(crate) fn mean_hued(rgba: &[[u8; 4]]) -> f32 {
    const MOST: usize = 4096;
    let step = rgba.len().div_ceil(MOST).max(1);
    let color = |&[red, green, blue, _]: &[u8; 4]| Vec3::new(red.into(), green.into(), blue.into()) / 255.0;
    let sum: f32 = rgba.iter().step_by(step).map(|rgba| hued(color(rgba))).sum();
    sum / rgba.len().div_ceil(step).max(1) as f32
}

fn decoded_bytes(width: u32, height: u32) -> usize {
    4 * width as usize * height as usize
}

/// Reads the header of an image. Returns its decoder and the name of its format.
pub(crate) fn open_decoder(bytes: &[u8]) -> Result<(impl ImageDecoder, &'static str), Reason> {
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
pub(crate) fn texel_count(decoder: &impl ImageDecoder) -> u64 {
    let (width, height) = decoder.dimensions();
    u64::from(width) * u64::from(height)
}

/// Decodes an image. Memory is allocated fallibly, so that an image that is too large is left out.
pub(crate) fn decode_rgba(decoder: impl ImageDecoder) -> Result<Vec<u8>, Reason> {
    let color = decoder.color_type();
    let (width, height) = decoder.dimensions();
    let mut samples = zeros(usize::try_from(decoder.total_bytes()).unwrap_or(usize::MAX))?;
    decoder.read_image(&mut samples).map_err(|error| format!("cannot be decoded: {error}"))?;
    if color == ColorType::Rgba8 {
        return Ok(samples);
    }
    let channels = color.channel_count();
    if u16::from(color.bytes_per_pixel()) == 2 * u16::from(channels) {
        // The decoder returns 16-bit samples in native byte order.
        for at in 0..samples.len() / 2 {
            let sample = u16::from_ne_bytes([samples[2 * at], samples[2 * at + 1]]);
            samples[at] = ((u32::from(sample) + 128) / 257) as u8;
        }
    }
    let mut rgba = zeros(decoded_bytes(width, height))?;
    let texels = rgba.as_chunks_mut::<4>().0.iter_mut();
    match channels {
        1 => texels.zip(&samples).for_each(|(to, &l)| *to = [l, l, l, 255]),
        2 => texels.zip(samples.as_chunks().0).for_each(|(to, &[l, a])| *to = [l, l, l, a]),
        3 => texels.zip(samples.as_chunks().0).for_each(|(to, &[r, g, b])| *to = [r, g, b, 255]),
        _ => texels.zip(samples.as_chunks().0).for_each(|(to, from)| *to = *from),
    }
    Ok(rgba)
}

fn zeros(count: usize) -> Result<Vec<u8>, Reason> {
    bytemuck::allocation::try_zeroed_vec(count).map_err(|()| format!("cannot allocate {count} bytes"))
}
