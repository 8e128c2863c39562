//! The files of `assets/conformance`: each is a small model that goes wrong if one rule of glTF is broken. `README.md` there
//! has the rules and the usual mistakes, and `evaluate.py` the expected numbers.
//!
//! All files are variations of one [`Rig`]: six vertices in three rows, a joint `lower` at the origin, and its child `upper`
//! one metre higher, which the rest pose turns. A case names what is different.

use serde_json::{Map, Value, json};

use super::document::{Document, Usage, matrix_translating_y};

const ROWS: [[f32; 3]; 6] = [
    [-0.25, 0.0, 0.0],
    [0.25, 0.0, 0.125],
    [-0.25, 1.0, 0.0],
    [0.25, 1.0, 0.125],
    [-0.25, 2.0, 0.0],
    [0.25, 2.0, 0.125],
];
const NORMALS: [[f32; 3]; 6] =
    [[0.0, 0.0, 1.0], [0.0, 0.6, 0.8], [0.6, 0.0, 0.8], [0.0, 0.0, 1.0], [-0.6, 0.0, 0.8], [0.0, -0.6, 0.8]];
/// The bottom row follows `lower`, the top row `upper`, and the middle row both.
const JOINTS: [[u8; 4]; 6] = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]];
const WEIGHTS: [[f32; 4]; 6] = [
    [1.0, 0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0, 0.0],
    [0.5, 0.5, 0.0, 0.0],
    [0.25, 0.75, 0.0, 0.0],
    [1.0, 0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0, 0.0],
];

/// Turns about z, as quaternions x, y, z, w.
const TURN_45: [f32; 4] = [0.0, 0.0, 0.382_683_43, 0.923_879_5];
const TURN_90: [f32; 4] = [0.0, 0.0, 0.707_106_77, 0.707_106_77];
const TURN_X_90: [f32; 4] = [0.707_106_77, 0.0, 0.0, 0.707_106_77];
/// A turn of 270 degrees about z: the same rotation as -90 degrees, with a `w` that is negative.
const TURN_270: [f32; 4] = [0.0, 0.0, 0.707_106_77, -0.707_106_77];
const NO_TURN: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

/// One texel that points straight up.
const FLAT_NORMAL_MAP: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mNoaPgPAAODAgA+WCglAAAAAElFTkSuQmCC";

/// A channel of the clip: node, property, interpolation, key times, and the accessor of the values.
type Channel = (usize, &'static str, &'static str, Vec<f32>, usize);

/// A model under construction, with the usual parts.
struct Rig {
    document: Document,
    nodes: Value,
    roots: Value,
    skins: Value,
    meshes: Value,
    channels: Vec<Channel>,
    /// Parts of the file that few cases have.
    others: Map<String, Value>,
}

impl Rig {
    fn new() -> Self {
        let mut document = Document::default();
        let attributes = json!({
            "POSITION": document.floats(&ROWS, Usage::Positions),
            "NORMAL": document.floats(&NORMALS, Usage::Attribute),
            "JOINTS_0": document.joints(&JOINTS),
            "WEIGHTS_0": document.floats(&WEIGHTS, Usage::Attribute),
        });
        let indices = document.triangles(&[[0, 1, 3], [0, 3, 2], [2, 3, 5], [2, 5, 4]]);
        let inverse_binds = document.floats(&[matrix_translating_y(0.0), matrix_translating_y(-1.0)], Usage::Plain);
        Self {
            document,
            nodes: json!([
                { "name": "mesh", "mesh": 0, "skin": 0 },
                { "name": "lower", "children": [2] },
                { "name": "upper", "translation": [0.0, 1.0, 0.0], "rotation": TURN_45 },
            ]),
            roots: json!([0, 1]),
            skins: json!([{ "joints": [1, 2], "inverseBindMatrices": inverse_binds }]),
            meshes: json!([{ "primitives": [{ "attributes": attributes, "indices": indices }] }]),
            channels: Vec::new(),
            others: Map::new(),
        }
    }

