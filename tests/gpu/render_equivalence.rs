//! One crowd, drawn with every setting that must not change the image. Of several frames the last counts: all slots are reused.
//!
//! Settings that only move work or memory (upload path, threads, frames in flight, page size, device limits, culling)
//! must give the same bytes, with and without shared poses. `--skinning compute` and `vertex` run the same GLSL on the
//! same palette, octahedral normals included. But they are different shaders, and a driver may contract multiply-adds
//! differently in each. So these two are compared with a tolerance. On Mesa's lavapipe they are equal to the bit.

use ash::vk;
use throng::crowd::Batch;
use throng::extras::{OverlayDraw, OverlayVertex};
use throng::model::Model;
use throng::renderer::resident::copies::CopiedGeometry;
use throng::renderer::{LimitCaps, RendererSettings, ShaderOverride, Shadows, Skinning, UploadPath};
use throng::view::SunDirection;
use throng::vulkan::spirv;

use crate::common::gpu::{Gpu, list_gpu_tests, note};
use crate::common::levels;
use crate::common::scene::{self, Shown};
use crate::gpu::compare::{Difference, assert_identical, assert_ways_agree};

list_gpu_tests![
    all_ways_agree,
    all_ways_agree_with_shared_poses,
    all_ways_agree_in_mixed_levels,
    counts_of_work_are_sums_over_instances,
    culling_leaves_out_only_what_nobody_sees,
    an_overlay_covers_its_pixels_and_no_others,
    a_renderer_that_was_built_again_draws_the_same,
    the_light_is_that_of_the_present_sky,
];

const INSTANCES: u32 = 30;
const CROWD: &str = "--size 160x90 --instances 30 --clip all --seed 7";
/// One more than the most frames in flight.
const TIMES_SECONDS: [f64; 4] = [0.0, 0.29, 0.58, 0.87];

/// Returns the settings with which all others are compared.
fn plain(skinning: Skinning, samples: u32) -> RendererSettings<'static> {
    let (upload, shadows) = (Some(UploadPath::Direct), Shadows::Map(512));
    RendererSettings { skinning, upload, samples, shadows, copies: Some(true), ..RendererSettings::default() }
}

