//! A session with the panel: what only a window can show of it. Its widgets are tested without one (tests/cpu/app/panel.rs).

use super::{assert_success, package};
use crate::common::program::{Place, Running};
use crate::common::screen::{Key, Screen, TestWindow};

/// The places of the slider of the time, in pixels. If the panel changes, a drag misses it, and the wait for its effect fails.
const SCRUB_START: (i16, i16) = (30, 83);
const SCRUB_MIDDLE: (i16, i16) = (105, 83);
const CHARACTER: (i16, i16) = (560, 250);
const SIZE: (u32, u32) = (800, 500);

/// The message about the broken file, in the panel and on standard error.
const BROKEN: &str = "broken.glb: it is neither GLB nor JSON; .gltf and .glb files can be read";

/// Returns whether the panel shows a message of success and one of an error now: more pixels than the graph has by chance.
fn notices(window: &TestWindow) -> [bool; 2] {
    let picture = window.picture();
    [[140, 215, 150], [255, 140, 110]].map(|color| picture.count_of(color) > 100)
}

#[test]
fn a_session_with_the_panel() {
    let (place, screen) = (Place::new(), Screen::start());
    let [broken, good, clips] = ["broken.glb", "good.glb", "clips.glb"].map(|name| place.working_folder().join(name));
    std::fs::write(&broken, "not a model").unwrap();
    for (name, file) in [("jelly.gltf", &good), ("walker.glb", &clips)] {
        std::fs::copy(package().join("assets").join(name), file).unwrap();
    }
    let (width, height) = SIZE;
    let options = format!("view --size {width}x{height} --fade 0 --msaa 1 --panel off --watch --validation");
    let program = Running::start(place.command(&options).env("DISPLAY", &screen.display));
    let window = screen.wait_for_window();
    window.wait_for_title(|_| true);
    window.focus();
    window.press(Key::TAB);
    // The panel finds its size in its first layout. Its widgets are in their places from the second one on.
    window.wait_for_frames();
    window.wait_for_frames();
    // The clip plays while the panel is shown.
    let before = window.picture().corner(300);
    window.wait_for_frames();
    assert!(window.picture().corner(300) != before, "the clip stands still");

    // Scrubbing a paused clip, with all events of the mouse before one frame.
    window.press(Key::SPACE);
    window.wait_for_title(|title| title.contains(" · paused at "));
    program.halt();
    window.drag(SCRUB_START, SCRUB_MIDDLE);
    program.go_on();
    // About half of 1.2 s.
    window.wait_for_title(|title| title.contains(" · paused at 0.5"));
    // A click beside the panel selects the character, and a click on it does not.
    let below_playback = || window.picture().rgba().skip(120 * 800).take(30 * 800).collect::<Vec<_>>();
    let before = below_playback();
    window.click(CHARACTER);
    window.wait_for_frames();
    assert!(below_playback() != before, "the panel describes the selected character");

    // Settings that need a new renderer.
    window.press(Key::typing('v'));
    window.wait_for_title(|title| title.contains(" · weights · "));

    // A file of clips, another model, and a broken file, which changes nothing.
    assert_eq!(notices(&window), [false, false]);
    window.drop_file(&good);
    window.wait_for_title(|title| title.starts_with("Throng: good.glb · 1 visible · Hop · "));
    // The message finds its size in its first layout, and stays for seconds.
    window.wait_for_frames();
    assert_eq!(notices(&window), [true, false]);
    window.drop_file(&broken);
    program.wait_for_stderr(BROKEN);
    window.wait_for_frames();
    assert_eq!(notices(&window), [false, true]);

    // Esc closes the page of keys. If it closed the window, the next waits would fail.
    let before = window.picture();
    window.press(Key::typing('h'));
    window.wait_for_frames();
    assert!(window.picture() != before);
    window.press(Key::ESCAPE);

    // Another model takes the place of the file that is shown.
    std::fs::copy(&clips, &good).unwrap();
    window.wait_for_title(|title| title.starts_with("Throng: good.glb · 1 visible · Walk · "));
    window.press(Key::TAB);
    window.wait_for_frames();
    window.press(Key::ESCAPE);
    let finished = program.finish();
    let stderr: Vec<&str> = finished.stderr.lines().collect();
    assert!(finished.code == 0 && matches!(stderr[..], [warning] if warning.ends_with(BROKEN)), "{stderr:?}");
}
