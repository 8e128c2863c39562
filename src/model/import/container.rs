//! From a path to the JSON text and the binary chunk.
//!
//! Source: glTF 2.0, chapter 4 (GLB file format). Which of the two forms a file has is told by its first four bytes,
//! not by its name.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::error::{Fault, Result};

const MAGIC: &[u8] = b"glTF";
const HEADER_BYTES: usize = 12;
const CHUNK_HEADER_BYTES: usize = 8;
const CHUNK_JSON: u32 = 0x4E4F_534A;
const CHUNK_BIN: u32 = 0x004E_4942;
const UTF8_BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads a whole file of at most `max_bytes`.
///
/// Only regular files: opening a pipe would wait for a writer, and a device may never end.
pub(super) fn read_regular_file(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let metadata = std::fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let too_large = || {
        let message = format!("it is larger than the {max_bytes} bytes that may be read");
        io::Error::new(io::ErrorKind::FileTooLarge, message)
    };
    if metadata.len() > max_bytes {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    // One byte more than allowed tells "just fits" from "too long", whatever the size in the directory says.
    File::open(path)?.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(too_large());
    }
    Ok(bytes)
}

/// The two parts of a glTF file.
#[derive(Debug, PartialEq)]
pub(super) struct Container<'f> {
    /// UTF-8 text without byte-order mark, not yet parsed.
    pub json: &'f [u8],
    /// The GLB's BIN chunk, padding included.
    pub binary: Option<&'f [u8]>,
}

/// Splits a `.glb`; a `.gltf` is all JSON.
pub(super) fn split(file: &[u8]) -> Result<Container<'_>> {
    let parts = if file.starts_with(MAGIC) { split_glb(file)? } else { Container { json: file, binary: None } };
    let json = parts.json.strip_prefix(UTF8_BYTE_ORDER_MARK).unwrap_or(parts.json);
    if !matches!(json.trim_ascii_start().first(), Some(b'{' | b'[')) {
        let problem = if file.is_empty() { "it is empty" } else { "it is neither GLB nor JSON" };
        return Err(Fault::NotGltf { problem: format!("{problem}; .gltf and .glb files can be read") });
    }
    Ok(Container { json, ..parts })
}

fn split_glb(file: &[u8]) -> Result<Container<'_>> {
    let not_gltf = |problem: String| Fault::NotGltf { problem };
    let (Some(version), Some(length)) = (u32_at(file, 4), u32_at(file, 8)) else {
        return Err(not_gltf(format!("the GLB header is cut short: {} of {HEADER_BYTES} bytes", file.len())));
    };
    if version != 2 {
        return Err(not_gltf(format!("GLB version {version}, expected 2")));
    }
    let Some(glb) = file.get(..length as usize) else {
        let message = format!("the file is cut short: {} bytes, but its GLB header says {length}", file.len());
        return Err(not_gltf(message));
    };
    let (mut json, mut binary) = (None, None);
    let mut at = HEADER_BYTES;
    while let (Some(size), Some(kind)) = (u32_at(glb, at), u32_at(glb, at + 4)) {
        let first = at + CHUNK_HEADER_BYTES;
        let size = size as usize;
        let Some(chunk) = first.checked_add(size).and_then(|end| glb.get(first..end)) else {
            let left = glb.len().saturating_sub(first);
            return Err(not_gltf(format!("the GLB chunk at byte {at} has {size} bytes, but {left} are left")));
        };
        // The first of each kind counts; unknown kinds are skipped, as 4.4.1 asks.
        match kind {
            CHUNK_JSON if json.is_none() => json = Some(chunk),
            CHUNK_BIN if binary.is_none() => binary = Some(chunk),
            _ => {}
        }
        at = first + size.next_multiple_of(4);
    }
    let json = json.ok_or_else(|| not_gltf("the GLB has no JSON chunk".to_owned()))?;
    Ok(Container { json, binary })
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(word.try_into().ok()?))
}