    /// Replaces an attribute of the mesh by a new accessor.
    fn attribute(&mut self, name: &str, accessor: usize) {
        self.meshes[0]["primitives"][0]["attributes"][name] = json!(accessor);
    }

    fn weights(&mut self, name: &str, weights: &[[f32; 4]; 6]) {
        let accessor = self.document.floats(weights, Usage::Attribute);
        self.attribute(name, accessor);
    }

    fn joints(&mut self, name: &str, joints: &[[u8; 4]; 6]) {
        let accessor = self.document.joints(joints);
        self.attribute(name, accessor);
    }

    fn inverse_binds(&mut self, matrices: &[[f32; 16]]) -> usize {
        self.document.floats(matrices, Usage::Plain)
    }

    /// Adds a channel with values of `N` numbers.
    fn animate<const N: usize>(
        &mut self,
        target: (usize, &'static str),
        way: &'static str,
        times: &[f32],
        values: &[[f32; N]],
    ) {
        let output = self.document.floats(values, Usage::Plain);
        self.channels.push((target.0, target.1, way, times.to_vec(), output));
    }

    /// Adds two morph targets: the first one raises all vertices and turns their normals, the second one spreads the rows.
    fn morph(&mut self) {
        let raise = self.document.floats(&[[0.0, 0.5, 0.25]; 6], Usage::Positions);
        let turn = self.document.floats(&[[0.5, 0.0, -0.25]; 6], Usage::Attribute);
        let spread = self.document.floats(&ROWS.map(|[x, y, _]| [x * y, 0.0, 0.0]), Usage::Positions);
        self.meshes[0]["primitives"][0]["targets"] =
            json!([{ "POSITION": raise, "NORMAL": turn }, { "POSITION": spread }]);
    }

    /// Turns the skinned mesh into a rigid one on the node `upper`.
    fn make_rigid(&mut self) {
        self.nodes = json!([
            { "name": "sword", "mesh": 0, "translation": [0.0, 0.25, 0.5], "scale": [0.5, 1.0, 2.0] },
            { "name": "lower", "rotation": TURN_X_90, "children": [2] },
            { "name": "upper", "translation": [0.0, 1.0, 0.0], "rotation": TURN_45, "children": [0] },
        ]);
        self.skins = json!([]);
        self.roots = json!([1]);
        if let Some(attributes) = self.meshes[0]["primitives"][0]["attributes"].as_object_mut() {
            attributes.retain(|name, _| !name.starts_with("JOINTS") && !name.starts_with("WEIGHTS"));
        }
    }

    /// Adds tangents of both kinds of handedness, and the normal map that needs them.
    fn tangents(&mut self) {
        let tangents = NORMALS.map(|[x, y, z]| if x == 0.0 { [1.0, 0.0, 0.0, 1.0] } else { [z, y, -x, -1.0] });
        let tangents = self.document.floats(&tangents, Usage::Attribute);
        self.attribute("TANGENT", tangents);
        let tex_coords = self.document.floats(&ROWS.map(|[x, y, _]| [x, y]), Usage::Attribute);
        self.attribute("TEXCOORD_0", tex_coords);
        self.meshes[0]["primitives"][0]["material"] = json!(0);
        let mut put = |key: &str, value: Value| self.others.insert(key.to_owned(), value);
        put("materials", json!([{ "normalTexture": { "index": 0 }, "doubleSided": true }]));
        put("textures", json!([{ "source": 0 }]));
        put("images", json!([{ "uri": FLAT_NORMAL_MAP }]));
    }

    fn finish(mut self) -> anyhow::Result<Vec<u8>> {
        let mut rest = std::mem::take(&mut self.others);
        if !self.channels.is_empty() {
            let (mut samplers, mut channels) = (Vec::new(), Vec::new());
            for (node, path, interpolation, times, output) in std::mem::take(&mut self.channels) {
                let times: Vec<[f32; 1]> = times.into_iter().map(|time| [time]).collect();
                let input = self.document.floats(&times, Usage::KeyTimes);
                channels.push(json!({ "sampler": samplers.len(), "target": { "node": node, "path": path } }));
                samplers.push(match interpolation {
                    // LINEAR is the default.
                    "LINEAR" if path == "scale" => json!({ "input": input, "output": output }),
                    _ => json!({ "input": input, "output": output, "interpolation": interpolation }),
                });
            }
            rest.insert("animations".to_owned(), json!([{ "samplers": samplers, "channels": channels }]));
        }
        if self.skins != json!([]) {
            rest.insert("skins".to_owned(), self.skins);
        }
        rest.insert("scene".to_owned(), json!(0));
        rest.insert("scenes".to_owned(), json!([{ "nodes": self.roots }]));
        rest.insert("nodes".to_owned(), self.nodes);
        rest.insert("meshes".to_owned(), self.meshes);
        self.document.into_gltf(rest)
    }
}

fn bytes(vectors: &[[f32; 3]]) -> Vec<u8> {
    vectors.iter().flatten().flat_map(|value| value.to_le_bytes()).collect()
}

/// A file: its name, and what makes it different from the usual rig.
type Case = (&'static str, fn(&mut Rig));

/// Two keys, and three.
const TWO: [f32; 2] = [0.0, 1.0];
const THREE: [f32; 3] = [0.0, 0.5, 1.0];

/// All cases, in the order of the page.
const CASES: [Case; 44] = [
    // Nodes.
    ("parents_first", |rig| {
        rig.nodes = json!([
            { "name": "upper", "translation": [0.0, 1.0, 0.0], "rotation": TURN_45 },
            { "name": "lower", "rotation": TURN_45, "children": [0] },
            { "name": "mesh", "mesh": 0, "skin": 0 },
        ]);
        rig.skins[0]["joints"] = json!([1, 0]);
        rig.roots = json!([1, 2]);
    }),
    ("ancestor_that_is_no_joint", |rig| {
        rig.nodes = json!([
            { "name": "mesh", "mesh": 0, "skin": 0 },
            { "name": "lower", "children": [3] },
            { "name": "upper", "rotation": TURN_45 },
            { "name": "between", "translation": [0.25, 1.0, 0.0], "rotation": TURN_90, "children": [2] },
            { "name": "armature", "translation": [1.0, 0.0, 0.5], "scale": [2.0, 2.0, 2.0], "children": [1] },
        ]);
        rig.roots = json!([0, 4]);
    }),
    ("node_by_matrix", |rig| {
        // Column by column: a quarter turn about z, then 0.5 m to the right and 1 m up.
        let matrix = [0.0, 1.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.5, 1.0, 0.0, 1.0];
        rig.nodes[2] = json!({ "name": "upper", "matrix": matrix });
    }),
    ("order_of_quaternion", |rig| rig.nodes[2]["rotation"] = json!([0.5, 0.1, 0.7, 0.5])),
    ("order_of_scale_rotation_translation", |rig| rig.nodes[2]["scale"] = json!([2.0, 1.0, 0.5])),
    ("negative_scale", |rig| rig.nodes[2]["scale"] = json!([-2.0, 1.0, 1.0])),
    ("zero_scale", |rig| rig.nodes[2]["scale"] = json!([1.0, 0.0, 1.0])),
    ("shear", |rig| rig.nodes[1]["scale"] = json!([2.0, 0.5, 1.0])),
    // Skins.
    ("mesh_node_has_no_effect", |rig| {
        rig.nodes[0]["translation"] = json!([3.0, 0.0, 0.0]);
        rig.nodes[0]["rotation"] = json!(TURN_X_90);
        rig.nodes[0]["scale"] = json!([2.0, 2.0, 2.0]);
    }),
    ("mesh_below_its_joint", |rig| {
        rig.nodes[1]["translation"] = json!([0.0, 0.5, 0.0]);
        rig.nodes[1]["children"] = json!([2, 0]);
        rig.roots = json!([1]);
    }),
    ("several_roots", |rig| {
        rig.nodes[1] = json!({ "name": "lower", "rotation": TURN_X_90 });
        rig.roots = json!([0, 1, 2]);
    }),
    ("joints_are_indices_of_the_skin", |rig| {
        rig.skins[0]["joints"] = json!([2, 1]);
        let inverse_binds = rig.inverse_binds(&[matrix_translating_y(-1.0), matrix_translating_y(0.0)]);
        rig.skins[0]["inverseBindMatrices"] = json!(inverse_binds);
        rig.joints("JOINTS_0", &JOINTS.map(|joints| joints.map(|joint| 1 - joint)));
    }),
    ("node_in_two_skins", |rig| {
        let inverse_binds = rig.inverse_binds(&[matrix_translating_y(-0.5), matrix_translating_y(0.25)]);
        rig.skins = json!([rig.skins[0], { "joints": [2, 1], "inverseBindMatrices": inverse_binds }]);
        rig.nodes = json!([rig.nodes[0], rig.nodes[1], rig.nodes[2], { "name": "other mesh", "mesh": 0, "skin": 1 }]);
        rig.roots = json!([0, 1, 3]);
    }),
    ("two_meshes_with_one_skin", |rig| {
        let moved = rig.document.floats(&ROWS.map(|[x, y, z]| [x + 1.0, y, z]), Usage::Positions);
        let mut other = rig.meshes[0].clone();
        other["primitives"][0]["attributes"]["POSITION"] = json!(moved);
        rig.meshes = json!([rig.meshes[0], other]);
        rig.nodes = json!([rig.nodes[0], rig.nodes[1], rig.nodes[2], { "name": "other mesh", "mesh": 1, "skin": 0 }]);
        rig.roots = json!([0, 1, 3]);
    }),
    ("no_inverse_binds", |rig| rig.skins[0] = json!({ "joints": [1, 2] })),
    ("inverse_bind_by_columns", |rig| {
        // A quarter turn about z and a way: its transpose is another matrix.
        let mut turned = matrix_translating_y(-1.0);
        (turned[0], turned[1], turned[4], turned[5], turned[12]) = (0.0, 1.0, -1.0, 0.0, 0.5);
        let inverse_binds = rig.inverse_binds(&[matrix_translating_y(0.0), turned]);
        rig.skins[0]["inverseBindMatrices"] = json!(inverse_binds);
    }),
    ("bind_pose_is_not_the_rest_pose", |rig| {
        let inverse_binds = rig.inverse_binds(&[matrix_translating_y(0.5), matrix_translating_y(-0.25)]);
        rig.skins[0]["inverseBindMatrices"] = json!(inverse_binds);
    }),
    // Influences.
    ("joint_listed_twice", |rig| {
        rig.joints("JOINTS_0", &JOINTS.map(|[a, b, ..]| [a, b, a, b]));
        rig.weights("WEIGHTS_0", &WEIGHTS.map(|[a, b, ..]| [a / 2.0, b / 4.0, a / 2.0, b * 0.75]));
    }),
    ("eight_influences", |rig| {
        // The second set alone has the upper joint.
        rig.joints("JOINTS_0", &[[0; 4]; 6]);
        rig.weights("WEIGHTS_0", &WEIGHTS.map(|_| [0.25, 0.25, 0.0, 0.0]));
        rig.joints("JOINTS_1", &[[1, 0, 1, 0]; 6]);
        rig.weights("WEIGHTS_1", &WEIGHTS.map(|[a, ..]| [a / 4.0, 0.25, 0.25 - a / 4.0, 0.0]));
    }),
    ("weights_of_another_sum", |rig| {
        rig.weights("WEIGHTS_0", &WEIGHTS.map(|weights| weights.map(|weight| weight * 0.75)));
    }),
    ("weight_0_with_a_joint_out_of_range", |rig| {
        rig.joints("JOINTS_0", &JOINTS.map(|[a, b, ..]| [a, b, 200, 255]));
    }),
    ("all_weights_0", |rig| {
        let mut weights = WEIGHTS;
        weights[4] = [0.0; 4];
        rig.weights("WEIGHTS_0", &weights);
    }),
    ("weights_in_bytes", |rig| {
        let weights = WEIGHTS.map(|weights| weights.map(|weight| (weight * 255.0) as u8));
        let accessor = rig.document.weights_unorm8(&weights);
        rig.attribute("WEIGHTS_0", accessor);
    }),
    ("weights_and_joints_in_shorts", |rig| {
        let weights: Vec<u8> =
            WEIGHTS.iter().flatten().flat_map(|weight| ((weight * 65535.0) as u16).to_le_bytes()).collect();
        let weights = rig.document.raw(&weights, 5123, ("VEC4", 6), true);
        rig.attribute("WEIGHTS_0", weights);
        let joints: Vec<u8> = JOINTS.iter().flatten().flat_map(|joint| u16::from(*joint).to_le_bytes()).collect();
        let joints = rig.document.raw(&joints, 5123, ("VEC4", 6), false);
        rig.attribute("JOINTS_0", joints);
    }),
    // Accessors.
    ("sparse_positions", |rig| {
        let (places, values) = ([1_u8, 4, 5], [[0.5_f32, 0.0, 0.0], [-0.5, 2.0, 0.5], [0.75, 2.5, 0.0]]);
        let mut moved = ROWS;
        places.iter().zip(values).for_each(|(&place, value)| moved[usize::from(place)] = value);
        let positions = rig.document.floats(&ROWS, Usage::Positions);
        rig.document.sparse(positions, &places, &bytes(&values));
        rig.document.set_bounds(positions, &moved);
        rig.attribute("POSITION", positions);
    }),
    ("sparse_morph_without_a_buffer", |rig| {
        rig.morph();
        let values = [[0.0, 0.0, 1.0], [0.0, 0.5, 0.0]];
        let deltas = rig.document.zeros("VEC3", 6);
        rig.document.sparse(deltas, &[2, 5], &bytes(&values));
        rig.document.set_bounds(deltas, &[values[0], values[1], [0.0; 3]]);
        rig.meshes[0]["primitives"][0]["targets"][0]["POSITION"] = json!(deltas);
        rig.meshes[0]["weights"] = json!([0.5, 1.0]);
    }),
    ("interleaved_attributes", |rig| {
        let pairs: Vec<[f32; 3]> =
            ROWS.into_iter().zip(NORMALS).flat_map(|(position, normal)| [position, normal]).collect();
        let [positions, normals] = rig.document.interleaved(&bytes(&pairs), [("VEC3", 0), ("VEC3", 12)], 6);
        rig.document.set_bounds(positions, &ROWS);
        rig.attribute("POSITION", positions);
        rig.attribute("NORMAL", normals);
    }),
    // Clips.
    ("step", |rig| {
        rig.animate((2, "translation"), "STEP", &THREE, &[[0.0, 1.0, 0.0], [0.5, 1.0, 0.0], [0.0, 2.0, 0.0]])
    }),
    ("linear", |rig| {
        rig.animate((2, "translation"), "LINEAR", &THREE, &[[0.0, 1.0, 0.0], [0.5, 1.0, 0.0], [0.0, 2.0, 0.0]]);
        rig.animate((1, "scale"), "LINEAR", &TWO, &[[1.0, 1.0, 1.0], [2.0, 0.5, 1.5]]);
    }),
    ("slerp_at_constant_speed", |rig| {
        rig.animate((2, "rotation"), "LINEAR", &TWO, &[NO_TURN, [0.0, 0.0, 0.965_925_8, 0.258_819_04]])
    }),
    ("slerp_the_short_way", |rig| rig.animate((2, "rotation"), "LINEAR", &TWO, &[NO_TURN, TURN_270])),
    ("rotations_in_shorts", |rig| {
        let turns = [NO_TURN, TURN_45, TURN_X_90].map(|turn| turn.map(|value| (value * 32767.0) as i16));
        let bytes: Vec<u8> = turns.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
        let output = rig.document.raw(&bytes, 5122, ("VEC4", 3), true);
        rig.channels.push((2, "rotation", "LINEAR", THREE.to_vec(), output));
    }),
    ("spline_with_tangents_per_second", |rig| {
        // In-tangent, value and out-tangent of each key. The intervals have half a second.
        let keys = [
            [0.0; 3],
            [0.0, 1.0, 0.0],
            [4.0, 0.0, 1.0],
            [2.0, 0.0, 0.0],
            [0.5, 1.5, 0.0],
            [0.0, -2.0, 0.0],
            [0.0, 0.0, 3.0],
            [0.0, 2.0, 0.0],
            [0.0; 3],
        ];
        rig.animate((2, "translation"), "CUBICSPLINE", &THREE, &keys);
    }),
    ("spline_of_rotations", |rig| {
        // The signs differ, and stay as they are.
        let keys = [[0.0; 4], NO_TURN, [0.0, 0.0, 1.0, 0.0], [0.0, 0.5, 0.0, -1.0], TURN_270, [0.0; 4]];
        rig.animate((2, "rotation"), "CUBICSPLINE", &TWO, &keys);
    }),
    ("one_key", |rig| rig.animate((2, "rotation"), "LINEAR", &[0.5], &[TURN_90])),
    ("before_the_first_key_and_after_the_last", |rig| {
        rig.animate((2, "translation"), "LINEAR", &[0.25, 0.75], &[[0.5, 1.0, 0.0], [0.0, 2.0, 0.0]]);
        rig.animate((1, "rotation"), "LINEAR", &TWO, &[NO_TURN, TURN_90]);
    }),
    // Morph targets and rigid meshes.
    ("morph_before_skin", |rig| {
        rig.morph();
        rig.nodes[0]["weights"] = json!([0.5, -0.5]);
        rig.meshes[0]["weights"] = json!([1.0, 1.0]);
    }),
    ("morph_weights_of_the_mesh", |rig| {
        rig.morph();
        rig.meshes[0]["weights"] = json!([0.25, 2.0]);
    }),
    ("morph_weights_by_the_clip", |rig| {
        rig.morph();
        rig.meshes[0]["weights"] = json!([1.0, 1.0]);
        // Two numbers for each key; and for a spline, all in-tangents, all values and all out-tangents.
        let keys = [[0.0], [0.0], [0.0], [1.0], [2.0], [0.0], [0.0], [1.0], [1.0], [0.5], [0.0], [0.0]];
        rig.animate((0, "weights"), "CUBICSPLINE", &TWO, &keys);
    }),
    ("morph_weights_in_signed_bytes", |rig| {
        rig.morph();
        // -128 and -127 are both -1.
        let weights = [127_i8, -64, -128, 32].map(i8::cast_unsigned);
        let output = rig.document.raw(&weights, 5120, ("SCALAR", 4), true);
        rig.channels.push((0, "weights", "LINEAR", TWO.to_vec(), output));
    }),
    ("rigid_mesh_under_a_joint", Rig::make_rigid),
    // Tangents and winding.
    ("tangents_and_handedness", |rig| {
        rig.tangents();
        rig.nodes[2]["scale"] = json!([-2.0, 1.0, 1.0]);
        rig.nodes[2]["rotation"] = json!(TURN_X_90);
    }),
    ("tangents_of_morph_targets", |rig| {
        rig.tangents();
        rig.morph();
        let turn = rig.document.floats(&[[0.0, 0.5, 0.5]; 6], Usage::Attribute);
        rig.meshes[0]["primitives"][0]["targets"][0]["TANGENT"] = json!(turn);
        rig.meshes[0]["weights"] = json!([0.5, 1.0]);
    }),
    ("winding_by_pose", |rig| {
        rig.make_rigid();
        rig.animate((2, "scale"), "LINEAR", &TWO, &[[1.0, 1.0, 1.0], [-2.0, 1.0, 1.0]]);
    }),
];

/// Generates all files: the name in `assets`, and the content.
pub fn files() -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let file = |(name, change): &Case| {
        let mut rig = Rig::new();
        change(&mut rig);
        Ok((format!("conformance/{name}.gltf"), rig.finish()?))
    };
    CASES.iter().map(file).collect()
}
