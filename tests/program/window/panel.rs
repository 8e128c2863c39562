//! A session with the panel: what only a window can show of it. Its widgets are tested without one (tests/cpu/app/panel.rs).

use crate::common::assets::{JELLY, path_of};
use crate::common::program::{Place, Running};
use crate::common::screen::{Key, Screen, TestWindow};

/// The places of widgets, in pixels. If the panel changes, a click misses its widget, and the wait for its effect fails.
mod at {
    type Point = (i16, i16);
    pub const SCRUB_START: Point = (30, 86);
    pub const SCRUB_MIDDLE: Point = (105, 86);
    pub const DRAWING: Point = (60, 511);
    pub const VERTEX_SKINNING: Point = (181, 535);
    pub const CHARACTER: Point = (486, 330);
    pub const MORPH_TARGETS: Point = (80, 282);
    pub const WEIGHT_START: Point = (43, 305);
    pub const WEIGHT_END: Point = (95, 305);
}

/// The side of a square in the lower right corner, beside the panel.
const BESIDE_THE_PANEL: usize = 300;

/// The message about the broken file, in the panel and on standard error.
const BROKEN: &str = "broken.glb: it is neither GLB nor JSON; .gltf and .glb files can be read";

/// Returns whether the panel shows a message of success and one of an error now: more pixels than the graph has by chance.
fn notices(window: &TestWindow) -> [bool; 2] {
    let picture = window.picture();
    [[140, 215, 150], [255, 140, 110]].map(|color| picture.count_of(color) > 100)
}

/// Clicks on a widget of the panel, and waits for its effect: it is complete one frame after the click arrives.
fn click(window: &TestWindow, place: (i16, i16)) {
    window.click(place);
    window.wait_for_frames();
    window.wait_for_frames();
}

/// Returns a file that has the first clip of the jelly alone, with another name.
fn leap() -> String {
    let text = std::fs::read_to_string(path_of(JELLY)).unwrap();
    let mut gltf: serde_json::Value = serde_json::from_str(&text).unwrap();
    gltf["animations"].as_array_mut().unwrap().truncate(1);
    gltf["animations"][0]["name"] = "Leap".into();
    let leave_out = |value: &mut serde_json::Value, keys: [&str; 2]| {
        value.as_object_mut().unwrap().retain(|key, _| !keys.contains(&key.as_str()));
    };
    leave_out(&mut gltf, ["meshes", "skins"]);
    gltf["nodes"].as_array_mut().unwrap().iter_mut().for_each(|node| leave_out(node, ["mesh", "skin"]));
    gltf.to_string()
}

#[test]
fn a_session_with_the_panel() {
    let (place, screen) = (Place::new(), Screen::start());
    let [broken, good, clips] = ["broken.glb", "good.glb", "clips.gltf"].map(|name| place.working_folder().join(name));
    std::fs::write(&broken, "not a model").unwrap();
    std::fs::copy(path_of(JELLY), &good).unwrap();
    std::fs::write(&clips, leap()).unwrap();
    let options = "view --clip 0 --size 640x600 --fade 0 --msaa 1 --shadows off --panel off --validation";
    let program = Running::start(place.command(options).env("DISPLAY", &screen.display));
    let window = screen.wait_for_window();
    window.press(Key::TAB);
    // The panel finds its size in its first layout. Its widgets are in their places from the second one on.
    window.wait_for_frames();
    window.wait_for_frames();
    // The clip plays while the panel is shown.
    let before = window.picture().corner(BESIDE_THE_PANEL);
    window.wait_for_frames();
    assert!(window.picture().corner(BESIDE_THE_PANEL) != before, "the clip stands still");

    // Scrubbing a paused clip, with all events of the mouse before one frame.
    window.pause();
    program.signal(libc::SIGSTOP);
    window.drag(at::SCRUB_START, at::SCRUB_MIDDLE);
    program.signal(libc::SIGCONT);
    // Half of 1.07 s.
    window.wait_for_title(|title| title.contains(" · paused at 0.5"));
    window.press(Key::SPACE);

    // A setting that needs another renderer.
    click(&window, at::DRAWING);
    click(&window, at::VERTEX_SKINNING);
    window.press(Key::typing('v'));
    window.wait_for_title(|title| title.contains(" · weights · "));

    // Another model; a file of clips, whose clip is played; and a broken file, which changes nothing.
    assert_eq!(notices(&window), [false, false]);
    window.drop_file(&good);
    window.wait_for_title(|title| title.starts_with("Throng: good.glb · 1 visible · Hop · "));
    // The message finds its size in its first layout, and stays for seconds.
    window.wait_for_frames();
    assert_eq!(notices(&window), [true, false]);
    window.drop_file(&clips);
    window.wait_for_title(|title| title.starts_with("Throng: good.glb · 1 visible · Leap · "));

    // A click beside the panel selects the character, which has morph targets. It is on the ground then, not in the air.
    window.pause();
    window.drag(at::SCRUB_MIDDLE, at::SCRUB_START);
    window.wait_for_title(|title| title.contains(" · paused at 0.0"));
    program.signal(libc::SIGSTOP);
    window.press(Key::SPACE);
    window.click(at::CHARACTER);
    program.signal(libc::SIGCONT);
    window.wait_for_frames();
    window.wait_for_frames();
    click(&window, at::MORPH_TARGETS);
    window.drag(at::WEIGHT_START, at::WEIGHT_END);
    window.wait_for_frames();
    window.press_with(Key::SHIFT, Key::typing('p'));
    window.wait_for_frames();

    window.drop_file(&broken);
    program.wait_for_stderr(BROKEN);
    window.wait_for_frames();
    assert_eq!(notices(&window), [false, true]);

    // Esc deselects, then closes the page of keys. If it closed the window, the next waits would fail.
    let before = window.picture();
    window.press(Key::typing('h'));
    window.wait_for_frames();
    assert!(window.picture() != before);
    window.press(Key::ESCAPE);
    window.press(Key::ESCAPE);

    window.press(Key::TAB);
    window.wait_for_frames();
    window.press(Key::ESCAPE);
    let finished = program.finish();
    let stderr: Vec<&str> = finished.stderr.lines().collect();
    assert!(finished.code == 0 && matches!(stderr[..], [warning] if warning.ends_with(BROKEN)), "{stderr:?}");
    // It has what was set in the panel.
    let line = finished.stdout.lines().next().unwrap();
    for part in ["throng render ", "good.glb", "--skinning vertex", "--morph", "--debug-view weights"] {
        assert!(line.contains(part), "no {part} in {line}");
    }
}
