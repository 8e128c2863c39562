//! Shadows in the image: round bodies have no dark facets, even if their normals lean. Open surfaces cast shadows. Shadows
//! touch their casters, masked materials cast holes. The edge of a shadow is that of the filter's twin. Nothing else is dark.

use std::collections::BTreeMap;

use glam::{Mat2, Vec2, Vec3};
use image::{Rgba, RgbaImage};
use serde_json::{Value, json};
use throng::model::Model;
use throng::renderer::{RendererSettings, Shadows, Skinning, UploadPath};
use throng::view::{OrbitCamera, ShadowScene, ShadowView};

use crate::common::builder::{self, Gltf};
use crate::common::gpu::{Gpu, list_gpu_tests, note};
use crate::common::scene;

list_gpu_tests![
    round_bodies_have_no_dark_facets,
    open_surfaces_cast_shadows,
    open_surfaces_do_not_shade_themselves_in_any_level,
    shadows_touch_their_casters,
    the_edge_of_a_shadow_is_that_of_the_twin,
    nothing_but_the_shadow_is_dark,
    masked_materials_cast_holes,
];

const SIZE: Vec2 = Vec2::new(320.0, 240.0);
const ASPECT: f32 = SIZE.x / SIZE.y;
/// Few texels, so that one is larger than a pixel.
const MAP_TEXELS: u32 = 256;

struct Picture {
    image: RgbaImage,
    camera: OrbitCamera,
    shadows: ShadowView,
    to_light: Vec3,
}

impl Picture {
    fn draw(gpu: &Gpu, model: Model, options: &str, skinning: Skinning, shadows: bool) -> Self {
        let shadows = if shadows { Shadows::Map(MAP_TEXELS) } else { Shadows::Off };
        let upload = Some(UploadPath::Direct);
        let settings = RendererSettings { skinning, upload, samples: 1, shadows, ..RendererSettings::default() };
        let (image, scene) = scene::draw(gpu.device(), &[model], &format!("--size 320x240 {options}"), settings);
        let to_light = scene.look.sun.to_light();
        let view = ShadowScene { crowd: &scene.crowd.bounds(), to_light, camera: &scene.camera, aspect: ASPECT };
        Self { image, camera: scene.camera, shadows: ShadowView::fit(&view, MAP_TEXELS), to_light }
    }

    /// Returns the green channel at the pixel that shows a point.
    fn at(&self, point: Vec3) -> i32 {
        let pixel = scene::project(&self.camera, SIZE, point);
        i32::from(self.image.get_pixel(pixel.x as u32, pixel.y as u32).0[1])
    }

    /// Returns the points of the level plane at `height` that the centres of the pixels show.
    fn points_at_height(&self, height: f32) -> Vec<(Vec3, i32)> {
        let world_from_clip = self.camera.clip_from_world(ASPECT).inverse();
        let eye = self.camera.position();
        let point = |(x, y, pixel): (u32, u32, &Rgba<u8>)| {
            let clip = (Vec2::new(x as f32, y as f32) + 0.5) / SIZE * Vec2::new(2.0, -2.0) + Vec2::new(-1.0, 1.0);
            let along = world_from_clip.project_point3(clip.extend(1.0)) - eye;
            (eye + along * ((height - eye.y) / along.y), i32::from(pixel.0[1]))
        };
        self.image.enumerate_pixels().map(point).collect()
    }
}

fn matte(double_sided: bool) -> Value {
    let pbr = json!({"baseColorFactor": [0.6, 0.6, 0.6, 1], "metallicFactor": 0, "roughnessFactor": 1});
    json!({"pbrMetallicRoughness": pbr, "doubleSided": double_sided})
}

/// A sphere of radius 1 on the ground. Its smooth normals lean to one side.
fn sphere(sectors: u16, rings: u16, lean: Vec3) -> Model {
    let (directions, indices) = builder::sphere(rings, sectors);
    let positions: Vec<Vec3> = directions.iter().map(|&direction| direction + Vec3::Y).collect();
    let normals: Vec<Vec3> = directions.iter().map(|&direction| (direction + lean).normalize()).collect();
    Gltf::mesh(&positions, &normals, &[], &indices, matte(false)).model()
}

