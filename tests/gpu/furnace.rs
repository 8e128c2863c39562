//! A white sphere in a white room (the furnace test). It reflects all light that it receives, and the room is equally bright
//! on all sides, so the sphere is invisible. A BRDF that loses or invents light shows it.
//!
//! The surroundings have one radiance, the sky shows it behind the sphere, and there is no sun. So the image has one
//! colour. Further tests make sure that other spheres are visible, so that the picture is not simply empty.

use bytemuck::Zeroable;
use glam::Vec3;
use serde_json::json;
use throng::crowd::thread_pool;
use throng::model::Model;
use throng::renderer::{FrameMemory, RendererSettings, Shadows};
use throng::shader_types::FrameData;
use throng::view::{Detail, Ground, Look, Sky};

use crate::common::builder::{self, Gltf};
use crate::common::gpu::{Gpu, list_gpu_tests, note};
use crate::common::scene;

list_gpu_tests![a_white_sphere_in_a_white_room_cannot_be_seen, other_spheres_are_seen_and_rough_metal_is_not_dark];

const SIDE: u32 = 96;
const ROUGHNESSES: [f32; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];
/// The tone curve takes 0.04 away, and the rest is 225.0 of 255 in sRGB.
const RADIANCE: f32 = 0.7926;

fn sphere(base_color: [f32; 3], metallic: f32, roughness: f32) -> Model {
    let (normals, indices) = builder::sphere(24, 48);
    let positions: Vec<Vec3> = normals.iter().map(|normal| 0.5 * *normal).collect();
    let [r, g, b] = base_color;
    let pbr = json!({"baseColorFactor": [r, g, b, 1], "metallicFactor": metallic, "roughnessFactor": roughness});
    Gltf::mesh(&positions, &normals, &[], &indices, json!({"pbrMetallicRoughness": pbr})).model()
}

/// Returns a dielectric sphere that reflects nothing but its base colour.
pub fn matt(base_color: [f32; 3]) -> Model {
    let mut model = sphere(base_color, 0.0, 0.5);
    (model.materials[0].dielectric_reflectance, model.materials[0].grazing_reflectance) = (Vec3::ZERO, 0.0);
    model
}

/// Draws a model alone in surroundings of [`RADIANCE`]. Returns one channel of the image.
fn in_furnace(gpu: &Gpu, model: Model) -> Vec<u8> {
    let models = [model];
    let mut scene = scene::scene(&models, "--size 96x96 --camera 30,20,1");
    let settings = RendererSettings { samples: 1, shadows: Shadows::Off, ..RendererSettings::default() };
    let mut renderer = scene::plain_renderer(gpu.device(), &models, [SIDE; 2], settings);
    let clip_from_world = scene.camera.clip_from_world(1.0);
    let mut data = FrameData {
        clip_from_world: clip_from_world.to_cols_array_2d(),
        direction_from_clip: scene.camera.direction_from_clip(1.0).to_cols_array_2d(),
        camera_position: scene.camera.position().to_array(),
        ..FrameData::zeroed()
    };
    let radiance = Vec3::splat(RADIANCE);
    let (sun, glow) = (Vec3::ZERO, Vec3::ZERO);
    let furnace = Sky { sun, zenith: radiance, horizon: radiance, glow, ground_albedo: Vec3::ONE, to_sun: Vec3::Y };
    data.set_light(&furnace);
    scene.crowd.cull(None, None, None, &Detail::FULL);
    let mut frame = renderer.begin_frame(scene.crowd.visible_poses()).unwrap();
    let (FrameMemory { streams, instances }, plan) = frame.memory();
    let threads = thread_pool(Some(1)).unwrap();
    scene.crowd.evaluate(&threads, 0.0, plan, streams);
    scene.crowd.write_instances(&threads, instances);
    // The sky is the room. The ground's pattern would be visible.
    frame.submit(data, Look { ground: Ground::Off, ..Look::default() }, true, &mut ()).unwrap();
    renderer.wait_for_pixels().unwrap().iter().step_by(4).copied().collect()
}

fn middle(image: &[u8]) -> u8 {
    image[(SIDE / 2 * SIDE + SIDE / 2) as usize]
}

fn a_white_sphere_in_a_white_room_cannot_be_seen(gpu: Gpu) {
    for metallic in [0.0, 1.0] {
        for roughness in ROUGHNESSES {
            let image = in_furnace(&gpu, sphere([1.0; 3], metallic, roughness));
            let room = image[0];
            assert!(room.abs_diff(225) <= 1, "the room is {room}");
            let (least, most) = (image.iter().min().unwrap(), image.iter().max().unwrap());
            let what = format!("metalness {metallic}, roughness {roughness}");
            note!("{what}: {least} to {most} in a room of {room}");
            // One step of sRGB is 1.1 % of this radiance, and rounding hides half a step.
            let errors = image.iter().map(|&pixel| f64::from(pixel) - f64::from(room));
            let mean_error = errors.sum::<f64>() / image.len() as f64;
            assert!(room - least <= 1 && most - room <= 1, "{what}: {least} {most}");
            assert!(mean_error.abs() < 0.4, "{what}: {mean_error}");
        }
    }
}

fn other_spheres_are_seen_and_rough_metal_is_not_dark(gpu: Gpu) {
    // A mirror shows its reflectance in the middle, and at the edge nearly all light.
    let mirror = in_furnace(&gpu, sphere([0.5; 3], 1.0, 0.0));
    // Radiance 0.3963, minus 0.04, in sRGB.
    assert!(middle(&mirror).abs_diff(161) <= 1, "{}", middle(&mirror));
    // Light that bounces several times is absorbed more often, so a rough grey metal is darker than a mirror.
    let rough = middle(&in_furnace(&gpu, sphere([0.5; 3], 1.0, 1.0)));
    // A single bounce reflects 0.31 of the light at this angle, and all bounces 0.25 of it: 0.31 * 0.5 / (1 - 0.69 * 0.52).
    assert!((105..118).contains(&rough), "{rough}");
    let grey = middle(&in_furnace(&gpu, sphere([0.5; 3], 0.0, 1.0)));
    assert!((150..175).contains(&grey), "{grey}");
    // A black dielectric has bright edges, unless KHR_materials_specular takes its reflections away.
    let image = in_furnace(&gpu, sphere([0.0; 3], 0.0, 0.5));
    assert!(middle(&image) > 5 && image.iter().filter(|pixel| **pixel < 10).count() == 0, "{}", middle(&image));
    let image = in_furnace(&gpu, matt([0.0; 3]));
    assert!(image.iter().all(|pixel| *pixel == 0 || pixel.abs_diff(225) <= 1) && middle(&image) == 0);
    let image = in_furnace(&gpu, matt([1.0; 3]));
    assert!(image.iter().all(|pixel| pixel.abs_diff(225) <= 1), "a matt white sphere is seen");
}
