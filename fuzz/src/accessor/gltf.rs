//! From a case to a model file: the accessor in its role, and the data that the role also needs.

use std::sync::OnceLock;

use serde_json::{Value, json};

use super::case::{Case, JOINT_COUNT, MAX_COUNT, Role, SparsePart, View};

/// The index of the accessor under test. The fixed accessors follow it.
const TESTED: usize = 0;

/// The fixed arrays: `MAX_COUNT` elements each, one after the other at the start of the buffer.
#[derive(Clone, Copy)]
enum Fixed {
    /// Distinct positions, which welding does not change.
    Positions,
    /// The joints 0, 1, 2, 3.
    Joints,
    /// Weights, all on the joint whose index is the vertex's number modulo four.
    Weights,
    /// Times in whole seconds.
    Times,
}

impl Case {
    /// Returns the model as a GLB. Its chunk ends with the buffer, without padding, so nothing follows the last byte.
    pub fn glb(&self) -> Vec<u8> {
        let mut json = self.json().to_string().into_bytes();
        json.resize(json.len().next_multiple_of(4), b' ');
        let length = 12 + 8 + json.len() + 8 + self.buffer.len();
        let mut glb = b"glTF".to_vec();
        glb.extend([2, length as u32].iter().flat_map(|word| word.to_le_bytes()));
        for (kind, chunk) in [(b"JSON", &json), (b"BIN\0", &self.buffer)] {
            glb.extend((chunk.len() as u32).to_le_bytes());
            glb.extend(kind);
            glb.extend(chunk);
        }
        glb
    }

    fn json(&self) -> Value {
        let mut views = vec![json!({"buffer": 0, "byteOffset": 0, "byteLength": fixed_bytes().len()})];
        let mut accessors = vec![self.accessor(&mut views)];
        let primitive = self.primitive(&mut accessors);
        let animations = self.animations(&mut accessors);
        let joint_count = if self.role == Role::InverseBinds { self.matrix_count() } else { JOINT_COUNT };
        // Each joint has its own node, so that none share a palette entry.
        let joints: Vec<usize> = (1..=joint_count).collect();
        let mut skin = json!({"joints": joints});
        if self.role == Role::InverseBinds {
            skin["inverseBindMatrices"] = json!(TESTED);
        }
        let mut node = json!({"mesh": 0});
        if matches!(self.role, Role::Joints | Role::Weights) {
            node["skin"] = json!(0);
        }
        let nodes: Vec<Value> = std::iter::once(node).chain(joints.iter().map(|_| json!({}))).collect();
        json!({
            "asset": {"version": "2.0"},
            "extensionsUsed": ["KHR_mesh_quantization"],
            "extensionsRequired": ["KHR_mesh_quantization"],
            "scene": 0,
            "scenes": [{"nodes": (0..nodes.len()).collect::<Vec<_>>()}],
            "nodes": nodes,
            "meshes": [{"primitives": [primitive]}],
            "skins": [skin],
            "animations": animations,
            "accessors": accessors,
            "bufferViews": views,
            "buffers": [{"byteLength": self.buffer.len()}],
        })
    }

    /// Returns the number of joints of the skin whose inverse binds are tested.
    pub fn matrix_count(&self) -> usize {
        self.count.clamp(1, JOINT_COUNT as u64) as usize
    }

    fn accessor(&self, views: &mut Vec<Value>) -> Value {
        let mut accessor = json!({
            "componentType": self.component.code(), "type": self.shape.name(), "count": self.count,
            "normalized": self.normalized,
        });
        if let Some(view) = &self.view {
            accessor["bufferView"] = push_view(views, view);
            accessor["byteOffset"] = json!(view.inner_offset);
        }
        if let Some(SparsePart { count, index_component, indices, values }) = &self.sparse {
            accessor["sparse"] = json!({
                "count": count,
                "indices": {
                    "bufferView": push_view(views, indices), "byteOffset": indices.inner_offset,
                    "componentType": index_component.code(),
                },
                "values": {"bufferView": push_view(views, values), "byteOffset": values.inner_offset},
            });
        }
        accessor
    }

