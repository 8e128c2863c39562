//! Tests of materials, textures and images.

use glam::{Affine2, Vec2, Vec3, Vec4};
use serde_json::{Value, json};
use throng::model::{AlphaMode, Filter, Material, MaterialTexture, Texture, TextureSampler, Wrap};

use crate::common::builder::{Gltf, warns};

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let image = image::RgbaImage::from_fn(width, height, |x, y| image::Rgba([x as u8, y as u8, 7, 255]));
    image.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

const UVS: [Vec2; 3] = [Vec2::ZERO, Vec2::X, Vec2::Y];

/// Returns the first texture coordinates of each vertex.
fn first_pairs(model: &throng::model::Model) -> Vec<Vec2> {
    model.geometry.tex_coords.iter().map(|pairs| pairs[0]).collect()
}

/// Makes the triangle with texture coordinates in set 1 and a texture whose image is `encoded`.
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
        base_color_texture: Some(MaterialTexture {
            texture: Texture { image: 0, sampler },
            tex_coords: 0,
            texture_from_vertex: Affine2::IDENTITY,
        }),
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
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
}

fn transformed(transform: Value) -> throng::model::Model {
    let mut gltf = textured(&png(1, 1));
    gltf.json["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]["extensions"] =
        json!({"KHR_texture_transform": transform});
    gltf.json["extensionsRequired"] = json!(["KHR_texture_transform"]);
    gltf.model()
}

fn assert_samples_at(model: &throng::model::Model, expected: [Vec2; 3]) {
    let texture = model.materials[0].base_color_texture.unwrap();
    assert!(!texture.is_plain());
    for (uv, expected) in UVS.into_iter().zip(expected) {
        let found = texture.texture_from_vertex.transform_point2(uv);
        assert!((found - expected).length() < 1e-6, "{uv}: {found} {expected}");
    }
}

#[test]
fn texture_transforms_scale_then_rotate_then_move() {
    let quarter_turn = std::f32::consts::FRAC_PI_2;
    let model = transformed(json!({"offset": [0.5, 0.25], "rotation": quarter_turn, "scale": [2, 4]}));
    assert_eq!(first_pairs(&model), UVS, "vertices keep what the file has");
    assert_samples_at(&model, [Vec2::new(0.5, 0.25), Vec2::new(0.5, -1.75), Vec2::new(4.5, 0.25)]);
    // This is the extension's own example, which shows the lower left quadrant: u in 0..0.5, v in 0.5..1.
    let model = transformed(json!({"offset": [0, 1], "rotation": quarter_turn, "scale": [0.5, 0.5]}));
    assert_samples_at(&model, [Vec2::new(0.0, 1.0), Vec2::new(0.0, 0.5), Vec2::new(0.5, 1.0)]);
    let model = transformed(json!({"scale": [1e30, 1e39]}));
    assert!(model.materials[0].base_color_texture.unwrap().is_plain());
    assert!(warns(&model, "baseColorTexture: KHR_texture_transform with a number that is too large is ignored"));
}

#[test]
fn every_texture_has_its_own_set_and_transform() {
    let mut gltf = textured(&png(1, 1));
    let more = gltf.f32s("VEC2", &[0.5, 0.0, 0.5, 0.25, 0.5, 0.75]);
    gltf.json["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_3"] = json!(more);
    let material = &mut gltf.json["materials"][0];
    let moved = json!({"KHR_texture_transform": {"offset": [0.25, 0], "texCoord": 3}});
    material["pbrMetallicRoughness"]["metallicRoughnessTexture"] = json!({"index": 0, "extensions": moved});
    material["occlusionTexture"] = json!({"index": 0, "texCoord": 1, "strength": 0.5});
    material["emissiveTexture"] = json!({"index": 0, "texCoord": 3});
    material["emissiveFactor"] = json!([1, 0.5, 0]);
    material["normalTexture"] = json!({"index": 0, "texCoord": 3, "scale": -2});
    material["extensions"] = json!({"KHR_materials_emissive_strength": {"emissiveStrength": 4}});
    let model = gltf.model();
    let slots = [
        model.materials[0].base_color_texture,
        model.materials[0].metallic_roughness_texture,
        model.materials[0].occlusion_texture,
        model.materials[0].emissive_texture,
        model.materials[0].normal_texture,
    ]
    .map(|texture| texture.map(|texture| (texture.tex_coords, texture.texture_from_vertex.translation)));
    let (first, second) = (Some((0, Vec2::ZERO)), Some((1, Vec2::ZERO)));
    assert_eq!(slots, [first, Some((1, Vec2::new(0.25, 0.0))), first, second, second]);
    let Material { emission, occlusion_strength, normal_scale, metallic, .. } = model.materials[0];
    assert_eq!((emission, occlusion_strength, normal_scale), (Vec3::new(4.0, 2.0, 0.0), 0.5, -2.0));
    assert_eq!(metallic, 0.25, "multiplied with its texture, so as the file has it");
    assert_eq!(model.geometry.tex_coords[2], [Vec2::Y, Vec2::new(0.5, 0.75)]);
    assert_eq!(model.images.len(), 1);
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);

    // Vertices have two sets.
    gltf.json["materials"][0]["normalTexture"]["texCoord"] = json!(2);
    let model = gltf.model();
    assert_eq!(model.materials[0].normal_texture, None);
    assert!(warns(&model, "materials[0].normalTexture: uses TEXCOORD_2"), "{:?}", model.warnings);
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
    let model = gltf.model();
    let material = &model.materials[0];
    assert!(material.unlit);
    assert_eq!(material.emission, Vec3::new(10_000.0, 5_000.0, 0.0));
    assert_eq!(material.base_color_factor, Vec4::new(0.5, 1.0, 1.0, 1.0));
    for part in
        ["baseColorFactor: a number outside", "emissiveFactor: a number outside", "strength: a strength outside"]
    {
        assert!(warns(&model, part), "{part}: {:?}", model.warnings);
    }
}

