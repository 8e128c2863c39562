//! Background, ground, exposure and sun, and transparent images.

use image::{Rgba, RgbaImage};
use throng::model::Model;

use super::{furnace, golden};
use crate::common::gpu::{Gpu, list_gpu_tests, note};
use crate::common::scene::{WALKER, asset};

list_gpu_tests![
    a_colour_is_the_background_whatever_the_exposure,
    without_a_background_only_the_crowd_is_opaque,
    the_ground_is_an_option,
    exposure_brightens_everything_but_unlit_materials,
    a_white_body_is_as_bright_under_every_sun,
];

fn draw(gpu: &Gpu, model: &Model, options: &str) -> RgbaImage {
    golden::draw_on(gpu, std::slice::from_ref(model), &format!("--size 96x64 {options}"))
}

fn mean(image: &RgbaImage) -> f64 {
    let colors = image.pixels().flat_map(|pixel| pixel.0.into_iter().take(3));
    colors.map(f64::from).sum::<f64>() / f64::from(3 * image.width() * image.height())
}

fn largest_difference(a: &Rgba<u8>, b: &Rgba<u8>) -> u8 {
    a.0.iter().zip(b.0).map(|(&a, b)| a.abs_diff(b)).max().unwrap()
}

fn a_colour_is_the_background_whatever_the_exposure(gpu: Gpu) {
    let walker = asset(WALKER);
    for options in ["--msaa 1", "--msaa 4 --exposure 1", "--msaa 4 --exposure -1 --sun 30,10"] {
        let image = draw(&gpu, &walker, &format!("--background #20406f --ground off {options}"));
        for (x, y) in [(0, 0), (95, 0), (0, 63), (95, 63)] {
            assert_eq!(*image.get_pixel(x, y), Rgba([0x20, 0x40, 0x6f, 255]), "{options}");
        }
        assert!(image.pixels().all(|pixel| pixel[3] == 255), "{options}");
        let own = image.pixels().filter(|pixel| **pixel != Rgba([0x20, 0x40, 0x6f, 255])).count();
        assert!(own > 200, "{options}: no character");
    }
}

/// A transparent image has the colours of an opaque one, and partial alpha at edges and in glass only. The colours of debug views
/// are meant for display, whatever the exposure and the tone curve do to light. Only the brightest saturated ones, which no
/// radiance becomes, are a little darker in a transparent picture: those of normals along an axis.
fn without_a_background_only_the_crowd_is_opaque(gpu: Gpu) {
    let (glass, view) = ("20,30,1.3 --exposure 0.5", "20,10 --instances 3 --seed 3 --exposure -3 --debug-view");
    for (model, camera, samples, most_off) in [
        (WALKER, "20,10 --exposure 0.5", 1, 2),
        (golden::MIRRORED_AND_BLENDED, glass, 1, 2),
        (golden::MIRRORED_AND_BLENDED, glass, 4, 2),
        (golden::SURFACES, "0,8,0.9 --exposure 0.5", 4, 2),
        (WALKER, &format!("{view} normals"), 1, 3),
        (WALKER, &format!("{view} instances"), 1, 3),
        (WALKER, &format!("{view} wireframe"), 1, 3),
        (WALKER, &format!("{view} weights --skeleton on"), 1, 3),
    ] {
        let (model, options) = (asset(model), format!("--camera {camera} --msaa {samples}"));
        let transparent = draw(&gpu, &model, &format!("{options} --background none"));
        assert_eq!(transparent.get_pixel(0, 0)[3], 0, "{options}");
        let opaque = draw(&gpu, &model, &format!("{options} --background #808080 --ground off"));
        let pixels = || transparent.pixels().zip(opaque.pixels());
        let covered: Vec<u8> = pixels().filter(|(a, _)| a[3] == 255).map(|(a, b)| largest_difference(a, b)).collect();
        let (most, count) = (covered.iter().max(), covered.len());
        note!("{options}: {most:?} in {count} pixels");
        assert!(most <= Some(&most_off) && count > 300, "{options}: {most:?} in {count} opaque pixels");
        // Pixels that nothing covers show the background in the other image.
        let seen = pixels().filter(|(a, _)| a[3] == 0);
        assert!(seen.clone().all(|(_, b)| *b == Rgba([128, 128, 128, 255])) && seen.count() > 300, "{options}");
    }
}

fn the_ground_is_an_option(gpu: Gpu) {
    let walker = asset(WALKER);
    let bottom = |options: &str| *draw(&gpu, &walker, &format!("--camera 20,30 {options}")).get_pixel(3, 60);
    assert_eq!(bottom("--background none")[3], 0);
    // It fades with the distance.
    assert!(bottom("--background none --ground on")[3] > 200);
    assert_ne!(bottom(""), bottom("--ground off"));
    let plain = draw(&gpu, &walker, "--camera 20,30 --ground plain --shadows off");
    let lowest = (0..96).map(|x| plain.get_pixel(x, 63));
    assert!(lowest.clone().all(|pixel| largest_difference(pixel, plain.get_pixel(0, 63)) <= 1), "a pattern");
    assert_eq!(bottom("--ground off --background #102030"), Rgba([0x10, 0x20, 0x30, 255]));
}

fn exposure_brightens_everything_but_unlit_materials(gpu: Gpu) {
    let (walker, surfaces) = (asset(WALKER), asset(golden::SURFACES));
    let [dark, normal, bright] =
        ["-1", "0", "1"].map(|stops| mean(&draw(&gpu, &walker, &format!("--exposure {stops}"))));
    assert!(dark < 0.8 * normal && bright > 1.15 * normal, "{dark} {normal} {bright}");
    // The texture in the middle of the lower row is unlit; the one on the right is not.
    for background in ["sky", "none"] {
        let options = format!("--camera 0,8,0.9 --background {background} --msaa 1 --exposure");
        let [normal, bright] = ["0", "1"].map(|stops| draw(&gpu, &surfaces, &format!("{options} {stops}")));
        let unlit = largest_difference(normal.get_pixel(47, 50), bright.get_pixel(47, 50));
        assert!(unlit <= 1, "{background}: an unlit colour changes by {unlit}");
        assert!(mean(&bright) > 1.1 * mean(&normal), "{background}");
    }
}

fn a_white_body_is_as_bright_under_every_sun(gpu: Gpu) {
    let ball = furnace::matt([1.0; 3]);
    let brightness = |elevation: f32| {
        let image = draw(&gpu, &ball, &format!("--background none --view front --sun 20,{elevation}"));
        let shown = image.pixels().filter(|pixel| pixel[3] == 255);
        let channels: Vec<f64> = shown.flat_map(|pixel| &pixel.0[..3]).map(|&channel| channel.into()).collect();
        (channels.iter().sum::<f64>() / (255.0 * channels.len() as f64)).powf(2.2)
    };
    let mut all = [2.0, 5.0, 10.0, 20.0, 53.0, 60.0].map(brightness);
    all.sort_by(f64::total_cmp);
    assert!(all[5] <= 1.6 * all[0], "{all:?}");
}