    fn primitive(&self, accessors: &mut Vec<Value>) -> Value {
        let mut fixed = |kind, count| push_fixed(accessors, kind, count);
        let attributes = match self.role {
            Role::Position => json!({"POSITION": TESTED}),
            Role::Normal => json!({"POSITION": fixed(Fixed::Positions, self.count), "NORMAL": TESTED}),
            Role::Color => json!({"POSITION": fixed(Fixed::Positions, self.count), "COLOR_0": TESTED}),
            Role::Joints => json!({
                "POSITION": fixed(Fixed::Positions, self.count), "JOINTS_0": TESTED,
                "WEIGHTS_0": fixed(Fixed::Weights, self.count),
            }),
            Role::Weights => json!({
                "POSITION": fixed(Fixed::Positions, self.count), "JOINTS_0": fixed(Fixed::Joints, self.count),
                "WEIGHTS_0": TESTED,
            }),
            Role::MorphTarget => json!({"POSITION": fixed(Fixed::Positions, self.count)}),
            _ => json!({"POSITION": fixed(Fixed::Positions, MAX_COUNT)}),
        };
        match self.role {
            Role::Indices => json!({"attributes": attributes, "indices": TESTED}),
            Role::MorphTarget => json!({"attributes": attributes, "targets": [{"POSITION": TESTED}]}),
            Role::MorphWeights => {
                let target = fixed(Fixed::Positions, MAX_COUNT);
                json!({"attributes": attributes, "targets": [{"POSITION": target}]})
            }
            _ => json!({"attributes": attributes}),
        }
    }

    fn animations(&self, accessors: &mut Vec<Value>) -> Value {
        let mut fixed = |kind, count| push_fixed(accessors, kind, count);
        let (path, interpolation, input, output) = match self.role {
            Role::KeyTimes => ("translation", "LINEAR", TESTED, fixed(Fixed::Positions, self.count)),
            Role::Translation => ("translation", "LINEAR", fixed(Fixed::Times, self.count), TESTED),
            Role::Rotation => ("rotation", "LINEAR", fixed(Fixed::Times, self.count), TESTED),
            Role::Spline => ("translation", "CUBICSPLINE", fixed(Fixed::Times, self.count / 3), TESTED),
            Role::MorphWeights => ("weights", "LINEAR", fixed(Fixed::Times, self.count), TESTED),
            _ => return json!([]),
        };
        // Node 0 has the mesh.
        let node = if self.role == Role::MorphWeights { 0 } else { 1 };
        json!([{
            "channels": [{"sampler": 0, "target": {"node": node, "path": path}}],
            "samplers": [{"input": input, "output": output, "interpolation": interpolation}],
        }])
    }
}

/// Appends the view; returns its index.
fn push_view(views: &mut Vec<Value>, view: &View) -> Value {
    let mut entry = json!({"buffer": 0, "byteOffset": view.offset, "byteLength": view.length});
    if let Some(stride) = view.stride {
        entry["byteStride"] = json!(stride);
    }
    views.push(entry);
    json!(views.len() - 1)
}

/// Appends an accessor of the first `count` elements, or of all if there are fewer; returns its index.
fn push_fixed(accessors: &mut Vec<Value>, kind: Fixed, count: u64) -> usize {
    let max = MAX_COUNT as usize;
    let (offset, component_type, shape) = match kind {
        Fixed::Positions => (0, 5126, "VEC3"),
        Fixed::Joints => (12 * max, 5121, "VEC4"),
        Fixed::Weights => (16 * max, 5121, "VEC4"),
        Fixed::Times => (20 * max, 5126, "SCALAR"),
    };
    accessors.push(json!({
        "bufferView": 0, "byteOffset": offset, "componentType": component_type, "type": shape,
        "count": count.min(MAX_COUNT), "normalized": matches!(kind, Fixed::Weights),
    }));
    accessors.len() - 1
}

/// Returns the bytes of all fixed arrays.
pub fn fixed_bytes() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let numbers = 0..MAX_COUNT as u8;
        let floats = |number: u8| f32::from(number).to_le_bytes();
        let positions = numbers.clone().flat_map(|k| [floats(k), floats(2), floats(3)].concat());
        let joints = numbers.clone().flat_map(|_| [0, 1, 2, 3]);
        let weights = numbers.clone().flat_map(|k| [0, 1, 2, 3].map(|rank| if k % 4 == rank { 255 } else { 0 }));
        positions.chain(joints).chain(weights).chain(numbers.flat_map(floats)).collect()
    })
}
