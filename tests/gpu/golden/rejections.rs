//! Real mistakes are not accepted, and the rounding of drivers is.

use image::{Rgba, RgbaImage};

use super::LIMITS;
use super::draw::{WALKER, draw, draw_on};
use super::flip::{Flip, Statistics};
use crate::common::gpu::{Gpu, TestDevice, note};
use crate::common::scene;

/// A golden scene: the walker in mid step.
const OPTIONS: &str = "--clip Walk --time 0.4";

fn statistics(a: &RgbaImage, b: &RgbaImage) -> Statistics {
    Flip::between(a, b).statistics()
}

fn assert_rejected(device: &TestDevice, what: &str, image: &RgbaImage) {
    let statistics = statistics(&draw(device, &[WALKER], OPTIONS), image);
    note!("{what}: {statistics:?}");
    assert!(!statistics.within(LIMITS), "{what} is accepted: {statistics:?}");
}

pub fn a_pose_a_thirtieth_of_a_second_later(device: &TestDevice) {
    assert_rejected(device, "a later pose", &draw(device, &[WALKER], "--clip Walk --time 0.433333"));
}

/// The sun moves by three degrees, so the end of the shadow moves by a twentieth of the walker's height.
pub fn a_shifted_shadow(device: &TestDevice) {
    assert_rejected(device, "a shifted shadow", &draw(device, &[WALKER], &format!("{OPTIONS} --sun -45,53")));
}

pub fn two_percent_more_light(device: &TestDevice) {
    // log2(1.02)
    assert_rejected(device, "2 % more light", &draw(device, &[WALKER], &format!("{OPTIONS} --exposure 0.02857")));
}

pub fn a_missing_texture(device: &TestDevice) {
    let gpu = Gpu::new(device);
    let mut models = vec![scene::asset(WALKER)];
    let mut removed = 0;
    for material in &mut models[0].materials {
        removed += u32::from(material.base_color_texture.take().is_some());
    }
    assert!(removed > 0, "the walker has no texture");
    assert_rejected(device, "a missing texture", &draw_on(&gpu, &models, OPTIONS));
}

/// Drivers may differ in the last bit of each channel.
pub fn noise_in_the_last_bit_is_accepted(device: &TestDevice) {
    let drawn = draw(device, &[WALKER], OPTIONS);
    let noisy = RgbaImage::from_fn(drawn.width(), drawn.height(), |x, y| {
        let Rgba([red, green, blue, alpha]) = *drawn.get_pixel(x, y);
        Rgba([red ^ u8::from((x * 7 + y * 13) % 3 == 0), green ^ u8::from((x + y) % 2 == 0), blue, alpha])
    });
    let statistics = statistics(&drawn, &noisy);
    note!("noise: {statistics:?}");
    assert!(statistics.within(LIMITS), "{statistics:?}");
}