/// Squares that face up or to the viewer of their corners: two from left to right, and two more, which are nearer or higher.
fn squares(corners: &[[Vec3; 4]], material: Value) -> Gltf {
    let tex_coords = [Vec2::ZERO, Vec2::X, Vec2::Y, Vec2::ONE].repeat(corners.len());
    let first = (0..corners.len() as u16).map(|square| 4 * square);
    let indices: Vec<u16> = first.flat_map(|first| [0, 2, 1, 1, 2, 3].map(|corner| first + corner)).collect();
    Gltf::mesh(corners.as_flattened(), &vec![Vec3::Y; tex_coords.len()], &tex_coords, &indices, material)
}

/// The corners of a square around a point that faces up.
fn level(center: Vec3, half: f32) -> [Vec3; 4] {
    [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]].map(|[x, z]| center + half * Vec3::new(x, 0.0, z))
}

/// Half of a cylinder, open on all sides, whose two faces are seen.
fn half_pipe() -> Model {
    let (places, triangles) = builder::grid(60, 60);
    let normal = |at: &Vec2| Vec2::from_angle(2.5 * (at.x / 60.0 - 0.5));
    let normals: Vec<Vec3> = places.iter().map(normal).map(|normal| Vec3::new(normal.y, 0.0, normal.x)).collect();
    let positions = places.iter().zip(&normals).map(|(at, normal)| 0.6 * normal + 0.03 * at.y * Vec3::Y);
    let positions: Vec<Vec3> = positions.collect();
    let indices: Vec<u16> = triangles.into_flattened().into_iter().map(|index| index as u16).collect();
    Gltf::mesh(&positions, &normals, &[], &indices, matte(true)).model()
}

/// The camera and the light allow different errors. Nothing else hides the sun from the outside of a bent surface.
fn open_surfaces_do_not_shade_themselves_in_any_level(gpu: Gpu) {
    let mut pipe = half_pipe();
    throng::levels::build(&mut pipe);
    assert!(pipe.geometry.coarser_levels.len() > 4);
    for texels in [256, 1024, 2048] {
        let options = "--size 480x320 --camera 0,0 --sun 20,12 --ground off --background #000000 --lod-error 4";
        let [shadowed, plain] = [Shadows::Map(texels), Shadows::Off].map(|shadows| {
            let settings = RendererSettings { samples: 1, shadows, ..RendererSettings::default() };
            scene::draw(gpu.device(), std::slice::from_ref(&pipe), options, settings).0
        });
        let pixels = || shadowed.pixels().zip(plain.pixels());
        let covered = pixels().filter(|(_, plain)| plain.0[1] > 50).count();
        let dark = pixels().filter(|(shadowed, plain)| shadowed.0[1] + 20 < plain.0[1]).count();
        note!("{texels} texels: {dark} of {covered} pixels are darker");
        assert!(covered > 10_000 && dark < covered / 100, "{texels} texels: {dark} of {covered}");
    }
}

/// The same sphere with and without shadows must look the same: its normals alone say where the sunlight ends. In the last
/// case they face the sun by up to 22 degrees more than the triangles.
fn round_bodies_have_no_dark_facets(gpu: Gpu) {
    for (segments, rings, lean) in [(32, 24, Vec3::ZERO), (12, 8, Vec3::ZERO), (24, 16, 0.38 * Vec3::Y)] {
        for sun in ["", "--sun -100,20"] {
            let options = format!("--camera 20,20 {sun}");
            let [shadowed, plain] = [true, false].map(|shadows| {
                Picture::draw(&gpu, sphere(segments, rings, lean), &options, Skinning::Compute, shadows)
            });
            let (mut worst, mut seen) = (0, 0);
            let center = shadowed.camera.view_from_world().transform_point3(Vec3::Y);
            for k in 0..4000 {
                // A golden-angle spiral. Points near the silhouette may show the ground.
                let y = 1.0 - 2.0 * (k as f32 + 0.5) / 4000.0;
                let (sin, cos) = (k as f32 * 2.399_963).sin_cos();
                let point = Vec3::Y + 0.97 * Vec3::new(sin * (1.0 - y * y).sqrt(), y, cos * (1.0 - y * y).sqrt());
                if shadowed.camera.view_from_world().transform_point3(point).z > center.z + 0.5 {
                    seen += 1;
                    worst = worst.max(plain.at(point) - shadowed.at(point));
                }
            }
            note!("{segments}x{rings} {lean} {sun}: {worst} steps in {seen} points");
            assert!(seen > 500 && worst <= 1, "{segments}x{rings} {lean} {sun}: {worst} steps darker");
        }
    }
}

