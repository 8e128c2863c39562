//! A session with the panel: everything that a person does in the first minutes, one thing after the other, by mouse and by
//! keyboard, under validation and with a window manager.
//!
//! The places of widgets are those of a window of 1000x740 pixels. If the panel changes, a click misses its widget, and the
//! wait for its effect fails. With `THRONG_SCREENSHOTS=FOLDER` the test writes a picture after each step, to be looked at.
//! Steps 02, 10 and 13 are the pictures `panel_clips`, `panel_weights` and `panel_keys` of docs/using.md.

use std::path::{Path, PathBuf};

use super::package;
use crate::common::program::{Place, Running};
use crate::common::screen::{self, Key, Screen, TestWindow};

/// The places of widgets, in pixels.
mod at {
    type Point = (i16, i16);
    pub const SCRUB_START: Point = (30, 83);
    pub const SCRUB_MIDDLE: Point = (105, 83);
    pub const SEARCH: Point = (120, 150);
    pub const INSTANCES: Point = (197, 306);
    pub const DRAWING: Point = (60, 433);
    pub const VERTEX_SKINNING: Point = (169, 455);
    pub const COMPUTE_SKINNING: Point = (107, 455);
    pub const CHARACTER: Point = (760, 420);
    pub const SKY: Point = (950, 30);
    pub const FOUR_SAMPLES: Point = (181, 499);
    pub const JELLY: Point = (600, 300);
    pub const MORPH_TARGETS: Point = (80, 247);
    pub const WEIGHT_START: Point = (43, 269);
    pub const WEIGHT_END: Point = (95, 269);
}

fn sample(name: &str) -> PathBuf {
    PathBuf::from(std::env::var_os("THRONG_SAMPLE_MODELS").expect("THRONG_SAMPLE_MODELS")).join(name)
}

/// The only clip of the dropped file of clips.
const JUMP: &str = " · Take 001 · ";

/// The message about the broken file, in the panel and on standard error.
const BROKEN: &str = "broken.glb: it is neither GLB nor JSON; .gltf and .glb files can be read";

/// The kinds of messages in the panel, which differ in colour.
#[derive(Debug, PartialEq)]
enum Notice {
    Success,
    Error,
}

/// Returns the kind of message that the panel shows now.
fn notice(window: &TestWindow) -> Option<Notice> {
    // More pixels than the graph has by chance.
    const LETTERS: usize = 100;
    let picture = window.picture();
    let kinds = [(Notice::Success, [140, 215, 150]), (Notice::Error, [255, 140, 110])];
    kinds.into_iter().find(|(_, color)| picture.count_of(*color) > LETTERS).map(|(kind, _)| kind)
}

/// Clicks on a widget of the panel, and waits for its effect: it is complete one frame after the click arrives.
fn click_widget(window: &TestWindow, widget: (i16, i16)) {
    window.click(widget);
    window.wait_for_frames();
    window.wait_for_frames();
}

/// Writes the picture of a step if a folder is set.
fn keep(window: &TestWindow, step: &str) {
    let Some(folder) = std::env::var_os("THRONG_SCREENSHOTS") else { return };
    let picture = window.picture();
    let rgba: Vec<u8> = picture.rgba().flatten().collect();
    let (width, height) = (picture.width as u32, picture.height as u32);
    let path = Path::new(&folder).join(format!("{step}.png"));
    image::save_buffer(path, &rgba, width, height, image::ExtendedColorType::Rgba8).unwrap();
}

