//! The effect of a material's textures and factors on the image. Each test compares two ways to describe the same
//! material: a constant texture and a factor, a tilted normal map and tilted normals, a texture transform and moved
//! coordinates. The unlit extension is compared with the numbers in the file.
//!
//! The subject is an upright square that faces the camera and fills the middle of the image.

use glam::{Vec2, Vec3, Vec4};
use image::{Rgba, RgbaImage};
use serde_json::{Value, json};
use throng::animation::mirrored_by_clips;
use throng::model::Model;
use throng::renderer::{RendererSettings, Skinning, UploadPath};

use crate::common::builder::Gltf;
use crate::common::gpu::{Gpu, list_gpu_tests, note};
use crate::common::scene;
use crate::gpu::compare::Difference;

list_gpu_tests![
    a_constant_texture_is_a_factor,
    occlusion_takes_light_from_all_around_and_none_from_the_sun,
    unlit_colours_are_shown_as_they_are,
    unlit_colours_of_transparent_images_keep_their_hue,
    the_brightest_emission_is_white,
    texture_coordinates_are_those_that_the_slot_names,
    normal_maps_tilt_normals_right_and_up,
    tangents_are_those_of_the_file,
    mirrored_nodes_mirror_the_bumps,
    a_clip_that_mirrors_a_surface_hides_nothing,
];

/// The texture coordinates, which also give the positions.
const CORNERS: [Vec2; 4] = [Vec2::ZERO, Vec2::X, Vec2::Y, Vec2::ONE];

/// Makes an upright square of one metre. Its u points right, its v points down.
fn square(material: Value) -> Gltf {
    square_with(material, Vec3::Z, CORNERS)
}

fn square_with(material: Value, normal: Vec3, tex_coords: [Vec2; 4]) -> Gltf {
    let positions = CORNERS.map(|uv| Vec3::new(uv.x - 0.5, 1.0 - uv.y, 0.0));
    Gltf::mesh(&positions, &[normal; 4], &tex_coords, &[0, 2, 1, 1, 2, 3], material)
}

/// Makes a square with a texture of one colour, which is texture 0.
fn textured(material: Value, color: [u8; 4]) -> Gltf {
    let mut gltf = square(material);
    gltf.texture(&RgbaImage::from_pixel(2, 2, Rgba(color)));
    gltf
}

fn one_sample() -> RendererSettings<'static> {
    RendererSettings { upload: Some(UploadPath::Direct), samples: 1, ..RendererSettings::default() }
}

fn draw_with(gpu: &Gpu, model: Model, options: &[&str], settings: RendererSettings) -> Vec<RgbaImage> {
    let models = [model];
    let mut renderer = scene::renderer(gpu.device(), &models, [96, 64], settings);
    let options = options.iter().map(|options| format!("--size 96x64 --camera 0,0,0.6 {options}"));
    options.map(|options| scene::draw_with(&mut renderer, &models, &options).0).collect()
}

fn draw(gpu: &Gpu, gltf: &Gltf) -> RgbaImage {
    draw_with(gpu, gltf.model_without_warnings(), &[""], one_sample()).remove(0)
}

fn draw_both_ways(gpu: &Gpu, gltf: &Gltf) -> RgbaImage {
    let vertex = RendererSettings { skinning: Skinning::Vertex, ..one_sample() };
    let (compute, vertex) = (draw(gpu, gltf), draw_with(gpu, gltf.model_without_warnings(), &[""], vertex).remove(0));
    assert_same("compute and vertex skinning", &compute, &vertex);
    compute
}

fn middle(image: &RgbaImage) -> [u8; 3] {
    let [r, g, b, _] = image.get_pixel(image.width() / 2, image.height() / 2).0;
    [r, g, b]
}

fn assert_middle(what: &str, image: &RgbaImage, expected: [u8; 3], most_off: u8) {
    let found = middle(image);
    note!("{what}: {found:?}");
    let is_near = (0..3).all(|channel| found[channel].abs_diff(expected[channel]) <= most_off);
    assert!(is_near, "{what}: {found:?}, not {expected:?}");
}

