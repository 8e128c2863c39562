//! The seed files, one for each feature of import.

use std::io::Cursor;

use image::{ImageFormat, RgbaImage};
use serde_json::{Value, json};

use crate::builder::{F32, Gltf, I16, U8, U16, U32};

/// Returns all seeds with their names.
pub fn all() -> Vec<(&'static str, Gltf)> {
    vec![
        ("empty", Gltf::new()),
        ("triangle", Gltf::triangle()),
        ("indexed", indexed()),
        ("topologies", topologies()),
        ("attributes", attributes()),
        ("interleaved", interleaved()),
        ("quantized", quantized()),
        ("sparse", sparse()),
        ("sparse_without_view", sparse_without_view()),
        ("tree", tree()),
        ("scenes", scenes()),
        ("skinned", skinned()),
        ("inverse_binds", inverse_binds()),
        ("two_influence_sets", two_influence_sets()),
        ("animated", animated()),
        ("splines", splines()),
        ("normalized_rotations", normalized_rotations()),
        ("morphed", morphed()),
        ("materials", materials()),
        ("textured_png", textured(ImageFormat::Png)),
        ("textured_jpeg", textured(ImageFormat::Jpeg)),
        ("textured_webp", textured(ImageFormat::WebP)),
        ("made_tangents", made_tangents()),
        ("vrm", humanoid("VRMC_vrm")),
        ("vrm_0", humanoid("VRM")),
        ("vrm_animation", humanoid("VRMC_vrm_animation")),
        ("odd_but_valid", odd_but_valid()),
    ]
}

fn attribute(gltf: &mut Gltf, name: &str, accessor: usize) {
    gltf.json["meshes"][0]["primitives"][0]["attributes"][name] = json!(accessor);
}

/// Roles of a humanoid, as an extension declares them.
fn humanoid(extension: &str) -> Gltf {
    let mut gltf = skinned();
    gltf.json["extensionsUsed"] = json!([extension]);
    let bones = match extension {
        "VRM" => json!([{"bone": "hips", "node": 0}, {"bone": "leftThumbIntermediate", "node": 1}]),
        _ => json!({"hips": {"node": 0}, "head": {"node": 1}}),
    };
    gltf.json["extensions"] = json!({extension: {"humanoid": {"humanBones": bones}}});
    gltf
}

fn indexed() -> Gltf {
    let mut gltf = Gltf::triangle();
    for (component_type, data) in [(U8, &[2_u8, 1, 0][..]), (U16, &[0, 0, 1, 0, 2, 0]), (U32, &[0; 12])] {
        let indices = gltf.accessor(component_type, "SCALAR", 3, data);
        let mut primitive = gltf.json["meshes"][0]["primitives"][0].clone();
        primitive["indices"] = json!(indices);
        if let Some(list) = gltf.json["meshes"][0]["primitives"].as_array_mut() {
            list.push(primitive);
        }
    }
    gltf
}

fn topologies() -> Gltf {
    let mut gltf = Gltf::triangle();
    let primitive = gltf.json["meshes"][0]["primitives"][0].clone();
    let with_mode = |mode: u32| {
        let mut primitive = primitive.clone();
        primitive["mode"] = json!(mode);
        primitive
    };
    gltf.json["meshes"][0]["primitives"] = (0..7).map(with_mode).collect();
    gltf
}

