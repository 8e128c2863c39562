//! From the JSON object to the facts about a file that only reports show: its generator, scenes, cameras and lights.
//!
//! Reading them cannot fail: a malformed property counts as absent.

use serde_json::{Map, Value};

use crate::model::SourceFile;

/// Reads all fields except the extensions and the images, which other readers fill in.
pub fn read(root: &Map<String, Value>) -> SourceFile {
    let of_asset = |key: &str| root.get("asset")?.get(key)?.as_str().map(str::to_owned);
    let scenes = names(root.get("scenes"));
    let shown_scene = match root.get("scene").and_then(Value::as_u64) {
        _ if scenes.is_empty() => None,
        // The first scene is the default, as in `motion::scene`.
        named => u32::try_from(named.unwrap_or(0)).ok(),
    };
    let lights = root.get("extensions").and_then(|all| all.get("KHR_lights_punctual")?.get("lights"));
    SourceFile {
        generator: of_asset("generator"),
        copyright: of_asset("copyright"),
        scenes,
        shown_scene,
        cameras: names(root.get("cameras")),
        lights: names(lights),
        ..SourceFile::default()
    }
}

fn names(list: Option<&Value>) -> Vec<Option<String>> {
    let name = |element: &Value| element.get("name").and_then(Value::as_str).map(str::to_owned);
    list.and_then(Value::as_array).into_iter().flatten().map(name).collect()
}
