//! Assembles `walker.glb` from body, skeleton, texture and clips.
//!
//! The file has one mesh with one primitive and one material, a skin of 25 joints, and four clips. The joints' nodes
//! have only translations, since the joints of the bind pose are not turned.

use glam::DVec3;
use serde_json::{Map, Value, json};

use super::body::body;
use super::clips::clips;
use super::document::{Document, Usage, snap_all};
use super::skeleton::{JOINTS, Joint};
use super::texture::texture_png;

/// The binary grid of lengths (15 micrometres), normals and texture coordinates.
const LENGTH_BITS: i32 = 16;

/// The index of the mesh node. The joints follow in the skin's order.
const MESH_NODE: usize = 0;

/// Returns the index of a joint's node.
#[must_use]
pub fn joint_node(joint: Joint) -> usize {
    MESH_NODE + 1 + joint.index()
}

/// Converts a position or an offset to the file's precision.
#[must_use]
pub fn length(metres: DVec3) -> [f32; 3] {
    snap_all(metres.to_array(), LENGTH_BITS)
}

/// Generates the file.
///
/// # Errors
/// If texture or JSON cannot be encoded, or the mesh has more vertices than 16 bits can number.
pub fn walker() -> anyhow::Result<Vec<u8>> {
    let mut document = Document::default();
    let mut rest = Map::new();
    let mut put = |key: &str, value: Value| rest.insert(key.to_owned(), value);
    put("scene", json!(0));
    put("scenes", json!([{ "name": "walker", "nodes": [MESH_NODE, joint_node(Joint::Hips)] }]));
    put("nodes", nodes());
    put("meshes", json!([{ "name": "walker", "primitives": [primitive(&mut document)?] }]));
    put("skins", json!([skin(&mut document)]));
    put(
        "materials",
        json!([{
            "name": "walker",
            "pbrMetallicRoughness": {
                "baseColorTexture": { "index": 0 }, "metallicFactor": 0.0, "roughnessFactor": 0.7,
            },
        }]),
    );
    put("textures", json!([{ "sampler": 0, "source": 0 }]));
    let (linear, linear_mipmap_linear, clamp_to_edge) = (9729, 9987, 33071);
    put(
        "samplers",
        json!([{
            "magFilter": linear, "minFilter": linear_mipmap_linear, "wrapS": clamp_to_edge, "wrapT": clamp_to_edge,
        }]),
    );
    let image_view = document.buffer_view(&texture_png()?, None);
    put("images", json!([{ "name": "walker", "mimeType": "image/png", "bufferView": image_view }]));
    put("animations", json!(clips(&mut document)));
    document.into_glb(rest)
}

fn nodes() -> Value {
    let mut nodes = vec![json!({ "name": "walker", "mesh": 0, "skin": 0 })];
    for joint in JOINTS {
        let mut node = json!({ "name": joint.name(), "translation": length(joint.offset()) });
        let children = JOINTS.into_iter().filter(|child| child.parent() == Some(joint)).map(joint_node);
        let children = children.collect::<Vec<_>>();
        if !children.is_empty() {
            node["children"] = json!(children);
        }
        nodes.push(node);
    }
    json!(nodes)
}

fn primitive(document: &mut Document) -> anyhow::Result<Value> {
    let mesh = body();
    let positions = mesh.positions.iter().map(|position| length(*position)).collect::<Vec<_>>();
    let normals = mesh.normals.iter().map(|n| snap_all(n.to_array(), LENGTH_BITS)).collect::<Vec<_>>();
    let tex_coords = mesh.tex_coords.iter().map(|t| snap_all(t.to_array(), LENGTH_BITS)).collect::<Vec<_>>();
    let mut triangles = vec![];
    for [a, b, c] in mesh.triangles {
        triangles.push([u16::try_from(a)?, u16::try_from(b)?, u16::try_from(c)?]);
    }
    Ok(json!({
        "attributes": {
            "POSITION": document.floats(&positions, Usage::Positions),
            "NORMAL": document.floats(&normals, Usage::Attribute),
            "TEXCOORD_0": document.floats(&tex_coords, Usage::Attribute),
            "JOINTS_0": document.joints(&mesh.joints),
            "WEIGHTS_0": document.weights_unorm8(&mesh.weights),
        },
        "indices": document.triangles(&triangles),
        "material": 0,
    }))
}

fn skin(document: &mut Document) -> Value {
    // The inverse binds cancel the sums of the nodes' translations, snapped in the same way.
    let mut positions = [[0.0_f32; 3]; JOINTS.len()];
    for joint in JOINTS {
        let parent = joint.parent().map_or([0.0; 3], |parent| positions[parent.index()]);
        let offset = length(joint.offset());
        positions[joint.index()] = [0, 1, 2].map(|axis| parent[axis] + offset[axis]);
    }
    let inverse_binds = positions
        .map(|[x, y, z]| [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0 - x, 0.0 - y, 0.0 - z, 1.0]);
    json!({
        "name": "walker",
        "joints": JOINTS.map(joint_node),
        "inverseBindMatrices": document.floats(&inverse_binds, Usage::Plain),
    })
}