fn attributes() -> Gltf {
    let mut gltf = Gltf::triangle();
    let normals = gltf.f32s("VEC3", &[0.0, 0.0, 1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0]);
    let tangents = gltf.f32s("VEC4", &[1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, -1.0, 1.0, 0.0, 0.0, 1.0]);
    let tex_coords = gltf.f32s("VEC2", &[0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    let colors = gltf.accessor(U8, "VEC4", 3, &[255, 0, 0, 255, 0, 255, 0, 128, 0, 0, 255, 0]);
    gltf.json["accessors"][colors]["normalized"] = json!(true);
    attribute(&mut gltf, "NORMAL", normals);
    attribute(&mut gltf, "TANGENT", tangents);
    attribute(&mut gltf, "TEXCOORD_0", tex_coords);
    attribute(&mut gltf, "COLOR_0", colors);
    gltf
}

fn interleaved() -> Gltf {
    let mut gltf = Gltf::triangle();
    let numbers: [f32; 18] = [0., 0., 0., 0., 0., 1., 1., 0., 0., 0., 0., 1., 0., 1., 0., 0., 0., 1.];
    let view = gltf.view(bytemuck::cast_slice(&numbers));
    gltf.json["bufferViews"][view]["byteStride"] = json!(24);
    for (offset, name) in [(0, "POSITION"), (12, "NORMAL")] {
        let entry = json!({"bufferView": view, "byteOffset": offset, "componentType": F32, "type": "VEC3", "count": 3});
        let accessor = gltf.push("accessors", entry);
        attribute(&mut gltf, name, accessor);
    }
    gltf
}

fn quantized() -> Gltf {
    let mut gltf = Gltf::triangle();
    let shorts: [i16; 12] = [-32768, 0, 0, 0, 32767, 0, 0, 0, 0, 100, 0, 0];
    let accessor = gltf.accessor(I16, "VEC3", 3, bytemuck::cast_slice(&shorts));
    gltf.json["bufferViews"][1]["byteStride"] = json!(8);
    gltf.json["accessors"][accessor]["normalized"] = json!(true);
    attribute(&mut gltf, "POSITION", accessor);
    gltf.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
    gltf.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    gltf
}

fn sparse() -> Gltf {
    let mut gltf = Gltf::triangle();
    let indices = gltf.view(&[0, 2]);
    let values = gltf.view(bytemuck::cast_slice(&[7.0_f32, 8.0, 9.0, 4.0, 5.0, 6.0]));
    gltf.json["accessors"][0]["sparse"] = json!({
        "count": 2,
        "indices": {"bufferView": indices, "componentType": U8},
        "values": {"bufferView": values},
    });
    gltf
}

fn sparse_without_view() -> Gltf {
    let mut gltf = sparse();
    if let Some(accessor) = gltf.json["accessors"][0].as_object_mut() {
        accessor.remove("bufferView");
    }
    gltf
}

fn tree() -> Gltf {
    let mut gltf = Gltf::triangle();
    gltf.json["nodes"] = json!([
        {"mesh": 0, "name": "leaf", "rotation": [0, 0, 1, 0]},
        {"children": [0, 2], "matrix": [1, 0, 0, 0, 0, 2, 0, 0, 0.5, 0, 1, 0, 1, 2, 3, 1]},
        {"mesh": 0, "scale": [-1, 1, 1], "translation": [0.5, 0, 0]},
        {"children": [1], "rotation": [0, 0.6, 0, 0.8]},
    ]);
    gltf.json["scenes"] = json!([{"nodes": [3]}]);
    gltf
}

fn scenes() -> Gltf {
    let mut gltf = tree();
    gltf.json["scenes"] = json!([{"name": "first", "nodes": [0]}, {"nodes": [3]}, {}]);
    gltf.json["scene"] = json!(1);
    gltf
}

const HEAVY: [f32; 4] = [0.5, 0.25, 0.0, 0.0];

fn skinned() -> Gltf {
    Gltf::skinned([[0, 1, 0, 0], [1, 0, 9, 0], [0, 0, 0, 0]], [HEAVY, [1.0, 0.0, 0.0, 0.0], [0.0; 4]])
}

fn inverse_binds() -> Gltf {
    let mut gltf = skinned();
    let identity = [1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.];
    let mut matrices = [identity, identity].concat();
    matrices[29] = -1.0;
    let matrices = gltf.f32s("MAT4", &matrices);
    gltf.json["skins"][0]["inverseBindMatrices"] = json!(matrices);
    gltf.json["skins"][0]["skeleton"] = json!(1);
    gltf
}

fn two_influence_sets() -> Gltf {
    let mut gltf = skinned();
    let joints = gltf.accessor(U16, "VEC4", 3, &[1, 0, 0, 0, 0, 0, 0, 0].repeat(3));
    let weights = gltf.accessor(U8, "VEC4", 3, &[128, 0, 0, 64].repeat(3));
    gltf.json["accessors"][weights]["normalized"] = json!(true);
    attribute(&mut gltf, "JOINTS_1", joints);
    attribute(&mut gltf, "WEIGHTS_1", weights);
    gltf
}

fn animated() -> Gltf {
    let mut gltf = skinned();
    let times = gltf.f32s("SCALAR", &[0.5, 1.0, 1.0, 2.0]);
    let vectors = gltf.f32s("VEC3", &[0., 0., 0., 1., 0., 0., 0., 2., 0., 0., 0., 3.]);
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let rotations = gltf.f32s("VEC4", &[0., 0., 0., 1., half, 0., 0., half, 0., 0., 0., -1., 0., 2., 0., 0.]);
    gltf.json["animations"] = json!([{
        "name": "all",
        "samplers": [
            {"input": times, "output": vectors, "interpolation": "LINEAR"},
            {"input": times, "output": rotations},
            {"input": times, "output": vectors, "interpolation": "STEP"},
        ],
        "channels": [
            {"sampler": 0, "target": {"node": 1, "path": "translation"}},
            {"sampler": 1, "target": {"node": 2, "path": "rotation"}},
            {"sampler": 2, "target": {"node": 2, "path": "scale"}},
            {"sampler": 0, "target": {"path": "translation"}},
        ],
    }]);
    gltf
}

fn splines() -> Gltf {
    let mut gltf = skinned();
    let times = gltf.f32s("SCALAR", &[0.0, 2.0]);
    let vectors = gltf.f32s("VEC3", &[0., 0., 0., 1., 0., 0., 2., 0., 0., 0., 1., 0., 3., 0., 0., 0., 0., 0.]);
    let (zero, one, turn) = ([0., 0., 0., 0.], [0., 0., 0., 1.], [0., 0.6, 0., 0.8]);
    let rotations = gltf.f32s("VEC4", &[zero, one, zero, zero, turn, zero].concat());
    gltf.animation(1, "translation", "CUBICSPLINE", times, vectors);
    gltf.animation(2, "rotation", "CUBICSPLINE", times, rotations);
    gltf
}

fn normalized_rotations() -> Gltf {
    let mut gltf = skinned();
    let times = gltf.f32s("SCALAR", &[0.0, 2.0]);
    let shorts: [i16; 8] = [0, 0, 0, 32767, 16384, 0, 0, 16384];
    let rotations = gltf.accessor(I16, "VEC4", 2, bytemuck::cast_slice(&shorts));
    gltf.json["accessors"][rotations]["normalized"] = json!(true);
    gltf.animation(1, "rotation", "LINEAR", times, rotations);
    gltf
}

fn morphed() -> Gltf {
    let mut gltf = attributes();
    let deltas = gltf.f32s("VEC3", &[0., 0., 0., 0., 2., 0., 0., 0., 1.]);
    gltf.json["meshes"][0]["primitives"][0]["targets"] =
        json!([{"POSITION": deltas, "NORMAL": deltas}, {"POSITION": deltas}]);
    gltf.json["meshes"][0]["weights"] = json!([0.25, 0.5]);
    gltf.json["nodes"][0]["weights"] = json!([1.0, -0.5]);
    let times = gltf.f32s("SCALAR", &[0.0, 2.0]);
    let weights = gltf.f32s("SCALAR", &[0.0, 1.0, 1.0, 0.0]);
    gltf.animation(0, "weights", "LINEAR", times, weights);
    gltf
}

fn materials() -> Gltf {
    let mut gltf = attributes();
    gltf.json["materials"] = json!([
        {"name": "red", "pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 0.5], "metallicFactor": 0.5}},
        {"alphaMode": "MASK", "alphaCutoff": 0.25, "doubleSided": true, "emissiveFactor": [1, 1, 1]},
        {"alphaMode": "BLEND", "extensions": {"KHR_materials_unlit": {}}},
    ]);
    gltf.json["meshes"][0]["primitives"][0]["material"] = json!(2);
    gltf.json["extensionsUsed"] = json!(["KHR_materials_unlit"]);
    gltf
}

fn textured(format: ImageFormat) -> Gltf {
    let mut gltf = attributes();
    let view = gltf.view(&encoded_image(format));
    gltf.json["images"] = json!([{"bufferView": view, "mimeType": "image/png"}, {"uri": data_uri()}]);
    gltf.json["samplers"] = json!([{"wrapS": 33071, "wrapT": 33648, "minFilter": 9984, "magFilter": 9728}]);
    gltf.json["textures"] = json!([{"source": 0, "sampler": 0}, {"source": 1}]);
    let transform = json!({"offset": [0.5, 0], "rotation": 1.5, "scale": [2, 3], "texCoord": 0});
    let texture = json!({"index": 0, "extensions": {"KHR_texture_transform": transform}});
    gltf.json["materials"] = json!([{
        "pbrMetallicRoughness": {"baseColorTexture": texture, "metallicRoughnessTexture": {"index": 1}},
        "normalTexture": {"index": 1, "scale": 0.5},
        "occlusionTexture": {"index": 0, "strength": 0.5, "texCoord": 1},
        "emissiveTexture": {"index": 1},
        "emissiveFactor": [1, 0.5, 0],
        "extensions": {"KHR_materials_emissive_strength": {"emissiveStrength": 4}},
    }]);
    if format == ImageFormat::WebP {
        gltf.json["textures"][0] = json!({"extensions": {"EXT_texture_webp": {"source": 0}}});
    }
    gltf.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    gltf
}

/// Makes a mesh with a normal map and without tangents, whose targets change normals.
fn made_tangents() -> Gltf {
    let mut gltf = textured(ImageFormat::Png);
    let primitive = &mut gltf.json["meshes"][0]["primitives"][0];
    primitive["targets"] = json!([{"POSITION": 0, "NORMAL": 1}]);
    if let Some(attributes) = primitive["attributes"].as_object_mut() {
        attributes.remove("TANGENT");
    }
    gltf
}

fn encoded_image(format: ImageFormat) -> Vec<u8> {
    let image = RgbaImage::from_fn(3, 2, |x, y| image::Rgba([x as u8 * 100, y as u8 * 200, 50, 255]));
    let mut bytes = Cursor::new(Vec::new());
    let image = image::DynamicImage::from(image);
    let image = if format == ImageFormat::Jpeg { image.into_rgb8().into() } else { image };
    image.write_to(&mut bytes, format).unwrap_or_else(|error| panic!("{format:?}: {error}"));
    bytes.into_inner()
}

fn data_uri() -> String {
    use base64::Engine;
    let base64 = base64::engine::general_purpose::STANDARD.encode(encoded_image(ImageFormat::Png));
    format!("data:image/png;base64,{base64}")
}

/// Makes a file with properties that the specification allows and few files have.
fn odd_but_valid() -> Gltf {
    let mut gltf = tree();
    gltf.json["asset"] =
        json!({"version": "2.7", "minVersion": "2.0", "generator": "a\u{1b}[31mb", "extras": {"x": []}});
    gltf.json["nodes"][0]["name"] = Value::String("\u{202e}name\n\u{0}".to_owned());
    gltf.json["extensionsUsed"] = json!(["VENDOR_unknown", "KHR_lights_punctual"]);
    gltf.json["cameras"] = json!([{"type": "perspective", "perspective": {"yfov": 1, "znear": 0.1}}]);
    gltf
}
