//! The parsed JSON with its buffers: what all readers of this folder read from.
//!
//! The JSON goes into the serde structs of `gltf::json`, list by list, so that an error names the element. Those
//! structs refuse some sound files; [`relax`] first takes away what they stumble over and we do not read anyhow.
//! Nothing else of the `gltf` crate is used: its readers panic or hang on malformed files.

use std::sync::Arc;

use gltf::json::{self, Root};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::container::Container;
use super::error::{Fault, Result, Warnings};
use super::extensions;
use super::limits::{MAX_JSON_BYTES, MAX_LIST_ELEMENTS};
use super::uri::{Files, UriFault};

/// Parsed file and resolved buffers.
pub(super) struct Document<'f> {
    /// All lists that are read; no index in them has been checked yet.
    pub root: Root,
    /// By glTF buffer index.
    buffers: Vec<Buffer<'f>>,
    /// For images, which are fetched when something uses them.
    pub files: Files,
}

enum Buffer<'f> {
    /// The GLB's BIN chunk.
    Chunk(&'f [u8]),
    /// From a file or a data URI.
    Fetched(Arc<Vec<u8>>),
    /// No URI and no chunk: legal as long as nobody reads it (compression extensions have such placeholders).
    Absent,
}

impl<'f> Document<'f> {
    /// Parses the JSON and fetches every buffer.
    pub fn open(container: &Container<'f>, mut files: Files, warnings: &mut Warnings) -> Result<Self> {
        if container.json.len() > MAX_JSON_BYTES {
            let problem = format!("{} bytes of JSON, at most {MAX_JSON_BYTES} are read", container.json.len());
            return Err(Fault::NotGltf { problem });
        }
        let value: Value = serde_json::from_slice(container.json).map_err(Fault::Json)?;
        let Value::Object(mut object) = value else {
            return Err(Fault::NotGltf { problem: "the JSON is not an object".to_owned() });
        };
        check_version(&object)?;
        extensions::check(&object, warnings)?;
        relax(&mut object, warnings);
        let root = parse_root(&mut object)?;
        let buffers = fetch_buffers(&root, container.binary, &mut files)?;
        Ok(Self { root, buffers, files })
    }

    /// The bytes of a buffer view and its `byteStride`. `at` is the JSON path of whoever refers to it.
    pub fn view(&self, index: usize, at: &str) -> Result<(&[u8], Option<usize>)> {
        let views = &self.root.buffer_views;
        let view = views.get(index).ok_or_else(|| Fault::dangling(at, "bufferViews", index, views.len()))?;
        let here = format!("bufferViews[{index}]");
        let buffer = view.buffer.value();
        let bytes: &[u8] = match self.buffers.get(buffer) {
            Some(Buffer::Chunk(chunk)) => chunk,
            Some(Buffer::Fetched(bytes)) => bytes,
            Some(Buffer::Absent) => return Err(absent_buffer(view, buffer, &here)),
            None => return Err(Fault::dangling(&here, "buffers", buffer, self.buffers.len())),
        };
        let (offset, length) = (view.byte_offset.unwrap_or_default().0, view.byte_length.0);
        let part = offset
            .checked_add(length)
            .and_then(|end| bytes.get(usize::try_from(offset).ok()?..usize::try_from(end).ok()?));
        let part = part.ok_or_else(|| {
            let problem = format!("bytes {offset} + {length} of buffers[{buffer}], which has {}", bytes.len());
            Fault::content(&here, problem)
        })?;
        Ok((part, view.byte_stride.map(|stride| stride.0)))
    }
}

fn absent_buffer(view: &json::buffer::View, buffer: usize, at: &str) -> Fault {
    let compressed = view.extensions.iter().flat_map(|e| e.others.keys()).find(|name| extensions::is_compression(name));
    match compressed {
        Some(name) => {
            let problem = format!("compressed by {name}, which is not supported; convert the model without it");
            Fault::unsupported(at, problem)
        }
        None => Fault::content(at, format_args!("buffers[{buffer}] has neither a uri nor a GLB chunk")),
    }
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
    for (index, animation) in objects(root, "animations").enumerate() {
        let Some(Value::Array(channels)) = animation.get_mut("channels") else { continue };
        let before = channels.len();
        channels.retain(|channel| {
            let target = channel.get("target");
            target.and_then(|t| t.get("node")).is_some() && target.and_then(|t| t.get("path")).is_some()
        });
        let dropped = before - channels.len();
        if dropped > 0 {
            let problem = format!("{dropped} channels without a target node or path are ignored");
            warnings.add(format_args!("animations[{index}].channels"), problem);
        }
    }
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

fn parse_root(object: &mut Map<String, Value>) -> Result<Root> {
    let scene = match object.remove("scene") {
        Some(value) => Some(serde_json::from_value(value).map_err(|error| Fault::content("scene", error))?),
        None => None,
    };
    Ok(Root {
        accessors: parse_list(object, "accessors")?,
        animations: parse_list(object, "animations")?,
        buffers: parse_list(object, "buffers")?,
        buffer_views: parse_list(object, "bufferViews")?,
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
    if elements.len() > MAX_LIST_ELEMENTS {
        let problem = format!("{} elements, at most {MAX_LIST_ELEMENTS} are read", elements.len());
        return Err(Fault::unsupported(key, problem));
    }
    let parse = |(index, element)| {
        serde_json::from_value(element).map_err(|error| Fault::content(format_args!("{key}[{index}]"), error))
    };
    elements.into_iter().enumerate().map(parse).collect()
}

fn fetch_buffers<'f>(root: &Root, chunk: Option<&'f [u8]>, files: &mut Files) -> Result<Vec<Buffer<'f>>> {
    let mut buffers = Vec::with_capacity(root.buffers.len());
    for (index, entry) in root.buffers.iter().enumerate() {
        let at = format!("buffers[{index}]");
        let buffer = match &entry.uri {
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
