//! From a path to the JSON text and the binary chunk of a model file.
//!
//! Only regular files are read. Reading a pipe waits for a writer, reading a device may never end, and opening a device
//! can have side effects. So the path is checked before it is opened, and the opened file is checked again, because the
//! path may lead to another file by then. On Unix, opening never blocks. Files below `/proc` and `/sys` pretend to be
//! regular: those in `/proc` report no bytes and read as empty; of the others, no more is read than they report.
//!
//! A file that cannot be a model is refused after its first bytes, however long it is.
//!
//! Source: glTF 2.0, chapter 4 (GLB file format). The first four bytes tell the two formats apart, not the file's name.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use crate::model::import::error::{Fault, Result, Warnings};
use crate::model::import::limits::{MAX_FILE_BYTES, MAX_JSON_BYTES};

const MAGIC: &[u8] = b"glTF";
const HEADER_BYTES: usize = 12;
const CHUNK_HEADER_BYTES: usize = 8;
const CHUNK_JSON: u32 = 0x4E4F_534A;
const CHUNK_BIN: u32 = 0x004E_4942;
const UTF8_BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
/// Enough bytes to recognise a file: both headers of a GLB, or the start of the JSON of a `.gltf`.
const HEAD_BYTES: u64 = 4096;

struct RegularFile {
    file: File,
    /// The length that the file system reports; no more is read.
    bytes: u64,
}

impl RegularFile {
    fn open(path: &Path, max_bytes: u64) -> io::Result<Self> {
        expect_regular(&std::fs::metadata(path)?)?;
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK | libc::O_NOCTTY);
        let file = options.open(path)?;
        let metadata = file.metadata()?;
        expect_regular(&metadata)?;
        if metadata.len() > max_bytes {
            let message = format!("it has {} bytes; at most {max_bytes} are read", metadata.len());
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        Ok(Self { file, bytes: metadata.len() })
    }

    /// Appends up to `count` bytes. A file that does not fit in memory is an error like any other.
    fn read(&mut self, count: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
        bytes.try_reserve_exact(usize::try_from(count).unwrap_or(usize::MAX))?;
        (&self.file).take(count).read_to_end(bytes).map(|_| ())
    }
}

fn expect_regular(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok(())
}

pub fn read_regular_file(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut file = RegularFile::open(path, max_bytes)?;
    let mut bytes = Vec::new();
    file.read(file.bytes, &mut bytes)?;
    Ok(bytes)
}

/// Reads a model file, or only its head if the head shows that it is not one.
pub fn read_model_file(path: &Path) -> Result<Vec<u8>> {
    let mut file = RegularFile::open(path, MAX_FILE_BYTES)?;
    let mut bytes = Vec::new();
    file.read(file.bytes.min(HEAD_BYTES), &mut bytes)?;
    check_head(&bytes, file.bytes)?;
    file.read(file.bytes.saturating_sub(bytes.len() as u64), &mut bytes)?;
    Ok(bytes)
}

/// Refuses early the files that [`split`] would refuse, if their head suffices to tell.
fn check_head(head: &[u8], file_bytes: u64) -> Result<()> {
    if head.starts_with(MAGIC) {
        check_glb_header(head, file_bytes)?;
        return u32_at(head, HEADER_BYTES).map_or(Ok(()), |json_bytes| check_json_size(json_bytes.into()));
    }
    let text = head.strip_prefix(UTF8_BYTE_ORDER_MARK).unwrap_or(head).trim_ascii_start();
    // A head of white space alone decides nothing.
    if head.is_empty() || !text.is_empty() {
        expect_json(text, head.is_empty())?;
    }
    check_json_size(file_bytes)
}

fn expect_json(text: &[u8], is_empty: bool) -> Result<()> {
    if matches!(text.first(), Some(b'{' | b'[')) {
        return Ok(());
    }
    let problem = if is_empty { "it is empty" } else { "it is neither GLB nor JSON" };
    Err(Fault::NotGltf(match kind_of(text) {
        Some(kind) => format!("it is {kind}"),
        None => format!("{problem}; .gltf and .glb files can be read"),
    }))
}