fn webp() -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let image = image::RgbaImage::from_pixel(5, 1, image::Rgba([9, 8, 7, 255]));
    image.write_to(&mut bytes, image::ImageFormat::WebP).unwrap();
    bytes.into_inner()
}

#[test]
fn webp_is_preferred_and_png_is_the_fallback() {
    let mut gltf = textured(&png(3, 2));
    let view = gltf.view(&webp());
    gltf.push("images", json!({"bufferView": view}));
    gltf.json["textures"][0]["extensions"] = json!({"EXT_texture_webp": {"source": 1}});
    gltf.json["extensionsUsed"] = json!(["EXT_texture_webp"]);
    let model = gltf.model();
    assert_eq!((model.images.len(), model.images[0].width), (1, 5));
    assert_eq!(model.images[0].texels().unwrap()[..4], [9, 8, 7, 255]);
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);

    let mut broken = webp();
    broken.truncate(20);
    let view = gltf.view(&broken);
    gltf.json["images"][1] = json!({"bufferView": view});
    let model = gltf.model();
    assert_eq!((model.images.len(), model.images[0].width), (1, 3));
    assert!(warns(&model, "images[1]: cannot be decoded"), "{:?}", model.warnings);

    gltf.json["textures"][0] = json!({"extensions": {"EXT_texture_webp": {"source": 9}}});
    let at = "test.gltf: textures[0].extensions.EXT_texture_webp.source";
    assert_eq!(gltf.error(), format!("{at}: images[9] does not exist; the file has 2"));
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
        let model = textured(encoded).model();
        assert_eq!((model.materials[0].base_color_texture, model.images.len()), (None, 0));
        assert!(warns(&model, part), "{part}: {:?}", model.warnings);
    }
    let mut gltf = textured(&whole);
    gltf.json["images"][0] = json!({"uri": "data:;base64,AAAA"});
    assert!(warns(&gltf.model(), "images[0]: 3 bytes that are neither PNG, JPEG nor WebP"));
    gltf.json["images"][0] = json!({});
    assert!(warns(&gltf.model(), "images[0]: has neither a uri nor a bufferView"));
    gltf.json["textures"][0] = json!({"extensions": {"KHR_texture_basisu": {"source": 0}}});
    assert!(warns(&gltf.model(), "textures[0]: has no PNG, JPEG or WebP image"));
    let mut gltf = textured(&whole);
    gltf.json["materials"][0]["normalTexture"] = json!({"index": 0});
    assert!(warns(&gltf.model(), "no TEXCOORD_0, which a texture of the material uses"));
}

/// Each texture is the only one of its material, and its image is broken.
#[test]
fn a_lost_texture_leaves_the_factor_and_a_lost_emission_is_dark() {
    let texture = json!({"index": 0});
    let (color, roughness) = (json!([0.5, 0.25, 1.0, 0.75]), 0.5);
    let plain = Material::default();
    let colored = Material { base_color_factor: Vec4::new(0.5, 0.25, 1.0, 0.75), ..plain.clone() };
    let metal = Material { metallic: 0.75, roughness, ..plain.clone() };
    let strength = json!({"KHR_materials_emissive_strength": {"emissiveStrength": 5}});
    for (slot, expected) in [
        (json!({"pbrMetallicRoughness": {"baseColorTexture": texture, "baseColorFactor": color}}), &colored),
        (
            json!({"pbrMetallicRoughness": {
                "metallicRoughnessTexture": texture, "metallicFactor": 0.75, "roughnessFactor": roughness,
            }}),
            &metal,
        ),
        (json!({"occlusionTexture": texture}), &plain),
        (json!({"normalTexture": texture}), &plain),
        (json!({"emissiveTexture": texture, "emissiveFactor": [1, 1, 1], "extensions": strength}), &plain),
    ] {
        let mut gltf = textured(&png(2, 2));
        gltf.json["images"][0] = json!({"uri": "data:;base64,AAAA"});
        gltf.json["materials"][0] = slot;
        let model = gltf.model();
        assert!(warns(&model, "images[0]: ") && warns(&model, "the image is left out"), "{:?}", model.warnings);
        assert!(model.images.is_empty());
        let found = Material { name: expected.name.clone(), ..model.materials[0].clone() };
        assert_eq!(found, *expected);
        let is_dark = gltf.json["materials"][0].get("emissiveTexture").is_some();
        let warning = "materials[0].emissiveTexture: is left out, so the material emits no light";
        assert_eq!(warns(&model, warning), is_dark);
    }
}

