//! The view of the light: what it holds, and the size of its texels.

use glam::Vec3;
use throng::view::{Bounds, OrbitCamera, Outline, ShadowScene, ShadowView, SunDirection};

use super::WIDE;

fn crowd() -> Bounds {
    Bounds { min: Vec3::new(-20.0, 0.0, -20.0), max: Vec3::new(20.0, 2.0, 20.0), footprint_radius: 20.0 }
}

fn to_light(azimuth_degrees: f32, elevation_degrees: f32) -> Vec3 {
    SunDirection { azimuth_degrees, elevation_degrees }.to_light()
}

fn lights() -> impl Iterator<Item = Vec3> {
    [5.0, 20.0, 45.0, 89.9, 90.0]
        .into_iter()
        .flat_map(|elevation| [0.0, 60.0, 135.0, 250.0].into_iter().map(move |azimuth| to_light(azimuth, elevation)))
}

fn fit(camera: &OrbitCamera, to_light: Vec3) -> ShadowView {
    let scene = ShadowScene { crowd: &crowd(), to_light, camera, aspect: WIDE };
    ShadowView::fit(&scene, 2048)
}

fn shaded_points(to_light: Vec3) -> impl Iterator<Item = Vec3> {
    let heights = [0.0, 0.7, 2.0];
    let places = (0..40).flat_map(move |k| {
        let (sin, cos) = (k as f32 * 2.399_963).sin_cos();
        let radius = 20.0 * (k as f32 / 39.0).sqrt();
        heights.map(|height| Vec3::new(radius * sin, height, radius * cos))
    });
    places.flat_map(move |point| [point, point - to_light * (point.y / to_light.y)])
}

#[test]
fn the_map_holds_all_that_is_seen_and_can_be_shaded() {
    let framing = OrbitCamera::framing(&Outline::from(crowd()), WIDE);
    let close = OrbitCamera { distance: 8.0, target: Vec3::new(6.0, 1.0, -5.0), ..framing };
    let low = OrbitCamera { pitch_radians: 0.02, yaw_radians: 2.0, ..close };
    for camera in [framing, close, low] {
        let clip_from_world = camera.clip_from_world(WIDE);
        for light in lights() {
            let view = fit(&camera, light);
            let mut seen = 0;
            for point in shaded_points(light) {
                let clip = clip_from_world * point.extend(1.0);
                let in_view = clip.x.abs() <= clip.w && clip.y.abs() <= clip.w && clip.z <= clip.w;
                if !in_view || clip.w > 4.0 * camera.distance {
                    continue;
                }
                seen += 1;
                let place = view.shadow_from_world.project_point3(point);
                // Outside 0.96 shadows fade out.
                let holds = place.x.abs() <= 0.96 && place.y.abs() <= 0.96 && (0.0..=1.0).contains(&place.z);
                assert!(holds, "{light}: {point} is at {place}");
            }
            assert!(seen > 10, "{seen} points in view");
        }
    }
}

#[test]
fn texels_are_small_where_the_camera_is_close() {
    let light = to_light(-48.0, 53.0);
    let framing = OrbitCamera::framing(&Outline::from(crowd()), WIDE);
    let whole = fit(&framing, light);
    // The crowd is 40 m wide: 0.95 of the map.
    assert!((whole.texel_metres - 40.0 / (0.95 * 2048.0 - 1.0)).abs() < 1e-3, "{}", whole.texel_metres);
    let close = OrbitCamera { distance: 3.0, target: Vec3::new(5.0, 1.0, 5.0), pitch_radians: 0.5, ..framing };
    assert!(fit(&close, light).texel_metres < 0.6 * whole.texel_metres);
}

#[test]
fn close_to_a_character_a_texel_is_at_most_a_pixel() {
    let body = Bounds { min: Vec3::new(-0.35, 0.0, -0.25), max: Vec3::new(0.35, 1.8, 0.25), footprint_radius: 0.43 };
    for image in [[1024, 768], [1280, 720], [720, 1280], [1200, 1800], [3000, 3000], [600, 2400]] {
        let [width, height] = image.map(|side| side as f32);
        for yaw_radians in [-0.7, 0.0, 0.7] {
            let face = Vec3::new(0.0, 1.6, 0.1);
            let camera =
                OrbitCamera { distance: 0.5, target: face, yaw_radians, pitch_radians: 0.1, ..OrbitCamera::default() };
            let pixel_metres = 2.0 * camera.distance * (0.5 * camera.vertical_fov_radians).tan() / height;
            // Against the light there is little that could be shaded.
            for to_light in lights().filter(|to_light| to_light.dot(camera.forward()) < 0.1) {
                let scene = ShadowScene { crowd: &body, to_light, camera: &camera, aspect: width / height };
                let texel_metres = ShadowView::fit(&scene, ShadowView::map_texels_for(image)).texel_metres;
                assert!(texel_metres <= pixel_metres, "{width}x{height}, {to_light}: {texel_metres} > {pixel_metres}");
            }
        }
    }
}

#[test]
fn edges_do_not_crawl_when_the_camera_moves() {
    let light = to_light(-48.0, 53.0);
    let mut sizes = Vec::new();
    for step in 0..200 {
        let moved = step as f32 * 0.037;
        let camera = OrbitCamera {
            distance: 6.0,
            target: Vec3::new(moved, 1.0, -moved),
            yaw_radians: 0.3 * moved,
            pitch_radians: 0.4,
            ..OrbitCamera::default()
        };
        let view = fit(&camera, light);
        // The world's origin lies at the same place within its texel.
        let texels = view.shadow_from_world.project_point3(Vec3::ZERO).truncate() * 1024.0;
        assert!((texels - texels.round()).abs().max_element() < 0.01, "{texels}");
        let steps = view.texel_metres.log2() * 4.0;
        assert!((steps - steps.round()).abs() < 1e-3, "{steps}");
        sizes.push(view.texel_metres);
    }
    let changes = sizes.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(changes <= 12, "{changes} changes of size in 200 frames: {sizes:?}");
}

#[test]
fn no_scene_makes_the_view_unusable() {
    let point = Bounds { min: Vec3::ZERO, max: Vec3::ZERO, footprint_radius: 0.0 };
    let away = OrbitCamera { target: Vec3::new(1e6, 0.0, 0.0), ..OrbitCamera::default() };
    for (crowd, camera) in [(point, OrbitCamera::default()), (crowd(), away)] {
        for to_light in [Vec3::Y, Vec3::X, Vec3::NEG_Y] {
            let scene = ShadowScene { crowd: &crowd, to_light, camera: &camera, aspect: WIDE };
            let view = ShadowView::fit(&scene, 1);
            assert!(view.shadow_from_world.is_finite() && view.texel_metres > 0.0, "{view:?}");
        }
    }
}