/// Asserts that the images are equal except for small errors: one step of 1/255 on average.
fn assert_same(what: &str, a: &RgbaImage, b: &RgbaImage) {
    let difference = Difference::between(a, b, 4);
    note!("{what}: {difference:?}");
    assert!(difference.mean <= 1.0 && difference.share_beyond <= 0.002, "{what}: {difference:?}");
}

fn assert_different(what: &str, a: &RgbaImage, b: &RgbaImage) {
    let difference = Difference::between(a, b, 4);
    assert!(difference.mean > 2.0 && difference.share_beyond > 0.1, "{what}: {difference:?}");
}

const GREY: [f32; 4] = [0.5, 0.5, 0.5, 1.0];

fn a_constant_texture_is_a_factor(gpu: Gpu) {
    let shiny = |metallic: f32, roughness: f32| {
        let pbr = json!({"baseColorFactor": GREY, "metallicFactor": metallic, "roughnessFactor": roughness});
        json!({"pbrMetallicRoughness": pbr})
    };
    let by_factor = |metallic: f32, roughness: f32| draw(&gpu, &square(shiny(metallic, roughness)));
    let mut material = shiny(1.0, 0.5);
    material["pbrMetallicRoughness"]["metallicRoughnessTexture"] = json!({"index": 0});
    // The red channel is unused here. Occlusion would read it from the same image.
    let by_texture = draw(&gpu, &textured(material, [255, 102, 51, 255]));
    assert_same("metalness 0.2 and roughness 0.5 * 0.4", &by_texture, &by_factor(0.2, 0.2));
    assert_different("metalness and roughness exchanged", &by_texture, &by_factor(0.4, 0.1));

    let emission = |factor: [f32; 3], strength: f32| {
        let extensions = json!({"KHR_materials_emissive_strength": {"emissiveStrength": strength}});
        let pbr = json!({"baseColorFactor": [0, 0, 0, 1]});
        json!({"pbrMetallicRoughness": pbr, "emissiveFactor": factor, "extensions": extensions})
    };
    // sRGB 188 is linear 0.503.
    let mut glow = emission([1.0, 0.5, 0.25], 0.5);
    glow["emissiveTexture"] = json!({"index": 0});
    let glow = draw(&gpu, &textured(glow, [188, 255, 188, 0]));
    assert_same("emission", &glow, &draw(&gpu, &square(emission([0.503, 0.5, 0.126], 0.5))));
    assert_different("emission and none", &glow, &draw(&gpu, &square(emission([0.0; 3], 1.0))));
}

fn occlusion_takes_light_from_all_around_and_none_from_the_sun(gpu: Gpu) {
    let occluded = |red: u8, strength: f32| {
        let pbr = json!({"baseColorFactor": GREY, "metallicFactor": 0});
        let occlusion = json!({"index": 0, "strength": strength});
        let material = json!({"pbrMetallicRoughness": pbr, "occlusionTexture": occlusion});
        draw(&gpu, &textured(material, [red, 0, 0, 255]))
    };
    let open = occluded(255, 1.0);
    assert_same("no strength", &open, &occluded(0, 0.0));
    assert_same("half of it twice", &occluded(128, 1.0), &occluded(0, 0.498));
    let closed = occluded(0, 1.0);
    assert_different("open and closed", &open, &closed);
    let [open, closed] = [middle(&open)[0], middle(&closed)[0]];
    assert!(closed > 60 && closed < open - 10, "the sun stays: {open} {closed}");
}

fn unlit(pbr: Value) -> Value {
    json!({"pbrMetallicRoughness": pbr, "extensions": {"KHR_materials_unlit": {}}})
}

