//! The effect of a material's textures and factors on the image. Each test compares two ways to describe the same
//! material: a constant texture and a factor, a tilted normal map and tilted normals, a texture transform and moved
//! coordinates. The unlit extension is compared with the numbers in the file.
//!
//! The subject is an upright square that faces the camera and fills the middle of the image.

use ash::vk;
use glam::{Vec2, Vec3, Vec4};
use image::{Rgba, RgbaImage};
use serde_json::{Value, json};
use throng::animation::mirrored_by_clips;
use throng::model::Model;
use throng::renderer::{RendererSettings, Skinning, UploadPath};

use crate::common::builder::Gltf;
use crate::common::gpu::{Gpu, Test, TestDevice, gpu_tests, note};
use crate::common::scene;
use crate::gpu::compare::Difference;

pub fn tests() -> Vec<Test> {
    gpu_tests![
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
        models_without_normal_maps_have_no_tangents,
    ]
}

/// An upright square of one metre. Its u points right, its v points down.
struct Square {
    gltf: Gltf,
}

impl Square {
    fn new(material: Value) -> Self {
        Self::with(material, [Vec3::Z; 4], CORNERS)
    }

    fn with(material: Value, normals: [Vec3; 4], tex_coords: [Vec2; 4]) -> Self {
        let positions = CORNERS.map(|uv| Vec3::new(uv.x - 0.5, 1.0 - uv.y, 0.0));
        let gltf = Gltf::mesh(&positions, &normals, &tex_coords, &[0, 2, 1, 1, 2, 3], material);
        Self { gltf }
    }

    /// Appends a texture. The materials of these tests refer to texture 0.
    fn texture(mut self, image: &RgbaImage) -> Self {
        self.gltf.texture(image);
        self
    }

    /// Changes the attributes of the only primitive.
    fn attribute(mut self, name: &str, shape: &str, values: &[f32]) -> Self {
        let accessor = self.gltf.f32s(shape, values);
        self.attributes()[name] = json!(accessor);
        self
    }

    fn without_normals(mut self) -> Self {
        self.attributes().as_object_mut().unwrap().remove("NORMAL");
        self
    }

    fn attributes(&mut self) -> &mut Value {
        &mut self.gltf.json["meshes"][0]["primitives"][0]["attributes"]
    }

    /// Leans the square to the side and mirrors it.
    fn mirrored(mut self) -> Self {
        let (sin, cos) = 0.2_f32.sin_cos();
        self.gltf.json["nodes"][0]["rotation"] = json!([0, 0, sin, cos]);
        self.gltf.json["nodes"][0]["scale"] = json!([-1, 1, 1]);
        self
    }

    fn model(&self) -> Model {
        let model = self.gltf.model();
        assert!(model.warnings.is_empty(), "{:?}", model.warnings);
        model
    }

    fn draw(&self, gpu: &Gpu) -> RgbaImage {
        draw(gpu, self.model(), &[""], one_sample()).remove(0)
    }

    /// Draws with both ways of skinning, which must agree.
    fn draw_both_ways(&self, gpu: &Gpu) -> RgbaImage {
        let vertex = RendererSettings { skinning: Skinning::Vertex, ..one_sample() };
        let (compute, vertex) = (self.draw(gpu), draw(gpu, self.model(), &[""], vertex).remove(0));
        assert_same("compute and vertex skinning", &compute, &vertex);
        compute
    }
}

/// The texture coordinates, which also give the positions.
const CORNERS: [Vec2; 4] = [Vec2::ZERO, Vec2::X, Vec2::Y, Vec2::ONE];

fn one_sample() -> RendererSettings<'static> {
    RendererSettings { upload: Some(UploadPath::Direct), samples: 1, ..RendererSettings::default() }
}

