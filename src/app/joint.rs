//! `--joint` and `--look-at`: from a name or an index to the node of each model.

use std::collections::BTreeSet;

use anyhow::{Result, bail};

use crate::model::{Model, Role, names};
use crate::retarget::humanoid_of;

/// Returns the skeleton node of each model that has a joint called `wanted` ([`names::find`]), or with this glTF node index, or
/// in this role of a humanoid, such as `leftHand`.
pub fn nodes_of_joint(models: &[Model], option: &str, wanted: &str) -> Result<Vec<Option<u32>>> {
    let nodes: Vec<Option<u32>> = models.iter().map(|model| node_of_joint(model, wanted)).collect();
    if nodes.iter().all(Option::is_none) {
        let lists: Vec<String> = models.iter().map(|model| list(model, wanted)).collect();
        bail!("{option} {wanted}: no such joint; there are {}", lists.join("; "));
    }
    Ok(nodes)
}

fn node_of_joint(model: &Model, wanted: &str) -> Option<u32> {
    let joints = joints(model);
    let named =
        names::find(joints.iter().map(|&node| model.skeleton.names.get(node as usize).map(String::as_str)), wanted);
    let indexed = || {
        let index: u32 = wanted.parse().ok()?;
        joints.iter().position(|&node| model.skeleton.source_nodes.get(node as usize) == Some(&index))
    };
    let joint = named.or_else(indexed).and_then(|rank| joints.get(rank).copied());
    joint.or_else(|| {
        let role = Role::all().find(|role| role.name().eq_ignore_ascii_case(wanted))?;
        humanoid_of(model)?.node(role)
    })
}

/// Returns the nodes that are joints of skins in use, parents first.
pub fn joints(model: &Model) -> Vec<u32> {
    let nodes: BTreeSet<u32> = model.palette.joints().map(|entry| model.palette.nodes[entry as usize]).collect();
    nodes.into_iter().collect()
}

/// Lists the joints of a model that are most like `wanted`, with their indices, as in `2 "hips", 3 "spine" in walker.glb`.
fn list(model: &Model, wanted: &str) -> String {
    const MOST_ROLES: usize = 6;
    let named = |node: u32| {
        let name = model.skeleton.names.get(node as usize).map(String::as_str);
        Some((*model.skeleton.source_nodes.get(node as usize)?, name))
    };
    let joints = joints(model);
    if joints.is_empty()
        && let Some(humanoid) = humanoid_of(model)
    {
        let roles: Vec<&str> = humanoid.roles().map(|(role, _)| role.name()).take(MOST_ROLES).collect();
        return format!("roles such as {} in {}", roles.join(", "), model.name);
    }
    format!("{} in {}", names::offer(joints.into_iter().filter_map(named), wanted), model.name)
}
