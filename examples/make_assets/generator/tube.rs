//! A tube on two joints: an arm without a body, for the lesson on ways to blend joints.
//!
//! The clip `Bend` bends it like an elbow, and `Twist` turns its upper half about its own axis, as a wrist turns the
//! forearm. Stripes along the tube show the twist.

use std::f64::consts::TAU;

use serde_json::{Map, Value, json};

use super::document::{Document, Usage, matrix_translating_y, snap, snap_all};

const RINGS: u16 = 40;
const COLUMNS: u16 = 24;
const LENGTH: f64 = 2.0;
const RADIUS: f64 = 0.25;
/// The height of the upper joint.
const JOINT: f64 = 1.0;
/// The influence passes from the lower joint to the upper one within this distance from the joint.
const REACH: f64 = 0.4;
/// The number of bits after the binary point in stored numbers.
const BITS: i32 = 16;

/// Generates `tube.gltf`.
pub fn tube() -> anyhow::Result<Vec<u8>> {
    let mut document = Document::default();
    let (mut positions, mut normals, mut colors, mut joints, mut weights) = (vec![], vec![], vec![], vec![], vec![]);
    let mut triangles = vec![];
    for ring in 0..=RINGS {
        let height = LENGTH * f64::from(ring) / f64::from(RINGS);
        let upper = snap((0.5 + 0.5 * (height - JOINT) / REACH).clamp(0.0, 1.0), 8);
        for column in 0..COLUMNS {
            let azimuth = TAU * f64::from(column) / f64::from(COLUMNS);
            let normal = [azimuth.sin(), 0.0, azimuth.cos()];
            positions.push(snap_all([RADIUS * normal[0], height, RADIUS * normal[2]], BITS));
            normals.push(snap_all(normal, BITS));
            colors.push(if column % 4 < 2 { [0.75, 0.25, 0.125] } else { [0.875, 0.75, 0.5] });
            joints.push([0, u8::from(upper > 0.0), 0, 0]);
            weights.push([1.0 - upper, upper, 0.0, 0.0]);
            let next = (column + 1) % COLUMNS;
            let [a, b] = [column, next].map(|column| ring * COLUMNS + column);
            if ring < RINGS {
                triangles.extend([[a, b, b + COLUMNS], [a, b + COLUMNS, a + COLUMNS]]);
            }
        }
    }
    let primitive = json!({
        "attributes": {
            "POSITION": document.floats(&positions, Usage::Positions),
            "NORMAL": document.floats(&normals, Usage::Attribute),
            "COLOR_0": document.floats(&colors, Usage::Attribute),
            "JOINTS_0": document.joints(&joints),
            "WEIGHTS_0": document.floats(&weights, Usage::Attribute),
        },
        "indices": document.triangles(&triangles),
        "material": 0,
    });
    let inverse_binds =
        document.floats(&[matrix_translating_y(0.0), matrix_translating_y(-snap(JOINT, BITS))], Usage::Plain);
    // To 120 degrees about z, and to 180 degrees about y, both in one second.
    let animations = json!([
        turn(&mut document, "Bend", [0.0, 0.0, -0.866_025_4, 0.5]),
        turn(&mut document, "Twist", [0.0, 1.0, 0.0, 0.0]),
    ]);
    let mut rest = Map::new();
    let mut put = |key: &str, value: Value| rest.insert(key.to_owned(), value);
    put("scene", json!(0));
    put("scenes", json!([{ "nodes": [0, 1] }]));
    let nodes = json!([
        { "name": "tube", "mesh": 0, "skin": 0 },
        { "name": "lower", "children": [2] },
        { "name": "upper", "translation": [0.0, JOINT, 0.0] },
    ]);
    put("nodes", nodes);
    put("meshes", json!([{ "name": "tube", "primitives": [primitive] }]));
    put("materials", json!([{ "name": "tube", "doubleSided": true, "pbrMetallicRoughness": { "metallicFactor": 0 } }]));
    put("skins", json!([{ "joints": [1, 2], "inverseBindMatrices": inverse_binds }]));
    put("animations", animations);
    document.into_gltf(rest)
}

/// Turns the upper joint in one second.
fn turn(document: &mut Document, name: &str, rotation: [f32; 4]) -> Value {
    let sampler = json!({
        "input": document.floats(&[[0.0], [1.0]], Usage::KeyTimes),
        "output": document.floats(&[[0.0, 0.0, 0.0, 1.0], rotation], Usage::Plain),
    });
    json!({ "name": name, "samplers": [sampler], "channels": [{ "sampler": 0, "target": { "node": 2, "path": "rotation" } }] })
}
