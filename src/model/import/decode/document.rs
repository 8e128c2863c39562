//! From the parsed JSON to its buffers and buffer views, as plain bytes.
//!
//! All other readers of import take their data from the [`Document`]. Compressed buffer views and meshes are decoded
//! here, each at its first use, so that other readers need not know about compression.

use std::sync::{Arc, OnceLock};

use gltf::json::Root;

use super::draco::{DecodedAccessor, DracoStreams};
use super::meshopt::{self, CompressedView, DecodedView};
use crate::model::SourceFile;
use crate::model::import::error::{Fault, Result, Warnings, look_up};
use crate::model::import::file::{Container, DeclaredRoles, Files, ParsedJson, UriFault, json, kind_of};
use crate::model::import::limits::{Budget, Counted};

pub struct Document<'f> {
    /// All lists that import reads. No index in them has been checked yet.
    pub root: Root,
    buffers: Vec<Buffer<'f>>,
    /// The decompressed views by glTF index, each filled when it is first read.
    decoded_views: Vec<OnceLock<DecodedView>>,
    draco: DracoStreams,
    /// The model's folder. Images are fetched from it when a material uses them.
    pub files: Files,
    pub source: SourceFile,
    pub roles: Option<DeclaredRoles>,
    pub budget: Budget,
}

enum Buffer<'f> {
    Chunk(&'f [u8]),
    /// The content of a file or a data URI.
    Fetched(Arc<Vec<u8>>),
    /// A buffer without a URI and without a chunk, or a fallback for compressed views. It is legal unless something reads it.
    Absent,
}

impl<'f> Document<'f> {
    pub fn open(container: &Container<'f>, mut files: Files, warnings: &mut Warnings) -> Result<Self> {
        let ParsedJson { root, value_count, source, roles } = json::parse(container.json, warnings)?;
        let buffers = fetch_buffers(&root, container.binary, &mut files)?;
        let budget = Budget::default();
        budget.take_json(value_count, files.bytes_read())?;
        let draco = DracoStreams::find(&root)?;
        let decoded_views = root.buffer_views.iter().map(|_| OnceLock::new()).collect();
        let document = Self { root, buffers, decoded_views, draco, files, source, roles, budget };
        document.take_decoded_bytes()?;
        Ok(document)
    }

    /// Charges things of a kind to the model's budget. `at` is the JSON path that asks for them.
    pub fn take(&self, kind: Counted, count: usize, at: &str) -> Result<()> {
        self.budget.take(kind, count as u64, self.files.bytes_read(), at)
    }

    /// Charges the sizes that compressed data claims to have once decoded. Nothing has proven them yet.
    fn take_decoded_bytes(&self) -> Result<()> {
        let take = |bytes: u64, at: &str| self.budget.take(Counted::DECODED_BYTES, bytes, self.files.bytes_read(), at);
        let views = &self.root.buffer_views;
        for (index, view) in views.iter().enumerate().filter(|(_, view)| meshopt::is_compressed(view)) {
            take(view.byte_length.0, &format!("bufferViews[{index}]"))?;
        }
        for stream in &self.draco.list {
            let encoded = views.get(stream.view).map_or(0, |view| view.byte_length.0);
            take(encoded.saturating_add(stream.accessor_bytes()), &stream.at)?;
        }
        Ok(())
    }

    /// Whether the elements of `accessor` are in a buffer without bytes. That is legal, since an application may get
    /// the bytes elsewhere, so it is not an error if a part of the model can be left out instead.
    pub fn lacks_bytes(&self, accessor: usize) -> bool {
        let view = self.root.accessors.get(accessor).and_then(|accessor| accessor.buffer_view);
        let view = view.and_then(|view| self.root.buffer_views.get(view.value()));
        view.is_some_and(|view| {
            matches!(self.buffers.get(view.buffer.value()), Some(Buffer::Absent)) && !meshopt::is_compressed(view)
        })
    }

