//! Small images, compared with images that a person has approved: `tests/golden/*.png`.
//!
//! [`flip`] says how they are compared. [`LIMITS`] is chosen so that Mesa's lavapipe and SwiftShader both pass, and
//! `rejections` proves that real mistakes do not.
//!
//! A missing image fails, and so does the run that writes one: a person must look at it first. On a mismatch, the message
//! names the drawn image and the map of differences.

mod draw;
mod flip;
#[path = "../common/gpu.rs"]
mod gpu;
mod levels;
mod rejections;
#[path = "../common/scene.rs"]
mod scene;
mod skinning;

use std::path::{Path, PathBuf};

use draw::{JELLY, MIRRORED_AND_BLENDED, STRIP, SURFACES, WALKER, draw};
use flip::{Flip, Statistics};
use image::RgbaImage;

/// The largest accepted differences from an approved image. Between the two drivers the mean is at most 0.025, and the worst
/// window 0.08. The smallest mistakes have a mean of 0.054 (2 % more light) or a window of 0.22 (a shadow shifted by 3 degrees).
const LIMITS: Statistics = Statistics { mean: 0.035, worst_window: 0.12 };

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
    let flip = Flip::between(&golden, &actual);
    let statistics = flip.statistics();
    println!("{name}: {statistics:?}");
    if !statistics.within(LIMITS) {
        let seen = save_beside_target(name, "actual", &actual);
        let map = save_beside_target(name, "difference", &flip.picture());
        panic!(
            "{statistics:?}, at most {LIMITS:?} may be\nwhat was expected: {}\nwhat was drawn: {}\nthe difference: {}",
            path.display(),
            seen.display(),
            map.display()
        );
    }
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
fn a_walker_in_an_upright_image() {
    assert_golden("upright", &[WALKER], "--clip Wave --time 1 --size 144x192");
}

/// Shows edges without multisampling and surfaces without shadows.
#[test]
fn the_plainest_image() {
    assert_golden("plain", &[WALKER], "--clip Run --time 0.2 --msaa 1 --shadows off --camera 60,25,0.8");
}

#[test]
fn the_strip_bent() {
    assert_golden("strip", &[STRIP], "--time 1.2");
}

/// Shows morph targets with a skin, lines and points.
#[test]
fn a_jelly_in_mid_air() {
    assert_golden("jelly", &[JELLY], "--clip Hop --time 0.3 --camera 20,12");
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

#[test]
fn a_crowd_from_above() {
    assert_golden("above", &[WALKER, JELLY], "--clip all --seed 3 --instances 30 --time 0.5 --camera 0,89");
}

#[test]
fn long_shadows_of_a_low_sun() {
    assert_golden("low_sun", &[WALKER], "--clip Idle --instances 6 --seed 2 --sun 60,14 --camera 10,25");
}

/// Shows a wedge and its mirror image, both opaque with culled back faces, behind half-transparent glass.
#[test]
fn mirrored_and_blended_parts() {
    assert_golden("mirrored_and_blended", &[MIRRORED_AND_BLENDED], "--camera 20,30,1.3");
}

#[test]
fn glass_without_a_background() {
    assert_golden("transparent", &[MIRRORED_AND_BLENDED], "--camera 20,30,1.3 --background none");
}

/// Spheres: metal above and varnish below, from smooth to rough, with stripes of occlusion and bands that glow.
/// Squares: a normal map of domes, lit from the upper left; an unlit texture; the same texture turned clockwise by a
/// transform, under the bands by the second set of coordinates.
#[test]
fn one_surface_of_each_kind() {
    assert_golden("surfaces", &[SURFACES], "--camera 0,8");
}

#[test]
fn an_overexposed_surface_over_a_colour() {
    assert_golden("exposure", &[SURFACES], "--camera -25,15 --background #20406f --exposure 1.5");
}

/// Shows rings of instances of different sizes and tints, which have walked for a while.
#[test]
fn a_crowd_that_travels() {
    assert_golden("travel", &[WALKER], "--clip Walk --instances 40 --layout ring --variety 1 --travel on --time 3");
}

/// Shows the sum of joint colours times weights, and the bones over it.
#[test]
fn weights_and_bones() {
    assert_golden("weights", &[WALKER], "--clip Walk --time 0.4 --debug-view weights --skeleton on --camera 30,10");
}

/// Shows a colour for each instance. No image here shows lines: their width under multisampling is the driver's choice.
#[test]
fn a_scattered_crowd_in_colours() {
    assert_golden(
        "scatter",
        &[WALKER, JELLY],
        "--clip all --seed 4 --instances 12 --layout scatter --time 0.6 --debug-view instances --camera 15,20,0.6",
    );
}
