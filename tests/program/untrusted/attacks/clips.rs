//! Attacks by files of clips: tables of roles, and clips that take long to retarget.

use super::Attack;
use super::writing::{accepted, accessor, each, glb, refused, text, times, view};

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

/// The extension with a table of roles.
fn roles(bones: &str) -> String {
    format!(r#""extensions":{{"VRMC_vrm_animation":{{"humanoid":{{"humanBones":{bones}}}}}}}"#)
}

/// Returns the roles and the nodes of a body, and `more` nodes below its head.
fn body(more: usize) -> String {
    let bones = each(BODY.len(), |k| format!(r#""{}":{{"node":{k}}}"#, BODY[k].0));
    let node = |k: usize| {
        let (_, _, place) = BODY[k];
        let mut children: Vec<usize> = (1..BODY.len()).filter(|&child| BODY[child].1 == k).collect();
        if BODY[k].0 == "head" {
            children.extend(BODY.len()..BODY.len() + more);
        }
        let children = if children.is_empty() { String::new() } else { format!(r#","children":{children:?}"#) };
        format!(r#"{{"translation":{place:?}{children}}}"#)
    };
    let nodes: Vec<String> = (0..BODY.len()).map(node).chain((0..more).map(|_| "{}".to_owned())).collect();
    format!(r#"{},"nodes":[{}]"#, roles(&format!("{{{bones}}}")), nodes.join(","))
}

/// A body with clips that turn its arms and legs. All clips have the same keys, `step_seconds` apart.
fn dance(more_nodes: usize, clips: usize, keys: usize, step_seconds: f32) -> Vec<u8> {
    let channel = |node: &usize| format!(r#"{{"sampler":0,"target":{{"node":{node},"path":"rotation"}}}}"#);
    let channels: Vec<String> = [0, 1, 3, 5, 7, 9].iter().map(channel).collect();
    let clip = format!(r#"{{"channels":[{}],"samplers":[{{"input":0,"output":1}}]}}"#, channels.join(","));
    let members = format!(
        r#"{},"animations":[{}],"accessors":[{},{}],"bufferViews":[{},{}]"#,
        body(more_nodes),
        times(clips, &clip),
        accessor(0, 5126, "SCALAR", keys),
        accessor(1, 5126, "VEC4", keys),
        view(0, 4 * keys),
        view(4 * keys, 16 * keys)
    );
    let seconds = (0..keys).map(|key| key as f32 * step_seconds);
    let turns = (0..keys).flat_map(|key| [[0.6, 0.0, 0.8, 0.0], [0.0, 0.8, 0.0, 0.6], [0.0, 0.0, 0.6, 0.8]][key % 3]);
    glb(&members, seconds.chain(turns).flat_map(f32::to_le_bytes).collect())
}

/// Returns the attacks. Files are refused for a wrong table of roles, without clips, or if all clips take too long.
pub fn clip_attacks() -> Vec<Attack> {
    let unknown = format!(r#"{{"head":{{"node":{}}}}}"#, u32::MAX);
    let count = 20_000;
    let bones = each(count, |k| format!(r#"{{"bone":"hips","node":{k}}}"#));
    let table = format!(r#"{},"nodes":[{}]"#, roles(&format!("[{bones}]")), times(count, "{}"));
    vec![
        refused("table.vrma", "no clips", text(&table)),
        refused("node.vrma", "humanBones.head.node: nodes[4294967295] does not exist", text(&roles(&unknown))),
        refused("list.vrma", "humanBones: expected an object or a list", text(&roles("7"))),
        refused("cut.vrma", "is cut short", dance(0, 1, 100, 0.1)[..700].to_vec()),
        accepted("dance.vrma", dance(0, 1, 100, 0.1)),
        refused("long_keys.vrma", "too many keys", dance(0, 1, 100, 1e6)),
        refused("many_long_keys.vrma", "too many keys", dance(0, 1000, 100, 1e6)),
        accepted("many_keys.vrma", dance(0, 8, 35_000, 0.001)),
        accepted("many_clips.vrma", dance(0, 2000, 50, 0.5)),
        refused("many_nodes.vrma", "too many keys", dance(4000, 50, 2000, 1.0)),
    ]
}
