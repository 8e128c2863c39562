//! From the scene that the user chooses to the nodes that it shows.
//!
//! Source: glTF 2.0, 3.5.1 (scenes).

use gltf::json;

use crate::model::import::decode::Document;
use crate::model::import::error::{Fault, Result, Warnings, look_up};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SceneChoice {
    /// The default scene of the file, else the first one. All nodes if the file has no scenes.
    #[default]
    Default,
    Index(usize),
    Name(String),
}

/// Returns, for each glTF node, whether the chosen scene shows it.
pub(super) fn scene_nodes(document: &Document, choice: &SceneChoice, warnings: &mut Warnings) -> Result<Vec<bool>> {
    let json::Root { nodes, scenes, scene, .. } = &document.root;
    if scenes.is_empty() && *choice == SceneChoice::Default {
        if let Some(scene) = scene {
            let problem = format!("scenes[{}] does not exist, nor does any other; all nodes are shown", scene.value());
            warnings.add("scene", problem);
        }
        return Ok(vec![true; nodes.len()]);
    }
    let index = match choice {
        SceneChoice::Default => Some(scene.map_or(0, |scene| scene.value())),
        SceneChoice::Index(index) => Some(*index).filter(|&index| index < scenes.len()),
        SceneChoice::Name(name) => scenes.iter().position(|scene| scene.name.as_ref() == Some(name)),
    };
    let index = index.ok_or_else(|| no_scene(scenes, choice))?;
    let scene = look_up(scenes, "scenes", index, "scene")?;
    let mut in_scene = vec![false; nodes.len()];
    let mut left = Vec::new();
    for (rank, root) in scene.nodes.iter().enumerate() {
        look_up(nodes, "nodes", root.value(), format_args!("scenes[{index}].nodes[{rank}]"))?;
        left.push(root.value());
    }
    while let Some(node) = left.pop() {
        if !std::mem::replace(&mut in_scene[node], true) {
            left.extend(nodes[node].children.iter().flatten().map(json::Index::value));
        }
    }
    Ok(in_scene)
}

fn no_scene(scenes: &[json::Scene], choice: &SceneChoice) -> Fault {
    /// The largest number of scenes in a message.
    const MOST_LISTED: usize = 20;
    let name = |(index, scene): (usize, &json::Scene)| match &scene.name {
        Some(name) => format!("{index} {name:?}"),
        None => index.to_string(),
    };
    let mut names: Vec<String> = scenes.iter().enumerate().take(MOST_LISTED).map(name).collect();
    if scenes.len() > MOST_LISTED {
        names.push(format!("and {} more", scenes.len() - MOST_LISTED));
    }
    let wanted = match choice {
        SceneChoice::Default => "by default".to_owned(),
        SceneChoice::Index(index) => index.to_string(),
        SceneChoice::Name(name) => format!("{name:?}"),
    };
    let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Fault::content("scenes", format_args!("there is no scene {wanted}; the scenes are: {there}"))
}