/// Tone mapping does not change unlit colours: the image has the file's colour to the bit, bright ones too.
fn unlit_colours_are_shown_as_they_are(gpu: Gpu) {
    for ([red, green, blue], shown) in [([0.02, 0.2, 0.5], [39, 124, 188]), ([1.0, 0.9, 0.0], [255, 243, 0])] {
        let mut material = unlit(json!({"baseColorFactor": [red, green, blue, 0.5]}));
        material["emissiveFactor"] = json!([1, 1, 1]);
        assert_middle(&format!("{red} {green} {blue}"), &draw(&gpu, &square(material)), shown, 1);
    }
    let color @ [red, green, blue] = [10, 128, 250];
    let with_alpha = |mode: &str, alpha: u8| {
        let mut material = unlit(json!({"baseColorTexture": {"index": 0}}));
        material["alphaMode"] = json!(mode);
        draw(&gpu, &textured(material, [red, green, blue, alpha]))
    };
    for mode in ["OPAQUE", "MASK", "BLEND"] {
        assert_middle(mode, &with_alpha(mode, 255), color, 1);
    }
    // Half transparent over the lit ground or sky, so the colour is between both.
    let [half, behind] = [128, 0].map(|alpha| middle(&with_alpha("BLEND", alpha)));
    for channel in 0..3 {
        let (low, high) = (behind[channel].min(color[channel]), behind[channel].max(color[channel]));
        assert!((low..=high).contains(&half[channel]), "{behind:?} {half:?} {color:?}");
    }
}

/// In a transparent image unlit colours go through the tone curve, which takes saturation from highlights. A colour that no
/// radiance reaches is darkened and keeps its hue, also where its radiance exceeds the target's numbers.
fn unlit_colours_of_transparent_images_keep_their_hue(gpu: Gpu) {
    for ([red, green, blue], shown) in [
        ([0.5, 0.2, 0.02], [188, 124, 39]),
        ([0.9, 0.2, 0.1], [243, 124, 89]),
        ([1.0, 0.5, 0.1], [249, 183, 87]),
        ([1.0, 0.0, 0.0], [226, 0, 0]),
        ([1.0, 1.0, 1.0], [255, 255, 255]),
    ] {
        let model = square(unlit(json!({"baseColorFactor": [red, green, blue, 1.0]}))).model_without_warnings();
        let settings = RendererSettings { transparent: true, ..one_sample() };
        let options = ["--background none", "--background none --exposure -9", "--background none --exposure -14"];
        let images = draw_with(&gpu, model, &options, settings);
        for ((options, image), most_off) in options.iter().zip(images).zip([1, 1, 2]) {
            assert_middle(&format!("{red} {green} {blue} {options}"), &image, shown, most_off);
        }
    }
}

/// The brightest emission is white at each exposure, also where it is blended, resolved from samples or divided by alpha.
fn the_brightest_emission_is_white(gpu: Gpu) {
    for mode in ["OPAQUE", "BLEND"] {
        let material = json!({
            "alphaMode": mode,
            "pbrMetallicRoughness": {"baseColorFactor": [1, 1, 1, 0.5]},
            "emissiveFactor": [1, 0.5, 0.25],
            "extensions": {"KHR_materials_emissive_strength": {"emissiveStrength": 1e4}},
        });
        let model = square(material).model_without_warnings();
        for (samples, background) in [(1, "sky"), (4, "sky"), (4, "none")] {
            let settings = RendererSettings { transparent: background == "none", samples, ..one_sample() };
            let options = ["0", "16"].map(|stops| format!("--background {background} --exposure {stops}"));
            let images = draw_with(&gpu, model.clone(), &options.each_ref().map(String::as_str), settings);
            for (options, image) in options.iter().zip(images) {
                assert_middle(&format!("{mode}, {samples} samples, {options}"), &image, [255; 3], 0);
            }
        }
    }
}

