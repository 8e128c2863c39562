//! Small images, compared with images that a person has approved: `tests/golden/*.png`.
//!
//! [`flip`](crate::common::flip) says how they are compared. [`LIMITS`] is chosen so that Mesa's lavapipe and SwiftShader
//! both pass, and real mistakes do not.
//!
//! A missing image fails, and so does the run that writes one: a person must look at it first. On a mismatch, the message
//! names the drawn image and the map of differences.

use std::path::Path;
use std::sync::Arc;

use image::{Rgba, RgbaImage};
use throng::levels;
use throng::model::Model;
use throng::renderer::{RendererSettings, UploadPath};
use throng::view::Background;

use crate::common::assets::{path_of, sample};
use crate::common::flip::{Flip, Statistics};
use crate::common::gpu::{Gpu, Test, TestDevice, gpu_tests, note};
use crate::common::scene::{self, JELLY, STRIP, WALKER};
use crate::common::truth;

pub fn tests() -> Vec<Test> {
    let of_image = |image: &'static Golden| Test {
        name: format!("{}::{}", module_path!(), image.0),
        is_ignored: false,
        own_process: None,
        run: Arc::new(move |device| assert_golden(device, image)),
    };
    let others = gpu_tests![
        nobody_sees_the_levels_of_a_mixed_crowd,
        nobody_sees_the_levels_of_foxes [ignored if cfg!(not(sample_models))],
        nobody_sees_the_levels_of_knights [ignored if cfg!(not(sample_models))],
        small_mistakes_are_rejected,
        noise_in_the_last_bit_is_accepted,
        the_statistics_of_known_differences,
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

/// The largest accepted differences from an approved image. Two drivers differ by a mean of 0.025 and a window of 0.08 at most.
/// The smallest mistakes have a mean of 0.054 (2 % more light) or a window of 0.22 (a shadow shifted by 3 degrees).
pub const LIMITS: Statistics = Statistics { mean: 0.035, worst_window: 0.12 };

/// Draws what `throng render MODELS OPTIONS` draws, under validation. The default size is 256x144.
fn draw(device: &TestDevice, models: &[&str], options: &str) -> RgbaImage {
    let models: Vec<_> = models.iter().map(|name| scene::asset(name)).collect();
    draw_on(&Gpu::from(device), &models, options)
}

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

fn save_beside_target(device: &TestDevice, name: &str, what: &str, image: &RgbaImage) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden").join(&device.name);
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{name}.{what}.png"));
    image.save(&path).unwrap();
    path.display().to_string()
}

/// A golden scene: the walker in mid step.
const OPTIONS: &str = "--clip Walk --time 0.4";

fn statistics(what: &str, a: &RgbaImage, b: &RgbaImage) -> Statistics {
    let statistics = Flip::between(a, b).statistics();
    note!("{what}: {statistics:?}");
    statistics
}

fn small_mistakes_are_rejected(device: &TestDevice) {
    let right = draw(device, &[WALKER], OPTIONS);
    let assert_rejected = |what: &str, image: &RgbaImage| {
        let statistics = statistics(what, &right, image);
        assert!(!statistics.within(LIMITS), "{what} is accepted: {statistics:?}");
    };
    for (what, options) in [
        ("a pose a thirtieth of a second later", "--clip Walk --time 0.433333"),
        // The end of the shadow moves by a twentieth of the walker's height.
        ("a sun that has moved by three degrees", "--clip Walk --time 0.4 --sun -45,53"),
        // log2(1.02)
        ("2 % more light", "--clip Walk --time 0.4 --exposure 0.02857"),
    ] {
        assert_rejected(what, &draw(device, &[WALKER], options));
    }

    let mut walker = scene::asset(WALKER);
    let textures = walker.materials.iter_mut().filter_map(|material| material.base_color_texture.take());
    assert!(textures.count() > 0, "the walker has no texture");
    assert_rejected("a missing texture", &draw_on(&Gpu::from(device), &[walker], OPTIONS));
}

/// Drivers may differ in the last bit of each channel.
fn noise_in_the_last_bit_is_accepted(device: &TestDevice) {
    let drawn = draw(device, &[WALKER], OPTIONS);
    let noisy = RgbaImage::from_fn(drawn.width(), drawn.height(), |x, y| {
        let Rgba([red, green, blue, alpha]) = *drawn.get_pixel(x, y);
        Rgba([red ^ u8::from((x * 7 + y * 13) % 3 == 0), green ^ u8::from((x + y) % 2 == 0), blue, alpha])
    });
    let statistics = statistics("noise", &drawn, &noisy);
    assert!(statistics.within(LIMITS), "{statistics:?}");
}

fn the_statistics_of_known_differences(_: &TestDevice) {
    let grey = RgbaImage::from_pixel(64, 48, Rgba([128, 128, 128, 255]));
    assert_eq!(Flip::between(&grey, &grey).statistics(), Statistics { mean: 0.0, worst_window: 0.0 });
    let mut spot = grey.clone();
    for (x, y) in (8..24).flat_map(|x| (16..32).map(move |y| (x, y))) {
        spot.put_pixel(x, y, Rgba([255, 255, 0, 255]));
    }
    let of_spot = Flip::between(&grey, &spot).statistics();
    assert!(of_spot.worst_window > 0.9 && of_spot.mean < 0.2 && of_spot.mean > 0.05, "{of_spot:?}");
    // A difference of alpha alone is seen.
    let [clear, black] = [0, 255].map(|alpha| RgbaImage::from_pixel(64, 48, Rgba([0, 0, 0, alpha])));
    assert!(Flip::between(&clear, &black).statistics().mean > 0.5);
}

/// The largest accepted distance from the truth with the default of `--lod-error`, compared with full detail, and the number of
/// samples. With four samples full detail is nearer to the truth, so the same difference is a larger share.
const MOST_RATIOS: [(f32, u32); 2] = [(1.05, 1), (1.15, 4)];

/// Draws a crowd of about 30 pixels each, with one sample and with four.
fn see(device: &TestDevice, models: &mut [Model]) {
    models.iter_mut().for_each(levels::build);
    for (most_ratio, samples) in MOST_RATIOS {
        let gpu = Gpu::from(device);
        let options = format!("--clip all --instances 100 --time 0.7 --size 320x180 --shadows off --msaa {samples}");
        let mut scene = scene::scene(models, &options);
        let settings = truth::settings(gpu.device(), &mut scene, &scene::arguments(&options), &[0.0, 1.0], 1).unwrap();
        drop(scene);
        let [full, levels] = [0, 1].map(|index| settings[index].mean_flip);
        note!("{}, {samples} samples: {full} and {levels}, {}", models[0].name, levels / full);
        assert!(levels <= most_ratio * full && levels != full, "{samples} samples: {full} and {levels}");
    }
}

fn nobody_sees_the_levels_of_a_mixed_crowd(device: &TestDevice) {
    see(device, &mut [WALKER, JELLY, WALKER, STRIP].map(scene::asset));
}

fn nobody_sees_the_levels_of_foxes(device: &TestDevice) {
    see(device, &mut [sample("Fox/Fox.glb")]);
}

fn nobody_sees_the_levels_of_knights(device: &TestDevice) {
    see(device, &mut [sample("KayKit_Knight/Knight.glb")]);
}
