//! Writes the files of attacks: models, JSON texts, and lists of as many elements as fit.

use serde_json::{Value, json};

use super::Attack;
use crate::common::builder::{F32, Gltf};

pub(super) const MIB: usize = 1 << 20;

pub(super) fn accepted(name: &str, file: Vec<u8>) -> Attack {
    Attack { name: name.to_owned(), file, refused: None }
}

pub(super) fn refused(name: &str, why: &'static str, file: Vec<u8>) -> Attack {
    Attack { name: name.to_owned(), file, refused: Some(why) }
}

/// Makes a model without scenes, which shows all of its nodes.
pub(super) fn unlisted() -> Gltf {
    let mut gltf = Gltf::new();
    gltf.json.as_object_mut().unwrap().retain(|key, _| !key.starts_with("scene"));
    gltf
}

pub(super) fn drawn(nodes: usize, primitives: Vec<Value>) -> Gltf {
    let mut gltf = unlisted();
    gltf.json["nodes"] = json!(vec![json!({"mesh": 0}); nodes]);
    gltf.push("meshes", json!({"primitives": primitives}));
    gltf
}

/// Appends an accessor of zeros, which take no bytes of the file; returns its index.
pub(super) fn zeros(gltf: &mut Gltf, shape: &str, count: u64) -> usize {
    gltf.push("accessors", json!({"componentType": F32, "type": shape, "count": count}))
}

pub(super) fn text(members: &str) -> Vec<u8> {
    format!(r#"{{"asset":{{"version":"2.0"}},{members}}}"#).into_bytes()
}

pub(super) fn times(count: usize, element: &str) -> String {
    vec![element; count].join(",")
}

pub(super) fn each(count: usize, element: impl Fn(usize) -> String) -> String {
    (0..count).map(element).collect::<Vec<_>>().join(",")
}

/// Returns as many elements as fit into a file.
pub(super) fn filling(element: &str) -> String {
    times((MIB - 1000) / (element.len() + 1), element)
}
