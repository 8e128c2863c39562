//! Real mistakes are not accepted, and the rounding of drivers is.

use image::{Rgba, RgbaImage};

use super::{LIMITS, draw, draw_on};
use crate::common::flip::{Flip, Statistics};
use crate::common::gpu::{Gpu, TestDevice, note};
use crate::common::scene::{self, WALKER};

/// A golden scene: the walker in mid step.
const OPTIONS: &str = "--clip Walk --time 0.4";

fn statistics(what: &str, a: &RgbaImage, b: &RgbaImage) -> Statistics {
    let statistics = Flip::between(a, b).statistics();
    note!("{what}: {statistics:?}");
    statistics
}

pub fn small_mistakes_are_rejected(device: &TestDevice) {
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
    assert_rejected("a missing texture", &draw_on(&Gpu::new(device), &[walker], OPTIONS));
}

/// Drivers may differ in the last bit of each channel.
pub fn noise_in_the_last_bit_is_accepted(device: &TestDevice) {
    let drawn = draw(device, &[WALKER], OPTIONS);
    let noisy = RgbaImage::from_fn(drawn.width(), drawn.height(), |x, y| {
        let Rgba([red, green, blue, alpha]) = *drawn.get_pixel(x, y);
        Rgba([red ^ u8::from((x * 7 + y * 13) % 3 == 0), green ^ u8::from((x + y) % 2 == 0), blue, alpha])
    });
    let statistics = statistics("noise", &drawn, &noisy);
    assert!(statistics.within(LIMITS), "{statistics:?}");
}

pub fn the_statistics_of_known_differences(_: &TestDevice) {
    let grey = RgbaImage::from_pixel(64, 48, Rgba([128, 128, 128, 255]));
    let equal = Flip::between(&grey, &grey).statistics();
    assert_eq!(equal, Statistics { mean: 0.0, worst_window: 0.0 });
    let mut spot = grey.clone();
    for (x, y) in (8..24).flat_map(|x| (16..32).map(move |y| (x, y))) {
        spot.put_pixel(x, y, Rgba([255, 255, 0, 255]));
    }
    let of_spot = Flip::between(&grey, &spot).statistics();
    assert!(of_spot.worst_window > 0.9 && of_spot.mean < 0.2 && of_spot.mean > 0.05, "{of_spot:?}");
    // A difference of alpha alone is seen.
    let clear = RgbaImage::from_pixel(64, 48, Rgba([0, 0, 0, 0]));
    let black = RgbaImage::from_pixel(64, 48, Rgba([0, 0, 0, 255]));
    assert!(Flip::between(&clear, &black).statistics().mean > 0.5);
}