/// A box without a bottom, high above a small floor. Its far side alone would let light through the top and the hole.
fn open_surfaces_cast_shadows(gpu: Gpu) {
    let lid = Vec3::Y * 2.5;
    let corner = |k: u8| lid - 0.5 + Vec3::from([k & 1, k >> 1 & 1, k >> 2].map(f32::from));
    let walls = [[0, 2, 4, 6], [1, 5, 3, 7], [2, 3, 6, 7], [0, 1, 2, 3], [4, 6, 5, 7]].map(|wall| wall.map(corner));
    let model = squares(&[&walls[..], &[level(Vec3::ZERO, 0.1)]].concat(), matte(false)).model();
    let picture = Picture::draw(&gpu, model, "--camera 0,30,2", Skinning::Compute, true);
    // Where the light through the middle of the box meets the ground.
    let middle = lid - picture.to_light * (lid.y / picture.to_light.y);
    let [dark, bright] = [middle, Vec3::ZERO].map(|point| picture.at(point));
    note!("{dark} in the shadow, {bright} in the light");
    assert!(bright - dark > 30);
}

/// A low wall on a floor: behind it the floor is dark from the second texel on.
fn shadows_touch_their_casters(gpu: Gpu) {
    const WALL_HEIGHT: f32 = 0.02;
    let wall = [(-0.1, 0.0), (0.1, 0.0), (-0.1, WALL_HEIGHT), (0.1, WALL_HEIGHT)].map(|(x, y)| Vec3::new(x, y, 0.0));
    let model = squares(&[level(Vec3::ZERO, 0.1), wall], matte(true)).model();
    let picture = Picture::draw(&gpu, model, "--camera 180,45", Skinning::Compute, true);
    let texel = picture.shadows.texel_metres;
    let length = WALL_HEIGHT * picture.to_light.z / picture.to_light.y;
    let [contact, dark, bright] =
        [2.0 * texel, 0.5 * length, 4.0 * length].map(|z| picture.at(Vec3::new(0.0, 0.0, -z)));
    note!("texels of {texel} m, a shadow of {length} m: {contact}, {dark} in the middle, {bright} in the light");
    assert!(length > 6.0 * texel && bright - dark > 30);
    assert!(contact - dark <= (bright - dark) / 8, "light falls between the wall and its shadow: {contact}");
}

/// The twin of `sunlight` in `shadow.glsl`: the share of the sun's light at a point of the plane at height 0 below a square.
fn twin_of_sunlight(Picture { shadows, to_light, .. }: &Picture, point: Vec3, height: f32, half: f32) -> f32 {
    let map = |point: Vec3| {
        let place = shadows.shadow_from_world.project_point3(point).truncate();
        (place * Vec2::new(0.5, -0.5) + 0.5) * MAP_TEXELS as f32 - 0.5
    };
    // The receiver lies half a texel above the plane.
    let lift = 0.5 * shadows.texel_metres;
    let (point, height) = (point + Vec3::Y * lift, height - lift);
    let texels = map(point);
    let (corner, within) = (texels.floor(), texels - texels.floor());
    // The light's ray through the centre of a texel meets the square.
    let map_from_metres = Mat2::from_cols(map(point + Vec3::X) - texels, map(point + Vec3::Z) - texels);
    let metres_from_map = map_from_metres.inverse();
    let is_lit = |offset: Vec2| {
        let on_plane = metres_from_map * (corner + offset - texels);
        let above = point + Vec3::new(on_plane.x, 0.0, on_plane.y) + to_light * (height / to_light.y);
        above.x.abs() > half || above.z.abs() > half
    };
    // All casters are equally high above the plane.
    let height_texels = height / to_light.y / shadows.texel_metres;
    let radius = (1.25 + 0.02 * height_texels).min(2.0);
    let (mut lit, mut total) = (0.0, 0.0);
    for (x, y) in (-1..=2).flat_map(|y| (-1..=2).map(move |x| (x, y))) {
        let offset = Vec2::new(x as f32, y as f32);
        let scaled = (offset - within) / radius;
        let weight = (1.0 - scaled * scaled).max(Vec2::ZERO).element_product();
        lit += weight * f32::from(u8::from(is_lit(offset)));
        total += weight;
    }
    lit / total
}