#[test]
fn all_images_together_have_a_budget() {
    // 8192 by 4096 texels are the whole budget of a file of this size. The second image does not fit and is not
    // decoded.
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
    // The first primitive uses the default material, which is not the file's material 0.
    let message = "test.gltf: meshes[0].primitives[1].material: materials[0] does not exist; the file has 0";
    assert_eq!(gltf.error(), message);
}

/// Makes the triangle with normals, a normal map and tangents of any length, and any handedness except zero.
fn with_tangents() -> Gltf {
    let mut gltf = textured(&png(1, 1));
    gltf.json["materials"][0]["normalTexture"] = json!({"index": 0, "texCoord": 1});
    let normals = gltf.f32s("VEC3", &[0.0, 0.0, 1.0].repeat(3));
    let tangents = gltf.f32s("VEC4", &[2.0, 0.0, 0.0, 1.0, 0.0, 0.5, 0.0, -3.0, 0.0, 0.0, 0.0, -1.0]);
    let attributes = &mut gltf.json["meshes"][0]["primitives"][0]["attributes"];
    attributes["NORMAL"] = json!(normals);
    attributes["TANGENT"] = json!(tangents);
    gltf
}

#[test]
fn tangents_are_read_where_a_normal_map_needs_them() {
    let mut gltf = with_tangents();
    let model = gltf.model();
    let expected = [Vec4::new(1.0, 0.0, 0.0, 1.0), Vec4::new(0.0, 1.0, 0.0, -1.0), Vec4::new(1.0, 0.0, 0.0, -1.0)];
    assert_eq!(model.geometry.tangents, expected);
    assert!(model.geometry.draw_ranges[0].has_tangents);
    assert!(warns(&model, "1 tangents of length zero are read as +X"), "{:?}", model.warnings);

    // The target changes only tangents.
    let deltas = [0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0];
    let tangents = gltf.f32s("VEC3", &deltas);
    gltf.json["meshes"][0]["primitives"][0]["targets"] = json!([{"TANGENT": tangents}]);
    let deltas = gltf.model().geometry.morph_deltas;
    assert_eq!(deltas.len(), 1);
    assert_eq!((deltas[0].position, deltas[0].normal, deltas[0].tangent), (Vec3::ZERO, Vec3::ZERO, Vec3::Y * 0.5));

    // Targets do not change tangents that MikkTSpace generates.
    let attributes = gltf.json["meshes"][0]["primitives"][0]["attributes"].as_object_mut().unwrap();
    attributes.remove("TANGENT");
    let geometry = gltf.model().geometry;
    assert_eq!(geometry.tangents, [Vec4::new(1.0, 0.0, 0.0, -1.0); 3], "u to the right and v up");
    assert!(geometry.morph_deltas.is_empty());
}

#[test]
fn seams_split_vertices_and_the_files_vertices_stay() {
    let mut gltf = with_tangents();
    let attributes = gltf.json["meshes"][0]["primitives"][0]["attributes"].as_object_mut().unwrap();
    attributes.remove("TANGENT");
    // The triangle and its reverse share vertices, but their handedness differs.
    let indices =
        gltf.accessor(crate::common::builder::U16, "SCALAR", 6, bytemuck::cast_slice(&[0_u16, 1, 2, 0, 2, 1]));
    let coordinates = gltf.f32s("VEC2", &[0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    let primitive = &mut gltf.json["meshes"][0]["primitives"][0];
    primitive["attributes"]["TEXCOORD_1"] = json!(coordinates);
    primitive["indices"] = json!(indices);
    let geometry = gltf.model().geometry;
    assert_eq!(geometry.source_primitives[0].vertices, [0, 1, 2]);
    for corner in 0..6 {
        let vertex = geometry.indices[corner] as usize;
        assert_eq!(geometry.positions[vertex], geometry.positions[[0, 1, 2, 0, 2, 1][corner]]);
    }
    assert_eq!(geometry.tangents.len(), geometry.vertex_count());
}
