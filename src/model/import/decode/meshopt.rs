//! Buffer views that meshoptimizer has compressed: what they say of themselves, and how they become plain bytes.
//!
//! Both extensions wrap the same three bitstreams (attributes, triangle lists, index sequences) and the same filters,
//! which undo what an encoder did to vectors, quaternions, floats and colours. The decoders are meshoptimizer's own,
//! reached through the `meshopt` crate. They are made for untrusted streams: they stay inside the memory that they are
//! given and report a stream that is cut short or damaged. A damaged stream may also decode to nonsense, so whoever
//! reads the bytes checks them as he checks any bytes of a file.
//!
//! Nothing is decoded, and no memory is taken, before every number has been held against the specification: above
//! all, a stream can stand for [`MAX_RATIO`] times its own bytes and no more.
//!
//! Source: EXT_meshopt_compression and KHR_meshopt_compression (which adds a second version of the attribute stream and
//! the COLOR filter). Streams of that version are read under either name: the first byte of a stream says what it is.

use gltf::json::buffer::{Buffer, View};
use meshopt::ffi;
use serde::Deserialize;
use serde_json::Value;

use crate::model::import::error::{Fault, Result};

const EXT: &str = "EXT_meshopt_compression";
const KHR: &str = "KHR_meshopt_compression";

/// Decoded bytes for one encoded byte at most. The best that the bitstreams can do is a block of 256 equal elements,
/// which takes one byte for each four bytes of an element: 256 · 4 : 1. Index streams take a byte for each triangle or
/// index and stay far below.
const MAX_RATIO: usize = 1024;

/// What a compressed view's extension says. Where the bytes are is for the document to resolve; the rest is private
/// to this file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CompressedView {
    /// glTF index of the buffer with the compressed bytes: not the view's own buffer.
    pub buffer: usize,
    /// Of the compressed bytes.
    #[serde(default)]
    pub byte_offset: u64,
    /// Of the compressed bytes.
    pub byte_length: u64,
    byte_stride: usize,
    count: usize,
    mode: Mode,
    #[serde(default)]
    filter: Filter,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Mode {
    Attributes,
    Triangles,
    Indices,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Filter {
    #[default]
    None,
    Octahedral,
    Quaternion,
    Exponential,
    Color,
}

/// The plain bytes of a view; held as words, because filters work on numbers that have to be aligned.
#[derive(Debug)]
pub(super) struct DecodedView {
    words: Vec<u32>,
    byte_length: usize,
}

impl DecodedView {
    pub fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words).get(..self.byte_length).unwrap_or_default()
    }
}

/// Whether `view` is compressed.
pub(super) fn is_compressed(view: &View) -> bool {
    extension(view).is_some()
}

/// Whether `buffer` only stands in for the decompressed bytes, which we make ourselves: its URI, if it has one, is then
/// never fetched.
pub(super) fn is_fallback(buffer: &Buffer) -> bool {
    let extensions = buffer.extensions.as_ref().map(|extensions| &extensions.others);
    let says_so = |name| extensions.and_then(|others| others.get(name)?.get("fallback")).and_then(Value::as_bool);
    [KHR, EXT].into_iter().any(|name| says_so(name) == Some(true))
}

fn extension(view: &View) -> Option<(&'static str, &Value)> {
    let others = &view.extensions.as_ref()?.others;
    // Both at once are forbidden; the newer one would be the richer.
    [KHR, EXT].into_iter().find_map(|name| Some((name, others.get(name)?)))
}

impl CompressedView {
    /// What the extension of `view` says, checked; `None` where it has none. `at` is the view's JSON path.
    pub fn of(view: &View, at: &str) -> Result<Option<Self>> {
        let Some((name, value)) = extension(view) else { return Ok(None) };
        let at = format!("{at}.extensions.{name}");
        let compressed = Self::deserialize(value).map_err(|error| Fault::content(&at, error))?;
        compressed.check(name, view.byte_length.0).map_err(|problem| Fault::content(&at, problem))?;
        Ok(Some(compressed))
    }

