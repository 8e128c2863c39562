//! A small glTF 2.0 writer: one buffer, one buffer view per accessor.
//!
//! It handles the tedious parts that are easy to get wrong: alignment to four bytes (3.6.2.4), `target` only for
//! vertices and indices (5.11.5), `min`/`max` where the specification requires them (5.1.6, 5.1.7), and the padding of
//! the GLB container (4.4). The caller gives the buffers their *meaning*: it writes nodes, meshes, skins and animations
//! as plain JSON, so that a reader of this example sees glTF itself.

use base64::Engine;
use serde_json::{Map, Value, json};

/// The use of an accessor, which decides its `target` and its bounds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// A vertex attribute without bounds.
    Attribute,
    /// The attribute POSITION.
    Positions,
    /// The input of an animation sampler, in seconds.
    KeyTimes,
    /// The output of an animation sampler, or inverse bind matrices.
    Plain,
}

/// A glTF file under construction.
#[derive(Default)]
pub struct Document {
    binary: Vec<u8>,
    buffer_views: Vec<Value>,
    accessors: Vec<Value>,
}

const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;
const FLOAT: u32 = 5126;
const UNSIGNED_BYTE: u32 = 5121;
const UNSIGNED_SHORT: u32 = 5123;

impl Document {
    /// Adds an accessor of `COMPONENTS` floats per element: SCALAR, VEC2, VEC3, VEC4 or MAT4. Returns its index.
    pub fn floats<const COMPONENTS: usize>(&mut self, elements: &[[f32; COMPONENTS]], usage: Usage) -> usize {
        let bytes = elements.as_flattened().iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>();
        let target = matches!(usage, Usage::Attribute | Usage::Positions).then_some(ARRAY_BUFFER);
        let mut accessor = json!({
            "bufferView": self.buffer_view(&bytes, target),
            "componentType": FLOAT,
            "count": elements.len(),
            "type": match COMPONENTS { 1 => "SCALAR", 16 => "MAT4", 2 => "VEC2", 3 => "VEC3", _ => "VEC4" },
        });
        if matches!(usage, Usage::Positions | Usage::KeyTimes) {
            let bound = |pick: fn(f32, f32) -> f32| -> Vec<f32> {
                (0..COMPONENTS).filter_map(|c| elements.iter().map(|e| e[c]).reduce(pick)).collect()
            };
            accessor["min"] = json!(bound(f32::min));
            accessor["max"] = json!(bound(f32::max));
        }
        self.push_accessor(accessor)
    }

    /// Adds JOINTS_n. Returns the accessor's index.
    pub fn joints(&mut self, joints: &[[u8; 4]]) -> usize {
        let buffer_view = self.buffer_view(joints.as_flattened(), Some(ARRAY_BUFFER));
        self.push_accessor(json!({
            "bufferView": buffer_view, "componentType": UNSIGNED_BYTE, "count": joints.len(), "type": "VEC4",
        }))
    }

    /// Adds WEIGHTS_n as normalised bytes: 255 is 1. Returns the accessor's index.
    pub fn weights_unorm8(&mut self, weights: &[[u8; 4]]) -> usize {
        let buffer_view = self.buffer_view(weights.as_flattened(), Some(ARRAY_BUFFER));
        self.push_accessor(json!({
            "bufferView": buffer_view, "componentType": UNSIGNED_BYTE, "normalized": true, "count": weights.len(),
            "type": "VEC4",
        }))
    }

    /// Adds the indices of triangles. Returns the accessor's index.
    pub fn triangles(&mut self, triangles: &[[u16; 3]]) -> usize {
        let bytes = triangles.as_flattened().iter().flat_map(|index| index.to_le_bytes()).collect::<Vec<_>>();
        let buffer_view = self.buffer_view(&bytes, Some(ELEMENT_ARRAY_BUFFER));
        self.push_accessor(json!({
            "bufferView": buffer_view, "componentType": UNSIGNED_SHORT, "count": triangles.len() * 3, "type": "SCALAR",
        }))
    }

    /// Adds an accessor of numbers in any format: `component_type`, then the type and the number of elements.
    pub fn raw(&mut self, bytes: &[u8], component_type: u32, (ty, count): (&str, usize), normalized: bool) -> usize {
        let buffer_view = self.buffer_view(bytes, None);
        let mut accessor =
            json!({ "bufferView": buffer_view, "componentType": component_type, "count": count, "type": ty });
        if normalized {
            accessor["normalized"] = json!(true);
        }
        self.push_accessor(accessor)
    }

    /// Adds an accessor of floats without a buffer: all are 0.
    pub fn zeros(&mut self, ty: &str, count: usize) -> usize {
        self.push_accessor(json!({ "componentType": FLOAT, "count": count, "type": ty }))
    }

    /// Adds accessors of floats whose elements take turns in one buffer view. Each has its type and its first byte.
    pub fn interleaved<const N: usize>(&mut self, bytes: &[u8], parts: [(&str, usize); N], count: usize) -> [usize; N] {
        let buffer_view = self.buffer_view(bytes, Some(ARRAY_BUFFER));
        self.buffer_views[buffer_view]["byteStride"] = json!(bytes.len() / count);
        parts.map(|(ty, byte_offset)| {
            let accessor = json!({
                "bufferView": buffer_view, "byteOffset": byte_offset, "componentType": FLOAT, "count": count, "type": ty,
            });
            self.push_accessor(accessor)
        })
    }