/// Draws a picture with each of these options.
fn draw(gpu: &Gpu, model: Model, options: &[&str], settings: RendererSettings) -> Vec<RgbaImage> {
    let (models, extent) = ([model], vk::Extent2D { width: 96, height: 64 });
    let mut renderer = scene::renderer(gpu.device(), &models, extent, settings);
    let options = options.iter().map(|options| format!("--size 96x64 --camera 0,0,0.6 {options}"));
    options.map(|options| scene::draw_with(&mut renderer, &models, &options).0).collect()
}

fn plain(color: [u8; 4]) -> RgbaImage {
    RgbaImage::from_pixel(2, 2, Rgba(color))
}

/// An image of four quarters with different colours.
fn quarters() -> RgbaImage {
    let colors = [[[255, 0, 0, 255], [0, 255, 0, 255]], [[0, 0, 255, 255], [255, 255, 0, 255]]];
    RgbaImage::from_fn(64, 64, |x, y| Rgba(colors[(y / 32) as usize][(x / 32) as usize]))
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

fn a_constant_texture_is_a_factor(device: &TestDevice) {
    let gpu = Gpu::new(device);
    let by_factor = |metallic: f32, roughness: f32| {
        let pbr = json!({"baseColorFactor": GREY, "metallicFactor": metallic, "roughnessFactor": roughness});
        Square::new(json!({"pbrMetallicRoughness": pbr})).draw(&gpu)
    };
    let pbr = json!({
        "baseColorFactor": GREY, "metallicFactor": 1, "roughnessFactor": 0.5,
        "metallicRoughnessTexture": {"index": 0},
    });
    // The red channel is unused here. Occlusion would read it from the same image.
    let by_texture = Square::new(json!({"pbrMetallicRoughness": pbr})).texture(&plain([255, 102, 51, 255])).draw(&gpu);
    assert_same("metalness 0.2 and roughness 0.5 * 0.4", &by_texture, &by_factor(0.2, 0.2));
    assert_different("metalness and roughness exchanged", &by_texture, &by_factor(0.4, 0.1));

    let emission = |factor: [f32; 3], strength: f32| {
        let extensions = json!({"KHR_materials_emissive_strength": {"emissiveStrength": strength}});
        let pbr = json!({"baseColorFactor": [0, 0, 0, 1]});
        Square::new(json!({"pbrMetallicRoughness": pbr, "emissiveFactor": factor, "extensions": extensions}))
    };
    // sRGB 188 is linear 0.503.
    let mut glow = emission([1.0, 0.5, 0.25], 0.5).texture(&plain([188, 255, 188, 0]));
    glow.gltf.json["materials"][0]["emissiveTexture"] = json!({"index": 0});
    let glow = glow.draw(&gpu);
    assert_same("emission", &glow, &emission([0.503, 0.5, 0.126], 0.5).draw(&gpu));
    assert_different("emission and none", &glow, &emission([0.0; 3], 1.0).draw(&gpu));
}

fn occlusion_takes_light_from_all_around_and_none_from_the_sun(device: &TestDevice) {
    let gpu = Gpu::new(device);
    let occluded = |red: u8, strength: f32| {
        let pbr = json!({"baseColorFactor": GREY, "metallicFactor": 0});
        let occlusion = json!({"index": 0, "strength": strength});
        let square = Square::new(json!({"pbrMetallicRoughness": pbr, "occlusionTexture": occlusion}));
        square.texture(&plain([red, 0, 0, 255])).draw(&gpu)
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
fn unlit_colours_are_shown_as_they_are(device: &TestDevice) {
    let gpu = Gpu::new(device);
    for ([red, green, blue], shown) in [([0.02, 0.2, 0.5], [39, 124, 188]), ([1.0, 0.9, 0.0], [255, 243, 0])] {
        let mut material = unlit(json!({"baseColorFactor": [red, green, blue, 0.5]}));
        material["emissiveFactor"] = json!([1, 1, 1]);
        assert_middle(&format!("{red} {green} {blue}"), &Square::new(material).draw(&gpu), shown, 1);
    }
    let color = [10, 128, 250];
    let textured = |mode: &str, alpha: u8| {
        let mut material = unlit(json!({"baseColorTexture": {"index": 0}}));
        material["alphaMode"] = json!(mode);
        Square::new(material).texture(&plain([color[0], color[1], color[2], alpha])).draw(&gpu)
    };
    for mode in ["OPAQUE", "MASK", "BLEND"] {
        assert_middle(mode, &textured(mode, 255), color, 1);
    }
    // Half transparent over the lit ground or sky, so the colour is between both.
    let [half, behind] = [128, 0].map(|alpha| middle(&textured("BLEND", alpha)));
    for channel in 0..3 {
        let (low, high) = (behind[channel].min(color[channel]), behind[channel].max(color[channel]));
        assert!((low..=high).contains(&half[channel]), "{behind:?} {half:?} {color:?}");
    }
}

/// In a transparent image unlit colours go through the tone curve, which takes saturation from highlights. A colour that no
/// radiance reaches is darkened and keeps its hue, also at an exposure at which its radiance is larger than the target's
/// numbers.
fn unlit_colours_of_transparent_images_keep_their_hue(device: &TestDevice) {
    let gpu = Gpu::new(device);
    for ([red, green, blue], shown) in [
        ([0.5, 0.2, 0.02], [188, 124, 39]),
        ([0.9, 0.2, 0.1], [243, 124, 89]),
        ([1.0, 0.5, 0.1], [249, 183, 87]),
        ([1.0, 0.0, 0.0], [226, 0, 0]),
        ([1.0, 1.0, 1.0], [255, 255, 255]),
    ] {
        let model = Square::new(unlit(json!({"baseColorFactor": [red, green, blue, 1.0]}))).model();
        let options = ["", "--exposure -9", "--exposure -14"].map(|exposure| format!("--background none {exposure}"));
        let settings = RendererSettings { transparent: true, ..one_sample() };
        let images = draw(&gpu, model, &options.each_ref().map(|options| &**options), settings);
        for ((options, image), most_off) in options.iter().zip(images).zip([1, 1, 2]) {
            assert_middle(&format!("{red} {green} {blue} {options}"), &image, shown, most_off);
        }
    }
}

/// The brightest emission is white at each exposure, also where it is blended, resolved from samples or divided by alpha.
fn the_brightest_emission_is_white(device: &TestDevice) {
    let gpu = Gpu::new(device);
    for mode in ["OPAQUE", "BLEND"] {
        let material = json!({
            "alphaMode": mode,
            "pbrMetallicRoughness": {"baseColorFactor": [1, 1, 1, 0.5]},
            "emissiveFactor": [1, 0.5, 0.25],
            "extensions": {"KHR_materials_emissive_strength": {"emissiveStrength": 1e4}},
        });
        let model = Square::new(material).model();
        for (samples, transparent) in [(1, false), (4, false), (4, true)] {
            let settings = RendererSettings { transparent, samples, ..one_sample() };
            let options = if transparent {
                ["--background none", "--background none --exposure 16"]
            } else {
                ["", "--exposure 16"]
            };
            for (options, image) in options.iter().zip(draw(&gpu, model.clone(), &options, settings)) {
                assert_middle(&format!("{mode}, {samples} samples, {options}"), &image, [255; 3], 0);
            }
        }
    }
}

fn texture_coordinates_are_those_that_the_slot_names(device: &TestDevice) {
    let gpu = Gpu::new(device);
    let textured = |info: Value, tex_coords: [Vec2; 4]| {
        let material = json!({"pbrMetallicRoughness": {"baseColorTexture": info, "metallicFactor": 0}});
        Square::with(material, [Vec3::Z; 4], tex_coords).texture(&quarters())
    };
    let plain = textured(json!({"index": 0}), CORNERS).draw(&gpu);
    // The transform turns the coordinates counter-clockwise by a quarter and moves them back, so the image turns
    // clockwise.
    let turned = json!({"offset": [0, 1], "rotation": std::f32::consts::FRAC_PI_2});
    let turned = json!({"index": 0, "extensions": {"KHR_texture_transform": turned}});
    let turned = textured(turned, CORNERS).draw(&gpu);
    let moved = CORNERS.map(|uv| Vec2::new(uv.y, 1.0 - uv.x));
    let expected = textured(json!({"index": 0}), moved).draw(&gpu);
    assert_same("a quarter turn", &turned, &expected);
    assert_different("turned and not", &turned, &plain);

    // The second set is used if the texture slot names it.
    let mut square = textured(json!({"index": 0, "texCoord": 1}), CORNERS);
    square = square.attribute("TEXCOORD_1", "VEC2", bytemuck::cast_slice(&moved));
    assert_same("the first pair, from TEXCOORD_1", &square.draw(&gpu), &expected);
    let material = &mut square.gltf.json["materials"][0];
    material["emissiveTexture"] = json!({"index": 0});
    material["emissiveFactor"] = json!([0.3, 0.3, 0.3]);
    let both = square.draw(&gpu);
    square.gltf.json["materials"][0]["emissiveTexture"]["texCoord"] = json!(1);
    assert_different("emission by TEXCOORD_0 and by TEXCOORD_1", &both, &square.draw(&gpu));
}

/// A normal map of one direction, to compare with normals of that direction. u points right (+X) and green up (+Y).
fn tilted(direction: Vec3) -> RgbaImage {
    let unorm8 = |c: f32| ((c * 0.5 + 0.5) * 255.0).round() as u8;
    let Vec3 { x, y, z } = direction;
    plain([unorm8(x), unorm8(y), unorm8(z), 255])
}

fn smooth() -> Value {
    json!({"pbrMetallicRoughness": {"baseColorFactor": GREY, "metallicFactor": 0, "roughnessFactor": 0.6}})
}

fn bumpy(scale: f32) -> Value {
    let mut material = smooth();
    material["normalTexture"] = json!({"index": 0, "scale": scale});
    material
}

/// Makes a square whose normals have this direction.
fn leaning(direction: Vec3) -> Square {
    Square::with(smooth(), [direction; 4], CORNERS)
}

/// Makes a square whose normal map has this direction.
fn mapped(direction: Vec3) -> Square {
    Square::new(bumpy(1.0)).texture(&tilted(direction))
}

fn normal_maps_tilt_normals_right_and_up(device: &TestDevice) {
    let gpu = Gpu::new(device);
    assert_same("no tilt", &mapped(Vec3::Z).draw(&gpu), &Square::new(smooth()).draw(&gpu));
    let mirrored = CORNERS.map(|uv| Vec2::new(1.0 - uv.x, uv.y));
    let flipped = CORNERS.map(|uv| Vec2::new(uv.x, 1.0 - uv.y));
    for Vec3 { x, y, .. } in TILTS {
        let map = tilted(Vec3::new(x, y, 1.0).normalize());
        for (what, scale, tex_coords, expected) in [
            ("a map", 1.0, CORNERS, Vec3::new(x, y, 1.0)),
            ("half of it", 0.5, CORNERS, Vec3::new(0.5 * x, 0.5 * y, 1.0)),
            // u points left, so a tilt to the right becomes a tilt to the left.
            ("mirrored coordinates", 1.0, mirrored, Vec3::new(-x, y, 1.0)),
            // The image is upside down: v points up, green down.
            ("flipped coordinates", 1.0, flipped, Vec3::new(x, -y, 1.0)),
        ] {
            let square = Square::with(bumpy(scale), [Vec3::Z; 4], tex_coords).texture(&map);
            assert_same(what, &square.draw_both_ways(&gpu), &leaning(expected.normalize()).draw(&gpu));
        }
    }
    let [right, left] = [0.6, -0.6].map(|x| middle(&mapped(Vec3::new(x, 0.0, 1.0).normalize()).draw(&gpu))[0]);
    assert!(left > right + 20, "the sun stands to the left");
}

const TILTS: [Vec3; 3] = [Vec3::new(0.6, 0.0, 1.0), Vec3::new(0.0, -0.6, 1.0), Vec3::new(-0.4, 0.5, 1.0)];

fn tangents_are_those_of_the_file(device: &TestDevice) {
    let gpu = Gpu::new(device);
    // The tangents point up, against the texture coordinates. The bitangent then points left or right.
    for (handedness, bitangent) in [(1.0, Vec3::NEG_X), (-1.0, Vec3::X)] {
        let tangent = Vec3::Y.extend(handedness);
        for tilt in TILTS.map(Vec3::normalize) {
            let square = mapped(tilt).attribute("TANGENT", "VEC4", bytemuck::cast_slice(&[tangent; 4]));
            assert_eq!(square.model().geometry.tangents, [tangent; 4]);
            let expected = leaning(tilt.x * Vec3::Y + tilt.y * bitangent + tilt.z * Vec3::Z);
            assert_same("a map", &square.draw_both_ways(&gpu), &expected.draw(&gpu));
        }
    }
}

/// The mirror image of a bumpy square is bumpy in the mirrored direction, with tangents and without. The tilt is to the side
/// and up, so none of its changes leaves it as it is.
fn mirrored_nodes_mirror_the_bumps(device: &TestDevice) {
    let gpu = Gpu::new(device);
    let upright = [Vec4::new(1.0, 0.0, 0.0, 1.0); 4];
    let tilt = TILTS[2].normalize();
    let expected = leaning(tilt).mirrored().draw_both_ways(&gpu);
    let square = || mapped(tilt).mirrored();
    assert_same("MikkTSpace", &square().draw_both_ways(&gpu), &expected);
    let of_file = square().attribute("TANGENT", "VEC4", bytemuck::cast_slice(&upright));
    assert_same("of the file", &of_file.draw_both_ways(&gpu), &expected);
    assert_same("of the screen", &square().without_normals().draw_both_ways(&gpu), &expected);
    let not_mirrored = mapped(tilt).without_normals();
    assert_same("of the screen, not mirrored", &not_mirrored.draw_both_ways(&gpu), &leaning(tilt).draw(&gpu));
}

/// A surface that a clip mirrors looks like one that its node mirrors: neither culled nor lit from behind.
fn a_clip_that_mirrors_a_surface_hides_nothing(device: &TestDevice) {
    let gpu = Gpu::new(device);
    for double_sided in [false, true] {
        let mirrored = |by_clip: bool| {
            let mut square = mapped(TILTS[2].normalize());
            square.gltf.json["materials"][0]["doubleSided"] = json!(double_sided);
            if by_clip {
                let (input, output) = (square.gltf.f32s("SCALAR", &[0.0]), square.gltf.f32s("VEC3", &[-1.0, 1.0, 1.0]));
                square.gltf.animation(0, "scale", "STEP", input, output);
                assert_eq!(mirrored_by_clips(&square.model()), [true]);
            } else {
                square.gltf.json["nodes"][0]["scale"] = json!([-1, 1, 1]);
                assert_eq!(mirrored_by_clips(&square.model()), [false]);
            }
            square.draw(&gpu)
        };
        assert_same("mirrored", &mirrored(true), &mirrored(false));
    }
}

fn models_without_normal_maps_have_no_tangents(_: &TestDevice) {
    let tangents = [Vec4::new(1.0, 0.0, 0.0, 1.0); 4];
    let smooth = Square::new(smooth()).attribute("TANGENT", "VEC4", bytemuck::cast_slice(&tangents));
    for square in [smooth, mapped(Vec3::Z).without_normals()] {
        let geometry = square.model().geometry;
        assert!(geometry.tangents.is_empty() && !geometry.draw_ranges[0].has_tangents);
    }
}
