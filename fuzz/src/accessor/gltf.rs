//! A case as a model file: the accessor in its role, and beside it what the role needs to go along with.

use std::sync::OnceLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::case::{Case, JOINT_COUNT, MAX_COUNT, Role, SparsePart, View};

/// The accessor under test is the first of the file; what goes along with it is the second, and so on.
const TESTED: usize = 0;

/// Companions: `MAX_COUNT` elements each, one after the other in the second buffer.
#[derive(Clone, Copy)]
enum Fixed {
    /// Distinct, so that welding leaves them alone.
    Positions,
    /// 0, 1, 2, 3.
    Joints,
    /// All of the weight is on the joint whose place is the vertex's number modulo four.
    Weights,
    /// Whole seconds.
    Times,
}

impl Case {
    /// The model as JSON text, with its two buffers in data URIs.
    pub fn gltf(&self) -> String {
        let mut views = vec![json!({"buffer": 1, "byteOffset": 0, "byteLength": fixed_bytes().len()})];
        let mut accessors = vec![self.accessor(&mut views)];
        let primitive = self.primitive(&mut accessors);
        let animations = self.animations(&mut accessors);
        let joint_count = if self.role == Role::InverseBinds { self.matrix_count() } else { JOINT_COUNT };
        let mut skin = json!({"joints": vec![1; joint_count]});
        if self.role == Role::InverseBinds {
            skin["inverseBindMatrices"] = json!(TESTED);
        }
        let mut node = json!({"mesh": 0});
        if matches!(self.role, Role::Joints | Role::Weights) {
            node["skin"] = json!(0);
        }
        json!({
            "asset": {"version": "2.0"},
            "extensionsUsed": ["KHR_mesh_quantization"],
            "extensionsRequired": ["KHR_mesh_quantization"],
            "scene": 0,
            "scenes": [{"nodes": [0, 1]}],
            "nodes": [node, {}],
            "meshes": [{"primitives": [primitive]}],
            "skins": [skin],
            "animations": animations,
            "accessors": accessors,
            "bufferViews": views,
            "buffers": [buffer(&self.buffer, &STANDARD.encode(&self.buffer)), fixed_buffer()],
        })
        .to_string()
    }

    /// Joints of the skin whose inverse binds are tested.
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
            _ => json!({"POSITION": fixed(Fixed::Positions, MAX_COUNT)}),
        };
        match self.role {
            Role::Indices => json!({"attributes": attributes, "indices": TESTED}),
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
            _ => return json!([]),
        };
        json!([{
            "channels": [{"sampler": 0, "target": {"node": 1, "path": path}}],
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

/// Appends an accessor of the first `count` elements, as far as there are so many; returns its index.
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

fn fixed_bytes() -> Vec<u8> {
    let numbers = 0..MAX_COUNT as u8;
    let floats = |number: u8| f32::from(number).to_le_bytes();
    let positions = numbers.clone().flat_map(|k| [floats(k), floats(2), floats(3)].concat());
    let joints = numbers.clone().flat_map(|_| [0, 1, 2, 3]);
    let weights = numbers.clone().flat_map(|k| [0, 1, 2, 3].map(|place| if k % 4 == place { 255 } else { 0 }));
    positions.chain(joints).chain(weights).chain(numbers.flat_map(floats)).collect()
}

fn fixed_buffer() -> Value {
    static BUFFER: OnceLock<Value> = OnceLock::new();
    BUFFER.get_or_init(|| buffer(&fixed_bytes(), &STANDARD.encode(fixed_bytes()))).clone()
}

fn buffer(bytes: &[u8], base64: &str) -> Value {
    json!({"byteLength": bytes.len(), "uri": format!("data:;base64,{base64}")})
}