    /// Sets the bounds of an accessor of positions: the least and the greatest numbers of its elements.
    pub fn set_bounds(&mut self, accessor: usize, positions: &[[f32; 3]]) {
        for (name, pick) in [("min", f32::min as fn(f32, f32) -> f32), ("max", f32::max)] {
            let bounds = [0, 1, 2].map(|axis| positions.iter().map(|position| position[axis]).reduce(pick));
            self.accessors[accessor][name] = json!(bounds);
        }
    }

    /// Replaces elements of an accessor, whose numbers are `values`.
    pub fn sparse(&mut self, accessor: usize, places: &[u8], values: &[u8]) {
        let (indices, values) = (self.buffer_view(places, None), self.buffer_view(values, None));
        self.accessors[accessor]["sparse"] = json!({
            "count": places.len(),
            "indices": { "bufferView": indices, "componentType": UNSIGNED_BYTE },
            "values": { "bufferView": values },
        });
    }

    /// Adds bytes, aligned to four as every component type needs. Returns the buffer view's index.
    pub fn buffer_view(&mut self, bytes: &[u8], target: Option<u32>) -> usize {
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        let mut view = json!({ "buffer": 0, "byteOffset": self.binary.len(), "byteLength": bytes.len() });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.binary.extend_from_slice(bytes);
        self.buffer_views.push(view);
        self.buffer_views.len() - 1
    }

    fn push_accessor(&mut self, accessor: Value) -> usize {
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Returns the whole file as text, with the buffer in a data URI. `rest` holds the top-level properties except
    /// asset, buffers, bufferViews and accessors.
    ///
    /// # Errors
    /// If the JSON cannot be written.
    pub fn into_gltf(self, rest: Map<String, Value>) -> anyhow::Result<Vec<u8>> {
        let payload = base64::engine::general_purpose::STANDARD.encode(&self.binary);
        let uri = format!("data:application/octet-stream;base64,{payload}");
        let buffer = json!({ "byteLength": self.binary.len(), "uri": uri });
        let mut text = serde_json::to_vec_pretty(&self.root(buffer, rest))?;
        text.push(b'\n');
        Ok(text)
    }

    /// Returns the file as GLB: a 12-byte header, a JSON chunk padded with spaces, a binary chunk padded with zeros.
    ///
    /// # Errors
    /// If the JSON cannot be written, or the file would be larger than 4 GiB.
    pub fn into_glb(mut self, rest: Map<String, Value>) -> anyhow::Result<Vec<u8>> {
        let buffer = json!({ "byteLength": self.binary.len() });
        let mut json_chunk = serde_json::to_vec(&self.root(buffer, rest))?;
        json_chunk.resize(json_chunk.len().next_multiple_of(4), b' ');
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);

        let mut file = Vec::new();
        file.extend_from_slice(b"glTF");
        file.extend_from_slice(&2_u32.to_le_bytes());
        file.extend_from_slice(&u32::try_from(12 + 8 + json_chunk.len() + 8 + self.binary.len())?.to_le_bytes());
        for (kind, chunk) in [(b"JSON", &json_chunk), (b"BIN\0", &self.binary)] {
            file.extend_from_slice(&u32::try_from(chunk.len())?.to_le_bytes());
            file.extend_from_slice(kind);
            file.extend_from_slice(chunk);
        }
        Ok(file)
    }

    fn root(&self, buffer: Value, rest: Map<String, Value>) -> Value {
        let mut root = rest;
        root.insert(
            "asset".to_owned(),
            json!({
                "version": "2.0",
                "generator": "Throng's examples/make_assets",
                "copyright": "CC0-1.0: no rights reserved",
            }),
        );
        root.insert("buffers".to_owned(), json!([buffer]));
        root.insert("bufferViews".to_owned(), json!(self.buffer_views));
        root.insert("accessors".to_owned(), json!(self.accessors));
        Value::Object(root)
    }
}

/// Rounds to a multiple of 2^-`bits`. This removes differences between platforms in the last bits of an f64. The result
/// is exact in an f32 if it has at most 24 significant bits.
#[must_use]
pub fn snap(value: f64, bits: i32) -> f32 {
    let grid = f64::from(bits).exp2();
    // Adding zero turns -0 into 0.
    ((value * grid).round() / grid + 0.0) as f32
}

/// Applies [`snap`] to each component.
#[must_use]
pub fn snap_all<const N: usize>(values: [f64; N], bits: i32) -> [f32; N] {
    values.map(|value| snap(value, bits))
}

/// Returns a translation along y, column-major: the inverse bind matrix of an upright joint at height `-y`.
#[must_use]
pub fn matrix_translating_y(y: f32) -> [f32; 16] {
    let mut matrix = [0.0; 16];
    for diagonal in [0, 5, 10, 15] {
        matrix[diagonal] = 1.0;
    }
    matrix[13] = y;
    matrix
}