#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn a_session_with_the_panel() {
    let (place, screen) = (Place::new(), Screen::with_manager());
    let [broken, good] = ["broken.glb", "good.glb"].map(|name| place.working_folder().join(name));
    std::fs::write(&broken, "not a model").unwrap();
    std::fs::copy(package().join("assets/walker.glb"), &good).unwrap();
    let options = "view --size 1000x740 --fade 0.1 --panel off --watch --validation";
    let mut command = place.command(options);
    command.arg(sample("KayKit_Knight/Knight.glb")).env("DISPLAY", &screen.display);
    let program = Running::start(&mut command);
    let window = screen.wait_for_window();
    let title = window.wait_for_title(|_| true);
    assert!(title.starts_with("Throng: Knight.glb · 1 visible · "), "{title}");
    window.focus();
    keep(&window, "00-without-panel");
    window.press(Key::TAB);
    // The panel finds its size in its first layout. Its widgets are in their places from the second one on.
    window.wait_for_frames();
    window.wait_for_frames();
    keep(&window, "01-opened");
    // The clip plays while the panel is shown.
    let beside_the_panel =
        || -> Vec<_> { window.picture().rgba().enumerate().filter(|(pixel, _)| pixel % 1000 > 340).collect() };
    let before = beside_the_panel();
    window.wait_for_frames();
    window.wait_for_frames();
    assert!(beside_the_panel() != before, "the clip stands still");

    // The clips of a model with 76 of them.
    click_widget(&window, at::SEARCH);
    window.type_text("cheer");
    window.wait_for_frames();
    keep(&window, "02-searched");
    window.press(Key::ENTER);
    window.wait_for_title(|title| title.contains(" · Cheer · "));

    // Scrubbing a paused clip, with all events of the mouse before one frame.
    window.press(Key::SPACE);
    window.wait_for_title(|title| title.contains(" · paused at "));
    program.halt();
    window.drag(at::SCRUB_START, at::SCRUB_MIDDLE);
    program.go_on();
    // About half of 1.67 s.
    window.wait_for_title(|title| title.ends_with(" · Cheer · paused at 0.820 s"));
    keep(&window, "03-scrubbed");

    // A click selects the character, and F moves the camera to it. A paused title says nothing of that, so playback goes on.
    const BESIDE_THE_PANEL: usize = 300;
    // Below playback is the section of the selected character, if there is one.
    let below_playback = || window.picture().rgba().skip(120 * 1000).take(30 * 1000).collect::<Vec<_>>();
    let before = below_playback();
    window.click(at::CHARACTER);
    window.wait_for_frames();
    assert!(below_playback() != before, "the panel describes the selected character");
    let before = window.picture().corner(BESIDE_THE_PANEL);
    window.press(Key::typing('f'));
    window.press(Key::SPACE);
    window.wait_for_title(|title| title.ends_with(" fps)"));
    assert!(window.picture().corner(BESIDE_THE_PANEL) != before, "the camera has moved");
    keep(&window, "04-selected");
    window.press_shifted(Key::typing('f'));
    window.wait_for_frames();
    keep(&window, "04b-front");
    window.press(Key::BACKSPACE);
    window.wait_for_frames();
    keep(&window, "04c-undone");
    window.press(Key::typing('r'));
    window.click(at::SKY);
    window.wait_for_frames();

    // A thousand, and one again.
    for (count, step) in [("1000", "05-thousand"), ("1", "06-one")] {
        click_widget(&window, at::INSTANCES);
        window.type_text(count);
        window.press(Key::ENTER);
        window.wait_for_title(|title| (title.contains(" · 1 visible · ")) == (count == "1"));
        keep(&window, step);
    }

    // Settings that need a new renderer.
    click_widget(&window, at::DRAWING);
    for (place, step) in [
        (at::VERTEX_SKINNING, "07-vertex-skinning"),
        (at::FOUR_SAMPLES, "08-four-samples"),
        (at::COMPUTE_SKINNING, "09-compute-skinning"),
    ] {
        let before = window.picture();
        click_widget(&window, place);
        assert!(window.picture() != before, "{step}");
        keep(&window, step);
    }

    window.press(Key::typing('v'));
    window.wait_for_title(|title| title.contains(" · Cheer · weights · "));
    keep(&window, "10-weights");

    // A good file; a file of clips, whose clip is the last one; and a broken file, which changes nothing.
    assert_eq!(notice(&window), None);
    window.drop_file(&good);
    window.wait_for_title(|title| title.starts_with("Throng: good.glb · 1 visible · "));
    // The message finds its size in its first layout, and stays for seconds.
    window.wait_for_frames();
    assert_eq!(notice(&window), Some(Notice::Success));
    keep(&window, "11-dropped");
    window.drop_file(&sample("avatars/bitmoji/jump-flip.glb"));
    window.wait_for_frames();
    window.press(Key::typing('['));
    window.wait_for_title(|title| title.starts_with("Throng: good.glb · 1 visible · ") && title.contains(JUMP));
    keep(&window, "11b-clips");
    window.drop_file(&broken);
    program.wait_for_stderr(BROKEN);
    window.wait_for_frames();
    assert_eq!(notice(&window), Some(Notice::Error));
    let title = window.wait_for_title(|_| true);
    assert!(title.starts_with("Throng: good.glb · 1 visible · "), "{title}");
    keep(&window, "12-broken");

    window.press(Key::typing('h'));
    window.wait_for_frames();
    keep(&window, "13-keys");
    window.press(Key::typing('h'));
    window.press(Key::typing('p'));
    window.wait_for_frames();
    window.resize((800, 500));
    window.wait_for_size((800, 500));
    window.wait_for_frames();
    keep(&window, "14-resized");
    window.press(Key::typing('h'));
    window.wait_for_frames();
    window.wait_for_frames();
    keep(&window, "14b-keys");
    // Esc closes the list of keys. If it closed the window, the next waits would fail.
    window.press(Key::ESCAPE);

    // The whole screen, and back.
    for (size, step) in [(screen::SIZE, "15-full-screen"), ((800, 500), "16-window")] {
        window.press(Key::F11);
        window.wait_for_size(size);
        window.wait_for_frames();
        assert_eq!(window.is_full_screen(), size == screen::SIZE);
        keep(&window, step);
    }

    // Another model takes the place of the file that is shown.
    std::fs::copy(package().join("assets/jelly.gltf"), &good).unwrap();
    window.wait_for_title(|title| title.contains(" · Hop · "));
    window.wait_for_frames();
    keep(&window, "17-reloaded");

    // It has morph targets, with sliders. The paused picture changes only with them. In this clip it stays on the ground.
    window.press(Key::digit(2));
    window.wait_for_title(|title| title.contains(" · Wobble · "));
    window.press(Key::SPACE);
    window.wait_for_title(|title| title.contains(" · paused at "));
    click_widget(&window, at::JELLY);
    keep(&window, "17b-selected");
    click_widget(&window, at::MORPH_TARGETS);
    keep(&window, "17c-morph-targets");
    let before = window.picture().corner(BESIDE_THE_PANEL);
    window.drag(at::WEIGHT_START, at::WEIGHT_END);
    window.wait_for_frames();
    keep(&window, "17d-weight");
    assert!(window.picture().corner(BESIDE_THE_PANEL) != before, "the weight changes the shape");
    window.press_shifted(Key::typing('p'));
    window.wait_for_frames();
    // The message finds its size in its first layout, and its place in the next one.
    window.wait_for_title(|_| true);
    keep(&window, "17e-line");
    window.press(Key::TAB);
    window.wait_for_frames();
    keep(&window, "18-hidden");
    window.press(Key::ESCAPE);
    let finished = program.finish();
    let stderr: Vec<&str> = finished.stderr.lines().collect();
    assert!(finished.code == 0 && matches!(stderr[..], [warning] if warning.ends_with(BROKEN)), "{stderr:?}");
    let [wrote, line, _] = finished.stdout.lines().collect::<Vec<_>>()[..] else { panic!("{}", finished.stdout) };
    assert_eq!(wrote, "wrote throng-1.png");
    assert!(line.starts_with("throng render ") && line.contains("good.glb") && line.contains(" --morph "), "{line}");
    let screenshot = image::open(place.working_folder().join("throng-1.png")).unwrap();
    assert_eq!((screenshot.width(), screenshot.height()), (1000, 740));
}