    /// Returns the bytes of a buffer view and its `byteStride`. `at` is the JSON path of the reference to the view.
    pub fn view(&self, index: usize, at: &str) -> Result<(&[u8], Option<usize>)> {
        let view = look_up(&self.root.buffer_views, "bufferViews", index, at)?;
        let decoded = look_up(&self.decoded_views, "bufferViews", index, at)?;
        let stride = view.byte_stride.map(|stride| stride.0);
        if let Some(decoded) = decoded.get() {
            return Ok((decoded.bytes(), stride));
        }
        let at = format!("bufferViews[{index}]");
        let bytes = match CompressedView::of(view, &at)? {
            Some(compressed) => {
                let encoded = self.part(compressed.buffer, (compressed.byte_offset, compressed.byte_length), &at)?;
                let plain = compressed.decode(encoded, &at)?;
                decoded.get_or_init(|| plain).bytes()
            }
            None => {
                let offset = view.byte_offset.unwrap_or_default().0;
                self.part(view.buffer.value(), (offset, view.byte_length.0), &at)?
            }
        };
        Ok((bytes, stride))
    }

    /// Returns the elements of accessor `index` if a Draco stream fills it. Its own buffer view is only a fallback then.
    pub(super) fn decoded_accessor(&self, index: usize) -> Result<Option<&DecodedAccessor>> {
        let Some(stream) = self.draco.filling(index) else { return Ok(None) };
        if let Some(decoded) = stream.decoded.get() {
            return Ok(decoded.get(&index));
        }
        let decoded = stream.decode(self.view(stream.view, &stream.at)?.0)?;
        Ok(stream.decoded.get_or_init(|| decoded).get(&index))
    }

    /// Returns a range of a buffer, given by glTF index. `at` is the JSON path of the reference to the buffer.
    fn part(&self, buffer: usize, (offset, length): (u64, u64), at: &str) -> Result<&[u8]> {
        let bytes: &[u8] = match look_up(&self.buffers, "buffers", buffer, at)? {
            Buffer::Chunk(chunk) => chunk,
            Buffer::Fetched(bytes) => bytes,
            Buffer::Absent => {
                let problem =
                    format!("buffers[{buffer}] has no bytes: it has neither a uri nor a GLB chunk, or is a fallback");
                return Err(Fault::content(at, problem));
            }
        };
        slice(bytes, offset, length).ok_or_else(|| {
            let problem = format!("{length} bytes from byte {offset} of buffers[{buffer}], which has {}", bytes.len());
            Fault::content(at, problem)
        })
    }
}

pub(super) fn slice(bytes: &[u8], offset: u64, length: u64) -> Option<&[u8]> {
    bytes.get(usize::try_from(offset).ok()?..usize::try_from(offset.checked_add(length)?).ok()?)
}

fn fetch_buffers<'f>(root: &Root, chunk: Option<&'f [u8]>, files: &mut Files) -> Result<Vec<Buffer<'f>>> {
    let mut buffers = Vec::with_capacity(root.buffers.len());
    for (index, entry) in root.buffers.iter().enumerate() {
        let at = format!("buffers[{index}]");
        let buffer = match &entry.uri {
            _ if meshopt::is_fallback(entry) => Buffer::Absent,
            Some(uri) => {
                let fetched = files.fetch(uri);
                let why = |(UriFault::Refused(why) | UriFault::Unreadable(why))| {
                    Fault::content(format_args!("{at}.uri"), why)
                };
                Buffer::Fetched(fetched.map_err(why)?)
            }
            // 4.4.3.3: only the first buffer may refer to the chunk.
            None => chunk.filter(|_| index == 0).map_or(Buffer::Absent, Buffer::Chunk),
        };
        let length = match &buffer {
            Buffer::Chunk(bytes) => bytes.len() as u64,
            Buffer::Fetched(bytes) => bytes.len() as u64,
            Buffer::Absent => entry.byte_length.0,
        };
        if let Buffer::Fetched(bytes) = &buffer
            // Numbers may look like the start of an archive, but not like text.
            && (length < entry.byte_length.0 || bytes.iter().take(16).all(|&byte| matches!(byte, b'\t'..=b'\r' | b' '..=b'~')))
            && let Some(kind) = kind_of(bytes)
        {
            return Err(Fault::content(format_args!("{at}.uri"), format_args!("the file is {kind}")));
        }
        if length < entry.byte_length.0 {
            let problem = format!("{length} bytes, but byteLength says {}; is it cut short?", entry.byte_length.0);
            return Err(Fault::content(at, problem));
        }
        buffers.push(buffer);
    }
    Ok(buffers)
}
