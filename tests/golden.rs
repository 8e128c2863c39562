//! Small images, compared with images that a person has approved: `tests/golden/*.png`.
//!
//! The comparison is tolerant, because drivers round, filter and resolve differently, and software drivers differ
//! between processor vendors. Both images are first averaged over 2 x 2 pixels, so that an edge in the neighbouring
//! pixel counts little. Then the mean difference and the share of clearly different pixels are limited. A test checks
//! that this still detects real changes: the walker 1/30 s later does not pass.
//!
//! A missing image fails, and so does the run that writes one: a person must look at it first. On a mismatch, the
//! message names the drawn image and a magnified difference.

#[path = "common/compare.rs"]
mod compare;
#[path = "common/gpu.rs"]
mod gpu;
#[path = "common/scene.rs"]
mod scene;

use std::path::{Path, PathBuf};

use ash::vk;
use compare::Difference;
use gpu::Gpu;
use image::RgbaImage;
use throng::renderer::{RendererSettings, UploadPath};

const EXTENT: vk::Extent2D = vk::Extent2D { width: 256, height: 144 };

/// The largest accepted mean difference of the averaged images, in steps of 1/255.
const MOST_MEAN: f64 = 0.75;
/// A channel with a larger difference is clearly different.
const CLEARLY: u8 = 16;
const MOST_CLEARLY_DIFFERENT: f64 = 0.004;

const WALKER: &str = "assets/walker.glb";
const STRIP: &str = "assets/simple_strip.gltf";
const SURFACES: &str = "tests/golden/surfaces.gltf";
const MIRRORED_AND_BLENDED: &str = "tests/golden/mirrored_and_blended.gltf";

/// Draws the image of `throng render MODELS OPTIONS --msaa 4`.
fn draw(models: &[&str], options: &str) -> RgbaImage {
    let gpu = Gpu::new();
    let models: Vec<_> = models.iter().map(|name| scene::asset(name)).collect();
    let mut scene = scene::scene(&models, &format!("--size 256x144 {options}"));
    let time_seconds = scene::arguments(options).crowd.time;
    let settings = RendererSettings { upload: Some(UploadPath::Direct), samples: 4, ..RendererSettings::default() };
    let mut renderer = scene::renderer(gpu.device(), &models, EXTENT, settings);
    scene.draw(&mut renderer, time_seconds, EXTENT.width as f32 / EXTENT.height as f32, true).unwrap();
    let pixels = renderer.wait_for_pixels().unwrap().to_vec();
    RgbaImage::from_raw(EXTENT.width, EXTENT.height, pixels).unwrap()
}

/// Averages 2 x 2 pixels.
fn averaged(image: &RgbaImage) -> Vec<u8> {
    let blocks = (0..image.height() / 2).flat_map(|y| (0..image.width() / 2).map(move |x| (2 * x, 2 * y)));
    blocks
        .flat_map(|(x, y)| {
            let corners = [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)].map(|(x, y)| image.get_pixel(x, y).0);
            [0, 1, 2, 3].map(|channel| {
                let sum: u32 = corners.iter().map(|pixel| u32::from(pixel[channel])).sum();
                ((sum + 2) / 4) as u8
            })
        })
        .collect()
}

fn difference(a: &RgbaImage, b: &RgbaImage) -> Difference {
    Difference::between(&averaged(a), &averaged(b), CLEARLY)
}

fn passes(difference: &Difference) -> bool {
    difference.mean <= MOST_MEAN && difference.share_beyond <= MOST_CLEARLY_DIFFERENT
}

