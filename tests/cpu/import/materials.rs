//! Tests of materials, textures and images.

use std::f32::consts::FRAC_PI_2;

use glam::{Affine2, Vec2, Vec3, Vec4};
use image::ImageFormat;
use serde_json::{Value, json};
use throng::model::{AlphaMode, Filter, Material, MaterialTexture, Model, Texture, TextureSampler, Wrap};

use crate::common::builder::{Gltf, U16, encoded, warns};

fn png(width: u32, height: u32) -> Vec<u8> {
    let image = image::RgbaImage::from_fn(width, height, |x, y| image::Rgba([x as u8, y as u8, 7, 255]));
    encoded(&image, ImageFormat::Png)
}

const UVS: [Vec2; 3] = [Vec2::ZERO, Vec2::X, Vec2::Y];

fn first_pairs(model: &Model) -> Vec<Vec2> {
    model.geometry.tex_coords.iter().map(|pairs| pairs[0]).collect()
}

/// Makes the triangle with texture coordinates in set 1 and a texture whose image is `encoded`.
fn textured(encoded: &[u8]) -> Gltf {
    let mut gltf = Gltf::triangle();
    gltf.attribute("TEXCOORD_1", "VEC2", &[0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    gltf.primitive()["material"] = json!(0);
    let texture = json!({"index": gltf.encoded_texture(encoded), "texCoord": 1});
    gltf.push("materials", json!({"pbrMetallicRoughness": {"baseColorTexture": texture, "metallicFactor": 0.25}}));
    gltf
}

#[test]
fn a_material_is_read_with_its_texture() {
    let mut gltf = textured(&png(3, 2));
    gltf.json["samplers"] = json!([{"wrapS": 33071, "wrapT": 33648, "magFilter": 9728, "minFilter": 9985}]);
    gltf.json["textures"][0]["sampler"] = json!(0);
    let pbr = json!({
        "baseColorTexture": {"index": 0, "texCoord": 1}, "baseColorFactor": [0.5, 1, 1, 0.25], "metallicFactor": 0.25,
        "roughnessFactor": 0.75,
    });
    gltf.json["materials"][0] =
        json!({"name": "fur", "alphaMode": "MASK", "doubleSided": true, "pbrMetallicRoughness": pbr});
    let model = gltf.model_without_warnings();
    let sampler = TextureSampler {
        wrap_u: Wrap::ClampToEdge,
        wrap_v: Wrap::MirroredRepeat,
        mag: Filter::Nearest,
        min: Filter::Linear,
        mipmap: Some(Filter::Nearest),
    };
    let (texture, texture_from_vertex) = (Texture { image: 0, sampler }, Affine2::IDENTITY);
    let expected = Material {
        name: "fur".to_owned(),
        base_color_factor: Vec4::new(0.5, 1.0, 1.0, 0.25),
        base_color_texture: Some(MaterialTexture { texture, tex_coords: 0, texture_from_vertex }),
        metallic: 0.25,
        roughness: 0.75,
        alpha_mode: AlphaMode::Mask(0.5),
        double_sided: true,
        ..Material::default()
    };
    assert_eq!(model.materials, [expected]);
    let image = &model.images[0];
    assert_eq!((image.width, image.height, image.decoded_bytes()), (3, 2, 24));
    assert_eq!(image.texels().unwrap()[20..24], [2, 1, 7, 255]);
    assert_eq!(first_pairs(&model), UVS);
}

#[test]
fn texture_transforms_scale_then_rotate_then_move() {
    let transformed = |transform: Value| {
        let path = "materials/0/pbrMetallicRoughness/baseColorTexture/extensions";
        textured(&png(1, 1)).with(&[
            (path, json!({"KHR_texture_transform": transform})),
            ("extensionsRequired", json!(["KHR_texture_transform"])),
        ])
    };
    // The second one is the extension's own example, which shows the lower left quadrant: u in 0..0.5, v in 0.5..1.
    for (offset, scale, expected) in [
        ([0.5, 0.25], [2.0, 4.0], [[0.5, 0.25], [0.5, -1.75], [4.5, 0.25]]),
        ([0.0, 1.0], [0.5, 0.5], [[0.0, 1.0], [0.0, 0.5], [0.5, 1.0]]),
    ] {
        let model = transformed(json!({"offset": offset, "rotation": FRAC_PI_2, "scale": scale})).model();
        assert_eq!(first_pairs(&model), UVS, "vertices keep what the file has");
        let texture = model.materials[0].base_color_texture.unwrap();
        assert!(!texture.is_plain());
        for (uv, expected) in UVS.into_iter().zip(expected) {
            let found = texture.texture_from_vertex.transform_point2(uv);
            assert!((found - Vec2::from(expected)).length() < 1e-6, "{uv}: {found} {expected:?}");
        }
    }
    let warning = "baseColorTexture: KHR_texture_transform with a number that is too large is ignored";
    let model = transformed(json!({"scale": [1e30, 1e39]})).model_that_warns(&[warning]);
    assert!(model.materials[0].base_color_texture.unwrap().is_plain());
}

#[test]
fn every_texture_has_its_own_set_and_transform() {
    let mut gltf = textured(&png(1, 1));
    gltf.attribute("TEXCOORD_3", "VEC2", &[0.5, 0.0, 0.5, 0.25, 0.5, 0.75]);
    let material = &mut gltf.json["materials"][0];
    let moved = json!({"KHR_texture_transform": {"offset": [0.25, 0], "texCoord": 3}});
    material["pbrMetallicRoughness"]["metallicRoughnessTexture"] = json!({"index": 0, "extensions": moved});
    material["occlusionTexture"] = json!({"index": 0, "texCoord": 1, "strength": 0.5});
    material["emissiveTexture"] = json!({"index": 0, "texCoord": 3});
    material["emissiveFactor"] = json!([1, 0.5, 0]);
    material["normalTexture"] = json!({"index": 0, "texCoord": 3, "scale": -2});
    material["extensions"] = json!({"KHR_materials_emissive_strength": {"emissiveStrength": 4}});
    let model = gltf.model_without_warnings();
    let read = &model.materials[0];
    let [color, metal] = [read.base_color_texture, read.metallic_roughness_texture];
    let slots = [color, metal, read.occlusion_texture, read.emissive_texture, read.normal_texture]
        .map(|texture| texture.map(|texture| (texture.tex_coords, texture.texture_from_vertex.translation)));
    let (first, second) = (Some((0, Vec2::ZERO)), Some((1, Vec2::ZERO)));
    assert_eq!(slots, [first, Some((1, Vec2::new(0.25, 0.0))), first, second, second]);
    assert_eq!((read.emission, read.occlusion_strength, read.normal_scale), (Vec3::new(4.0, 2.0, 0.0), 0.5, -2.0));
    assert_eq!(read.metallic, 0.25, "multiplied with its texture, so as the file has it");
    assert_eq!(model.geometry.tex_coords[2], [Vec2::Y, Vec2::new(0.5, 0.75)]);
    assert_eq!(model.images.len(), 1);

    // Vertices have two sets.
    gltf.set("materials/0/normalTexture/texCoord", json!(2));
    let model = gltf.model_that_warns(&["materials[0].normalTexture: uses TEXCOORD_2"]);
    assert_eq!(model.materials[0].normal_texture, None);
}

#[test]
fn unlit_materials_and_numbers_out_of_range() {
    let mut gltf = textured(&png(1, 1));
    gltf.json["extensionsRequired"] = json!(["KHR_materials_unlit"]);
    let material = &mut gltf.json["materials"][0];
    material["extensions"] = json!({
        "KHR_materials_unlit": {}, "KHR_materials_emissive_strength": {"emissiveStrength": 1e30}
    });
    material["emissiveFactor"] = json!([7, 0.5, -1]);
    material["pbrMetallicRoughness"]["baseColorFactor"] = json!([0.5, 9, 1, 1]);
    let model = gltf.model_that_warns(&[
        "baseColorFactor: a number outside",
        "emissiveFactor: a number outside",
        "strength: a strength outside",
    ]);
    let material = &model.materials[0];
    assert!(material.unlit);
    assert_eq!(material.emission, Vec3::new(10_000.0, 5_000.0, 0.0));
    assert_eq!(material.base_color_factor, Vec4::new(0.5, 1.0, 1.0, 1.0));
}

#[test]
fn webp_is_preferred_and_png_is_the_fallback() {
    let mut webp = encoded(&image::RgbaImage::from_pixel(5, 1, image::Rgba([9, 8, 7, 255])), ImageFormat::WebP);
    let mut gltf = textured(&png(3, 2));
    let view = gltf.view(&webp);
    gltf.push("images", json!({"bufferView": view}));
    gltf.json["textures"][0]["extensions"] = json!({"EXT_texture_webp": {"source": 1}});
    gltf.json["extensionsUsed"] = json!(["EXT_texture_webp"]);
    let model = gltf.model_without_warnings();
    assert_eq!((model.images.len(), model.images[0].width), (1, 5));
    assert_eq!(model.images[0].texels().unwrap()[..4], [9, 8, 7, 255]);

    webp.truncate(20);
    let view = gltf.view(&webp);
    gltf.json["images"][1] = json!({"bufferView": view});
    let model = gltf.model_that_warns(&["images[1]: cannot be decoded"]);
    assert_eq!((model.images.len(), model.images[0].width), (1, 3));

    let missing = json!({"extensions": {"EXT_texture_webp": {"source": 9}}});
    let at = "textures[0].extensions.EXT_texture_webp.source: ";
    gltf.mistakes(at).are_left_out([("textures/0", missing, "images[9] does not exist; the file has 2")]);
}

#[test]
fn broken_images_lose_only_their_texture() {
    let whole = png(8, 8);
    let cases: [(&[u8], &str); 3] = [
        (&whole[..whole.len() / 2], "images[0]: cannot be decoded"),
        (b"GIF89a", "images[0]: 6 bytes that are neither PNG, JPEG nor WebP"),
        // The file is a header alone, which claims 65,535 by 65,535 texels.
        (&[&whole[..16], &[0, 0, 255, 255, 0, 0, 255, 255], &whole[24..]].concat(), "images[0]: cannot be decoded"),
    ];
    for (encoded, part) in cases {
        let model = textured(encoded).model_that_warns(&[part]);
        assert_eq!((model.materials[0].base_color_texture, model.images.len()), (None, 0));
    }
    let gltf = textured(&whole);
    let basisu = json!({"extensions": {"KHR_texture_basisu": {"source": 0}}});
    for (path, value, part) in [
        ("images/0", json!({"uri": "data:;base64,AAAA"}), "images[0]: 3 bytes that are neither PNG, JPEG nor WebP"),
        ("images/0", json!({}), "images[0]: has neither a uri nor a bufferView"),
        ("textures/0", basisu, "textures[0]: has no PNG, JPEG or WebP image"),
        ("materials/0/normalTexture", json!({"index": 0}), "no TEXCOORD_0, which a texture of the material uses"),
    ] {
        gltf.with(&[(path, value)]).model_that_warns(&[part]);
    }
}

#[test]
fn reflectances_of_dielectrics_and_archived_materials() {
    let read = |material: Value| textured(&png(2, 2)).with(&[("materials/0", material)]).model().materials[0].clone();
    let extensions = |extensions: Value| json!({"extensions": extensions});
    let specular = json!({"specularFactor": 0.5, "specularColorFactor": [2.0, 1.0, 10.0]});
    let both = json!({"KHR_materials_specular": specular, "KHR_materials_ior": {"ior": 3.0}});
    for (material, normal, grazing) in [
        (json!({}), [0.04; 3], 1.0),
        (extensions(json!({"KHR_materials_specular": {"specularFactor": 0}})), [0.0; 3], 0.0),
        (extensions(json!({"KHR_materials_ior": {"ior": 3.0}})), [0.25; 3], 1.0),
        (extensions(json!({"KHR_materials_ior": {"ior": 0.0}})), [1.0; 3], 1.0),
        (extensions(both), [0.25, 0.125, 0.5], 0.5),
    ] {
        let read = read(material.clone());
        assert_eq!((read.dielectric_reflectance.to_array(), read.grazing_reflectance), (normal, grazing), "{material}");
    }
    let archived = json!({"diffuseFactor": [0.5, 0.25, 1.0, 0.75], "glossinessFactor": 0.25, "diffuseTexture": {"index": 0, "texCoord": 1}});
    let read = read(extensions(json!({"KHR_materials_pbrSpecularGlossiness": archived})));
    assert_eq!((read.base_color_factor, read.metallic, read.roughness), (Vec4::new(0.5, 0.25, 1.0, 0.75), 0.0, 0.75));
    assert!(read.base_color_texture.is_some());
}

/// Each texture is the only one of its material, and its image is broken.
#[test]
fn a_lost_texture_leaves_the_factor_and_a_lost_emission_is_dark() {
    let texture = json!({"index": 0});
    let plain = Material::default();
    // Half of the factor: grey in place of the texture.
    let colored = Material { base_color_factor: Vec4::new(0.25, 0.125, 0.5, 0.75), ..plain.clone() };
    let metal = Material { metallic: 0.75, roughness: 0.5, ..plain.clone() };
    let color = json!({"baseColorTexture": texture, "baseColorFactor": [0.5, 0.25, 1.0, 0.75]});
    let roughness = json!({"metallicRoughnessTexture": texture, "metallicFactor": 0.75, "roughnessFactor": 0.5});
    let strength = json!({"KHR_materials_emissive_strength": {"emissiveStrength": 5}});
    for (slot, expected) in [
        (json!({"pbrMetallicRoughness": color}), &colored),
        (json!({"pbrMetallicRoughness": roughness}), &metal),
        (json!({"occlusionTexture": texture}), &plain),
        (json!({"normalTexture": texture}), &plain),
        (json!({"emissiveTexture": texture, "emissiveFactor": [1, 1, 1], "extensions": strength}), &plain),
    ] {
        let is_dark = slot.get("emissiveTexture").is_some();
        let broken = ("images/0", json!({"uri": "data:;base64,AAAA"}));
        let gltf = textured(&png(2, 2)).with(&[broken, ("materials/0", slot)]);
        let model = gltf.model_that_warns(&["images[0]: ", "the image is left out"]);
        assert!(model.images.is_empty());
        assert_eq!(Material { name: expected.name.clone(), ..model.materials[0].clone() }, *expected);
        let warning = "materials[0].emissiveTexture: is left out, so the material emits no light";
        assert_eq!(warns(&model, warning), is_dark);
    }
}

#[test]
fn all_images_together_have_a_budget() {
    // 8192 by 4096 texels are the whole budget of this file. The second image's header claims as many, so it is not decoded.
    let mut large = encoded(&image::RgbaImage::new(1, 1), ImageFormat::WebP);
    large[21..25].copy_from_slice(&(8191_u32 | 4095 << 14 | 1 << 28).to_le_bytes());
    let mut gltf = textured(&png(1, 1));
    let texture = gltf.encoded_texture(&large);
    gltf.push("materials", json!({"pbrMetallicRoughness": {"baseColorTexture": {"index": texture}}}));
    let most = "all images of a model with files of this size may have 33554432";
    let model = gltf.model_that_warns(&[&format!("images[1]: 8192x4096 texels are too many; {most}")]);
    assert_eq!(model.images.len(), 1);
}

#[test]
fn indices_of_materials_and_textures_are_checked() {
    let absent = "textures[0] does not exist; the file has 0";
    textured(&png(1, 1)).mistakes("").are_left_out([
        ("textures/0/source", json!(4), "textures[0].source: images[4] does not exist; the file has 1…"),
        ("textures", json!([]), &format!("materials[0].pbrMetallicRoughness.baseColorTexture: {absent}…")),
    ]);
    let mut gltf = Gltf::triangle();
    let primitives = json!([gltf.primitive(), {"attributes": gltf.primitive()["attributes"], "material": 0}]);
    // The first primitive uses the default material, which is not the file's material 0.
    let message = "meshes[0].primitives[1].material: materials[0] does not exist; the file has 0…";
    gltf.mistakes("").are_left_out([("meshes/0/primitives", primitives, message)]);
}

/// Makes the triangle with normals, a normal map and tangents of any length, and any handedness except zero.
fn with_tangents() -> Gltf {
    let mut gltf = textured(&png(1, 1));
    gltf.json["materials"][0]["normalTexture"] = json!({"index": 0, "texCoord": 1});
    gltf.attribute("NORMAL", "VEC3", &[0.0, 0.0, 1.0].repeat(3));
    gltf.attribute("TANGENT", "VEC4", &[2.0, 0.0, 0.0, 1.0, 0.0, 0.5, 0.0, -1.0, 3.0, 0.0, 0.0, -1.0]);
    gltf
}

#[test]
fn tangents_are_read_where_a_normal_map_needs_them() {
    let mut gltf = with_tangents();
    let model = gltf.model_without_warnings();
    let expected = [Vec4::new(1.0, 0.0, 0.0, 1.0), Vec4::new(0.0, 1.0, 0.0, -1.0), Vec4::new(1.0, 0.0, 0.0, -1.0)];
    assert_eq!(model.geometry.tangents, expected);
    assert!(model.geometry.draw_ranges[0].has_tangents);

    // The target changes only tangents.
    let tangents = gltf.f32s("VEC3", &[0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0]);
    gltf.primitive()["targets"] = json!([{"TANGENT": tangents}]);
    let deltas = gltf.model().geometry.morph_deltas;
    assert_eq!(deltas.len(), 1);
    assert_eq!((deltas[0].position, deltas[0].normal, deltas[0].tangent), (Vec3::ZERO, Vec3::ZERO, Vec3::Y * 0.5));

    // Targets do not change tangents that MikkTSpace generates.
    gltf.set("meshes/0/primitives/0/attributes/TANGENT", Value::Null);
    let geometry = gltf.model().geometry;
    assert_eq!(geometry.tangents, [Vec4::new(1.0, 0.0, 0.0, -1.0); 3], "u to the right and v up");
    assert!(geometry.morph_deltas.is_empty());
}

#[test]
fn seams_split_vertices_and_the_files_vertices_stay() {
    let mut gltf = with_tangents();
    gltf.set("meshes/0/primitives/0/attributes/TANGENT", Value::Null);
    // The triangle and its reverse share vertices, but their handedness differs.
    let corners = [0_u16, 1, 2, 0, 2, 1];
    let indices = gltf.accessor(U16, "SCALAR", 6, bytemuck::cast_slice(&corners));
    gltf.primitive()["indices"] = json!(indices);
    let geometry = gltf.model().geometry;
    assert_eq!(geometry.source_primitives[0].vertices, [0, 1, 2]);
    for (&vertex, corner) in geometry.indices.iter().zip(corners) {
        assert_eq!(geometry.positions[vertex as usize], geometry.positions[usize::from(corner)]);
    }
}
