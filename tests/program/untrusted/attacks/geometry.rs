//! Attacks by vertices, compressed data, morph targets and skins.

use serde_json::{Value, json};

use super::Attack;
use super::writing::{MIB, accepted, drawn, refused, unlisted, zeros};
use crate::common::builder::{F32, Gltf, U8, U16};
use crate::program::untrusted::images::webp;

pub(super) fn attacks() -> Vec<Attack> {
    [geometry(), compressed(), morphs(), mixed(), skins()].into_iter().flatten().collect()
}

/// Appends an accessor of distinct positions of three bytes per vertex; returns its index.
fn small_positions(gltf: &mut Gltf, count: usize) -> usize {
    let bytes = (0..count as u32).flat_map(|vertex| vertex.to_le_bytes().into_iter().take(3));
    gltf.accessor(U8, "VEC3", count, &bytes.collect::<Vec<u8>>())
}

fn geometry() -> Vec<Attack> {
    /// This is a quarter of the vertices that a small file may have.
    const VERTICES: usize = 1 << 17;
    let shown_by = |nodes: usize| {
        let mut gltf = drawn(nodes, vec![json!({"attributes": {"POSITION": 0, "NORMAL": 0}})]);
        small_positions(&mut gltf, VERTICES);
        gltf.glb()
    };
    // Nodes draw primitives, whose vertices have no data.
    let parts = |nodes: usize, primitives: usize, attributes: Value, vertices: u64| {
        let mut gltf = drawn(nodes, vec![json!({"attributes": attributes}); primitives]);
        zeros(&mut gltf, "VEC3", vertices);
        gltf.glb()
    };
    let some = || json!({"POSITION": 0});
    // A strip has 170,000 indices of one byte each, drawn a dozen times, with three indices for each.
    let strip = |primitives: usize| {
        let mut gltf = drawn(1, vec![json!({"mode": 5, "indices": 0, "attributes": {"POSITION": 1}}); primitives]);
        gltf.accessor(U8, "SCALAR", 170_000, &[0, 1, 2].repeat(60_000)[..170_000]);
        zeros(&mut gltf, "VEC3", 3);
        gltf.glb()
    };
    vec![
        accepted("vertices.glb", shown_by(4)),
        refused("more_vertices.glb", "more vertices", shown_by(5)),
        accepted("parts.glb", parts(2048, 32, some(), 3)),
        refused("more_parts.glb", "more shown primitives", parts(30_000, 20_000, some(), 3)),
        refused("empty_parts.glb", "more shown primitives", parts(30_000, 20_000, json!({}), 3)),
        accepted("zeros.glb", parts(1, 1, some(), 1 << 19)),
        refused("more_zeros.glb", "without a bufferView", parts(1, 1, some(), 1 << 40)),
        accepted("strips.glb", strip(12)),
        refused("more_strips.glb", "more indices", strip(13)),
    ]
}

/// Data of zeros, which meshoptimizer compresses to almost nothing.
fn compressed() -> Vec<Attack> {
    let file = |mib: usize| {
        let elements = vec![[0_u8; 256]; mib * MIB / 256];
        let stream = meshopt::encode_vertex_buffer_level(&elements, 2, Some(1)).unwrap();
        let mut gltf = drawn(1, vec![json!({"attributes": {"POSITION": 0}})]);
        gltf.accessor(F32, "VEC3", elements.len(), &stream);
        let mut view = json!({"buffer": 0, "byteLength": stream.len(), "byteStride": 256});
        (view["count"], view["mode"]) = (json!(elements.len()), json!("ATTRIBUTES"));
        let extensions = json!({"KHR_meshopt_compression": view});
        gltf.json["bufferViews"][0] =
            json!({"buffer": 0, "byteLength": mib * MIB, "byteStride": 256, "extensions": extensions});
        gltf.glb()
    };
    vec![accepted("meshopt.glb", file(64)), refused("more_meshopt.glb", "more bytes of decompressed data", file(65))]
}

/// Every target has the same deltas, none of which is zero.
fn morphs() -> Vec<Attack> {
    const VERTICES: usize = 4096;
    let file = |targets: usize| {
        let targets = vec![json!({"POSITION": 1}); targets];
        let mut gltf = drawn(1, vec![json!({"attributes": {"POSITION": 0}, "targets": targets})]);
        small_positions(&mut gltf, VERTICES);
        gltf.accessor(U8, "VEC3", VERTICES, &[1; 3 * VERTICES]);
        gltf.glb()
    };
    vec![accepted("morphs.glb", file(256)), refused("more_morphs.glb", "more morph target elements", file(257))]
}

