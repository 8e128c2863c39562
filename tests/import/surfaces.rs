//! Materials, textures, images.

use glam::{Vec2, Vec4};
use serde_json::json;
use throng::model::{AlphaMode, Filter, Material, Texture, TextureSampler, Wrap};

use crate::builder::{Gltf, warns};

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let image = image::RgbaImage::from_fn(width, height, |x, y| image::Rgba([x as u8, y as u8, 7, 255]));
    image.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

/// The triangle with texture coordinates in set 1 and a texture whose image is `encoded`.
fn textured(encoded: &[u8]) -> Gltf {
    let mut gltf = Gltf::triangle();
    let tex_coords = gltf.f32s("VEC2", &[0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    let view = gltf.view(encoded);
    let primitive = &mut gltf.json["meshes"][0]["primitives"][0];
    primitive["attributes"]["TEXCOORD_1"] = json!(tex_coords);
    primitive["material"] = json!(0);
    gltf.json["images"] = json!([{"bufferView": view}]);
    gltf.json["textures"] = json!([{"source": 0}]);
    let texture = json!({"index": 0, "texCoord": 1});
    gltf.push("materials", json!({"pbrMetallicRoughness": {"baseColorTexture": texture, "metallicFactor": 0.25}}));
    gltf
}

#[test]
fn a_material_is_read_with_its_texture() {
    let mut gltf = textured(&png(3, 2));
    gltf.json["samplers"] = json!([{"wrapS": 33071, "wrapT": 33648, "magFilter": 9728, "minFilter": 9985}]);
    gltf.json["textures"][0]["sampler"] = json!(0);
    let material = &mut gltf.json["materials"][0];
    material["name"] = json!("fur");
    material["alphaMode"] = json!("MASK");
    material["doubleSided"] = json!(true);
    material["pbrMetallicRoughness"]["baseColorFactor"] = json!([0.5, 1, 1, 0.25]);
    material["pbrMetallicRoughness"]["roughnessFactor"] = json!(0.75);
    let model = gltf.model();
    let sampler = TextureSampler {
        wrap_u: Wrap::ClampToEdge,
        wrap_v: Wrap::MirroredRepeat,
        mag: Filter::Nearest,
        min: Filter::Linear,
        mipmap: Some(Filter::Nearest),
    };
    let expected = Material {
        name: "fur".to_owned(),
        base_color_factor: Vec4::new(0.5, 1.0, 1.0, 0.25),
        base_color_texture: Some(Texture { image: 0, sampler }),
        metallic: 0.25,
        roughness: 0.75,
        alpha_mode: AlphaMode::Mask(0.5),
        double_sided: true,
    };
    assert_eq!(model.materials, [expected]);
    let image = &model.images[0];
    assert_eq!((image.width, image.height, image.rgba.len()), (3, 2, 24));
    assert_eq!(image.rgba[20..24], [2, 1, 7, 255]);
    assert_eq!(model.geometry.tex_coords, [Vec2::ZERO, Vec2::X, Vec2::Y]);
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
}

#[test]
fn texture_transforms_are_applied_at_import() {
    let mut gltf = textured(&png(1, 1));
    let transform = json!({"offset": [0.5, 0.25], "rotation": std::f32::consts::FRAC_PI_2, "scale": [2, 4]});
    gltf.json["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]["extensions"] =
        json!({"KHR_texture_transform": transform});
    gltf.json["extensionsRequired"] = json!(["KHR_texture_transform"]);
    let expected = [Vec2::new(0.5, 0.25), Vec2::new(0.5, -1.75), Vec2::new(4.5, 0.25)];
    for (uv, expected) in gltf.model().geometry.tex_coords.iter().zip(expected) {
        assert!((*uv - expected).length() < 1e-6, "{uv} {expected}");
    }
}

#[test]
fn broken_images_cost_the_texture_and_not_the_model() {
    let whole = png(8, 8);
    let cases: [(&[u8], &str); 3] = [
        (&whole[..whole.len() / 2], "images[0]: cannot be decoded"),
        (b"GIF89a", "images[0]: 6 bytes that are neither PNG nor JPEG"),
        // A header alone, promising 65,535 by 65,535 texels.
        (&[&whole[..16], &[0, 0, 255, 255, 0, 0, 255, 255], &whole[24..]].concat(), "images[0]: cannot be decoded"),
    ];
    for (encoded, part) in cases {
        let model = textured(encoded).model();
        assert_eq!((model.materials[0].base_color_texture, model.images.len()), (None, 0));
        assert!(warns(&model, part), "{part}: {:?}", model.warnings);
    }
    let mut gltf = textured(&whole);
    gltf.json["images"][0] = json!({"uri": "data:;base64,AAAA"});
    assert!(warns(&gltf.model(), "images[0]: 3 bytes that are neither PNG nor JPEG"));
    gltf.json["images"][0] = json!({});
    assert!(warns(&gltf.model(), "images[0]: has neither a uri nor a bufferView"));
    gltf.json["textures"][0] = json!({});
    assert!(warns(&gltf.model(), "textures[0]: has no PNG or JPEG image"));
}

#[test]
fn all_images_together_have_a_budget() {
    // 8192 by 4096 is the whole budget of so small a file; the second one does not fit any more and is not even decoded.
    let mut gltf = textured(&png(8192, 4096));
    let view = gltf.json["images"][0].clone();
    gltf.json["images"].as_array_mut().unwrap().push(view);
    gltf.json["textures"].as_array_mut().unwrap().push(json!({"source": 1}));
    gltf.push("materials", json!({"pbrMetallicRoughness": {"baseColorTexture": {"index": 1}}}));
    let model = gltf.model();
    assert_eq!(model.images.len(), 1);
    assert!(warns(&model, "images[1]: 8192x4096 texels are too many"), "{:?}", model.warnings);
}

#[test]
fn indices_of_materials_and_textures_are_checked() {
    let mut gltf = textured(&png(1, 1));
    gltf.json["textures"][0]["source"] = json!(4);
    assert_eq!(gltf.error(), "test.gltf: textures[0].source: images[4] does not exist; the file has 1");
    gltf.json["textures"] = json!([]);
    let at = "test.gltf: materials[0].pbrMetallicRoughness.baseColorTexture";
    assert_eq!(gltf.error(), format!("{at}: textures[0] does not exist; the file has 0"));
    let mut gltf = Gltf::triangle();
    let mut bare = gltf.json["meshes"][0]["primitives"][0].clone();
    bare["material"] = json!(0);
    gltf.json["meshes"][0]["primitives"].as_array_mut().unwrap().push(bare);
    // The default material, in use by the first primitive, is not the file's material 0.
    let message = "test.gltf: meshes[0].primitives[1].material: materials[0] does not exist; the file has 0";
    assert_eq!(gltf.error(), message);
}

#[test]
fn what_is_not_drawn_is_said() {
    let mut gltf = textured(&png(1, 1));
    gltf.json["materials"][0]["normalTexture"] = json!({"index": 0});
    gltf.json["materials"][0]["pbrMetallicRoughness"]["metallicRoughnessTexture"] = json!({"index": 0});
    let model = gltf.model();
    assert!(warns(&model, "materials[0]: not drawn: metallicRoughnessTexture, normalTexture"), "{:?}", model.warnings);
    // Metallic only as far as the texture says, which is not read.
    assert_eq!(model.materials[0].metallic, 0.0);
    gltf.json["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]["texCoord"] = json!(0);
    assert!(warns(&gltf.model(), "no TEXCOORD_0, which the material's texture wants"));
}
