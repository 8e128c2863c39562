//! `--joint`: from a name or an index to the node of each model.

use anyhow::{Result, bail};

use crate::model::Model;
use crate::model::text::shortened;

/// Returns the skeleton node of each model that has a joint called `wanted`, or with this glTF node index. Of several nodes
/// with one name the first counts.
pub fn nodes_of_joint(models: &[Model], wanted: &str) -> Result<Vec<Option<u32>>> {
    let nodes: Vec<Option<u32>> = models.iter().map(|model| node_of_joint(model, wanted)).collect();
    if nodes.iter().all(Option::is_none) {
        let lists: Vec<String> = models.iter().map(list).collect();
        bail!("--joint {wanted}: no such joint; there are {}", lists.join("; "));
    }
    Ok(nodes)
}

fn node_of_joint(model: &Model, wanted: &str) -> Option<u32> {
    let skeleton = &model.skeleton;
    let named = |node: &u32| skeleton.names.get(*node as usize).is_some_and(|name| name == wanted);
    let index: Option<u32> = wanted.parse().ok();
    let indexed = |node: &u32| index.is_some() && skeleton.source_nodes.get(*node as usize) == index.as_ref();
    let joints = joints(model);
    joints.iter().copied().find(named).or_else(|| joints.iter().copied().find(indexed))
}

/// Returns the nodes that are joints of skins in use, parents first.
pub fn joints(model: &Model) -> Vec<u32> {
    let mut nodes: Vec<u32> = model.palette.joints().map(|entry| model.palette.nodes[entry as usize]).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// Lists the joints of a model with their indices, for example `2 "hips", 3 "spine" in walker.glb`.
fn list(model: &Model) -> String {
    const MAX_CHARS: usize = 2000;
    let name = |node: u32| {
        let (index, name) = (model.skeleton.source_nodes.get(node as usize)?, model.skeleton.names.get(node as usize)?);
        Some(format!("{index} {name:?}"))
    };
    let names = joints(model).into_iter().filter_map(name).collect::<Vec<_>>().join(", ");
    let names = if names.is_empty() { "none".to_owned() } else { shortened(&names, MAX_CHARS) };
    format!("{names} in {}", model.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::import;

    #[test]
    fn joints_have_names_and_indices() {
        let walker = import::load_glb("walker.glb", include_bytes!("../../assets/walker.glb")).unwrap();
        let models = [walker];
        let model = &models[0];
        for node in joints(model) {
            let (name, index) = (&model.skeleton.names[node as usize], model.skeleton.source_nodes[node as usize]);
            assert_eq!(nodes_of_joint(&models, name).unwrap(), [Some(node)]);
            assert_eq!(nodes_of_joint(&models, &index.to_string()).unwrap(), [Some(node)]);
        }
        let error = nodes_of_joint(&models, "tail").unwrap_err().to_string();
        let first = &model.skeleton.names[joints(model)[0] as usize];
        assert!(error.contains("--joint tail") && error.contains(&format!("{first:?}")), "{error}");
        let error = nodes_of_joint(&[Model::default()], "x").unwrap_err().to_string();
        assert!(error.contains("none in"), "{error}");
    }
}
