//! Attacks by files of clips: tables of roles, and clips that take long to retarget.

use serde_json::{Map, Value, json};

use super::Attack;
use super::writing::{accepted, refused, unlisted};
use crate::common::builder::Gltf;

/// The roles of a body, with the index of the parent and the place of each node.
const BODY: [(&str, usize, [f32; 3]); 11] = [
    ("hips", 0, [0.0, 1.0, 0.0]),
    ("spine", 0, [0.0, 0.2, 0.0]),
    ("head", 1, [0.0, 0.4, 0.0]),
    ("leftUpperArm", 1, [0.2, 0.2, 0.0]),
    ("leftLowerArm", 3, [0.3, 0.0, 0.0]),
    ("rightUpperArm", 1, [-0.2, 0.2, 0.0]),
    ("rightLowerArm", 5, [-0.3, 0.0, 0.0]),
    ("leftUpperLeg", 0, [0.1, 0.0, 0.0]),
    ("leftLowerLeg", 7, [0.0, -0.5, 0.0]),
    ("rightUpperLeg", 0, [-0.1, 0.0, 0.0]),
    ("rightLowerLeg", 9, [0.0, -0.5, 0.0]),
];

fn roles(bones: &Value, nodes: Vec<Value>) -> Gltf {
    let mut gltf = unlisted();
    gltf.json["extensions"] = json!({"VRMC_vrm_animation": {"humanoid": {"humanBones": bones}}});
    gltf.json["nodes"] = Value::Array(nodes);
    gltf
}

/// Makes a body, with `more` nodes below its head.
fn body(more: usize) -> Gltf {
    let bone = |(node, (role, ..)): (usize, &(&str, usize, [f32; 3]))| ((*role).to_owned(), json!({"node": node}));
    let bones: Map<String, Value> = BODY.iter().enumerate().map(bone).collect();
    let mut nodes: Vec<Value> = BODY.iter().map(|(.., place)| json!({"translation": place, "children": []})).collect();
    let below = (1..BODY.len()).map(|node| (BODY[node].1, node)).chain((0..more).map(|k| (2, BODY.len() + k)));
    below.for_each(|(parent, node)| nodes[parent]["children"].as_array_mut().unwrap().push(json!(node)));
    nodes.resize(BODY.len() + more, json!({}));
    roles(&json!(bones), nodes)
}

/// A body with clips that turn its arms and legs. All clips have the same keys, `step_seconds` apart.
fn dance(more_nodes: usize, clips: usize, keys: usize, step_seconds: f32) -> Vec<u8> {
    let mut gltf = body(more_nodes);
    let channels = [0, 1, 3, 5, 7, 9].map(|node| json!({"sampler": 0, "target": {"node": node, "path": "rotation"}}));
    let clip = json!({"channels": channels, "samplers": [{"input": 0, "output": 1}]});
    gltf.json["animations"] = json!(vec![clip; clips]);
    gltf.f32s("SCALAR", &(0..keys).map(|key| key as f32 * step_seconds).collect::<Vec<_>>());
    let turns = [[0.6, 0.0, 0.8, 0.0], [0.0, 0.8, 0.0, 0.6], [0.0, 0.0, 0.6, 0.8]];
    gltf.f32s("VEC4", (0..keys).map(|key| turns[key % 3]).collect::<Vec<_>>().as_flattened());
    gltf.glb()
}

/// Returns the attacks. Files are refused without clips, or if all clips take too long.
pub fn clip_attacks() -> Vec<Attack> {
    let count = 20_000;
    let bones: Vec<Value> = (0..count).map(|k| json!({"bone": "hips", "node": k})).collect();
    let file = |bones: Value, nodes: usize| roles(&bones, vec![json!({}); nodes]).glb();
    vec![
        refused("table.vrma", "no clips", file(json!(bones), count)),
        refused("node.vrma", "no clips", file(json!({"head": {"node": u32::MAX}}), 0)),
        refused("list.vrma", "no clips", file(json!(7), 0)),
        refused("cut.vrma", "is cut short", dance(0, 1, 100, 0.1)[..700].to_vec()),
        accepted("dance.vrma", dance(0, 1, 100, 0.1)),
        // Between late times there are few numbers.
        accepted("long_keys.vrma", dance(0, 1, 100, 1e6)),
        accepted("many_long_keys.vrma", dance(0, 1000, 100, 1e6)),
        accepted("many_keys.vrma", dance(0, 8, 35_000, 0.001)),
        accepted("many_clips.vrma", dance(0, 2000, 50, 0.5)),
        refused("many_nodes.vrma", "too many keys", dance(4000, 50, 2000, 1.0)),
    ]
}
