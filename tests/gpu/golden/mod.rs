//! Small images, compared with images that a person has approved: `tests/golden/*.png`.
//!
//! [`flip`] says how they are compared. [`LIMITS`] is chosen so that Mesa's lavapipe and SwiftShader both pass, and
//! `rejections` proves that real mistakes do not.
//!
//! A missing image fails, and so does the run that writes one: a person must look at it first. On a mismatch, the message
//! names the drawn image and the map of differences.

mod draw;
pub mod flip;
mod levels;
mod rejections;

use std::path::{Path, PathBuf};

use draw::{JELLY, MIRRORED_AND_BLENDED, STRIP, SURFACES, WALKER, draw};
use flip::{Flip, Statistics};
use image::RgbaImage;

use crate::common::gpu::{Test, TestDevice, gpu_tests, note};

pub fn tests() -> Vec<Test> {
    gpu_tests![
        a_walker_in_mid_step,
        a_walker_in_an_upright_image,
        the_plainest_image,
        the_strip_bent,
        a_jelly_in_mid_air,
        a_crowd_from_the_first_camera,
        a_mixed_crowd_from_nearby,
        a_crowd_from_above,
        long_shadows_of_a_low_sun,
        mirrored_and_blended_parts,
        glass_without_a_background,
        one_surface_of_each_kind,
        an_overexposed_surface_over_a_colour,
        a_crowd_that_travels,
        weights_and_bones,
        a_scattered_crowd_in_colours,
        levels::nobody_sees_the_levels_of_a_mixed_crowd,
        levels::nobody_sees_the_levels_of_a_thousand_foxes [ignored if cfg!(not(sample_models))],
        levels::nobody_sees_the_levels_of_a_thousand_knights [ignored if cfg!(not(sample_models))],
        rejections::a_pose_a_thirtieth_of_a_second_later,
        rejections::a_shifted_shadow,
        rejections::two_percent_more_light,
        rejections::a_missing_texture,
        rejections::noise_in_the_last_bit_is_accepted
        ; once: flip::the_statistics_of_known_differences
    ]
}

/// The largest accepted differences from an approved image. Between the two drivers the mean is at most 0.025, and the worst
/// window 0.08. The smallest mistakes have a mean of 0.054 (2 % more light) or a window of 0.22 (a shadow shifted by 3 degrees).
pub const LIMITS: Statistics = Statistics { mean: 0.035, worst_window: 0.12 };

/// Draws and compares with `tests/golden/NAME.png`.
fn assert_golden(device: &TestDevice, name: &str, models: &[&str], options: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name).with_extension("png");
    let actual = draw(device, models, options);
    if std::env::var_os("THRONG_WRITE_GOLDENS").is_some_and(|value| value == "1") {
        actual.save(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        panic!("{} is written: look at it, then run again without THRONG_WRITE_GOLDENS", path.display());
    }
    let golden = match image::open(&path) {
        Ok(golden) => golden.into_rgba8(),
        Err(error) => {
            let seen = save_beside_target(device, name, "actual", &actual);
            panic!(
                "{}: {error}\nwhat was drawn: {}\nto make it the golden picture: \
                 THRONG_TEST_DEVICES=llvmpipe THRONG_WRITE_GOLDENS=1 cargo test --test gpu golden",
                path.display(),
                seen.display()
            );
        }
    };
    assert_eq!(golden.dimensions(), actual.dimensions(), "{}", path.display());
    let flip = Flip::between(&golden, &actual);
    let statistics = flip.statistics();
    note!("{name}: {statistics:?}");
    if !statistics.within(LIMITS) {
        let seen = save_beside_target(device, name, "actual", &actual);
        let map = save_beside_target(device, name, "difference", &flip.picture());
        panic!(
            "{statistics:?}, at most {LIMITS:?} may be\nwhat was expected: {}\nwhat was drawn: {}\nthe difference: {}",
            path.display(),
            seen.display(),
            map.display()
        );
    }
}