/// Draws and compares with `tests/golden/NAME.png`.
fn assert_golden(name: &str, models: &[&str], options: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name).with_extension("png");
    let actual = draw(models, options);
    if std::env::var_os("THRONG_WRITE_GOLDENS").is_some_and(|value| value == "1") {
        actual.save(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        panic!("{} is written: look at it, then run again without THRONG_WRITE_GOLDENS", path.display());
    }
    let golden = match image::open(&path) {
        Ok(golden) => golden.into_rgba8(),
        Err(error) => {
            let seen = save_beside_target(name, "actual", &actual);
            panic!(
                "{}: {error}\nwhat was drawn: {}\nto make it the golden picture: \
                 THRONG_WRITE_GOLDENS=1 cargo test --test golden",
                path.display(),
                seen.display()
            );
        }
    };
    assert_eq!(golden.dimensions(), actual.dimensions(), "{}", path.display());
    let difference = difference(&actual, &golden);
    println!("{name}: {difference:?}");
    if !passes(&difference) {
        let seen = save_beside_target(name, "actual", &actual);
        let magnified = save_beside_target(name, "difference", &magnified_difference(&actual, &golden));
        panic!(
            "{difference:?}, at most {MOST_MEAN} and {MOST_CLEARLY_DIFFERENT} may be\nwhat was expected: {}\n\
             what was drawn: {}\nthe difference, eightfold: {}",
            path.display(),
            seen.display(),
            magnified.display()
        );
    }
}

fn magnified_difference(a: &RgbaImage, b: &RgbaImage) -> RgbaImage {
    const FACTOR: u8 = 8;
    RgbaImage::from_fn(a.width(), a.height(), |x, y| {
        let (a, b) = (a.get_pixel(x, y).0, b.get_pixel(x, y).0);
        let channel = |k: usize| a[k].abs_diff(b[k]).saturating_mul(FACTOR);
        image::Rgba([channel(0), channel(1), channel(2), u8::MAX])
    })
}

fn save_beside_target(name: &str, what: &str, image: &RgbaImage) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{name}.{what}.png"));
    image.save(&path).unwrap();
    path
}

#[test]
fn a_walker_in_mid_step() {
    assert_golden("walker", &[WALKER], "--clip Walk --time 0.4");
}

#[test]
fn the_strip_bent() {
    assert_golden("strip", &[STRIP], "--time 1.2");
}

/// Shows morph targets with a skin, lines and points.
#[test]
fn a_jelly_in_mid_air() {
    assert_golden("jelly", &["assets/jelly.gltf"], "--clip Hop --time 0.3 --camera 20,12,0.6");
}

#[test]
fn a_crowd_from_the_first_camera() {
    assert_golden("crowd", &[WALKER], "--clip all --instances 100 --time 2");
}

#[test]
fn a_mixed_crowd_from_nearby() {
    assert_golden(
        "close_crowd",
        &[WALKER, WALKER, WALKER, STRIP],
        "--clip all --seed 5 --instances 40 --time 1.5 --camera 35,18,0.4",
    );
}

/// Shows a wedge and its mirror image, both opaque with culled back faces, behind half-transparent glass.
#[test]
fn mirrored_and_blended_parts() {
    assert_golden("mirrored_and_blended", &[MIRRORED_AND_BLENDED], "--camera 20,30,1.3");
}

/// Spheres: metal above and varnish below, from smooth to rough, with stripes of occlusion and bands that glow.
/// Squares: a normal map of domes, lit from the upper left; an unlit texture; the same texture turned clockwise by a
/// transform, under the bands by the second set of coordinates.
#[test]
fn one_surface_of_each_kind() {
    assert_golden("surfaces", &[SURFACES], "--camera 0,8,0.9");
}

#[test]
fn the_comparison_sees_what_matters() {
    let drawn = draw(&[WALKER], "--clip Walk --time 0.4");
    assert_eq!(difference(&drawn, &drawn), Difference { mean: 0.0, share_beyond: 0.0, most: 0 });
    let later = difference(&drawn, &draw(&[WALKER], "--clip Walk --time 0.434"));
    assert!(!passes(&later), "a thirtieth of a second later: {later:?}");
    let brighter = RgbaImage::from_fn(drawn.width(), drawn.height(), |x, y| {
        image::Rgba(drawn.get_pixel(x, y).0.map(|channel| channel.saturating_add(2)))
    });
    let brighter = difference(&drawn, &brighter);
    assert!(!passes(&brighter), "all a little brighter: {brighter:?}");
    // Drivers may differ in the last bit of each channel.
    let noisy = RgbaImage::from_fn(drawn.width(), drawn.height(), |x, y| {
        image::Rgba(drawn.get_pixel(x, y).0.map(|channel| channel ^ u8::from((x * 7 + y * 13) % 3 == 0)))
    });
    let noisy = difference(&drawn, &noisy);
    assert!(passes(&noisy), "noise in the last bit: {noisy:?}");
}
