//! The motion view, drawn under validation: the way of each vertex since the last frame.
//!
//! The ways are those of the CPU. Nothing but the two poses decides them: neither pages, levels and the other instances that
//! the two frames draw, nor the frames before.

use glam::{Vec2, Vec3};
use throng::app::scene::Scene;
use throng::crowd::{ClipChoice, Crowd, wrap_seconds};
use throng::extras::DebugView;
use throng::model::Model;
use throng::renderer::memory::Forecast;
use throng::renderer::{RendererSettings, Shadows, UploadPath};
use throng::shader_types::InstanceData;
use throng::view::Detail;

use crate::common::gpu::{Gpu, list_gpu_tests, note};
use crate::common::levels;
use crate::common::pose::skinned;
use crate::common::scene::{self, Shown};
use crate::gpu::compare::assert_identical;

list_gpu_tests![
    colours_are_the_ways,
    pages_sharing_culling_and_earlier_frames_change_no_way,
    levels_change_no_way,
    what_was_not_drawn_is_black,
    motion_takes_a_slot_more,
];

const SIZE: Vec2 = Vec2::new(320.0, 240.0);
const BACKGROUND: [u8; 3] = [0, 0, 255];
const SMALL_PAGE_BYTES: u64 = 40_000;

/// A frame: its time, and a change of the scene before it. The camera is back at its first place.
type Frame = (f64, fn(&mut Scene));
const BEFORE: Frame = (0.3, |_| ());
const NOW: Frame = (0.4, |_| ());

fn draw(gpu: &Gpu, models: &[Model], settings: RendererSettings, options: &str, frames: &[Frame]) -> (Scene, Vec<u8>) {
    let options = format!("--debug-view motion --size 320x240 --ground off --background #0000ff {options}");
    let settings = RendererSettings { samples: 1, shadows: Shadows::Map(256), ..settings };
    let Shown { mut scene, mut renderer } = Shown::new(gpu.device(), models, &options, settings);
    let camera = scene.camera;
    for (time_seconds, change) in frames {
        scene.camera = camera;
        change(&mut scene);
        scene.draw(&mut renderer, *time_seconds, true).unwrap();
    }
    (scene, renderer.wait_for_pixels().unwrap().to_vec())
}

/// Returns the place of each vertex of each instance in the world, at a time of the first clip.
fn world_positions(scene: &mut Scene, time_seconds: f64) -> Vec<Vec<Vec3>> {
    scene.crowd.move_to(time_seconds);
    scene.crowd.cull(None, None, None, &Detail::FULL);
    let model = &scene.crowd.models()[0];
    let clip = &model.clips[0];
    let skinned = skinned(model, Some(clip), wrap_seconds(time_seconds, clip.duration_seconds.into()));
    let placed = |instance: &InstanceData| {
        skinned.iter().map(|&position| instance.world_from_model.transform_point(position)).collect()
    };
    scene::instances(scene).iter().map(placed).collect()
}

/// GPU times arrive later then, and the forecast of memory counts the slot.
fn motion_takes_a_slot_more(gpu: Gpu) {
    let models = [scene::asset(scene::WALKER)];
    let settings = RendererSettings { samples: 1, shadows: Shadows::Map(64), ..RendererSettings::default() };
    let options = "--instances 100 --lod-error 0 --size 64x48";
    let Shown { mut scene, mut renderer } = Shown::new(gpu.device(), &models, options, settings);
    let mut taken_and_forecast = |view: DebugView| {
        scene.show.view = view;
        for frame in 0..4 {
            scene.draw(&mut renderer, f64::from(frame), false).unwrap();
        }
        let additions = scene.show.additions(&models, 100, [64, 48], false);
        let visible = scene.visible_counts(1.0, true);
        let forecast = Forecast::new(gpu.device(), &settings, &models, visible, [64, 48], additions);
        (gpu.device().allocated_bytes() as f64, forecast.device_bytes as f64, renderer.gpu_times_lag())
    };
    let (lit, motion) = (taken_and_forecast(DebugView::Lit), taken_and_forecast(DebugView::Motion));
    assert_eq!((lit.2, motion.2), (4, 6));
    let (taken, forecast) = (motion.0 - lit.0, motion.1 - lit.1);
    note!("motion takes {taken} bytes more, {forecast} were forecast");
    assert!((taken - forecast).abs() < 0.3 * taken && taken > 1e6, "{taken} bytes, not {forecast}");
}