/// Files of many kinds of things at once: vertices, texels, morph targets, keys, and more vertices.
fn mixed() -> Vec<Attack> {
    const MORPHED: usize = 4096;
    const KEYS: u64 = 900_000;
    let file = |vertices: usize, values: usize| {
        let mut gltf = drawn(3, vec![json!({"attributes": {"POSITION": 0}, "material": 0})]);
        small_positions(&mut gltf, 1 << 17);
        gltf.push("materials", json!({"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}));
        gltf.encoded_texture(&webp(8192, 4096));

        let position = small_positions(&mut gltf, MORPHED);
        let targets = vec![json!({"POSITION": gltf.accessor(U8, "VEC3", MORPHED, &[1; 3 * MORPHED])}); 256];
        gltf.push("meshes", json!({"primitives": [{"attributes": {"POSITION": position}, "targets": targets}]}));
        gltf.push("nodes", json!({"mesh": 1}));

        let position = small_positions(&mut gltf, vertices);
        gltf.push("meshes", json!({"primitives": [{"attributes": {"POSITION": position}}]}));
        gltf.push("nodes", json!({"mesh": 2}));

        let sampler = json!({"input": zeros(&mut gltf, "SCALAR", KEYS), "output": zeros(&mut gltf, "VEC4", KEYS)});
        let nodes = [0, 1].map(|_| gltf.push("nodes", json!({})));
        let channels = nodes.map(|node| json!({"sampler": 0, "target": {"node": node, "path": "rotation"}}));
        gltf.push("animations", json!({"channels": channels, "samplers": [sampler]}));
        gltf.json["extras"] = json!(vec![json!([]); values]);
        gltf.glb()
    };
    vec![
        accepted("mixed.glb", file(2000, 0)),
        accepted("mixed_large.glb", file(100_000, 0)),
        accepted("mixed_with_values.glb", file(2000, 150_000)),
    ]
}

fn skins() -> Vec<Attack> {
    let mut joints = drawn(1, vec![json!({"attributes": {"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2}})]);
    zeros(&mut joints, "VEC3", 3);
    joints.push("accessors", json!({"componentType": U8, "type": "VEC4", "count": 3}));
    zeros(&mut joints, "VEC4", 3);
    joints.json["nodes"][0]["skin"] = json!(0);
    joints.push("skins", json!({"joints": vec![0; (MIB - 1500) / 2]}));
    // Each skin checks the sparse inverse binds again, with 16 + 2 bytes for each entry.
    let entries = 20_000;
    let sharing = |skins: usize| {
        let mut gltf = unlisted();
        gltf.push("nodes", json!({}));
        let indices = gltf.view(bytemuck::cast_slice(&(0..entries).collect::<Vec<u16>>()));
        let values = gltf.view(&vec![1; 16 * usize::from(entries)]);
        let indices = json!({"bufferView": indices, "componentType": U16});
        let sparse = json!({"count": entries, "indices": indices, "values": {"bufferView": values}});
        gltf.push("accessors", json!({"componentType": U8, "type": "MAT4", "count": entries, "sparse": sparse}));
        gltf.json["skins"] = json!(vec![json!({"joints": [0], "inverseBindMatrices": 0}); skins]);
        gltf.glb()
    };
    vec![
        accepted("joints.glb", joints.glb()),
        accepted("sharing_skins.glb", sharing(800)),
        refused("more_sharing_skins.glb", "more sparse entries", sharing(10_000)),
        accepted("influences.glb", influences(24_000, 43)),
        refused("more_influences.glb", "more joint weights", influences(24_000, 44)),
    ]
}

/// Each vertex has `sets` sets of four joints from one array of bytes. Each set starts one element later.
fn influences(vertices: usize, sets: usize) -> Vec<u8> {
    let mut gltf = drawn(1, vec![json!({"attributes": {"POSITION": 0}})]);
    gltf.f32s("VEC3", &(0..3 * vertices).map(|number| number as f32).collect::<Vec<_>>());
    let bytes = 0..4 * (vertices + sets);
    let joints = gltf.view(&bytes.clone().map(|k| k as u8).collect::<Vec<_>>());
    let weights = gltf.view(&bytes.map(|k| 1 + (k / 7 % 255) as u8).collect::<Vec<_>>());
    for set in 0..sets {
        for (name, view) in [("JOINTS", joints), ("WEIGHTS", weights)] {
            let mut accessor = json!({"bufferView": view, "componentType": U8, "type": "VEC4", "count": vertices});
            (accessor["byteOffset"], accessor["normalized"]) = (json!(4 * set), json!(view == weights));
            gltf.primitive()["attributes"][format!("{name}_{set}")] = json!(gltf.push("accessors", accessor));
        }
    }
    gltf.json["nodes"][0]["skin"] = json!(0);
    gltf.push("skins", json!({"joints": vec![0; 256]}));
    gltf.glb()
}
