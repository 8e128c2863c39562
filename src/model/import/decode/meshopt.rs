//! From a buffer view compressed by meshoptimizer to its plain bytes.
//!
//! Both extensions wrap the same three bitstreams (attributes, triangle lists, index sequences) and the same filters,
//! which decode vectors, quaternions, floats and colours. The decoders are meshoptimizer's own, in the `meshopt` crate.
//! They are made for untrusted streams: they stay inside the given memory, and report truncated or damaged streams. A
//! damaged stream may also decode to wrong numbers, so readers check decoded bytes like any bytes of a file.
//!
//! All numbers are checked against the specification before decoding and allocating. In particular, a stream can decode
//! to at most [`MAX_RATIO`] times its own bytes.
//!
//! Source: EXT_meshopt_compression and KHR_meshopt_compression, which adds a second version of the attribute stream and
//! the COLOR filter. Streams of that version are read under both names, because the first byte tells the version.

use gltf::json::buffer::{Buffer, View};
use meshopt::ffi;
use serde::Deserialize;
use serde_json::Value;

use crate::model::import::error::{Fault, Result};
use crate::model::import::file::mend::parse_value;

const EXT: &str = "EXT_meshopt_compression";
const KHR: &str = "KHR_meshopt_compression";

/// The most decoded bytes for one encoded byte. The best case is a block of 256 equal elements, which takes one byte for each
/// four bytes of an element: 256 · 4 : 1. Index streams take a byte for each triangle or index, which is far below.
const MAX_RATIO: usize = 1024;

/// The extension of a compressed view. The document resolves the location of the bytes; other fields are private.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CompressedView {
    /// The glTF index of the buffer with the compressed bytes, which is not the view's own buffer.
    pub buffer: usize,
    #[serde(default)]
    pub byte_offset: u64,
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

/// The plain bytes of a view, stored as words, because filters work on aligned numbers.
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

pub(super) fn is_compressed(view: &View) -> bool {
    extension(view).is_some()
}

/// Whether `buffer` is only a fallback for loaders without a decoder. The URI of such a buffer is never fetched.
pub(super) fn is_fallback(buffer: &Buffer) -> bool {
    let extensions = buffer.extensions.as_ref().map(|extensions| &extensions.others);
    let says_so = |name| extensions.and_then(|others| others.get(name)?.get("fallback")).and_then(Value::as_bool);
    [KHR, EXT].into_iter().any(|name| says_so(name) == Some(true))
}

fn extension(view: &View) -> Option<(&'static str, &Value)> {
    let others = &view.extensions.as_ref()?.others;
    // A view must not have both; if it does, the newer extension counts.
    [KHR, EXT].into_iter().find_map(|name| Some((name, others.get(name)?)))
}

impl CompressedView {
    /// Reads and checks the extension of `view`; `None` if it has none. `at` is the view's JSON path.
    pub fn of(view: &View, at: &str) -> Result<Option<Self>> {
        let Some((name, value)) = extension(view) else { return Ok(None) };
        let at = format!("{at}.extensions.{name}");
        let compressed = parse_value::<Self>(value).map_err(|error| Fault::content(&at, error))?;
        compressed.check(name, view.byte_length.0).map_err(|problem| Fault::content(&at, problem))?;
        Ok(Some(compressed))
    }

    /// Checks all rules of the specification about the properties.
    fn check(&self, name: &str, view_byte_length: u64) -> Result<(), String> {
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
            return Err(format!("filter {filter:?} is not valid for mode {mode:?} and byteStride {stride} in {name}"));
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
        // `check` has compared the product with the view's length.
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
        // SAFETY: each of the three writes `count` elements of `stride` bytes, which fit in `words`, and reads only the
        // `encoded.len()` bytes of `encoded`. `check` has established their requirements: for attributes a stride that is a
        // multiple of 4 up to 256, for indices a stride of 2 or 4, for triangles a count that is a multiple of three.
        let code = unsafe { decode(words.as_mut_ptr().cast(), count, stride, encoded.as_ptr(), encoded.len()) };
        if code != 0 {
            let why = match code {
                -1 => "its first byte is wrong",
                -2 => "it ends too early",
                _ => "it does not end at its last byte",
            };
            let problem = format!("a stream of {} bytes in mode {:?} is damaged: {why}", encoded.len(), self.mode);
            return Err(Fault::content(at, problem));
        }
        self.undo_filter(&mut words);
        Ok(DecodedView { words, byte_length })
    }

    /// Decodes the filter in place. Filtered elements consist of whole words.
    fn undo_filter(&self, words: &mut [u32]) {
        let narrow = self.byte_stride == 4;
        match self.filter {
            Filter::None => {}
            Filter::Octahedral if narrow => meshopt::decode_filter_oct::<i8>(bytemuck::cast_slice_mut(words)),
            Filter::Octahedral => meshopt::decode_filter_oct::<i16>(bytemuck::cast_slice_mut(words)),
            Filter::Quaternion => meshopt::decode_filter_quat(bytemuck::cast_slice_mut(words)),
            // Each float is independent, so the number of floats in an element does not matter.
            Filter::Exponential => meshopt::decode_filter_exp::<1>(bytemuck::cast_slice_mut(words)),
            Filter::Color if narrow => meshopt::decode_filter_color::<u8>(bytemuck::cast_slice_mut(words)),
            Filter::Color => meshopt::decode_filter_color::<u16>(bytemuck::cast_slice_mut(words)),
        }
    }
}
