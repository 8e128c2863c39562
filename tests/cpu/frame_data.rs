//! What a frame tells its shaders, what its timestamps say, and which devices and queues are chosen.

use std::sync::Arc;

use ash::vk;
use glam::{Mat4, Vec3};
use throng::crowd::{Crowd, CrowdSettings};
use throng::renderer::{Pass, Shot, shot};
use throng::view::{Look, OrbitCamera, Visualization};
use throng::vulkan::physical_device::{draw_families, rank};

use crate::common::assets::{STRIP, asset};

#[test]
fn the_last_pass_is_the_first_one_without_an_end() {
    let names: Vec<_> = (0..=Pass::COUNT + 1).map(|written| Pass::after_timestamps(written).name()).collect();
    assert_eq!(names, ["upload", "upload", "skin", "shadow", "draw", "post", "post"]);
}

#[test]
fn every_ray_where_the_sky_is_hidden_meets_the_ground() {
    let crowd = Crowd::new(Arc::from([asset(STRIP)]), &CrowdSettings::default()).unwrap();
    let mut edges_inside = 0;
    for pitch_degrees in [-20.0_f32, -5.0, 0.0, 2.0, 15.0, 40.0, 70.0, 90.0] {
        for distance in [0.5, 4.0, 60.0] {
            let camera = OrbitCamera { pitch_radians: pitch_degrees.to_radians(), distance, ..OrbitCamera::default() };
            let shot = Shot {
                camera,
                look: Look::default(),
                visualization: Visualization::default(),
                aspect: 1.8,
                lod_error_pixels: 0.0,
                cull: true,
                time_seconds: 0.0,
                outlined: None,
                capture: false,
            };
            let data = shot::frame_data(&crowd, &shot, None, false);
            let (eye, hidden, reach) = (camera.position(), data.hidden_sky_height, data.ground_reach_metres);
            let world_from_clip = Mat4::from_cols_array_2d(&data.world_from_clip);
            edges_inside += u32::from(hidden > 0.0 && hidden < 2.0);
            for (x, share) in (-10..=10).flat_map(|x| (0..20).map(move |y| (x as f32 / 10.0, y as f32 / 20.0))) {
                let y = -1.0 + share * hidden;
                let ray = world_from_clip.project_point3(Vec3::new(x, y, 0.5)) - eye;
                let place = ray * (eye.y / -ray.y);
                let meets = ray.y < 0.0 && place.x.abs().max(place.z.abs()) <= reach;
                assert!(meets || hidden == 0.0, "pitch {pitch_degrees}, distance {distance}: {x} {y}, {hidden}");
            }
        }
    }
    assert!(edges_inside > 5, "{edges_inside}");
}

#[test]
fn processors_come_last_and_gpus_of_unknown_kind_before_them() {
    use vk::PhysicalDeviceType as Kind;
    let mut kinds = [Kind::OTHER, Kind::CPU, Kind::DISCRETE_GPU, Kind::VIRTUAL_GPU, Kind::INTEGRATED_GPU];
    kinds.sort_by_key(|&kind| std::cmp::Reverse(rank(kind)));
    assert_eq!(kinds, [Kind::DISCRETE_GPU, Kind::INTEGRATED_GPU, Kind::VIRTUAL_GPU, Kind::OTHER, Kind::CPU]);
}

#[test]
fn families_must_draw_and_compute() {
    use vk::QueueFlags as Flags;
    let both = Flags::GRAPHICS | Flags::COMPUTE;
    let flags = [Flags::TRANSFER, Flags::GRAPHICS, both, Flags::COMPUTE, both | Flags::TRANSFER];
    let families = flags.map(|queue_flags| vk::QueueFamilyProperties { queue_flags, ..Default::default() });
    assert_eq!(draw_families(&families).collect::<Vec<_>>(), [2, 4]);
}
