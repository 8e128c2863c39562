//! Real mistakes are not accepted, and the rounding of drivers is.

use image::{Rgba, RgbaImage};

use crate::LIMITS;
use crate::draw::{WALKER, draw, draw_on};
use crate::flip::{Flip, Statistics};
use crate::gpu::Gpu;
use crate::scene;

/// A golden scene: the walker in mid step.
const OPTIONS: &str = "--clip Walk --time 0.4";

fn statistics(a: &RgbaImage, b: &RgbaImage) -> Statistics {
    Flip::between(a, b).statistics()
}

fn assert_rejected(what: &str, image: &RgbaImage) {
    let statistics = statistics(&draw(&[WALKER], OPTIONS), image);
    println!("{what}: {statistics:?}");
    assert!(!statistics.within(LIMITS), "{what} is accepted: {statistics:?}");
}

#[test]
fn a_pose_a_thirtieth_of_a_second_later() {
    assert_rejected("a later pose", &draw(&[WALKER], "--clip Walk --time 0.433333"));
}

/// The sun moves by three degrees, so the end of the shadow moves by a twentieth of the walker's height.
#[test]
fn a_shifted_shadow() {
    assert_rejected("a shifted shadow", &draw(&[WALKER], &format!("{OPTIONS} --sun -45,53")));
}

#[test]
fn two_percent_more_light() {
    // log2(1.02)
    assert_rejected("2 % more light", &draw(&[WALKER], &format!("{OPTIONS} --exposure 0.02857")));
}

#[test]
fn a_missing_texture() {
    let gpu = Gpu::new();
    let mut models = vec![scene::asset(WALKER)];
    let mut removed = 0;
    for material in &mut models[0].materials {
        removed += u32::from(material.base_color_texture.take().is_some());
    }
    assert!(removed > 0, "the walker has no texture");
    assert_rejected("a missing texture", &draw_on(&gpu, &models, OPTIONS));
}

/// Drivers may differ in the last bit of each channel.
#[test]
fn noise_in_the_last_bit_is_accepted() {
    let drawn = draw(&[WALKER], OPTIONS);
    let noisy = RgbaImage::from_fn(drawn.width(), drawn.height(), |x, y| {
        let Rgba([red, green, blue, alpha]) = *drawn.get_pixel(x, y);
        Rgba([red ^ u8::from((x * 7 + y * 13) % 3 == 0), green ^ u8::from((x + y) % 2 == 0), blue, alpha])
    });
    let statistics = statistics(&drawn, &noisy);
    println!("noise: {statistics:?}");
    assert!(statistics.within(LIMITS), "{statistics:?}");
}