fn save_beside_target(device: &TestDevice, name: &str, what: &str, image: &RgbaImage) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden").join(&device.name);
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{name}.{what}.png"));
    image.save(&path).unwrap();
    path
}

fn a_walker_in_mid_step(device: &TestDevice) {
    assert_golden(device, "walker", &[WALKER], "--clip Walk --time 0.4");
}

fn a_walker_in_an_upright_image(device: &TestDevice) {
    assert_golden(device, "upright", &[WALKER], "--clip Wave --time 1 --size 144x192");
}

/// Shows edges without multisampling and surfaces without shadows.
fn the_plainest_image(device: &TestDevice) {
    assert_golden(device, "plain", &[WALKER], "--clip Run --time 0.2 --msaa 1 --shadows off --camera 60,25,0.8");
}

fn the_strip_bent(device: &TestDevice) {
    assert_golden(device, "strip", &[STRIP], "--time 1.2");
}

/// Shows morph targets with a skin, lines and points.
fn a_jelly_in_mid_air(device: &TestDevice) {
    assert_golden(device, "jelly", &[JELLY], "--clip Hop --time 0.3 --camera 20,12");
}

fn a_crowd_from_the_first_camera(device: &TestDevice) {
    assert_golden(device, "crowd", &[WALKER], "--clip all --instances 100 --time 2");
}

fn a_mixed_crowd_from_nearby(device: &TestDevice) {
    assert_golden(
        device,
        "close_crowd",
        &[WALKER, WALKER, WALKER, STRIP],
        "--clip all --seed 5 --instances 40 --time 1.5 --camera 35,18,0.4",
    );
}

fn a_crowd_from_above(device: &TestDevice) {
    assert_golden(device, "above", &[WALKER, JELLY], "--clip all --seed 3 --instances 30 --time 0.5 --camera 0,89");
}

fn long_shadows_of_a_low_sun(device: &TestDevice) {
    assert_golden(device, "low_sun", &[WALKER], "--clip Idle --instances 6 --seed 2 --sun 60,14 --camera 10,25");
}

/// Shows a wedge and its mirror image, both opaque with culled back faces, behind half-transparent glass.
fn mirrored_and_blended_parts(device: &TestDevice) {
    assert_golden(device, "mirrored_and_blended", &[MIRRORED_AND_BLENDED], "--camera 20,30,1.3");
}

fn glass_without_a_background(device: &TestDevice) {
    assert_golden(device, "transparent", &[MIRRORED_AND_BLENDED], "--camera 20,30,1.3 --background none");
}

/// Spheres: metal above and varnish below, from smooth to rough, with stripes of occlusion and bands that glow.
/// Squares: a normal map of domes, lit from the upper left; an unlit texture; the same texture turned clockwise by a
/// transform, under the bands by the second set of coordinates.
fn one_surface_of_each_kind(device: &TestDevice) {
    assert_golden(device, "surfaces", &[SURFACES], "--camera 0,8");
}

fn an_overexposed_surface_over_a_colour(device: &TestDevice) {
    assert_golden(device, "exposure", &[SURFACES], "--camera -25,15 --background #20406f --exposure 1.5");
}

/// Shows rings of instances of different sizes and tints, which have walked for a while.
fn a_crowd_that_travels(device: &TestDevice) {
    assert_golden(
        device,
        "travel",
        &[WALKER],
        "--clip Walk --instances 40 --layout ring --variety 1 --travel on --time 3",
    );
}

/// Shows the sum of joint colours times weights, and the bones over it.
fn weights_and_bones(device: &TestDevice) {
    assert_golden(
        device,
        "weights",
        &[WALKER],
        "--clip Walk --time 0.4 --debug-view weights --skeleton on --camera 30,10",
    );
}

/// Shows a colour for each instance. No image here shows lines: their width under multisampling is the driver's choice.
fn a_scattered_crowd_in_colours(device: &TestDevice) {
    assert_golden(
        device,
        "scatter",
        &[WALKER, JELLY],
        "--clip all --seed 4 --instances 12 --layout scatter --time 0.6 --debug-view instances --camera 15,20,0.6",
    );
}
