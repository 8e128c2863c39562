//! From meshes compressed by Draco to the elements of the accessors that they fill.
//!
//! A primitive with KHR_draco_mesh_compression refers to a stream that holds its triangles and some or all of its
//! attributes. Its accessors give the count and shape of the elements, and have no data (or only a fallback). So
//! decoding fills accessors, and readers of accessors need not know about the compression.
//!
//! The decoder is the `draco-core` crate. It has no `unsafe` code, allocates only in proportion to the bytes of the
//! stream, and takes limits, which are derived here from the accessors. Under 21 million mutated streams, with overflow
//! checks, it never panicked and used no more than a few megabytes. Its results are checked against the accessors.
//!
//! Source: KHR_draco_mesh_compression; Draco bitstream 2.2.

use std::collections::HashMap;
use std::sync::OnceLock;

use draco_core::{DataType, DecodeLimits, DecoderBuffer, Mesh, MeshDecoder, PointIndex};
use gltf::json::Root;
use gltf::json::accessor::ComponentType;
use gltf::json::mesh::{Mode, Primitive};
use gltf::json::validation::Checked;
use serde::Deserialize;

use crate::model::import::error::{Fault, Result, look_up};
use crate::model::import::file::mend::parse_value;

const NAME: &str = "KHR_draco_mesh_compression";
/// The size of the largest component that accessors can have.
const MOST_COMPONENT_BYTES: u64 = 4;
/// The largest number of bytes that decoding may take for each byte of the filled accessors. A stream may hold unused
/// attributes, and some exist in two forms during decoding.
const SLACK: u64 = 16;
const MAX_STREAM_BYTES: u64 = 1 << 30;

/// All Draco streams of a file. Each buffer view is one stream, which several primitives may share.
pub(super) struct DracoStreams {
    pub list: Vec<DracoStream>,
    /// The index in `list` for each glTF accessor that a stream fills.
    filling: HashMap<usize, usize>,
}

pub(super) struct DracoStream {
    /// The glTF index of the buffer view with the stream.
    pub view: usize,
    /// The JSON path of the extension that refers to it.
    pub at: String,
    wanted: Vec<Wanted>,
    /// The decoded accessors by glTF index.
    pub decoded: OnceLock<HashMap<usize, DecodedAccessor>>,
}

/// The tightly packed elements of an accessor.
#[derive(Debug)]
pub(super) struct DecodedAccessor {
    /// The type in the stream, which may differ from that of the accessor.
    pub component_type: ComponentType,
    pub bytes: Vec<u8>,
}

/// An accessor that a stream fills, with the size that it gives.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Wanted {
    /// The glTF index.
    accessor: usize,
    /// The unique id of the attribute; `None` for the indices.
    attribute: Option<u32>,
    count: u64,
    component_count: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Extension {
    buffer_view: usize,
    /// The attribute's unique id for each glTF semantic.
    attributes: HashMap<String, u32>,
}

impl DracoStreams {
    /// Finds the streams of all primitives, without decoding them.
    pub fn find(root: &Root) -> Result<Self> {
        let mut streams = Self { list: Vec::new(), filling: HashMap::new() };
        let mut stream_of_view = HashMap::new();
        for (mesh, entry) in root.meshes.iter().enumerate() {
            for (number, primitive) in entry.primitives.iter().enumerate() {
                let value = primitive.extensions.as_ref().and_then(|extensions| extensions.others.get(NAME));
                let Some(value) = value else { continue };
                let at = format!("meshes[{mesh}].primitives[{number}].extensions.{NAME}");
                let extension = parse_value::<Extension>(value).map_err(|error| Fault::content(&at, error))?;
                let wanted = wanted_of(root, primitive, &extension, &at)?;
                let stream = *stream_of_view.entry(extension.buffer_view).or_insert_with(|| {
                    let view = extension.buffer_view;
                    let stream = DracoStream { view, at: at.clone(), wanted: Vec::new(), decoded: OnceLock::new() };
                    streams.list.push(stream);
                    streams.list.len() - 1
                });
                streams.add(stream, wanted, &at)?;
            }
        }
        Ok(streams)
    }

    fn add(&mut self, stream: usize, wanted: Vec<Wanted>, at: &str) -> Result<()> {
        let Some(entry) = self.list.get_mut(stream) else { return Ok(()) };
        for wanted in wanted {
            match self.filling.insert(wanted.accessor, stream) {
                None => entry.wanted.push(wanted),
                // A second primitive shares the stream.
                Some(before) if before == stream && entry.wanted.contains(&wanted) => {}
                Some(_) => {
                    let problem =
                        format!("accessors[{}] is already filled by another stream or attribute", wanted.accessor);
                    return Err(Fault::content(at, problem));
                }
            }
        }
        Ok(())
    }

    pub fn filling(&self, index: usize) -> Option<&DracoStream> {
        self.list.get(*self.filling.get(&index)?)
    }
}