/// The image is monotonic in the share of the light, so the pixels of a share have one brightness, up to the map's rounding.
fn the_edge_of_a_shadow_is_that_of_the_twin(gpu: Gpu) {
    let (height, half) = (0.5, 0.5);
    let model = squares(&[level(Vec3::ZERO, 1.5), level(height * Vec3::Y, half)], matte(false)).model();
    let picture = Picture::draw(&gpu, model, "--camera 130,60,0.5", Skinning::Compute, true);
    let clip_from_world = picture.camera.clip_from_world(ASPECT);
    let mut by_share: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for (point, brightness) in picture.points_at_height(0.0) {
        // The square itself may hide the plane.
        let eye = picture.camera.position();
        let at_square = eye + (point - eye) * ((eye.y - height) / eye.y);
        let hidden = at_square.x.abs() < half + 0.01 && at_square.z.abs() < half + 0.01;
        if hidden || point.x.abs() > 1.45 || point.z.abs() > 1.45 || clip_from_world.project_point3(point).z <= 0.0 {
            continue;
        }
        let share = (twin_of_sunlight(&picture, point, height, half) * 20.0).round() as i32;
        by_share.entry(share).or_default().push(brightness);
    }
    by_share.values_mut().for_each(|values| values.sort_unstable());
    let median = |values: &[i32]| values[values.len() / 2];
    let medians: Vec<(i32, i32, usize)> =
        by_share.iter().map(|(&share, values)| (share, median(values), values.len())).collect();
    note!("share of light in 1/20, median brightness, pixels: {medians:?}");
    let (dark, bright) = (medians[0], medians[medians.len() - 1]);
    assert!(dark.0 == 0 && bright.0 == 20 && bright.1 - dark.1 > 30, "{dark:?} {bright:?}");
    assert!(medians.windows(2).all(|pair| pair[1].1 >= pair[0].1 - 2), "{medians:?}");
    // The map rounds where a texel's centre touches the edge, so a few pixels differ by a texel's weight.
    for (share, values) in &by_share {
        let is_off = |value: &&i32| (**value - median(values)).abs() > (bright.1 - dark.1) / 8;
        let off = values.iter().filter(is_off).count();
        assert!(off * 10 <= values.len(), "{off} of {} pixels of share {share}/20", values.len());
    }
}

/// The ground leaves the map's range of depths behind the shadow, where a line of dots was once dark.
fn nothing_but_the_shadow_is_dark(gpu: Gpu) {
    let (height, half) = (0.5, 0.5);
    let [with, without] = [true, false].map(|shadows| {
        // A speck lets the square hover.
        let model = squares(&[level(Vec3::ZERO, 0.01), level(height * Vec3::Y, half)], matte(false)).model();
        Picture::draw(&gpu, model, "--camera 130,50,2", Skinning::Compute, shadows)
    });
    let middle = -with.to_light.with_y(0.0) * (height / with.to_light.y);
    let reach = half + 4.0 * with.shadows.texel_metres;
    let mut dark_count = 0;
    for ((point, brightness), (_, lit)) in with.points_at_height(0.0).into_iter().zip(without.points_at_height(0.0)) {
        if brightness < lit - 2 {
            let from_middle = (point - middle).abs();
            assert!(from_middle.x < reach && from_middle.z < reach, "{point} is dark: {brightness} instead of {lit}");
            dark_count += 1;
        }
    }
    assert!(dark_count > 500, "{dark_count} pixels in shadow");
}

/// The left half of the square's texture is a hole. A speck on the ground makes room for the shadow in the image.
fn masked_materials_cast_holes(gpu: Gpu) {
    let image = RgbaImage::from_fn(16, 16, |x, _| Rgba([255, 255, 255, if x < 8 { 0 } else { 255 }]));
    for skinning in [Skinning::Compute, Skinning::Vertex] {
        for mode in ["OPAQUE", "MASK"] {
            let pbr = json!({"baseColorTexture": {"index": 0}, "metallicFactor": 0});
            let material = json!({"pbrMetallicRoughness": pbr, "alphaMode": mode, "doubleSided": true});
            let mut gltf = squares(&[level(Vec3::Y, 0.5), level(Vec3::new(1.3, 0.0, -1.3), 0.01)], material);
            gltf.texture(&image);
            let picture = Picture::draw(&gpu, gltf.model(), "--camera 130,50", skinning, true);
            let middle = -picture.to_light.with_y(0.0) / picture.to_light.y;
            let [left, right] = [-0.25, 0.25].map(|x| picture.at(middle + Vec3::X * x));
            note!("{skinning:?}, {mode}: {left} on the left, {right} on the right");
            assert!(if mode == "MASK" { left > right + 30 } else { left.abs_diff(right) < 8 }, "{left} {right}");
        }
    }
}