/// Returns what a file that should be glTF, a buffer or an image is instead, and what to do about it.
pub fn kind_of(bytes: &[u8]) -> Option<String> {
    let bytes = bytes.get(..HEAD_BYTES as usize).unwrap_or(bytes);
    let text = bytes.strip_prefix(UTF8_BYTE_ORDER_MARK).unwrap_or(bytes).trim_ascii_start();
    let begins = |word: &str| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()));
    let has_line = |word: &str| text.split(|&byte| byte == b'\n').any(|line| line.starts_with(word.as_bytes()));
    let format = match bytes {
        _ if begins("version https://git-lfs") => {
            return Some("a pointer of Git LFS, not the file itself; run `git lfs pull` in its repository".to_owned());
        }
        _ if begins("<!doctype html") || begins("<html") => {
            return Some("a web page, not the file itself; download the file again".to_owned());
        }
        [0x1F, 0x8B, ..] => return Some("compressed by gzip; unpack it first (`gunzip`)".to_owned()),
        [b'P', b'K', 3, 4, ..] if bytes.windows(5).any(|word| matches!(word, b".usdc" | b".usda")) => "a USDZ archive",
        [b'P', b'K', 3, 4, ..] => {
            return Some("a zip archive; unpack it, and name the .gltf or .glb file in it".to_owned());
        }
        _ if bytes.starts_with(b"Kaydara FBX Binary") || begins("; FBX") => "an FBX file",
        _ if bytes.starts_with(b"PXR-USDC") || begins("#usda") => "a USD file",
        _ if begins("<?xml") || begins("<COLLADA") => "an XML file",
        _ if has_line("v ") && has_line("f ") => "an OBJ file",
        _ => return None,
    };
    Some(format!("{format}, which is another format; convert it to .glb, for example with Blender"))
}

pub fn check_json_size(json_bytes: u64) -> Result<()> {
    if json_bytes <= MAX_JSON_BYTES {
        return Ok(());
    }
    Err(Fault::NotGltf(format!("{json_bytes} bytes of JSON; at most {MAX_JSON_BYTES} are read")))
}

/// Checks version and length; returns the length.
fn check_glb_header(head: &[u8], file_bytes: u64) -> Result<usize> {
    let (Some(version), Some(length)) = (u32_at(head, 4), u32_at(head, 8)) else {
        return Err(Fault::NotGltf(format!("the GLB header is cut short: {} of {HEADER_BYTES} bytes", head.len())));
    };
    if version != 2 {
        return Err(Fault::NotGltf(format!("GLB version {version}, expected 2")));
    }
    if u64::from(length) > file_bytes {
        return Err(Fault::NotGltf(format!(
            "the file is cut short: {file_bytes} bytes, but its GLB header says {length}"
        )));
    }
    Ok(length as usize)
}

#[derive(Debug, PartialEq)]
pub struct Container<'f> {
    /// UTF-8 text without byte-order mark, not yet parsed.
    pub json: &'f [u8],
    /// The GLB's BIN chunk, padding included.
    pub binary: Option<&'f [u8]>,
}

/// Splits a `.glb` into its parts. A `.gltf` is JSON only.
pub fn split<'f>(file: &'f [u8], warnings: &mut Warnings) -> Result<Container<'f>> {
    let parts =
        if file.starts_with(MAGIC) { split_glb(file, warnings)? } else { Container { json: file, binary: None } };
    let json = parts.json.strip_prefix(UTF8_BYTE_ORDER_MARK).unwrap_or(parts.json);
    expect_json(json.trim_ascii_start(), file.is_empty())?;
    Ok(Container { json, ..parts })
}

fn split_glb<'f>(file: &'f [u8], warnings: &mut Warnings) -> Result<Container<'f>> {
    let length = check_glb_header(file, file.len() as u64)?;
    let glb = file.get(..length).unwrap_or(file);
    let (mut json, mut binary) = (None, None);
    let mut at = HEADER_BYTES;
    let is_chunk = |at: usize| matches!(u32_at(glb, at + 4), Some(CHUNK_JSON | CHUNK_BIN));
    while let (Some(size), Some(kind)) = (u32_at(glb, at), u32_at(glb, at + 4)) {
        let first = at + CHUNK_HEADER_BYTES;
        let size = size as usize;
        let Some(chunk) = first.checked_add(size).and_then(|end| glb.get(first..end)) else {
            let left = glb.len().saturating_sub(first);
            return Err(Fault::NotGltf(format!("the GLB chunk at byte {at} has {size} bytes, but {left} are left")));
        };
        // The first chunk of each kind counts. Unknown kinds are skipped, as 4.4.1 requires.
        match kind {
            CHUNK_JSON if json.is_none() => json = Some(chunk),
            CHUNK_BIN if binary.is_none() => binary = Some(chunk),
            _ => {}
        }
        // Chunks have to be aligned (4.4.3.1). The length of one that is not may count its padding or not.
        if !size.is_multiple_of(4) {
            warnings.add(
                "the GLB",
                format_args!("a chunk of {size} bytes, which is not a multiple of 4; it is read as it is"),
            );
        }
        at = first + size;
        at = if is_chunk(at) { at } else { at.next_multiple_of(4) };
    }
    let json = json.ok_or_else(|| Fault::NotGltf("the GLB has no JSON chunk".to_owned()))?;
    Ok(Container { json, binary })
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}
