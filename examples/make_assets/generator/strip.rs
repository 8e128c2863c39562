//! The strip of the Khronos glTF tutorial's chapter on skins ("SimpleSkin"), built from its numbers.
//!
//! It is the smallest model that shows all of skinning: ten vertices in five rows, eight triangles, two joints, weights
//! that pass from the lower joint to the upper one, an inverse bind matrix that is not the identity, and a clip that
//! bends the upper half by a right angle to either side. `docs/skinning.md` works it out by hand. Like the original it
//! has neither normals nor material: readers must supply flat shading and glTF's default material.

use serde_json::{Map, Value, json};

use super::document::{Document, Usage, matrix_translating_y};

/// The number of rows, half a metre apart, of two vertices each.
const ROW_COUNT: u16 = 5;

/// The upper joint's angles, in eighths of a turn, at keys that are half a second apart.
const ANGLES_EIGHTHS: [i32; 12] = [0, 1, 2, 2, 1, 0, 0, -1, -2, -2, -1, 0];

/// Generates `simple_strip.gltf`.
pub fn simple_strip() -> anyhow::Result<Vec<u8>> {
    let mut document = Document::default();
    let (mut positions, mut joints, mut weights, mut triangles) = (vec![], vec![], vec![], vec![]);
    for row in 0..ROW_COUNT {
        // Multiples of a quarter are exact in every format used here.
        let upper_weight = f32::from(row) / 4.0;
        for x in [-0.5, 0.5] {
            positions.push([x, f32::from(row) * 0.5, 0.0]);
            joints.push([0, 1, 0, 0]);
            weights.push([1.0 - upper_weight, upper_weight, 0.0, 0.0]);
        }
        if row + 1 < ROW_COUNT {
            let [left, right, upper_left, upper_right] = [0, 1, 2, 3].map(|corner| 2 * row + corner);
            triangles.extend([[left, right, upper_right], [left, upper_right, upper_left]]);
        }
    }
    // A joint with weight zero should be joint 0 (glTF 2.0, 3.7.3.1).
    joints[0] = [0; 4];
    joints[1] = [0; 4];

    let key_times = (0..12_u8).map(|key| [f32::from(key) * 0.5]).collect::<Vec<_>>();
    let rotations = ANGLES_EIGHTHS.map(rotation_about_z);
    let inverse_binds = [matrix_translating_y(0.0), matrix_translating_y(-1.0)];

    let primitive = json!({
        "attributes": {
            "POSITION": document.floats(&positions, Usage::Positions),
            "JOINTS_0": document.joints(&joints),
            "WEIGHTS_0": document.floats(&weights, Usage::Attribute),
        },
        "indices": document.triangles(&triangles),
    });
    let mut rest = Map::new();
    let mut put = |key: &str, value: Value| rest.insert(key.to_owned(), value);
    put("scene", json!(0));
    put("scenes", json!([{ "nodes": [0, 1] }]));
    put(
        "nodes",
        json!([
            { "name": "strip", "mesh": 0, "skin": 0 },
            { "name": "lower", "children": [2] },
            { "name": "upper", "translation": [0.0, 1.0, 0.0] },
        ]),
    );
    put("meshes", json!([{ "name": "strip", "primitives": [primitive] }]));
    let inverse_bind_accessor = document.floats(&inverse_binds, Usage::Plain);
    put("skins", json!([{ "joints": [1, 2], "inverseBindMatrices": inverse_bind_accessor }]));
    let sampler = json!({
        "input": document.floats(&key_times, Usage::KeyTimes),
        "output": document.floats(&rotations, Usage::Plain),
        "interpolation": "LINEAR",
    });
    let channel = json!({ "sampler": 0, "target": { "node": 2, "path": "rotation" } });
    put("animations", json!([{ "name": "Bend", "samplers": [sampler], "channels": [channel] }]));
    document.into_gltf(rest)
}

/// Returns a rotation as a unit quaternion. The tutorial gives the same angles in three digits (0.383, 0.924, 0.707).
fn rotation_about_z(eighths: i32) -> [f32; 4] {
    let half_angle_cosines = [1.0, 0.923_879_5, std::f32::consts::FRAC_1_SQRT_2];
    let half_angle_sines = [0.0, 0.382_683_43, std::f32::consts::FRAC_1_SQRT_2];
    let magnitude = eighths.unsigned_abs() as usize;
    [0.0, 0.0, half_angle_sines[magnitude] * eighths.signum() as f32, half_angle_cosines[magnitude]]
}
