//! The parsed JSON with its buffers: what all readers of this folder read from.
//!
//! The JSON goes into the serde structs of `gltf::json`, list by list, so that an error names the element. Those
//! structs refuse some sound files; [`relax`] first takes away what they stumble over and we do not read anyhow. The
//! lists that grow with every keyframe track go there straight from the text: as `Value`s they would be most of what
//! importing a model with many clips costs.
//! Nothing else of the `gltf` crate is used: its readers panic or hang on malformed files.
//!
//! What is compressed, buffer views and whole meshes, is decoded here, each when something reads it first: all other
//! readers see plain bytes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use gltf::json::{self, Root};
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::draco::{DecodedAccessor, DracoStreams};
use super::meshopt::{self, CompressedView, DecodedView};
use crate::model::SourceFile;
use crate::model::import::error::{Fault, Result, Warnings};
use crate::model::import::file::extensions;
use crate::model::import::file::source;
use crate::model::import::file::{Container, Files, UriFault, check_json_size};
use crate::model::import::limits::{Budget, MAX_JSON_VALUES, MAX_LIST_ELEMENTS, Purse};

/// The target node of a channel that has none that can be followed, and has had its warning.
pub const NOWHERE: u32 = u32::MAX;

/// Parsed file and resolved buffers.
pub struct Document<'f> {
    /// All lists that are read; no index in them has been checked yet.
    pub root: Root,
    /// By glTF buffer index.
    buffers: Vec<Buffer<'f>>,
    /// By glTF buffer view index; filled for a compressed view when it is first read.
    decoded_views: Vec<OnceLock<DecodedView>>,
    draco: DracoStreams,
    /// For images, which are fetched when something uses them.
    pub files: Files,
    /// What the file says of itself and what nobody here reads.
    pub source: SourceFile,
    purse: Purse,
    /// In a cell, since accessors are opened through shared references.
    sparse_entries: RefCell<Budget>,
}

enum Buffer<'f> {
    /// The GLB's BIN chunk.
    Chunk(&'f [u8]),
    /// From a file or a data URI.
    Fetched(Arc<Vec<u8>>),
    /// Neither URI nor chunk, or said to be a fallback for compressed views: legal as long as nobody reads it.
    Absent,
}

impl<'f> Document<'f> {
    /// Parses the JSON and fetches every buffer.
    pub fn open(container: &Container<'f>, mut files: Files, warnings: &mut Warnings) -> Result<Self> {
        check_json_size(container.json.len() as u64)?;
        let value_count = check_value_count(container.json)?;
        let (mut object, long_lists) = parse_outline(container.json)?;
        check_version(&object)?;
        let extensions = extensions::check(&object, warnings)?;
        let source = SourceFile { extensions, ..source::read(&object) };
        relax(&mut object, warnings);
        let root = parse_root(&mut object, &long_lists, warnings)?;
        let buffers = fetch_buffers(&root, container.binary, &mut files)?;
        let purse = Purse::new(files.bytes_read());
        purse.take_json(value_count)?;
        let draco = DracoStreams::find(&root)?;
        pay_for_decoding(&root, &draco, purse.clone())?;
        let decoded_views = root.buffer_views.iter().map(|_| OnceLock::new()).collect();
        let sparse_entries = RefCell::new(Budget::sparse_entries(purse.clone()));
        Ok(Self { root, buffers, decoded_views, draco, files, source, purse, sparse_entries })
    }

    /// Bytes of the model file and of all files read for it so far: what the model may cost depends on them.
    pub fn file_bytes(&self) -> u64 {
        self.files.bytes_read()
    }

    /// What the model may cost, given the bytes read so far, and what of it has been spent.
    pub fn purse(&self) -> Purse {
        self.purse.grown_to(self.file_bytes())
    }

    /// Proving a sparse accessor takes a look at each entry, every time that somebody opens it.
    pub fn pay_for_sparse_entries(&self, count: u64, at: &str) -> Result<()> {
        self.sparse_entries.borrow_mut().take(count, at)
    }

    /// Whether the elements of `accessor` are in a buffer of which the file has no bytes. That is legal (an application
    /// may get them elsewhere), so it is no error where something can be left out instead.
    pub fn lacks_bytes(&self, accessor: usize) -> bool {
        let view = self.root.accessors.get(accessor).and_then(|accessor| accessor.buffer_view);
        let view = view.and_then(|view| self.root.buffer_views.get(view.value()));
        view.is_some_and(|view| {
            matches!(self.buffers.get(view.buffer.value()), Some(Buffer::Absent)) && !meshopt::is_compressed(view)
        })
    }