fn wanted_of(root: &Root, primitive: &Primitive, extension: &Extension, at: &str) -> Result<Vec<Wanted>> {
    // The specification does not say whether the stream of a strip holds the strip or its triangles.
    if primitive.mode != Checked::Valid(Mode::Triangles) {
        return Err(Fault::unsupported(at, "only triangle lists are decoded; convert the model without Draco"));
    }
    let wanted = |accessor: usize, attribute: Option<u32>| {
        let entry = look_up(&root.accessors, "accessors", accessor, at)?;
        let Checked::Valid(shape) = entry.type_ else {
            return Err(Fault::content(format_args!("accessors[{accessor}]"), "unknown type"));
        };
        Ok(Wanted { accessor, attribute, count: entry.count.0, component_count: shape.multiplicity() })
    };
    let indices = primitive.indices.ok_or_else(|| Fault::content(at, "the primitive has no indices"))?;
    let mut all = vec![wanted(indices.value(), None)?];
    for (semantic, accessor) in &primitive.attributes {
        // Attributes that are not in the stream are read from their accessors.
        if let Some(&id) = extension.attributes.get(&semantic.to_string()) {
            all.push(wanted(accessor.value(), Some(id))?);
        }
    }
    Ok(all)
}

impl DracoStream {
    /// Returns the most bytes that the filled accessors can have.
    pub fn accessor_bytes(&self) -> u64 {
        let bytes = |wanted: &Wanted| {
            wanted.count.saturating_mul(wanted.component_count as u64).saturating_mul(MOST_COMPONENT_BYTES)
        };
        self.wanted.iter().map(bytes).fold(0, u64::saturating_add)
    }

    /// Decodes `encoded`, the bytes of the stream's view, into all accessors that the stream fills.
    pub fn decode(&self, encoded: &[u8]) -> Result<HashMap<usize, DecodedAccessor>> {
        let face_count = |wanted: &Wanted| if wanted.attribute.is_none() { wanted.count / 3 } else { 0 };
        let limits = DecodeLimits::default()
            .with_max_faces(self.wanted.iter().map(face_count).max().unwrap_or(0))
            .with_max_decoded_bytes(self.accessor_bytes().saturating_mul(SLACK).min(MAX_STREAM_BYTES));
        let mut mesh = Mesh::new();
        let mut buffer = DecoderBuffer::new(encoded).with_limits(limits);
        let decoded = MeshDecoder::new().decode(&mut buffer, &mut mesh);
        decoded
            .map_err(|error| Fault::content(&self.at, format_args!("the Draco stream cannot be decoded: {error}")))?;
        let fill = |wanted: &Wanted| {
            let filled = match wanted.attribute {
                None => indices_of(&mesh, wanted),
                Some(id) => attribute_of(&mesh, id, wanted),
            };
            let at = || format!("{} (accessors[{}])", self.at, wanted.accessor);
            Ok((wanted.accessor, filled.map_err(|problem| Fault::content(at(), problem))?))
        };
        self.wanted.iter().map(fill).collect()
    }
}

/// Returns the triangles. Their reader checks that the indices are in range, as for any indices.
fn indices_of(mesh: &Mesh, wanted: &Wanted) -> Result<DecodedAccessor, String> {
    let count = 3 * mesh.num_faces() as u64;
    if (count, 1) != (wanted.count, wanted.component_count) {
        return Err(format!("{count} indices in the stream, but the accessor says {}", wanted.count));
    }
    let indices = mesh.faces().as_flattened().iter();
    let bytes = indices.flat_map(|point| point.0.to_le_bytes()).collect();
    Ok(DecodedAccessor { component_type: ComponentType::U32, bytes })
}

fn attribute_of(mesh: &Mesh, id: u32, wanted: &Wanted) -> Result<DecodedAccessor, String> {
    let attribute = mesh.attribute_by_unique_id(id).ok_or_else(|| format!("the stream has no attribute {id}"))?;
    let (count, component_count) = (mesh.num_points(), usize::from(attribute.num_components()));
    if (count as u64, component_count) != (wanted.count, wanted.component_count) {
        return Err(format!(
            "attribute {id} of the stream has {count} elements of {component_count} components, but the accessor \
             says {} of {}",
            wanted.count, wanted.component_count
        ));
    }
    let component_type = match attribute.data_type() {
        DataType::Int8 => ComponentType::I8,
        DataType::Uint8 => ComponentType::U8,
        DataType::Int16 => ComponentType::I16,
        DataType::Uint16 => ComponentType::U16,
        DataType::Uint32 => ComponentType::U32,
        DataType::Float32 => ComponentType::F32,
        other => return Err(format!("attribute {id} of the stream is {other:?}, which accessors cannot hold")),
    };
    // Points may share a value in Draco, but an accessor has one for each.
    let element_bytes = component_count * component_type.size();
    if attribute.byte_stride() != element_bytes as i64 {
        return Err(format!("attribute {id} of the stream is not tightly packed"));
    }
    let values = attribute.buffer().data();
    let mut bytes = Vec::with_capacity(count * element_bytes);
    for point in 0..count as u32 {
        let value = attribute.mapped_index(PointIndex(point)).0 as usize;
        let start = value.checked_mul(element_bytes);
        let element = start.and_then(|start| values.get(start..start.checked_add(element_bytes)?));
        bytes.extend_from_slice(element.ok_or_else(|| format!("attribute {id} of the stream lacks a value"))?);
    }
    Ok(DecodedAccessor { component_type, bytes })
}