fn texture_coordinates_are_those_that_the_slot_names(gpu: Gpu) {
    // Four quarters with different colours.
    let colors = [[[255, 0, 0, 255], [0, 255, 0, 255]], [[0, 0, 255, 255], [255, 255, 0, 255]]];
    let quarters = RgbaImage::from_fn(64, 64, |x, y| Rgba(colors[(y / 32) as usize][(x / 32) as usize]));
    let textured = |info: Value, tex_coords: [Vec2; 4]| {
        let material = json!({"pbrMetallicRoughness": {"baseColorTexture": info, "metallicFactor": 0}});
        let mut gltf = square_with(material, Vec3::Z, tex_coords);
        gltf.texture(&quarters);
        gltf
    };
    let plain = draw(&gpu, &textured(json!({"index": 0}), CORNERS));
    // The transform turns the coordinates counter-clockwise by a quarter and moves them back, so the image turns clockwise.
    let turned = json!({"offset": [0, 1], "rotation": std::f32::consts::FRAC_PI_2});
    let turned = json!({"index": 0, "extensions": {"KHR_texture_transform": turned}});
    let turned = draw(&gpu, &textured(turned, CORNERS));
    let moved = CORNERS.map(|uv| Vec2::new(uv.y, 1.0 - uv.x));
    let expected = draw(&gpu, &textured(json!({"index": 0}), moved));
    assert_same("a quarter turn", &turned, &expected);
    assert_different("turned and not", &turned, &plain);

    // The second set is used if the texture slot names it.
    let mut gltf = textured(json!({"index": 0, "texCoord": 1}), CORNERS);
    gltf.attribute("TEXCOORD_1", "VEC2", bytemuck::cast_slice(&moved));
    assert_same("the first pair, from TEXCOORD_1", &draw(&gpu, &gltf), &expected);
    gltf.set("materials/0/emissiveFactor", json!([0.3, 0.3, 0.3]));
    let [first, second] = [0, 1]
        .map(|set| draw(&gpu, &gltf.with(&[("materials/0/emissiveTexture", json!({"index": 0, "texCoord": set}))])));
    assert_different("emission by TEXCOORD_0 and by TEXCOORD_1", &first, &second);
}

/// A normal map of one direction, to compare with normals of that direction. u points right (+X) and green up (+Y).
fn tilted(direction: Vec3) -> [u8; 4] {
    let [x, y, z] = direction.to_array().map(|c| ((c * 0.5 + 0.5) * 255.0).round() as u8);
    [x, y, z, 255]
}

fn smooth() -> Value {
    json!({"pbrMetallicRoughness": {"baseColorFactor": GREY, "metallicFactor": 0, "roughnessFactor": 0.6}})
}

fn leaning(direction: Vec3) -> Gltf {
    square_with(smooth(), direction, CORNERS)
}

fn mapped(direction: Vec3) -> Gltf {
    let mut material = smooth();
    material["normalTexture"] = json!({"index": 0});
    textured(material, tilted(direction))
}

fn mapped_along(direction: Vec3, tangent: Vec4) -> Gltf {
    let mut gltf = mapped(direction);
    gltf.attribute("TANGENT", "VEC4", bytemuck::cast_slice(&[tangent; 4]));
    gltf
}

fn mirrored(gltf: &Gltf) -> Gltf {
    let (sin, cos) = 0.2_f32.sin_cos();
    gltf.with(&[("nodes/0/rotation", json!([0, 0, sin, cos])), ("nodes/0/scale", json!([-1, 1, 1]))])
}

fn without_normals(gltf: &Gltf) -> Gltf {
    gltf.with(&[("meshes/0/primitives/0/attributes/NORMAL", Value::Null)])
}

const TILTS: [Vec3; 3] = [Vec3::new(0.6, 0.0, 1.0), Vec3::new(0.0, -0.6, 1.0), Vec3::new(-0.4, 0.5, 1.0)];

