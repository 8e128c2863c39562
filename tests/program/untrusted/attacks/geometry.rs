//! Attacks by vertices, compressed data, placements, morph targets and skins.

use super::Attack;
use super::writing::{MIB, accepted, accessor, each, filling, glb, refused, text, times, view};
use crate::program::untrusted::images::webp;

pub(super) fn attacks() -> Vec<Attack> {
    [geometry(), compressed(), placements(), morphs(), mixed(), skins()].into_iter().flatten().collect()
}

/// Returns distinct positions of three bytes per vertex.
fn small_positions(count: usize) -> Vec<u8> {
    (0..count as u32).flat_map(|vertex| vertex.to_le_bytes().into_iter().take(3)).collect()
}

fn geometry() -> Vec<Attack> {
    /// This is a quarter of the vertices that a small file may have.
    const VERTICES: usize = 1 << 17;
    let shown_by = |nodes: usize| {
        let members = format!(
            r#""nodes":[{}],"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0,"NORMAL":0}}}}]}}],
               "accessors":[{}],"bufferViews":[{}]"#,
            times(nodes, r#"{"mesh":0}"#),
            accessor(0, 5121, "VEC3", VERTICES),
            view(0, 3 * VERTICES)
        );
        glb(&members, small_positions(VERTICES))
    };
    // Many nodes draw many primitives, with three vertices or none, without data.
    let parts = |nodes: usize, primitives: usize, primitive: &str| {
        text(&format!(
            r#""nodes":[{}],"meshes":[{{"primitives":[{}]}}],"accessors":[{{"componentType":5126,"type":"VEC3","count":3}}]"#,
            times(nodes, r#"{"mesh":0}"#),
            times(primitives, primitive)
        ))
    };
    let triangle = r#"{"attributes":{"POSITION":0}}"#;
    let zeros = |count: u64| {
        text(&format!(
            r#""nodes":[{{"mesh":0}}],"meshes":[{{"primitives":[{triangle}]}}],
               "accessors":[{{"componentType":5126,"type":"VEC3","count":{count}}}]"#
        ))
    };
    // A strip has 170,000 indices of one byte each, drawn a dozen times, with three indices for each.
    let strip = |primitives: usize| {
        let members = format!(
            r#""nodes":[{{"mesh":0}}],"meshes":[{{"primitives":[{}]}}],"accessors":[{},{{"componentType":5126,"type":"VEC3","count":3}}],
               "bufferViews":[{}]"#,
            times(primitives, r#"{"mode":5,"indices":0,"attributes":{"POSITION":1}}"#),
            accessor(0, 5121, "SCALAR", 170_000),
            view(0, 170_000)
        );
        glb(&members, (0..170_000_u32).map(|k| (k % 3) as u8).collect())
    };
    vec![
        accepted("vertices.glb", shown_by(4)),
        refused("more_vertices.glb", "more vertices", shown_by(5)),
        accepted("parts.gltf", parts(2048, 32, triangle)),
        refused("more_parts.gltf", "more shown primitives", parts(30_000, 20_000, triangle)),
        refused("empty_parts.gltf", "more shown primitives", parts(30_000, 20_000, r#"{"attributes":{}}"#)),
        accepted("zeros.gltf", zeros(1 << 19)),
        refused("more_zeros.gltf", "without a bufferView", zeros(1 << 40)),
        accepted("strips.glb", strip(12)),
        refused("more_strips.glb", "more indices", strip(13)),
    ]
}

/// Data of zeros, which meshoptimizer compresses to almost nothing.
fn compressed() -> Vec<Attack> {
    let file = |mib: usize| {
        let elements = vec![[0_u8; 256]; mib * MIB / 256];
        let stream = meshopt::encode_vertex_buffer_level(&elements, 2, Some(1)).unwrap();
        let says = format!(
            r#"{{"buffer":0,"byteLength":{},"count":{},"byteStride":256,"mode":"ATTRIBUTES"}}"#,
            stream.len(),
            elements.len()
        );
        let members = format!(
            r#""bufferViews":[{{"buffer":0,"byteLength":{},"byteStride":256,"extensions":{{"KHR_meshopt_compression":{says}}}}}],
               "accessors":[{}],"nodes":[{{"mesh":0}}],"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}]"#,
            mib * MIB,
            accessor(0, 5126, "VEC3", elements.len())
        );
        glb(&members, stream)
    };
    vec![accepted("meshopt.glb", file(64)), refused("more_meshopt.glb", "more bytes of decompressed data", file(65))]
}

/// Every target has the same deltas, none of which is zero.
fn morphs() -> Vec<Attack> {
    const VERTICES: usize = 4096;
    let file = |targets: usize| {
        let members = format!(
            r#""nodes":[{{"mesh":0}}],"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"targets":[{}]}}]}}],
               "accessors":[{},{}],"bufferViews":[{},{}]"#,
            times(targets, r#"{"POSITION":1}"#),
            accessor(0, 5121, "VEC3", VERTICES),
            accessor(1, 5121, "VEC3", VERTICES),
            view(0, 3 * VERTICES),
            view(3 * VERTICES, 3 * VERTICES)
        );
        let ones = std::iter::repeat_n(1, 3 * VERTICES);
        glb(&members, small_positions(VERTICES).into_iter().chain(ones).collect())
    };
    vec![accepted("morphs.glb", file(256)), refused("more_morphs.glb", "more morph target elements", file(257))]
}

/// A mesh has a million placements, which take no bytes of the file.
const PLACES: &str = r#"{"componentType":5126,"type":"VEC3","count":1048576}"#;

fn placed(mesh: usize, accessor: usize) -> String {
    format!(
        r#"{{"mesh":{mesh},"extensions":{{"EXT_mesh_gpu_instancing":{{"attributes":{{"TRANSLATION":{accessor}}}}}}}}}"#
    )
}

/// As many placements as possible are drawn, with a warning. The other contents must fit in addition.
fn placements() -> Vec<Attack> {
    let file = |vertices: usize, indices: usize, primitives: usize, nodes: usize| {
        let members = format!(
            r#""nodes":[{}],"meshes":[{{"primitives":[{}]}}],"accessors":[{},{},{PLACES}],"bufferViews":[{},{}]"#,
            times(nodes, &placed(0, 2)),
            times(primitives, r#"{"attributes":{"POSITION":0},"indices":1}"#),
            accessor(0, 5121, "VEC3", vertices),
            accessor(1, 5123, "SCALAR", indices),
            view(0, 3 * vertices),
            view(3 * vertices + vertices % 2, 2 * indices)
        );
        let mut binary = small_positions(vertices);
        binary.resize(3 * vertices + vertices % 2, 0);
        binary.extend((0..indices).flat_map(|k| ((k * 7919 % vertices) as u16).to_le_bytes()));
        glb(&members, binary)
    };
    vec![
        accepted("placements.glb", file(2000, 3000, 1, 1)),
        accepted("dense_placements.glb", file(2000, 300_000, 1, 1)),
        accepted("placements_of_points.glb", file(3, 3, 1, 1)),
        accepted("placements_of_parts.glb", file(100, 300, 50, 2)),
        accepted("two_nodes_of_placements.glb", file(2000, 3000, 1, 2)),
        refused("nodes_of_placements.glb", "more placements", file(2000, 3000, 1, 3)),
    ]
}

/// Files of many kinds of things at once: vertices, texels, morph targets, keys, and placements for the rest of the
/// budget.
fn mixed() -> Vec<Attack> {
    const VERTICES: usize = 1 << 17;
    const MORPHED: usize = 4096;
    const KEYS: usize = 900_000;
    let image = webp(8192, 4096);
    let image_at = 3 * VERTICES + 3 * MORPHED;
    let file = |placed_vertices: usize, extras: &str| {
        let members = format!(
            r#""nodes":[{{"mesh":0}},{{"mesh":0}},{{"mesh":0}},{{"mesh":1}},{},{{}},{{}}],
               "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"material":0}}]}},
                         {{"primitives":[{{"attributes":{{"POSITION":1}},"targets":[{}]}}]}},
                         {{"primitives":[{{"attributes":{{"POSITION":3}}}}]}}],
               "accessors":[{},{},{},{},{PLACES},
                            {{"componentType":5126,"type":"SCALAR","count":{KEYS}}},
                            {{"componentType":5126,"type":"VEC4","count":{KEYS}}}],
               "animations":[{{"channels":[{{"sampler":0,"target":{{"node":5,"path":"rotation"}}}},
                                           {{"sampler":0,"target":{{"node":6,"path":"rotation"}}}}],
                               "samplers":[{{"input":5,"output":6}}]}}],
               "images":[{{"bufferView":2}}],"textures":[{{"source":0}}],
               "materials":[{{"pbrMetallicRoughness":{{"baseColorTexture":{{"index":0}}}}}}],
               "bufferViews":[{},{},{}]{extras}"#,
            placed(2, 4),
            times(256, r#"{"POSITION":2}"#),
            accessor(0, 5121, "VEC3", VERTICES),
            accessor(0, 5121, "VEC3", MORPHED),
            accessor(1, 5121, "VEC3", MORPHED),
            accessor(0, 5121, "VEC3", placed_vertices),
            view(0, 3 * VERTICES),
            view(3 * VERTICES, 3 * MORPHED),
            view(image_at, image.len())
        );
        let ones = std::iter::repeat_n(1, 3 * MORPHED);
        glb(&members, small_positions(VERTICES).into_iter().chain(ones).chain(image.iter().copied()).collect())
    };
    let values = format!(r#","extras":[{}]"#, times(150_000, "[]"));
    vec![
        accepted("mixed.glb", file(2000, "")),
        accepted("mixed_large_placements.glb", file(100_000, "")),
        accepted("mixed_with_values.glb", file(2000, &values)),
    ]
}

fn skins() -> Vec<Attack> {
    let skinned = r#""nodes":[{"mesh":0,"skin":0}],"meshes":[{"primitives":[{"attributes":{"POSITION":0,"JOINTS_0":1,"WEIGHTS_0":2}}]}],
        "accessors":[{"componentType":5126,"type":"VEC3","count":3},{"componentType":5121,"type":"VEC4","count":3},
        {"componentType":5126,"type":"VEC4","count":3}]"#;
    let joints = format!(r#"{skinned},"skins":[{{"joints":[{}]}}]"#, filling("0").split_at(MIB - 2001).0);
    // Each skin checks the sparse inverse binds again, with 16 + 2 bytes for each entry.
    let entries = 20_000;
    let sparse = format!(
        r#"{{"componentType":5121,"type":"MAT4","count":{entries},"sparse":{{"count":{entries},
           "indices":{{"bufferView":0,"componentType":5123}},"values":{{"bufferView":1}}}}}}"#
    );
    let sharing = |skins: usize| {
        let members = format!(
            r#""nodes":[{{}}],"skins":[{}],"accessors":[{sparse}],"bufferViews":[{},{}]"#,
            times(skins, r#"{"joints":[0],"inverseBindMatrices":0}"#),
            view(0, 2 * entries),
            view(2 * entries, 16 * entries)
        );
        let indices = (0..entries as u16).flat_map(u16::to_le_bytes);
        glb(&members, indices.chain(std::iter::repeat_n(1, 16 * entries)).collect())
    };
    vec![
        accepted("joints.gltf", text(&joints)),
        accepted("sharing_skins.glb", sharing(800)),
        refused("more_sharing_skins.glb", "more sparse entries", sharing(10_000)),
        accepted("influences.glb", influences(24_000, 43)),
        refused("more_influences.glb", "more joint weights", influences(24_000, 44)),
    ]
}

/// Each vertex has `sets` sets of four joints from one array of bytes. Each set starts one element later.
fn influences(vertices: usize, sets: usize) -> Vec<u8> {
    let (joints_bytes, weights_bytes) = (4 * (vertices + sets), 4 * (vertices + sets));
    let positions_bytes = 12 * vertices;
    let set = |offset: usize, view: usize, normalized: &str| {
        format!(
            r#"{{"bufferView":{view},"byteOffset":{offset},"componentType":5121,"type":"VEC4","count":{vertices}{normalized}}}"#
        )
    };
    let accessors = [
        accessor(0, 5126, "VEC3", vertices),
        each(sets, |k| set(4 * k, 1, "")),
        each(sets, |k| set(4 * k, 2, r#","normalized":true"#)),
    ];
    let attributes = each(sets, |k| format!(r#""JOINTS_{k}":{},"WEIGHTS_{k}":{}"#, 1 + k, 1 + sets + k));
    let members = format!(
        r#""nodes":[{{"mesh":0,"skin":0}}],"skins":[{{"joints":[{}]}}],
           "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0,{attributes}}}}}]}}],
           "accessors":[{}],"bufferViews":[{},{},{}]"#,
        times(256, "0"),
        accessors.join(","),
        view(0, positions_bytes),
        view(positions_bytes, joints_bytes),
        view(positions_bytes + joints_bytes, weights_bytes)
    );
    let positions = (0..3 * vertices).flat_map(|number| (number as f32).to_le_bytes());
    let joints = (0..joints_bytes).map(|k| k as u8);
    let weights = (0..weights_bytes).map(|k| 1 + (k / 7 % 255) as u8);
    glb(&members, positions.chain(joints).chain(weights).collect())
}
