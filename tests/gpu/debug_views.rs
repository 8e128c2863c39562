//! Debug views and the skeleton, drawn under validation and compared with figures of the CPU.
//!
//! Each view is drawn with both ways of skinning, which must agree. The strip has five rows of known weights, so the colours
//! of its rows are known too. Joints are where the pose of the CPU has them.

use std::sync::Arc;

use glam::{Quat, Vec2, Vec3};
use image::RgbaImage;
use throng::app::scene::Scene;
use throng::extras::{DebugView, Equipped, Show};
use throng::model::{Influence, Model, Topology};
use throng::renderer::{RendererSettings, Shadows, Skinning};
use throng::vulkan::device::Device;
use throng::vulkan::instance::{Instance, InstanceOptions};
use throng::vulkan::physical_device::PhysicalDevice;

use crate::common::gpu::{Gpu, TestDevice, list_gpu_tests};
use crate::common::pose::posed;
use crate::common::{levels, scene};
use crate::gpu::compare::{Difference, assert_ways_agree};

list_gpu_tests![
    every_view_draws_its_own_picture_with_both_ways_of_skinning,
    lines_without_normals_have_the_same_colour_with_both_ways_of_skinning,
    heat_and_colours_are_the_weights_of_joints,
    coarse_levels_show_the_weights_that_they_follow,
    joints_of_the_skeleton_are_where_the_pose_has_them,
    levels_have_their_colours,
    views_that_cannot_be_drawn_are_refused,
];

const WIDTH: u32 = 320;
const HEIGHT: u32 = 240;
const SIZE: Vec2 = Vec2::new(WIDTH as f32, HEIGHT as f32);
const TIME_SECONDS: f64 = 0.4;

struct Picture {
    image: RgbaImage,
    scene: Scene,
}

impl Picture {
    fn draw(renderer: &mut Equipped, models: &[Model], options: &str) -> Self {
        let background = if options.contains("--background") { "" } else { "--background #000000" };
        let options = format!("--size {WIDTH}x{HEIGHT} --time {TIME_SECONDS} --ground off {background} {options}");
        let (image, scene) = scene::draw_with(renderer, models, &options);
        Self { image, scene }
    }

    /// Returns the linear colour of the pixel that holds a point of the world.
    fn color_at(&self, world: Vec3) -> Vec3 {
        let Vec2 { x, y } = scene::project(&self.scene.camera, SIZE, world);
        let linear = |value: u8| ((f32::from(value) / 255.0 + 0.055) / 1.055).powf(2.4).max(f32::from(value) / 3294.6);
        let [red, green, blue, _] = self.image.get_pixel(x as u32, y as u32).0.map(linear);
        Vec3::new(red, green, blue)
    }
}

fn renderer(device: &Arc<Device>, models: &[Model], settings: RendererSettings) -> Equipped {
    let settings = RendererSettings { samples: 1, shadows: Shadows::Map(256), ..settings };
    scene::renderer(device, models, [WIDTH, HEIGHT], settings)
}

fn both_ways(gpu: &Gpu, models: &[Model]) -> [Equipped; 2] {
    [Skinning::Compute, Skinning::Vertex]
        .map(|skinning| renderer(gpu.device(), models, RendererSettings { skinning, ..RendererSettings::default() }))
}

/// Draws with both ways of skinning, which must agree. Returns the picture of compute skinning.
fn agree(renderers: &mut [Equipped; 2], models: &[Model], options: &str) -> RgbaImage {
    let [compute, vertex] = renderers.each_mut().map(|renderer| Picture::draw(renderer, models, options).image);
    assert_ways_agree(options, &compute, &vertex);
    compute
}

/// Heights on the strip. It is not bent, and the weight of the joint `upper` rises evenly from 0 at height 0 to 1 at 2.
const HEIGHTS: [f32; 5] = [0.1, 0.5, 1.0, 1.5, 1.9];

/// Returns the middle of the strip at each height, in the world.
fn rows(picture: &Picture) -> [Vec3; 5] {
    let placement = scene::instances(&picture.scene)[0].world_from_model;
    HEIGHTS.map(|y| placement.transform_point(Vec3::new(0.0, y, 0.0)))
}

/// Draws the strip at rest, with coarser levels of these errors.
fn strip(gpu: &Gpu, errors: &[f32], options: &str) -> Picture {
    let mut strip = [scene::asset(scene::STRIP)];
    levels::give_levels(&mut strip[0], 1, errors);
    let mut renderer = renderer(gpu.device(), &strip, RendererSettings::default());
    Picture::draw(&mut renderer, &strip, &format!("--clip none --camera 0,0 {options}"))
}

