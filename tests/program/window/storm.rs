//! Storms: many resizes and real minimisations in one run, with a window manager.
//!
//! The long form takes minutes: `cargo test --test program window -- --ignored storm`.

use super::{assert_success, open};
use crate::common::program::Place;
use crate::common::screen::Screen;

/// Resizes that come together before the test looks at the window again, as they do while an edge is dragged.
const BURST: u32 = 10;

/// Returns a size that depends on the number in no simple way: 1 to 700 pixels wide, 1 to 500 high. The last one of a burst,
/// which is drawn, is sometimes the smallest possible one or very flat.
fn size(number: u32) -> (u32, u32) {
    if number % BURST == BURST - 1
        && let Some(&size) = [(1, 1), (1, 300), (900, 16)].get((number / BURST) as usize)
    {
        return size;
    }
    let mixed = number.wrapping_mul(2_654_435_761).rotate_left(13).wrapping_mul(2_246_822_519);
    (1 + (mixed >> 16) % 700, 1 + (mixed & 0xffff) % 500)
}

/// Resizes the window and minimises it in between, each as often as wanted. Some sizes are drawn and some are skipped.
fn storm(resizes: u32, minimizations: u32) {
    let place = Place::new();
    let (program, window) = open(&place, Screen::with_manager(), "--instances 20");
    let bursts = resizes / BURST;
    let mut minimized = 0;
    for burst in 0..bursts {
        (burst * BURST..(burst + 1) * BURST).for_each(|number| window.resize(size(number)));
        window.wait_for_size(size((burst + 1) * BURST - 1));
        // Spread over the storm.
        while minimized * bursts < minimizations * (burst + 1) {
            window.minimize();
            // A minimised window can be resized.
            window.resize(size(minimized));
            window.restore();
            minimized += 1;
        }
        window.wait_for_frames();
    }
    assert_eq!((bursts * BURST, minimized), (resizes, minimizations));
    window.resize((400, 300));
    window.wait_for_size((400, 300));
    window.wait_for_frames();
    let picture = window.picture();
    assert_eq!((picture.width, picture.height), (400, 300));
    assert!(picture.color_count() > 100, "{} colours", picture.color_count());
    // The image fills the window up to its last corner.
    assert!(picture.corner(30).color_count() > 1, "the lower right corner is flat");
    // A minimised window can be closed.
    window.minimize();
    window.ask_to_close();
    assert_success(&program.finish());
}

#[test]
fn a_short_storm_of_resizes_and_minimizations() {
    storm(50, 5);
}

#[test]
#[ignore = "takes minutes"]
fn a_long_storm_of_resizes_and_minimizations() {
    storm(500, 20);
}
