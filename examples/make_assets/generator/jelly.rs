//! A jelly: the smallest character that uses every kind of motion.
//!
//! It is a ball on two joints with two morph targets. Its clips key the morph weights with all three interpolations.
//! A loop of lines and a few points are primitives without skin and without targets. So one small model
//! shows morphing before skinning, morph weights of a mesh node, rigid parts next to a skin, and the three topologies.

use serde_json::{Map, Value, json};

use super::document::{Document, Usage, matrix_translating_y, snap, snap_all};

/// The ball's grid, from pole to pole and around the axis. The first and the last column coincide.
const RINGS: u16 = 12;
const COLUMNS: u16 = 18;
/// The radius of the ball, in metres.
const RADIUS: f64 = 0.5;
/// The height of the upper joint: the middle of the ball.
const WAIST: f64 = 0.5;
/// The scale of the target `Squash` at weight 1: wider and lower on the same ground.
const SQUASH: [f64; 3] = [1.3, 0.55, 1.3];
/// The number of bits after the binary point in stored numbers.
const BITS: i32 = 20;

/// Generates `jelly.gltf`.
pub fn jelly() -> anyhow::Result<Vec<u8>> {
    let mut document = Document::default();
    let ball = ball(&mut document);
    let foot = circle(&mut document, 32, 0.72, 0.01);
    let crown = circle(&mut document, 12, 0.3, 1.35);
    let inverse_binds =
        document.floats(&[matrix_translating_y(0.0), matrix_translating_y(-snap(WAIST, BITS))], Usage::Plain);
    let animations = [hop(&mut document), wobble(&mut document), alarm(&mut document)];

    let mut rest = Map::new();
    let mut put = |key: &str, value: Value| rest.insert(key.to_owned(), value);
    put("scene", json!(0));
    put("scenes", json!([{ "nodes": [0, 1, 3, 4] }]));
    put(
        "nodes",
        json!([
            { "name": "jelly", "mesh": 0, "skin": 0 },
            { "name": "base", "children": [2] },
            { "name": "waist", "translation": [0.0, WAIST, 0.0] },
            { "name": "foot", "mesh": 1 },
            { "name": "crown", "mesh": 2 },
        ]),
    );
    put(
        "meshes",
        json!([
            { "name": "jelly", "primitives": [ball], "weights": [0, 0],
              "extras": { "targetNames": ["Squash", "Point"] } },
            { "name": "foot", "primitives": [{ "attributes": { "POSITION": foot }, "mode": 2, "material": 1 }] },
            { "name": "crown", "primitives": [{ "attributes": { "POSITION": crown }, "mode": 0, "material": 2 }] },
        ]),
    );
    let material = |name: &str, color: [f64; 4], roughness: f64| {
        json!({ "name": name, "pbrMetallicRoughness":
            { "baseColorFactor": color, "metallicFactor": 0, "roughnessFactor": roughness } })
    };
    put(
        "materials",
        json!([
            material("jelly", [0.12, 0.5, 0.28, 1.0], 0.3),
            material("line", [0.9, 0.35, 0.05, 1.0], 1.0),
            material("points", [0.7, 0.05, 0.3, 1.0], 1.0),
        ]),
    );
    put("skins", json!([{ "joints": [1, 2], "inverseBindMatrices": inverse_binds }]));
    put("animations", json!(animations));
    document.into_gltf(rest)
}

/// Builds the ball's only primitive.
fn ball(document: &mut Document) -> Value {
    let (mut positions, mut normals, mut joints, mut weights) = (vec![], vec![], vec![], vec![]);
    let (mut squash, mut squash_normals, mut point) = (vec![], vec![], vec![]);
    for ring in 0..=RINGS {
        for column in 0..=COLUMNS {
            let polar = std::f64::consts::PI * f64::from(ring) / f64::from(RINGS);
            let azimuth = std::f64::consts::TAU * f64::from(column % COLUMNS) / f64::from(COLUMNS);
            let normal = [polar.sin() * azimuth.sin(), -polar.cos(), polar.sin() * azimuth.cos()];
            let position = [RADIUS * normal[0], RADIUS * (1.0 + normal[1]), RADIUS * normal[2]];
            positions.push(snap_all(position, BITS));
            normals.push(snap_all(normal, BITS));
            // The influence passes from the lower joint to the upper one from the ground to the top.
            let upper = (position[1] / (2.0 * RADIUS)).clamp(0.0, 1.0);
            let upper = snap(upper * upper * (3.0 - 2.0 * upper), 8);
            joints.push([0, u8::from(upper > 0.0), 0, 0]);
            weights.push([1.0 - upper, upper, 0.0, 0.0]);

            squash.push(snap_all([0, 1, 2].map(|axis| (SQUASH[axis] - 1.0) * position[axis]), BITS));
            let squashed = normalized([0, 1, 2].map(|axis| normal[axis] / SQUASH[axis]));
            squash_normals.push(snap_all([0, 1, 2].map(|axis| squashed[axis] - normal[axis]), BITS));
            // Only the uppermost rings move: most of the target's deltas are zero, as in a face.
            let height = ((position[1] - 0.75) / 0.25).max(0.0);
            point.push(snap_all([0.0, 0.35 * height * height, 0.0], BITS));
        }
    }
    let vertex = |ring: u16, column: u16| ring * (COLUMNS + 1) + column;
    let quads = (0..RINGS).flat_map(|ring| (0..COLUMNS).map(move |column| (ring, column)));
    let triangles: Vec<[u16; 3]> = quads
        .flat_map(|(ring, column)| {
            let [a, b] = [vertex(ring, column), vertex(ring, column + 1)];
            let [c, d] = [vertex(ring + 1, column), vertex(ring + 1, column + 1)];
            // At the poles one of the two triangles has no area.
            [(ring > 0).then_some([a, b, d]), (ring + 1 < RINGS).then_some([a, d, c])]
        })
        .flatten()
        .collect();
    json!({
        "attributes": {
            "POSITION": document.floats(&positions, Usage::Positions),
            "NORMAL": document.floats(&normals, Usage::Attribute),
            "JOINTS_0": document.joints(&joints),
            "WEIGHTS_0": document.floats(&weights, Usage::Attribute),
        },
        "targets": [
            {
                "POSITION": document.floats(&squash, Usage::Positions),
                "NORMAL": document.floats(&squash_normals, Usage::Attribute),
            },
            { "POSITION": document.floats(&point, Usage::Positions) },
        ],
        "indices": document.triangles(&triangles),
        "material": 0,
    })
}