fn every_view_draws_its_own_picture_with_both_ways_of_skinning(gpu: Gpu) {
    let crowd = "--instances 6 --clip 0 --phase zero --seed 3 --share-poses 2 --lod-error 1";
    let mut models = scene::models();
    models.iter_mut().for_each(|model| levels::give_levels(model, 1, &[1e-6, 1e-5]));
    // Motion has no picture without compute skinning.
    let views = DebugView::ALL.into_iter().filter(|&view| view != DebugView::Motion);
    let mut views: Vec<String> = views.map(|view| format!("--debug-view {}", view.name())).collect();
    views.extend(["--joint upper", "--skeleton on", "--debug-view weights --skeleton on"].map(str::to_owned));
    let (mut renderers, mut pictures) = (both_ways(&gpu, &models), Vec::<RgbaImage>::new());
    for view in &views {
        let picture = agree(&mut renderers, &models, &format!("{crowd} {view}"));
        for (other_view, other) in views.iter().zip(&pictures) {
            let difference = Difference::between(&picture, other, 8);
            assert!(difference.share_beyond > 0.002, "{view} and {other_view}: {difference:?}");
        }
        pictures.push(picture);
    }
}

/// A joint turns no normal that a model does not have.
fn lines_without_normals_have_the_same_colour_with_both_ways_of_skinning(gpu: Gpu) {
    let mut model = scene::asset(scene::STRIP);
    model.geometry.draw_ranges[0].topology = Topology::Lines;
    model.clips[0].rotations[0].values.fill(Quat::from_rotation_x(1.0).into());
    let models = [model];
    let mut renderers = both_ways(&gpu, &models);
    for options in ["--camera 0,0 --debug-view normals", "--camera 0,0"] {
        let [compute, vertex] = renderers.each_mut().map(|renderer| Picture::draw(renderer, &models, options).image);
        let drawn = compute.pixels().filter(|pixel| pixel.0[..3] != [0; 3]).count();
        let difference = Difference::between(&compute, &vertex, 2);
        assert!(drawn > 100 && difference.most <= 2, "{options}: {drawn} pixels, {difference:?}");
    }
}

fn heat_and_colours_are_the_weights_of_joints(gpu: Gpu) {
    let picture = strip(&gpu, &[], "--joint upper");
    for (row, height) in rows(&picture).into_iter().zip(HEIGHTS) {
        let expected = 0.5 * height;
        let color = picture.color_at(row);
        // From blue (little) to red (1) the hue falls evenly. Shading keeps the hue.
        let [red, green, blue] = (color / color.max_element()).to_array().map(|channel| channel.powf(1.0 / 2.2));
        let sixths = if blue < red.min(green) + 1e-3 {
            if red > green { green } else { 2.0 - red }
        } else if green > blue {
            2.0 + blue
        } else {
            4.0 - green
        };
        let weight = 1.0 - sixths / 4.0;
        assert!((weight - expected).abs() < 0.025, "weight {weight} at {row}, not {expected}: {color}");
    }

    let [weights, joints] = ["weights", "joints"].map(|view| strip(&gpu, &[], &format!("--debug-view {view}")));
    let rows = rows(&weights);
    let (lower, upper) = (joints.color_at(rows[0]), joints.color_at(rows[4]));
    assert!(lower.distance(upper) > 0.2, "joints differ: {lower}, {upper}");
    for (row, height) in rows.into_iter().zip(HEIGHTS) {
        let (found, expected) = (weights.color_at(row), lower.lerp(upper, 0.5 * height));
        assert!(found.distance(expected) < 0.03, "{found} at {row}, not {expected}");
    }
}

/// All vertices of the coarser level follow the lower joint, so the upper one has no weight at the top.
fn coarse_levels_show_the_weights_that_they_follow(gpu: Gpu) {
    let mut strip = [scene::asset(scene::STRIP)];
    levels::give_levels(&mut strip[0], 1, &[1e-6]);
    let geometry = &mut strip[0].geometry;
    let lowest =
        (0..geometry.vertex_count()).min_by(|&a, &b| geometry.positions[a].y.total_cmp(&geometry.positions[b].y));
    let lower = Influence { weight: 1.0, ..geometry.influences_of(lowest.unwrap())[0] };
    let level = &mut geometry.coarser_levels[0];
    level.influence_starts = (0..=level.vertex_count).collect();
    level.influences = vec![lower; level.vertex_count as usize];
    let mut renderer = renderer(gpu.device(), &strip, RendererSettings::default());
    for (lod_error, is_grey) in [(0.0, false), (1.0, true)] {
        let options = format!("--clip none --camera 0,0 --joint upper --lod-error {lod_error}");
        let picture = Picture::draw(&mut renderer, &strip, &options);
        let color = picture.color_at(rows(&picture)[4]);
        let spread = color.max_element() - color.min_element();
        assert_eq!(spread < 0.02 * color.max_element(), is_grey, "{lod_error}: {color}");
    }
}