fn colours_are_the_ways(gpu: Gpu) {
    // Nothing hides a strip. The walkers hide themselves, and they go somewhere.
    for (name, options, least_share) in [
        (scene::STRIP, "--instances 3 --layout line --camera 0,0", 1.0),
        (scene::WALKER, "--instances 5 --travel on --camera 30,20", 0.4),
    ] {
        let model = scene::asset(name);
        let options = format!("--phase zero --clip 0 --lod-error 0 {options}");
        let (mut scene, picture) =
            draw(&gpu, std::slice::from_ref(&model), RendererSettings::default(), &options, &[BEFORE, NOW]);
        let [before, now] = [BEFORE, NOW].map(|(time_seconds, _)| world_positions(&mut scene, time_seconds));
        let bounds = scene.crowd.bounds();
        let half_way = (NOW.0 - BEFORE.0) as f32 * (bounds.max.y - bounds.min.y);
        let (mut right, mut all, mut most) = (0, 0, 0.0f32);
        for (before, now) in before.iter().zip(&now) {
            for triangle in model.geometry.indices.chunks_exact(3) {
                let mean =
                    |of: &dyn Fn(usize) -> Vec3| triangle.iter().map(|&vertex| of(vertex as usize)).sum::<Vec3>() / 3.0;
                let at = scene::project(&scene.camera, SIZE, mean(&|vertex| now[vertex]));
                let expected = mean(&|vertex| {
                    let way = now[vertex] - before[vertex];
                    way / (way.length() + half_way)
                });
                let pixel = &picture[4 * (at.y as usize * 320 + at.x as usize)..][..3];
                let found = Vec3::from_array(std::array::from_fn(|axis| f32::from(pixel[axis]) / 127.5 - 1.0));
                all += 1;
                right += i32::from(found.distance(expected) < 0.03);
                most = most.max(expected.length());
            }
        }
        let share = f64::from(right) / f64::from(all);
        note!("{name}: {right} of {all} triangles have the colour of their way, the strongest is {most}");
        assert!(share >= least_share && most > 0.2, "{name}: {right} of {all}, {most}");
    }
}

fn pages_sharing_culling_and_earlier_frames_change_no_way(gpu: Gpu) {
    let crowd = "--instances 24 --clip 0 --phase zero --travel on --seed 3 --lod-error 0";
    let models = [scene::asset(scene::WALKER), scene::asset(scene::JELLY)];
    let large = RendererSettings::default();
    let small = RendererSettings { page_bytes: SMALL_PAGE_BYTES, ..large };
    let picture = |settings, options: &str, frames: &[Frame]| {
        draw(&gpu, &models, settings, &format!("{crowd} {options}"), frames).1
    };
    let expected = picture(large, "--cull off", &[BEFORE, NOW]);
    let colors: std::collections::BTreeSet<&[u8]> = expected.chunks_exact(4).collect();
    assert!(colors.len() > 500, "{} colours", colors.len());

    let turned: Frame = (BEFORE.0, |scene| scene.camera.orbit(1.0, 0.1));
    let elsewhere: Frame = (0.1, |scene| scene.camera.target.x += 1000.0);
    let near: Frame = (0.9, |scene| scene.camera.distance *= 0.2);
    let one_frame = RendererSettings { frames_in_flight: 1, ..small };
    let staged = RendererSettings { upload: Some(UploadPath::Staged), frames_in_flight: 3, ..small };
    let ways: [(&str, RendererSettings, &str, &[Frame]); 5] = [
        ("culled", large, "", &[BEFORE, NOW]),
        ("other cameras before", large, "", &[elsewhere, near, turned, NOW]),
        ("shared poses after other frames, small pages", small, "--share-poses 30", &[near, turned, NOW]),
        ("small pages, one frame in flight", one_frame, "--cull off", &[near, turned, NOW]),
        ("small pages, three frames in flight, staged", staged, "", &[near, elsewhere, turned, NOW]),
    ];
    for (name, settings, options, frames) in ways {
        assert_identical(name, &expected, &picture(settings, options, frames));
    }
}

