//! Small images, compared with images that a person has approved: `tests/golden/*.png`.
//!
//! [`flip`](crate::common::flip) says how they are compared. [`LIMITS`] is chosen so that Mesa's lavapipe and SwiftShader
//! both pass, and `rejections` proves that real mistakes do not.
//!
//! A missing image fails, and so does the run that writes one: a person must look at it first. On a mismatch, the message
//! names the drawn image and the map of differences.

mod levels;
mod rejections;

use std::path::Path;
use std::sync::Arc;

use image::RgbaImage;
use throng::model::Model;
use throng::renderer::{RendererSettings, UploadPath};
use throng::view::Background;

use crate::common::assets::path_of;
use crate::common::flip::{Flip, Statistics};
use crate::common::gpu::{Gpu, Test, TestDevice, gpu_tests, note};
use crate::common::scene::{self, JELLY, STRIP, WALKER};

pub fn tests() -> Vec<Test> {
    let of_image = |image: &'static Golden| Test {
        name: format!("{}::{}", module_path!(), image.0),
        is_ignored: false,
        own_process: None,
        run: Arc::new(move |device| assert_golden(device, image)),
    };
    let others = gpu_tests![
        levels::nobody_sees_the_levels_of_a_mixed_crowd,
        levels::nobody_sees_the_levels_of_foxes [ignored if cfg!(not(sample_models))],
        levels::nobody_sees_the_levels_of_knights [ignored if cfg!(not(sample_models))],
        rejections::small_mistakes_are_rejected,
        rejections::noise_in_the_last_bit_is_accepted,
        rejections::the_statistics_of_known_differences,
    ];
    IMAGES.iter().map(of_image).chain(others).collect()
}

pub const SURFACES: &str = "tests/golden/surfaces.gltf";
pub const MIRRORED_AND_BLENDED: &str = "tests/golden/mirrored_and_blended.gltf";

/// The name of an approved image, its models, and the options of `throng render`.
type Golden = (&'static str, &'static [&'static str], &'static str);

pub static IMAGES: [Golden; 16] = [
    ("walker", &[WALKER], "--clip Walk --time 0.4"),
    ("upright", &[WALKER], "--clip Wave --time 1 --size 144x192"),
    // Edges without multisampling and surfaces without shadows.
    ("plain", &[WALKER], "--clip Run --time 0.2 --msaa 1 --shadows off --camera 60,25,0.8"),
    ("strip", &[STRIP], "--time 1.2"),
    // Morph targets with a skin, lines and points.
    ("jelly", &[JELLY], "--clip Hop --time 0.3 --camera 20,12"),
    ("crowd", &[WALKER], "--clip all --instances 100 --time 2"),
    (
        "close_crowd",
        &[WALKER, WALKER, WALKER, STRIP],
        "--clip all --seed 5 --instances 40 --time 1.5 --camera 35,18,0.4",
    ),
    ("above", &[WALKER, JELLY], "--clip all --seed 3 --instances 30 --time 0.5 --camera 0,89"),
    ("low_sun", &[WALKER], "--clip Idle --instances 6 --seed 2 --sun 60,14 --camera 10,25"),
    // A wedge and its mirror image, both opaque with culled back faces, behind half-transparent glass.
    ("mirrored_and_blended", &[MIRRORED_AND_BLENDED], "--camera 20,30,1.3"),
    ("transparent", &[MIRRORED_AND_BLENDED], "--camera 20,30,1.3 --background none"),
    // Spheres: metal above and varnish below, from smooth to rough, with stripes of occlusion and bands that glow.
    // Squares: a normal map of domes, lit from the upper left; an unlit texture; the same texture turned clockwise by a
    // transform, under the bands by the second set of coordinates.
    ("surfaces", &[SURFACES], "--camera 0,8"),
    ("exposure", &[SURFACES], "--camera -25,15 --background #20406f --exposure 1.5"),
    // Rings of instances of different sizes and tints, which have walked for a while.
    ("travel", &[WALKER], "--clip Walk --instances 40 --layout ring --variety 1 --travel on --time 3"),
    // The sum of joint colours times weights, and the bones over it.
    ("weights", &[WALKER], "--clip Walk --time 0.4 --debug-view weights --skeleton on --camera 30,10"),
    // A colour for each instance. No image here shows lines: their width under multisampling is the driver's choice.
    (
        "scatter",
        &[WALKER, JELLY],
        "--clip all --seed 4 --instances 12 --layout scatter --time 0.6 --debug-view instances --camera 15,20,0.6",
    ),
];

/// The largest accepted differences from an approved image. Between the two drivers the mean is at most 0.025, and the worst
/// window 0.08. The smallest mistakes have a mean of 0.054 (2 % more light) or a window of 0.22 (a shadow shifted by 3
/// degrees).
pub const LIMITS: Statistics = Statistics { mean: 0.035, worst_window: 0.12 };

/// Draws what `throng render MODELS OPTIONS` draws, under validation. The image has 256x144 pixels unless the options say
/// otherwise.
fn draw(device: &TestDevice, models: &[&str], options: &str) -> RgbaImage {
    let gpu = Gpu::new(device);
    let models: Vec<_> = models.iter().map(|name| scene::asset(name)).collect();
    draw_on(&gpu, &models, options)
}

/// Draws models on a device.
pub fn draw_on(gpu: &Gpu, models: &[Model], options: &str) -> RgbaImage {
    let size = if options.contains("--size") { "" } else { "--size 256x144" };
    let options = format!("{options} {size}");
    let args = scene::arguments(&options);
    let settings = RendererSettings {
        skinning: args.gpu.skinning,
        upload: Some(UploadPath::Direct),
        samples: args.gpu.quality.samples(),
        shadows: args.gpu.quality.shadows.into(),
        transparent: args.crowd.look().background == Background::None,
        ..RendererSettings::default()
    };
    scene::draw(gpu.device(), models, &options, settings).0
}

/// Draws and compares with `tests/golden/NAME.png`.
fn assert_golden(device: &TestDevice, &(name, models, options): &Golden) {
    let path = path_of("tests/golden").join(name).with_extension("png");
    let actual = draw(device, models, options);
    if std::env::var_os("THRONG_WRITE_GOLDENS").is_some_and(|value| value == "1") {
        actual.save(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        panic!("{} is written: look at it, then run again without THRONG_WRITE_GOLDENS", path.display());
    }
    let golden = match image::open(&path) {
        Ok(golden) => golden.into_rgba8(),
        Err(error) => panic!(
            "{}: {error}\nwhat was drawn: {}\nto make it the golden picture: \
             THRONG_TEST_DEVICES=llvmpipe THRONG_WRITE_GOLDENS=1 cargo test --test gpu golden",
            path.display(),
            save_beside_target(device, name, "actual", &actual)
        ),
    };
    assert_eq!(golden.dimensions(), actual.dimensions(), "{}", path.display());
    let flip = Flip::between(&golden, &actual);
    let statistics = flip.statistics();
    note!("{name}: {statistics:?}");
    assert!(
        statistics.within(LIMITS),
        "{statistics:?}, at most {LIMITS:?} may be\nwhat was expected: {}\nwhat was drawn: {}\nthe difference: {}",
        path.display(),
        save_beside_target(device, name, "actual", &actual),
        save_beside_target(device, name, "difference", &flip.picture())
    );
}

/// Saves an image, and returns its path.
fn save_beside_target(device: &TestDevice, name: &str, what: &str, image: &RgbaImage) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden").join(&device.name);
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{name}.{what}.png"));
    image.save(&path).unwrap();
    path.display().to_string()
}