    /// The bytes of a buffer view and its `byteStride`. `at` is the JSON path of whoever refers to it.
    pub fn view(&self, index: usize, at: &str) -> Result<(&[u8], Option<usize>)> {
        let views = &self.root.buffer_views;
        let view = views.get(index).ok_or_else(|| Fault::dangling(at, "bufferViews", index, views.len()))?;
        let stride = view.byte_stride.map(|stride| stride.0);
        let bytes = if meshopt::is_compressed(view) {
            self.decoded_view(index, view)?
        } else {
            let place = Place { buffer: view.buffer.value(), offset: view.byte_offset.unwrap_or_default().0 };
            self.part(place, view.byte_length.0, &format!("bufferViews[{index}]"))?
        };
        Ok((bytes, stride))
    }

    fn decoded_view(&self, index: usize, view: &json::buffer::View) -> Result<&[u8]> {
        let at = format!("bufferViews[{index}]");
        // As many as there are views.
        let Some(cell) = self.decoded_views.get(index) else {
            return Err(Fault::dangling(at, "bufferViews", index, self.decoded_views.len()));
        };
        if let Some(decoded) = cell.get() {
            return Ok(decoded.bytes());
        }
        let compressed = CompressedView::of(view, &at)?;
        let compressed = compressed.ok_or_else(|| Fault::content(&at, "is not compressed"))?;
        let place = Place { buffer: compressed.buffer, offset: compressed.byte_offset };
        let decoded = compressed.decode(self.part(place, compressed.byte_length, &at)?, &at)?;
        Ok(cell.get_or_init(|| decoded).bytes())
    }

    /// What accessor `index` holds, if a Draco stream fills it: its own buffer view then is but a fallback.
    pub fn decoded_accessor(&self, index: usize) -> Result<Option<&DecodedAccessor>> {
        let Some(stream) = self.draco.filling(index) else { return Ok(None) };
        if let Some(decoded) = stream.decoded.get() {
            return Ok(decoded.get(&index));
        }
        let decoded = stream.decode(self.view(stream.view, &stream.at)?.0)?;
        Ok(stream.decoded.get_or_init(|| decoded).get(&index))
    }

    /// `length` bytes of a buffer. `at` is the JSON path of whoever asks for them.
    fn part(&self, place: Place, length: u64, at: &str) -> Result<&[u8]> {
        let Place { buffer, offset } = place;
        let bytes: &[u8] = match self.buffers.get(buffer) {
            Some(Buffer::Chunk(chunk)) => chunk,
            Some(Buffer::Fetched(bytes)) => bytes,
            Some(Buffer::Absent) => {
                let problem =
                    format!("buffers[{buffer}] has no bytes: it has neither a uri nor a GLB chunk, or is a fallback");
                return Err(Fault::content(at, problem));
            }
            None => return Err(Fault::dangling(at, "buffers", buffer, self.buffers.len())),
        };
        let part = offset
            .checked_add(length)
            .and_then(|end| bytes.get(usize::try_from(offset).ok()?..usize::try_from(end).ok()?));
        part.ok_or_else(|| {
            let problem = format!("bytes {offset} + {length} of buffers[{buffer}], which has {}", bytes.len());
            Fault::content(at, problem)
        })
    }
}

/// A byte of a buffer.
#[derive(Clone, Copy)]
struct Place {
    /// glTF index.
    buffer: usize,
    /// In bytes.
    offset: u64,
}

/// What is compressed is as long as it says only once it has been decoded, so what it says is paid for beforehand.
fn pay_for_decoding(root: &Root, draco: &DracoStreams, purse: Purse) -> Result<()> {
    let mut budget = Budget::decoded_bytes(purse);
    for (index, view) in root.buffer_views.iter().enumerate().filter(|(_, view)| meshopt::is_compressed(view)) {
        budget.take(view.byte_length.0, &format!("bufferViews[{index}]"))?;
    }
    draco.pay(root, &mut budget)
}

/// 3.2: a loader of glTF 2.0 reads every 2.x whose `minVersion` it knows.
fn check_version(root: &Map<String, Value>) -> Result<()> {
    let asset = root.get("asset").ok_or_else(|| Fault::content("asset", "is missing; is this a glTF 2.0 file?"))?;
    let version = asset.get("version").and_then(Value::as_str).unwrap_or("none");
    if !version.starts_with("2.") {
        return Err(Fault::unsupported("asset.version", format_args!("{version:?}, expected 2.x")));
    }
    match asset.get("minVersion").and_then(Value::as_str) {
        Some(minimum) if minimum != "2.0" => {
            Err(Fault::unsupported("asset.minVersion", format_args!("{minimum:?}, but this program knows 2.0")))
        }
        _ => Ok(()),
    }
}

