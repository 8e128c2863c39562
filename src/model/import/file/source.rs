//! What the file says of itself and what nobody here reads, for reports: names and counts, straight from the JSON.
//!
//! Nothing here can fail: whatever is malformed in what is not read is as good as absent.

use serde_json::{Map, Value};

use crate::model::SourceFile;

/// All but the extensions and the images, which their readers know best.
pub fn read(root: &Map<String, Value>) -> SourceFile {
    let of_asset = |key: &str| root.get("asset")?.get(key)?.as_str().map(str::to_owned);
    let scenes = names(root.get("scenes"));
    let shown_scene = match root.get("scene").and_then(Value::as_u64) {
        _ if scenes.is_empty() => None,
        // As in `nodes`: the first one, where the file does not say.
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