/// Returns the numbers of black pixels and of all pixels of characters.
fn black_and_covered(picture: &[u8]) -> [usize; 2] {
    let covered = picture.chunks_exact(4).filter(|pixel| pixel[..3] != BACKGROUND);
    let is_black = |pixel: &&[u8]| pixel[..3].iter().all(|&channel| channel <= 1);
    [covered.clone().filter(is_black).count(), covered.count()]
}

/// A vertex keeps its number in all levels that have it.
fn levels_change_no_way(gpu: Gpu) {
    let crowd = "--instances 6 --clip 0 --phase zero --seed 3 --lod-error 0";
    let coarse: Frame = (BEFORE.0, |scene| scene.lod_error_pixels = 1e6);
    let fine: Frame = (NOW.0, |scene| scene.lod_error_pixels = 0.0);
    let [all, half] = [1, 2].map(|divisor| {
        let mut model = scene::asset(scene::WALKER);
        levels::give_levels(&mut model, divisor, &[0.01, 0.02]);
        let picture =
            |before| draw(&gpu, std::slice::from_ref(&model), RendererSettings::default(), crowd, &[before, fine]).1;
        [picture(BEFORE), picture(coarse)]
    });
    // The same vertices, in another level.
    assert_identical("levels", &all[0], &all[1]);
    // The coarsest level has a quarter of the vertices, and they follow one joint each.
    let ([black_fine, covered], [black_coarse, _]) = (black_and_covered(&half[0]), black_and_covered(&half[1]));
    note!("{black_coarse} of {covered} pixels had no vertex in the coarse level");
    assert_eq!(black_fine, 0);
    assert!((covered / 4..covered).contains(&black_coarse), "{black_coarse} of {covered}");
}

/// But nothing moves in the first frame of a crowd.
fn what_was_not_drawn_is_black(gpu: Gpu) {
    let walkers = [scene::asset(scene::WALKER)];
    let draw = |options: &str, frames: &[Frame]| draw(&gpu, &walkers, RendererSettings::default(), options, frames).1;
    let crowd = "--instances 8 --clip 0 --seed 3";
    let elsewhere: Frame = (BEFORE.0, |scene| scene.camera.target.x += 1000.0);
    let [black, covered] = black_and_covered(&draw(crowd, &[elsewhere, NOW]));
    assert!(black == covered && covered > 1000, "{black} of {covered}");
    // Some of them were drawn.
    let aside: Frame = (BEFORE.0, |scene| scene.camera.target.x -= 0.8 * scene.camera.distance);
    let [black, covered] = black_and_covered(&draw(crowd, &[aside, NOW]));
    assert!(black > 100 && black < covered, "{black} of {covered}");
    // The rest pose becomes the first clip.
    let other_clip: Frame = (NOW.0, |scene| scene.crowd.set_clip(&ClipChoice::Index(0)).unwrap());
    let [black, covered] = black_and_covered(&draw("--clip none", &[BEFORE, other_clip]));
    assert!(black == 0 && covered > 100, "{black} of {covered}");

    let another: Frame = (NOW.0, |scene| {
        let args = scene::arguments("--instances 9 --clip 0 --seed 4").crowd;
        scene.crowd = Crowd::new(scene.models.clone(), &args.settings(9, 1)).unwrap();
    });
    for frames in [&[NOW][..], &[BEFORE, another]] {
        let picture = draw(crowd, frames);
        let covered = || picture.chunks_exact(4).filter(|pixel| pixel[..3] != BACKGROUND);
        let grey = covered().filter(|pixel| pixel[..3].iter().all(|channel| (127..=128).contains(channel))).count();
        assert!(grey == covered().count() && grey > 1000, "{grey} of {}", covered().count());
    }
}