/// Takes away or fills in what the serde structs refuse although the specification allows it.
fn relax(root: &mut Map<String, Value>, warnings: &mut Warnings) {
    for scene in objects(root, "scenes") {
        scene.entry("nodes").or_insert_with(|| Value::Array(Vec::new()));
    }
    for (index, mesh) in objects(root, "meshes").enumerate() {
        warn_about_unmorphed(index, mesh, warnings);
    }
}

/// As [`relax`], for one animation.
fn relax_animation(index: usize, animation: &mut Value, warnings: &mut Warnings) {
    let Some(Value::Array(channels)) = animation.get_mut("channels") else { return };
    let (mut pointers, mut aimless) = (0_usize, 0_usize);
    for channel in channels {
        let target = channel.get("target");
        let property = |name: &str| target.and_then(|target| target.get(name));
        let is_pointer = property("path").and_then(Value::as_str) == Some("pointer");
        let is_aimless = !is_pointer && (property("node").is_none() || property("path").is_none());
        pointers += usize::from(is_pointer);
        aimless += usize::from(is_aimless);
        // Kept, since messages about other channels count from the first.
        if let (true, Value::Object(channel)) = (is_pointer || is_aimless, channel) {
            channel.insert("target".to_owned(), serde_json::json!({ "node": NOWHERE, "path": "" }));
        }
    }
    let mut warn = |count: usize, problem: &str| {
        if count > 0 {
            warnings.add(format_args!("animations[{index}].channels"), format_args!("{count} {problem}"));
        }
    };
    warn(pointers, "channels animate what a JSON pointer names (KHR_animation_pointer), which is not supported");
    warn(aimless, "channels without a target node or path are ignored");
}

/// Counts what separates values, strings skipped: parsing comes after, since a parsed value takes many times its text.
fn check_value_count(json: &[u8]) -> Result<usize> {
    let mut count = 1_usize;
    let mut rest = json;
    // From string to string, each with the plain text before it: no byte has to ask where it is.
    while !rest.is_empty() {
        let (plain, quoted) = rest.split_at(rest.iter().position(|&byte| byte == b'"').unwrap_or(rest.len()));
        count += plain.iter().filter(|&&byte| matches!(byte, b',' | b'[' | b'{')).count();
        rest = after_string(quoted);
    }
    if count > MAX_JSON_VALUES {
        let problem = format!("about {count} values in the JSON; {MAX_JSON_VALUES} may be read");
        return Err(Fault::NotGltf { problem });
    }
    Ok(count)
}

/// What follows the string that `json` begins with; nothing where it does not end.
fn after_string(json: &[u8]) -> &[u8] {
    let mut rest = json.get(1..).unwrap_or_default();
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) {
        // A backslash takes the byte after it along.
        let (is_end, length) = if rest[at] == b'"' { (true, at + 1) } else { (false, at + 2) };
        rest = rest.get(length..).unwrap_or_default();
        if is_end {
            return rest;
        }
    }
    &[]
}

/// Morph targets may move any attribute (3.7.2.2); the serde structs know only three of them.
fn warn_about_unmorphed(index: usize, mesh: &Map<String, Value>, warnings: &mut Warnings) {
    fn list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
        value.and_then(Value::as_array).into_iter().flatten()
    }
    for primitive in list(mesh.get("primitives")) {
        let attributes = list(primitive.get("targets")).filter_map(Value::as_object).flat_map(Map::keys);
        for name in attributes.filter(|name| !["POSITION", "NORMAL", "TANGENT"].contains(&name.as_str())) {
            let name = name.escape_debug();
            warnings.add(format_args!("meshes[{index}]"), format_args!("morph targets do not change {name} here"));
        }
    }
}

fn objects<'v>(root: &'v mut Map<String, Value>, key: &str) -> impl Iterator<Item = &'v mut Map<String, Value>> {
    root.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}

/// The file's JSON object without its long lists, and these as text.
fn parse_outline(json: &[u8]) -> Result<(Map<String, Value>, LongLists<'_>)> {
    let outline: BTreeMap<String, &RawValue> =
        serde_json::from_slice(json).map_err(|error| match error.classify() {
            // Sound JSON, but no object.
            serde_json::error::Category::Data => Fault::NotGltf { problem: "the JSON is not an object".to_owned() },
            _ => Fault::Json(error),
        })?;
    let (mut object, mut long_lists) = (Map::new(), LongLists::default());
    for (key, text) in outline {
        match key.as_str() {
            "accessors" => long_lists.accessors = Some(text),
            "bufferViews" => long_lists.buffer_views = Some(text),
            "animations" => long_lists.animations = Some(text),
            _ => {
                object.insert(key, serde_json::from_str(text.get()).map_err(Fault::Json)?);
            }
        }
    }
    Ok((object, long_lists))
}