    /// Every rule of the specification on the properties.
    fn check(&self, name: &str, view_byte_length: u64) -> std::result::Result<(), String> {
        let Self { byte_stride: stride, count, mode, filter, .. } = *self;
        let stride_fits = match mode {
            Mode::Attributes => stride.is_multiple_of(4) && (4..=256).contains(&stride),
            Mode::Triangles | Mode::Indices => stride == 2 || stride == 4,
        };
        if !stride_fits {
            let expected = if mode == Mode::Attributes { "a multiple of 4 from 4 to 256" } else { "2 or 4" };
            return Err(format!("byteStride {stride} in mode {mode:?}, expected {expected}"));
        }
        let filter_fits = match filter {
            Filter::None => true,
            Filter::Exponential => mode == Mode::Attributes,
            Filter::Octahedral => mode == Mode::Attributes && (stride == 4 || stride == 8),
            Filter::Quaternion => mode == Mode::Attributes && stride == 8,
            Filter::Color => mode == Mode::Attributes && (stride == 4 || stride == 8) && name == KHR,
        };
        if !filter_fits {
            return Err(format!("filter {filter:?} does not go with mode {mode:?} and byteStride {stride} in {name}"));
        }
        if mode == Mode::Triangles && !count.is_multiple_of(3) {
            return Err(format!("count {count} in mode Triangles, expected a multiple of three"));
        }
        if count == 0 || (count as u64).checked_mul(stride as u64) != Some(view_byte_length) {
            return Err(format!(
                "{count} elements of {stride} bytes, but the bufferView has byteLength {view_byte_length}"
            ));
        }
        Ok(())
    }

    /// Decodes `encoded`, the bytes that `buffer`, `byte_offset` and `byte_length` name. `at` is the view's JSON path.
    pub fn decode(&self, encoded: &[u8], at: &str) -> Result<DecodedView> {
        // The product was held against the view's length by `check`.
        let byte_length = self.count * self.byte_stride;
        if byte_length / MAX_RATIO > encoded.len() {
            let problem = format!("{} bytes cannot hold the {byte_length} bytes of the view", encoded.len());
            return Err(Fault::content(at, problem));
        }
        let mut words = vec![0_u32; byte_length.div_ceil(4)];
        let decode = match self.mode {
            Mode::Attributes => ffi::meshopt_decodeVertexBuffer,
            Mode::Triangles => ffi::meshopt_decodeIndexBuffer,
            Mode::Indices => ffi::meshopt_decodeIndexSequence,
        };
        let (count, stride) = (self.count, self.byte_stride);
        // SAFETY: each of the three writes `count` elements of `stride` bytes, which `words` has room for, and reads
        // nothing but the `encoded.len()` bytes from `encoded`. What they demand of `stride` and `count` holds since
        // `check`: for attributes a multiple of 4 up to 256, for indices 2 or 4, for triangles a multiple of three.
        let code = unsafe { decode(words.as_mut_ptr().cast(), count, stride, encoded.as_ptr(), encoded.len()) };
        if code != 0 {
            let why = match code {
                -1 => "it does not begin as such a stream does",
                -2 => "it ends too early",
                _ => "it does not end where it should",
            };
            let problem = format!("a stream of {} bytes in mode {:?} is damaged: {why}", encoded.len(), self.mode);
            return Err(Fault::content(at, problem));
        }
        self.undo_filter(&mut words);
        Ok(DecodedView { words, byte_length })
    }

    /// Attributes have a stride of whole words, so a filtered view is all words.
    fn undo_filter(&self, words: &mut [u32]) {
        let narrow = self.byte_stride == 4;
        match self.filter {
            Filter::None => {}
            Filter::Octahedral if narrow => meshopt::decode_filter_oct::<i8>(bytemuck::cast_slice_mut(words)),
            Filter::Octahedral => meshopt::decode_filter_oct::<i16>(bytemuck::cast_slice_mut(words)),
            Filter::Quaternion => meshopt::decode_filter_quat(bytemuck::cast_slice_mut(words)),
            // Each float stands for itself, however many an element has.
            Filter::Exponential => meshopt::decode_filter_exp::<1>(bytemuck::cast_slice_mut(words)),
            Filter::Color if narrow => meshopt::decode_filter_color::<u8>(bytemuck::cast_slice_mut(words)),
            Filter::Color => meshopt::decode_filter_color::<u16>(bytemuck::cast_slice_mut(words)),
        }
    }
}