/// Returns settings and options that must give the same bytes as `plain`. The first two have most of the differences.
fn variations(
    plain: RendererSettings<'static>,
    models: &[Model],
) -> [(&'static str, RendererSettings<'static>, &'static str); 4] {
    let most_vertices = models.iter().map(|model| model.geometry.vertex_count()).max().unwrap_or(0) as u64;
    let staged = RendererSettings { upload: Some(UploadPath::Staged), ..plain };
    // A page holds two and a half walkers: five pages for ten walkers.
    let pages = RendererSettings { page_bytes: most_vertices * 40, frames_in_flight: 3, copies: Some(false), ..plain };
    // A dispatch holds a part of one walker's vertices.
    let limit_caps = LimitCaps { work_groups: 7, ..LimitCaps::NONE };
    let staged_tiny = RendererSettings { page_bytes: 1, limit_caps, ..staged };
    let serial_tiny = RendererSettings { upload: plain.upload, serialize: true, ..staged_tiny };
    [
        ("two threads, many pages, three frames in flight, no copies", pages, "--threads 2"),
        ("tiny limits, staged upload", staged_tiny, ""),
        ("tiny limits, passes one at a time", serial_tiny, ""),
        ("staged upload, one frame in flight", RendererSettings { frames_in_flight: 1, ..staged }, ""),
    ]
}

fn shown(gpu: &Gpu, models: &[Model], settings: RendererSettings, options: &str) -> Shown {
    let threads = if options.contains("--threads") { "" } else { "--threads 1" };
    Shown::new(gpu.device(), models, &format!("{CROWD} {threads} {options}"), settings)
}

/// Returns the pixels of the last frame and its number of visible instances.
fn draw(gpu: &Gpu, models: &[Model], settings: RendererSettings, options: &str) -> (Vec<u8>, u32) {
    let mut shown = shown(gpu, models, settings, options);
    (shown.draw_at(&TIMES_SECONDS), shown.scene.crowd.visible_counts().iter().sum())
}

/// Compares compute and vertex skinning, each with some variations, and with each other. Returns the image.
fn assert_all_ways_agree(gpu: &Gpu, models: &[Model], samples: u32, count: usize, options: &str) -> Vec<u8> {
    let [compute, vertex] = [Skinning::Compute, Skinning::Vertex].map(|skinning| {
        let plain = plain(skinning, samples);
        let (pixels, visible) = draw(gpu, models, plain, options);
        assert_eq!(visible, INSTANCES, "the first camera shows all");
        for (name, settings, more) in variations(plain, models).into_iter().take(count) {
            let (other, _) = draw(gpu, models, settings, &format!("{options} {more}"));
            assert_identical(&format!("{skinning:?}, {samples} samples, {name} {options}"), &pixels, &other);
        }
        pixels
    });
    assert_ways_agree(&format!("{samples} samples {options}"), &compute, &vertex);
    compute
}

/// Every driver must support four samples for these formats. The walker's joints are also blended as dual quaternions.
fn all_ways_agree(gpu: Gpu) {
    let mut models = scene::models();
    assert_all_ways_agree(&gpu, &models, 1, 4, "");
    models[0].geometry.with_dual_quaternions = true;
    assert_all_ways_agree(&gpu, &models, 4, 2, "");
}

/// Instances with a shared pose still have their own positions. The more poses there are, the smaller the difference.
fn all_ways_agree_with_shared_poses(gpu: Gpu) {
    let rough = assert_all_ways_agree(&gpu, &scene::models(), 1, 2, "--share-poses 1");
    let [own, fine] =
        ["", "--share-poses 2000"].map(|options| draw(&gpu, &scene::models(), plain(Skinning::Compute, 1), options).0);
    let [rough, fine] = [rough, fine].map(|shared| Difference::between(&own, &shared, 8));
    note!("shared at 1 Hz: {rough:?}; at 2000 Hz: {fine:?}");
    assert!(fine.share_beyond < 0.002 && fine.share_beyond < 0.2 * rough.share_beyond, "{fine:?}, {rough:?}");
}

/// The camera and the light see instances in several levels, and neither way of skinning sees another surface.
fn all_ways_agree_in_mixed_levels(gpu: Gpu) {
    let mut models = scene::models();
    // Their surfaces have holes, so a wrong level is seen.
    models.iter_mut().for_each(|model| levels::give_levels(model, 2, &[0.02, 0.03, 0.045]));
    let options = "--lod-error 0.4 --camera 20,8,1";
    let mixed = assert_all_ways_agree(&gpu, &models, 1, 2, options);
    let settings = plain(Skinning::Compute, 1);
    let mut shown = shown(&gpu, &models, settings, options);
    shown.scene.draw(&mut shown.renderer, 0.0, false).unwrap();
    let counts = shown.renderer.draw_counts();
    let levels_in_use = counts.camera.by_level.iter().filter(|&&seen| seen > 0).count();
    assert!(levels_in_use >= 3, "{counts:?}");
    let copied = models.each_ref().map(|model| CopiedGeometry::new(&model.geometry).copies);
    let drawn_as_copies = |batch: &Batch| {
        let mut copies = copied[batch.model as usize].iter().filter_map(|range| range[batch.levels.camera as usize]);
        copies.any(|copies| batch.seen.count > copies.count())
    };
    assert!(shown.renderer.plan().batches.iter().any(drawn_as_copies), "{copied:?}");
    assert_eq!(counts.light.by_level.iter().sum::<u64>(), counts.light.instances);
    assert!(counts.light.triangles != counts.camera.triangles && counts.light.triangles > 0, "{counts:?}");
    // Without errors, a chain changes nothing.
    let [full, without] =
        [&models, &scene::models()].map(|models| draw(&gpu, models, settings, "--lod-error 0 --camera 20,8,1").0);
    assert_identical("no error allowed, and no levels", &full, &without);
    assert!(Difference::between(&mixed, &full, 8).share_beyond > 0.01, "the levels are seen");
}

/// Counts of work are those of the picture: the first camera sees all instances in full detail.
fn counts_of_work_are_sums_over_instances(gpu: Gpu) {
    let models = scene::models();
    let Shown { mut scene, mut renderer } = shown(&gpu, &models, plain(Skinning::Compute, 1), "");
    scene.draw(&mut renderer, 0.0, false).unwrap();
    let instances = scene.crowd.visible_counts().to_vec();
    let sum = |of: fn(&Model) -> usize| -> u64 {
        models.iter().zip(&instances).map(|(model, &count)| of(model) as u64 * u64::from(count)).sum()
    };
    let counts = renderer.draw_counts();
    assert_eq!(counts.camera.by_level, [u64::from(INSTANCES)]);
    assert_eq!(counts.camera.instances, u64::from(INSTANCES));
    assert_eq!(counts.camera.triangles, sum(|model| model.geometry.triangle_count()));
    assert_eq!(counts.camera.vertices, sum(|model| model.geometry.vertex_count()));
    assert_eq!((counts.skinned_vertices, counts.light.vertices), (counts.camera.vertices, counts.camera.vertices));
}

fn culling_leaves_out_only_what_nobody_sees(gpu: Gpu) {
    let models = scene::models();
    for (skinning, camera) in [
        (Skinning::Compute, "30,12,0.1 --fov 12"),
        (Skinning::Vertex, "-110,30,0.15 --fov 20"),
        (Skinning::Compute, "30,12,0.1 --fov 12 --share-poses 2"),
    ] {
        let settings = plain(skinning, 1);
        let (all, drawn) = draw(&gpu, &models, settings, &format!("--cull off --camera {camera}"));
        let (culled, visible) = draw(&gpu, &models, settings, &format!("--cull on --camera {camera}"));
        assert_eq!(drawn, INSTANCES);
        assert!((5..INSTANCES - 4).contains(&visible), "the camera must see a part, not {visible}");
        assert_identical(camera, &all, &culled);
    }
}

/// Half of the atlas is opaque red, the other half nothing.
fn an_overlay_covers_its_pixels_and_no_others(gpu: Gpu) {
    let models = scene::models();
    let mut shown = shown(&gpu, &models, plain(Skinning::Compute, 1), "");
    let without = shown.draw_at(&TIMES_SECONDS);
    shown.renderer.set_overlay_atlas([2, 1], &[255, 0, 0, 255, 0, 0, 0, 0]).unwrap();
    // A rectangle from (10, 20) to (50, 40), of which the scissor leaves the part from x = 16.
    let vertex = |position_pixels| OverlayVertex { position_pixels, tex_coords: [0.25, 0.5], color_unorm8: u32::MAX };
    let overlay = shown.renderer.overlay_mut();
    overlay.vertices.extend([[10.0, 20.0], [50.0, 20.0], [10.0, 40.0], [50.0, 40.0]].map(vertex));
    overlay.indices.extend([0, 1, 2, 1, 2, 3]);
    let clip = vk::Rect2D { offset: vk::Offset2D { x: 16, y: 0 }, extent: vk::Extent2D { width: 100, height: 100 } };
    overlay.draws.push(OverlayDraw { clip, index_count: 6 });
    let with = shown.draw_at(&TIMES_SECONDS);
    for (index, (before, after)) in without.chunks(4).zip(with.chunks(4)).enumerate() {
        let (x, y) = (index % 160, index / 160);
        let is_covered = (16..50).contains(&x) && (20..40).contains(&y);
        let expected = if is_covered { &[255, 0, 0, 255] } else { before };
        assert_eq!(after, expected, "at {x}, {y}");
    }
    // The other half of the atlas is transparent.
    shown.renderer.overlay_mut().vertices.iter_mut().for_each(|vertex| vertex.tex_coords[0] = 0.75);
    assert_identical("a transparent overlay", &without, &shown.draw_at(&TIMES_SECONDS));
    shown.renderer.overlay_mut().clear();
    assert_identical("no overlay", &without, &shown.draw_at(&TIMES_SECONDS));
}

fn a_renderer_that_was_built_again_draws_the_same(gpu: Gpu) {
    let (models, settings) = (scene::models(), plain(Skinning::Compute, 1));
    let mut shown = shown(&gpu, &models, settings, "");
    let first = shown.draw_at(&TIMES_SECONDS);
    // The first factor of the curve that encodes sRGB becomes 0, so all bright pixels are darker.
    let replaced = &spirv::TONE_MAP_FRAG;
    let factor = 4.532_473_4_f32.to_bits();
    assert!(replaced.words.contains(&factor));
    let words = replaced.words.iter().map(|&word| if word == factor { 0 } else { word }).collect();
    // SAFETY: only the value of a constant differs.
    let shaders = [unsafe { ShaderOverride::new(replaced.file_name.to_owned(), words) }];
    shown.renderer.rebuild(&models, RendererSettings { shaders: &shaders, ..settings }).unwrap();
    assert!(Difference::between(&first, &shown.draw_at(&TIMES_SECONDS), 8).share_beyond > 0.5);
    shown.renderer.rebuild(&models, settings).unwrap();
    assert_identical("the embedded shaders", &first, &shown.draw_at(&TIMES_SECONDS));

    shown.renderer.rebuild(&models, RendererSettings { skinning: Skinning::Vertex, samples: 4, ..settings }).unwrap();
    let other = shown.draw_at(&TIMES_SECONDS);
    assert!(Difference::between(&first, &other, 8).share_beyond > 0.001, "edges are smooth now");
    // A setting that the device cannot have changes nothing.
    assert!(shown.renderer.rebuild(&models, RendererSettings { samples: 3, ..settings }).is_err());
    assert_identical("after a failure", &other, &shown.draw_at(&TIMES_SECONDS));
    shown.renderer.rebuild(&models, settings).unwrap();
    assert_identical("built again", &first, &shown.draw_at(&TIMES_SECONDS));
}

/// Each frame has another sun, and the frames before it may still sample the old light.
fn the_light_is_that_of_the_present_sky(gpu: Gpu) {
    let (models, settings) = (scene::models(), plain(Skinning::Compute, 1));
    let expected = draw(&gpu, &models, settings, "--sun 140,25").0;
    let mut shown = shown(&gpu, &models, settings, "--sun -60,70");
    let first = shown.draw_at(&TIMES_SECONDS);
    assert!(Difference::between(&first, &expected, 8).share_beyond > 0.5);
    for azimuth_degrees in [-20.0, 60.0, 140.0] {
        shown.scene.look.sun = SunDirection { azimuth_degrees, elevation_degrees: 25.0 };
        shown.scene.draw(&mut shown.renderer, 0.0, false).unwrap();
    }
    assert_identical("after moves of the sun", &expected, &shown.draw_at(&TIMES_SECONDS));
}
