//! Files of at most one MiB that take as much memory or time as possible. They use every known way to turn few bytes
//! into many or into long work, up to the limit that bounds it and beyond.

use crate::images::{png, progressive_jpeg, webp};

/// A file, and whether import should accept it.
pub struct Attack {
    pub name: &'static str,
    pub file: Vec<u8>,
    /// A part of the error message for a file that import should refuse.
    pub refused: Option<&'static str>,
}

const MIB: usize = 1 << 20;
/// The largest length of a top-level list in the JSON.
const LIST: usize = 1 << 18;

pub fn attacks() -> Vec<Attack> {
    [
        json(),
        lists(),
        names(),
        containers(),
        nodes(),
        geometry(),
        compressed(),
        placements(),
        morphs(),
        mixed(),
        skins(),
        animations(),
        images(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn accepted(name: &'static str, file: Vec<u8>) -> Attack {
    Attack { name, file, refused: None }
}

fn refused(name: &'static str, why: &'static str, file: Vec<u8>) -> Attack {
    Attack { name, file, refused: Some(why) }
}

fn text(members: &str) -> Vec<u8> {
    format!(r#"{{"asset":{{"version":"2.0"}},{members}}}"#).into_bytes()
}

fn glb(members: &str, mut binary: Vec<u8>) -> Vec<u8> {
    let mut json = text(&format!(r#"{members},"buffers":[{{"byteLength":{}}}]"#, binary.len()));
    json.resize(json.len().next_multiple_of(4), b' ');
    binary.resize(binary.len().next_multiple_of(4), 0);
    let words = |words: [usize; 2]| words.into_iter().flat_map(|word| (word as u32).to_le_bytes());
    let mut file = b"glTF".to_vec();
    file.extend(words([2, 12 + 8 + json.len() + 8 + binary.len()]));
    for (kind, chunk) in [(b"JSON", json), (b"BIN\0", binary)] {
        file.extend((chunk.len() as u32).to_le_bytes());
        file.extend(kind);
        file.extend(chunk);
    }
    file
}

/// Returns `element` repeated `count` times, separated by commas.
fn times(count: usize, element: &str) -> String {
    each(count, |_| element.to_owned())
}

fn each(count: usize, element: impl Fn(usize) -> String) -> String {
    (0..count).map(element).collect::<Vec<_>>().join(",")
}

/// Returns as many elements as fit into a file.
fn filling(element: &str) -> String {
    times((MIB - 1000) / (element.len() + 1), element)
}

/// Attacks by the JSON itself.
fn json() -> Vec<Attack> {
    let deep = format!(r#"{{"extras":{}{}}}"#, "[".repeat(100), "]".repeat(100));
    let deep_list = format!("{}{}", "[".repeat(MIB / 2 - 100), "]".repeat(MIB / 2 - 100));
    vec![
        accepted("small_objects.gltf", text(&format!(r#""extras":[{}]"#, filling(r#"{"":0}"#)))),
        accepted("small_lists.gltf", text(&format!(r#""extras":[{}]"#, filling("[0]")))),
        accepted("digits.gltf", text(&format!(r#""nodes":[{{"scale":[1,1,0.{}]}}]"#, "1".repeat(MIB - 200)))),
        accepted("deep_extras.gltf", text(&format!(r#""nodes":[{}]"#, filling(&deep)))),
        refused("deep.gltf", "malformed", text(&format!(r#""extras":{}"#, "[".repeat(MIB - 100)))),
        refused(
            "deep_node.gltf",
            "recursion limit",
            text(&format!(r#""nodes":[{{"extensions":{{"a":{deep_list}}}}}]"#)),
        ),
        refused("spaces.gltf", "neither GLB nor JSON", vec![b' '; MIB]),
        refused("digits_before.gltf", "malformed", text(&format!(r#""scene":{}"#, "1".repeat(MIB - 100)))),
    ]
}

/// Fills every list with its smallest element, up to the longest length.
fn lists() -> Vec<Attack> {
    let list = |name: &'static str, key: &str, element: &str| {
        let count = LIST.min((MIB - 1000) / (element.len() + 1));
        accepted(name, text(&format!(r#""{key}":[{}]"#, times(count, element))))
    };
    vec![
        list("nodes.gltf", "nodes", "{}"),
        list("materials.gltf", "materials", "{}"),
        list("textures.gltf", "textures", r#"{"source":0}"#),
        list("samplers.gltf", "samplers", "{}"),
        list("images.gltf", "images", "{}"),
        list("scenes.gltf", "scenes", "{}"),
        list("cameras.gltf", "cameras", "{}"),
        list("buffers.gltf", "buffers", r#"{"byteLength":1}"#),
        list("views.gltf", "bufferViews", r#"{"buffer":0,"byteLength":1}"#),
        list("accessors.gltf", "accessors", r#"{"componentType":5126,"count":1,"type":"SCALAR"}"#),
        list("meshes.gltf", "meshes", r#"{"primitives":[]}"#),
        list("skins.gltf", "skins", r#"{"joints":[]}"#),
        list("animations.gltf", "animations", r#"{"channels":[],"samplers":[]}"#),
        refused("too_many.gltf", "at most 262144", text(&format!(r#""nodes":[{}]"#, times(LIST + 1, "{}")))),
    ]
}

/// Attacks by strings that messages and tables repeat.
fn names() -> Vec<Attack> {
    let clip = |name: &str| format!(r#"{{"name":"{name}","channels":[],"samplers":[]}}"#);
    let clips = format!("{},{}", clip(&"x".repeat(900_000)), times(2000, &clip("y")));
    let escapes = r"\u202e\u001b".repeat(80_000);
    vec![
        accepted("long_name.gltf", text(&format!(r#""animations":[{clips}]"#))),
        accepted("escapes.gltf", text(&format!(r#""nodes":[{{"name":"{escapes}"}}]"#))),
        accepted(
            "extensions.gltf",
            text(&format!(r#""extensionsUsed":[{}]"#, each(110_000, |k| format!(r#""e{k}""#)))),
        ),
        accepted("long_extension.gltf", text(&format!(r#""extensionsUsed":["{escapes}"]"#))),
        refused(
            "long_required.gltf",
            "is not supported",
            text(&format!(r#""extensionsRequired":["{}"]"#, "x".repeat(MIB - 100))),
        ),
        refused(
            "long_uri.gltf",
            "cannot be read",
            text(&format!(r#""buffers":[{{"byteLength":1,"uri":"{}"}}]"#, "x".repeat(MIB - 100))),
        ),
        refused("wrong_type.gltf", "nodes[0]", text(&format!(r#""nodes":["{}"]"#, "x".repeat(MIB - 100)))),
    ]
}

fn containers() -> Vec<Attack> {
    let base64 = "A".repeat(MIB - 300);
    let base64 = &base64[..base64.len() / 4 * 4];
    let buffer = format!(r#"{{"byteLength":9,"uri":"data:;base64,{base64}"}}"#);
    let mut chunks = glb(r#""nodes":[]"#, Vec::new());
    chunks.resize(MIB, 0);
    chunks[8..12].copy_from_slice(&(MIB as u32).to_le_bytes());
    let mut too_long = chunks.clone();
    too_long[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    vec![
        accepted("empty_chunks.glb", chunks),
        refused("header.glb", "is cut short", too_long),
        accepted("data_uri.gltf", text(&format!(r#""buffers":[{buffer}]"#))),
    ]
}

fn nodes() -> Vec<Attack> {
    let count = 45_000;
    let chain = each(count, |k| if k + 1 < count { format!(r#"{{"children":[{}]}}"#, k + 1) } else { "{}".to_owned() });
    let wide = format!(r#"{{"children":[{}]}},{}"#, each(99_999, |k| (k + 1).to_string()), times(99_999, "{}"));
    let roots = filling("0");
    vec![
        accepted("chain.gltf", text(&format!(r#""nodes":[{chain}]"#))),
        accepted("wide.gltf", text(&format!(r#""nodes":[{wide}]"#))),
        accepted("roots.gltf", text(&format!(r#""nodes":[{{}}],"scenes":[{{"nodes":[{roots}]}}]"#))),
    ]
}

/// Returns distinct positions of three bytes per vertex.
fn small_positions(count: usize) -> Vec<u8> {
    (0..count as u32).flat_map(|vertex| vertex.to_le_bytes().into_iter().take(3)).collect()
}

fn view(offset: usize, length: usize) -> String {
    format!(r#"{{"buffer":0,"byteOffset":{offset},"byteLength":{length}}}"#)
}

fn accessor(view: usize, component_type: u32, shape: &str, count: usize) -> String {
    format!(r#"{{"bufferView":{view},"componentType":{component_type},"type":"{shape}","count":{count}}}"#)
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

fn animations() -> Vec<Attack> {
    /// The keys of one track: 60,000 times and 60,000 vectors.
    const KEYS: usize = 60_000;
    let file = |clips: usize, channels: usize| {
        let channel = |k: usize| format!(r#"{{"sampler":0,"target":{{"node":{k},"path":"translation"}}}}"#);
        let clip = format!(r#"{{"channels":[{}],"samplers":[{{"input":0,"output":1}}]}}"#, each(channels, channel));
        let members = format!(
            r#""nodes":[{}],"animations":[{}],"accessors":[{},{}],"bufferViews":[{},{}]"#,
            times(channels, "{}"),
            times(clips, &clip),
            accessor(0, 5126, "SCALAR", KEYS),
            accessor(1, 5126, "VEC3", KEYS),
            view(0, 4 * KEYS),
            view(4 * KEYS, 12 * KEYS)
        );
        let numbers = (0..4 * KEYS).map(|number| number as f32);
        glb(&members, numbers.flat_map(f32::to_le_bytes).collect())
    };
    vec![
        accepted("channels.glb", file(1, 34)),
        accepted("clips.glb", file(27, 1)),
        refused("more_channels.glb", "more keyframe numbers", file(1, 36)),
        refused("more_clips.glb", "more keyframe numbers", file(300, 1)),
    ]
}

/// Many materials use the same image in one buffer view.
fn with_images(image: Vec<u8>, count: usize) -> Vec<u8> {
    let members = format!(
        r#""images":[{}],"textures":[{}],"materials":[{}],"bufferViews":[{}]"#,
        times(count, r#"{"bufferView":0}"#),
        each(count, |k| format!(r#"{{"source":{k}}}"#)),
        each(count, |k| format!(r#"{{"pbrMetallicRoughness":{{"baseColorTexture":{{"index":{k}}}}}}}"#)),
        view(0, image.len())
    );
    glb(&members, image)
}

/// All of these files load: an image that is too large is left out, with a warning.
fn images() -> Vec<Attack> {
    // This is a small image with half a megabyte of comments.
    let mut comments = progressive_jpeg(8, 8, 1, 0);
    let comment = [&[0xff, 0xfe, 0xff, 0xff][..], &[b'x'; 0xfffd]].concat();
    comments.splice(2..2, comment.repeat(8));
    let zeros = png(8192, 4096);
    vec![
        accepted("png.glb", with_images(zeros.clone(), 1)),
        accepted("pngs.glb", with_images(zeros, 50)),
        accepted("too_large_jpeg.glb", with_images(progressive_jpeg(16_384, 4096, 1, 0), 1)),
        accepted("small_pngs.glb", with_images(png(256, 256), 5000)),
        accepted("webp.glb", with_images(webp(8192, 4096), 1)),
        accepted("webps.glb", with_images(webp(4096, 1024), 4000)),
        accepted("too_large_webp.glb", with_images(webp(16_383, 16_383), 1)),
        accepted("no_images.glb", with_images(vec![b'x'; 500_000], 3000)),
        accepted("jpeg.glb", with_images(progressive_jpeg(8192, 4096, 3, 90), 1)),
        accepted("four_channel_jpeg.glb", with_images(progressive_jpeg(8192, 4096, 4, 90), 1)),
        accepted("scans.glb", with_images(progressive_jpeg(8192, 4096, 1, 10_000), 1)),
        accepted("comments.glb", with_images(comments, 4000)),
    ]
}