/// The lists that can have thousands of elements.
#[derive(Default)]
struct LongLists<'f> {
    accessors: Option<&'f RawValue>,
    buffer_views: Option<&'f RawValue>,
    animations: Option<&'f RawValue>,
}

fn parse_root(object: &mut Map<String, Value>, long: &LongLists, warnings: &mut Warnings) -> Result<Root> {
    let scene = match object.remove("scene") {
        Some(value) => Some(serde_json::from_value(value).map_err(|error| Fault::content("scene", error))?),
        None => None,
    };
    Ok(Root {
        accessors: parse_long_list(long.accessors, "accessors", |_, _| ())?,
        animations: parse_long_list(long.animations, "animations", |index, animation| {
            relax_animation(index, animation, warnings);
        })?,
        buffers: parse_list(object, "buffers")?,
        buffer_views: parse_long_list(long.buffer_views, "bufferViews", |_, _| ())?,
        images: parse_list(object, "images")?,
        materials: parse_list(object, "materials")?,
        meshes: parse_list(object, "meshes")?,
        nodes: parse_list(object, "nodes")?,
        samplers: parse_list(object, "samplers")?,
        scene,
        scenes: parse_list(object, "scenes")?,
        skins: parse_list(object, "skins")?,
        textures: parse_list(object, "textures")?,
        ..Root::default()
    })
}

fn parse_list<T: DeserializeOwned>(object: &mut Map<String, Value>, key: &str) -> Result<Vec<T>> {
    let elements = match object.remove(key) {
        None => return Ok(Vec::new()),
        Some(Value::Array(elements)) => elements,
        Some(_) => return Err(Fault::content(key, "expected an array")),
    };
    check_length(elements.len(), key)?;
    let parse = |(index, element)| {
        serde_json::from_value(element).map_err(|error| Fault::content(format_args!("{key}[{index}]"), error))
    };
    elements.into_iter().enumerate().map(parse).collect()
}

/// Parses a list from its text, on all cores. What the serde struct refuses is tried again once `relax` has had it; that
/// way the error is the same, and the element's own, whichever way it was found.
fn parse_long_list<T: DeserializeOwned + Send>(
    text: Option<&RawValue>,
    key: &str,
    mut relax: impl FnMut(usize, &mut Value),
) -> Result<Vec<T>> {
    let Some(text) = text else { return Ok(Vec::new()) };
    let elements: Vec<&RawValue> =
        serde_json::from_str(text.get()).map_err(|_| Fault::content(key, "expected an array"))?;
    check_length(elements.len(), key)?;
    // Whole runs of elements, long enough to be worth another thread: most elements take but a microsecond.
    const RUN_BYTES: usize = 1 << 16;
    let run = RUN_BYTES * elements.len() / text.get().len();
    let elements_in_runs = elements.par_iter().with_min_len(run.max(1));
    // The serde struct of a channel takes this path for any unknown one.
    let is_plain = |element: &RawValue| !element.get().contains("\"pointer\"");
    let parse = |element: &&RawValue| if is_plain(element) { serde_json::from_str(element.get()).ok() } else { None };
    let parsed: Vec<Option<T>> = elements_in_runs.map(parse).collect();
    let settle = |(index, (parsed, element)): (usize, (Option<T>, &&RawValue))| {
        parsed.map_or_else(
            || {
                let mut value: Value = serde_json::from_str(element.get()).map_err(Fault::Json)?;
                relax(index, &mut value);
                serde_json::from_value(value).map_err(|error| Fault::content(format_args!("{key}[{index}]"), error))
            },
            Ok,
        )
    };
    parsed.into_iter().zip(&elements).enumerate().map(settle).collect()
}

fn check_length(count: usize, key: &str) -> Result<()> {
    if count > MAX_LIST_ELEMENTS {
        return Err(Fault::unsupported(key, format_args!("{count} elements, at most {MAX_LIST_ELEMENTS} are read")));
    }
    Ok(())
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
            None => match chunk {
                Some(chunk) if index == 0 => Buffer::Chunk(chunk),
                _ => Buffer::Absent,
            },
        };
        let length = match &buffer {
            Buffer::Chunk(bytes) => bytes.len() as u64,
            Buffer::Fetched(bytes) => bytes.len() as u64,
            Buffer::Absent => entry.byte_length.0,
        };
        if length < entry.byte_length.0 {
            let problem = format!("{length} bytes, but byteLength says {}; is it cut short?", entry.byte_length.0);
            return Err(Fault::content(at, problem));
        }
        buffers.push(buffer);
    }
    Ok(buffers)
}