/// Adds positions on a level circle.
fn circle(document: &mut Document, count: u16, radius: f64, height: f64) -> usize {
    let positions: Vec<[f32; 3]> = (0..count)
        .map(|k| {
            let azimuth = std::f64::consts::TAU * f64::from(k) / f64::from(count);
            snap_all([radius * azimuth.sin(), height, radius * azimuth.cos()], BITS)
        })
        .collect();
    document.floats(&positions, Usage::Positions)
}

/// Crouches, jumps and lands, with LINEAR keys of the weights and of the base's translation.
fn hop(document: &mut Document) -> Value {
    let times = [0.0, 0.25, 0.375, 0.625, 0.875, 1.0, 1.25];
    let weights = [0.0, 0.0, 0.9, 0.0, -0.4, 0.3, -0.25, 0.5, -0.4, 0.3, 0.8, 0.0, 0.0, 0.0];
    let heights = [0.0, 0.0, 0.25, 0.75, 0.25, 0.0, 0.0];
    let input = key_times(document, &times);
    let outputs = [
        document.floats(&weights.map(|weight| [weight]), Usage::Plain),
        document.floats(&heights.map(|height| [0.0, height, 0.0]), Usage::Plain),
    ];
    animation("Hop", input, "LINEAR", &[(outputs[0], 0, "weights"), (outputs[1], 1, "translation")])
}

/// Sways from side to side, with CUBICSPLINE keys of the weights and of the waist's rotation.
fn wobble(document: &mut Document) -> Value {
    let times = [0.0, 0.5, 1.0, 1.5, 2.0];
    // Each key has in-tangents, values and out-tangents of both weights: `Squash` breathes, `Point` follows.
    let (squash, slopes) = ([0.0, 0.35, 0.0, -0.2, 0.0], [0.8, 0.0, -0.8, 0.0, 0.8]);
    let weights: Vec<[f32; 1]> = (0..times.len())
        .flat_map(|key| [[slopes[key], 0.0], [squash[key], 0.5 + squash[key]], [slopes[key], 0.0]])
        .flatten()
        .map(|number| [number])
        .collect();
    let (angles, slopes) = ([0.0, 0.3, 0.0, -0.3, 0.0], [0.5, 0.0, -0.5, 0.0, 0.5]);
    let rotations: Vec<[f32; 4]> = (0..times.len())
        .flat_map(|key| {
            let (sin, cos) = f64::sin_cos(angles[key] / 2.0);
            // The tangent is the derivative of (sin, cos) of half the angle.
            let tangent = [0.0, 0.0, slopes[key] / 2.0 * cos, -slopes[key] / 2.0 * sin];
            [tangent, [0.0, 0.0, sin, cos], tangent].map(|quaternion| snap_all(quaternion, 22))
        })
        .collect();
    let input = key_times(document, &times);
    let outputs = [document.floats(&weights, Usage::Plain), document.floats(&rotations, Usage::Plain)];
    animation("Wobble", input, "CUBICSPLINE", &[(outputs[0], 0, "weights"), (outputs[1], 2, "rotation")])
}

/// Gets a fright, with STEP keys of the weights.
fn alarm(document: &mut Document) -> Value {
    let input = key_times(document, &[0.0, 0.25, 0.5, 0.75]);
    let weights = [0.0, 0.0, -0.2, 1.0, 0.6, 0.25, 0.0, 0.0];
    let output = document.floats(&weights.map(|weight| [weight]), Usage::Plain);
    animation("Alarm", input, "STEP", &[(output, 0, "weights")])
}

fn key_times(document: &mut Document, seconds: &[f32]) -> usize {
    let elements: Vec<[f32; 1]> = seconds.iter().map(|&time| [time]).collect();
    document.floats(&elements, Usage::KeyTimes)
}

/// Builds an animation. Each channel is its output accessor, its node and its path.
fn animation(name: &str, input: usize, interpolation: &str, channels: &[(usize, usize, &str)]) -> Value {
    let samplers: Vec<Value> = channels
        .iter()
        .map(|(output, ..)| json!({ "input": input, "output": output, "interpolation": interpolation }))
        .collect();
    let channels: Vec<Value> = channels
        .iter()
        .enumerate()
        .map(|(sampler, (_, node, path))| json!({ "sampler": sampler, "target": { "node": node, "path": path } }))
        .collect();
    json!({ "name": name, "samplers": samplers, "channels": channels })
}

fn normalized(v: [f64; 3]) -> [f64; 3] {
    let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
    v.map(|x| x / length)
}