fn normal_maps_tilt_normals_right_and_up(gpu: Gpu) {
    assert_same("no tilt", &draw(&gpu, &mapped(Vec3::Z)), &draw(&gpu, &square(smooth())));
    let mirrored = CORNERS.map(|uv| Vec2::new(1.0 - uv.x, uv.y));
    let flipped = CORNERS.map(|uv| Vec2::new(uv.x, 1.0 - uv.y));
    for Vec3 { x, y, .. } in TILTS {
        let map = mapped(Vec3::new(x, y, 1.0).normalize());
        for (what, scale, tex_coords, expected) in [
            ("a map", 1.0, CORNERS, Vec3::new(x, y, 1.0)),
            ("half of it", 0.5, CORNERS, Vec3::new(0.5 * x, 0.5 * y, 1.0)),
            // u points left, so a tilt to the right becomes a tilt to the left.
            ("mirrored coordinates", 1.0, mirrored, Vec3::new(-x, y, 1.0)),
            // The image is upside down: v points up, green down.
            ("flipped coordinates", 1.0, flipped, Vec3::new(x, -y, 1.0)),
        ] {
            let mut gltf = map.with(&[("materials/0/normalTexture/scale", json!(scale))]);
            gltf.attribute("TEXCOORD_0", "VEC2", bytemuck::cast_slice(&tex_coords));
            assert_same(what, &draw_both_ways(&gpu, &gltf), &draw(&gpu, &leaning(expected.normalize())));
        }
    }
    let [right, left] = [0.6, -0.6].map(|x| middle(&draw(&gpu, &mapped(Vec3::new(x, 0.0, 1.0).normalize())))[0]);
    assert!(left > right + 20, "the sun stands to the left");
}

fn tangents_are_those_of_the_file(gpu: Gpu) {
    // The tangents point up, against the texture coordinates. The bitangent then points left or right.
    for (handedness, bitangent) in [(1.0, Vec3::NEG_X), (-1.0, Vec3::X)] {
        let tangent = Vec3::Y.extend(handedness);
        for tilt in TILTS.map(Vec3::normalize) {
            let square = mapped_along(tilt, tangent);
            assert_eq!(square.model().geometry.tangents, [tangent; 4]);
            let expected = leaning(tilt.x * Vec3::Y + tilt.y * bitangent + tilt.z * Vec3::Z);
            assert_same("a map", &draw_both_ways(&gpu, &square), &draw(&gpu, &expected));
        }
    }
    let square = mapped_along(Vec3::Z, Vec3::X.extend(1.0));
    for needed in ["materials/0/normalTexture", "meshes/0/primitives/0/attributes/NORMAL"] {
        let geometry = square.with(&[(needed, Value::Null)]).model_without_warnings().geometry;
        assert!(geometry.tangents.is_empty() && !geometry.draw_ranges[0].has_tangents, "{needed}");
    }
}

/// The mirror image of a bumpy square is bumpy in the mirrored direction, with tangents and without. The tilt is to the side
/// and up, so none of its changes leaves it as it is.
fn mirrored_nodes_mirror_the_bumps(gpu: Gpu) {
    let tilt = TILTS[2].normalize();
    let (bumpy, plain) = (mapped(tilt), leaning(tilt));
    let expected = draw_both_ways(&gpu, &mirrored(&plain));
    for (what, square) in [
        ("MikkTSpace", &bumpy),
        ("of the file", &mapped_along(tilt, Vec3::X.extend(1.0))),
        ("of the screen", &without_normals(&bumpy)),
    ] {
        assert_same(what, &draw_both_ways(&gpu, &mirrored(square)), &expected);
    }
    let not_mirrored = draw_both_ways(&gpu, &without_normals(&bumpy));
    assert_same("of the screen, not mirrored", &not_mirrored, &draw(&gpu, &plain));
}

/// A surface that a clip mirrors looks like one that its node mirrors: neither culled nor lit from behind.
fn a_clip_that_mirrors_a_surface_hides_nothing(gpu: Gpu) {
    for double_sided in [false, true] {
        let bumpy = mapped(TILTS[2].normalize()).with(&[("materials/0/doubleSided", json!(double_sided))]);
        let by_node = bumpy.with(&[("nodes/0/scale", json!([-1, 1, 1]))]);
        let mut by_clip = bumpy;
        let (input, output) = (by_clip.f32s("SCALAR", &[0.0]), by_clip.f32s("VEC3", &[-1.0, 1.0, 1.0]));
        by_clip.animation(0, "scale", "STEP", input, output);
        assert_eq!([&by_clip, &by_node].map(|gltf| mirrored_by_clips(&gltf.model())), [[true], [false]]);
        assert_same("mirrored", &draw(&gpu, &by_clip), &draw(&gpu, &by_node));
    }
}