fn joints_of_the_skeleton_are_where_the_pose_has_them(gpu: Gpu) {
    let walker = &[scene::asset(scene::WALKER)];
    let mut renderer = renderer(gpu.device(), walker, RendererSettings::default());
    for options in ["--clip 0 --camera 30,10", "--clip 0 --instances 3 --phase zero --camera 30,25"] {
        let [without, with] = ["off", "on"]
            .map(|skeleton| Picture::draw(&mut renderer, walker, &format!("{options} --skeleton {skeleton}")));
        let differs = |x: u32, y: u32| with.image.get_pixel_checked(x, y) != without.image.get_pixel_checked(x, y);
        let (model_from_node, _) = posed(&walker[0], walker[0].clips.first(), TIME_SECONDS);
        let mut joints: Vec<Vec2> = Vec::new();
        for instance in scene::instances(&with.scene) {
            for bone in &walker[0].bones {
                let node = walker[0].palette.nodes[bone.base as usize] as usize;
                let joint = instance.world_from_model.transform_point(model_from_node[node].translation.into());
                joints.push(scene::project(&with.scene.camera, SIZE, joint));
            }
        }
        for joint in &joints {
            let (x, y) = (joint.x as i32, joint.y as i32);
            // Far away, bones are thinner than a pixel.
            let near = (y - 2..=y + 2).any(|y| (x - 2..=x + 2).any(|x| differs(x as u32, y as u32)));
            assert!(near, "{options}: no joint is drawn at {joint}");
        }
        // Bones are thin, and they end at joints or not far from them.
        let (low, high) = joints.iter().fold((Vec2::MAX, Vec2::MIN), |(a, b), &joint| (a.min(joint), b.max(joint)));
        let drawn = with.image.enumerate_pixels().filter(|&(x, y, _)| differs(x, y));
        let drawn = drawn.map(|(x, y, _)| Vec2::new(x as f32, y as f32));
        assert!(drawn.clone().count() < (WIDTH * HEIGHT / 12) as usize, "{options}: too many pixels");
        let margin = Vec2::splat(0.12 * SIZE.y);
        for pixel in drawn {
            assert!((low - margin).cmple(pixel).all() && pixel.cmple(high + margin).all(), "{options}: {pixel}");
        }
    }
}

/// Full detail is grey, the first coarser level is green, and the coarsest one is red.
fn levels_have_their_colours(gpu: Gpu) {
    for (options, errors, expected) in [
        ("--lod-error 0", [1e-6, 1e-5, 1e-4], Vec3::ONE),
        ("--lod-error 1", [1e-6, 9.0, 9.0], Vec3::Y),
        ("--lod-error 1", [1e-6, 1e-5, 1e-4], Vec3::X),
    ] {
        let picture = strip(&gpu, &errors, &format!("--debug-view lod {options}"));
        let color = picture.color_at(rows(&picture)[2]);
        let color = color / color.max_element();
        assert!((color - expected).abs().max_element() < 0.1, "{options}: {color}, not {expected}");
    }
}

fn views_that_cannot_be_drawn_are_refused(device: &TestDevice) {
    let instance = Instance::new(InstanceOptions::default()).unwrap();
    let mut physical = PhysicalDevice::choose(&instance, Some(&device.selector()), None).unwrap();
    physical.fill_mode_non_solid = false;
    let device = Device::new(&instance, physical, false).unwrap();
    let refusal = |skinning, view| {
        let strip = [scene::asset(scene::STRIP)];
        let crowd = scene::scene(&strip, "").crowd;
        let mut renderer = renderer(&device, &strip, RendererSettings { skinning, ..RendererSettings::default() });
        renderer.try_show(&crowd, &Show { view, ..Show::default() }).unwrap_err().to_string()
    };
    let error = refusal(Skinning::Compute, DebugView::Wireframe);
    assert!(error.contains("does not support the debug view wireframe; it supports: "), "{error}");
    assert!(error.contains("normals") && !error.ends_with("wireframe"), "{error}");
    let error = refusal(Skinning::Vertex, DebugView::Motion);
    assert!(error.contains("the debug view motion needs the skinned vertices of the last frame"), "{error}");
}
