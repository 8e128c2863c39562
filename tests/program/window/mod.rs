//! The window on an X server without a screen (Xvfb): it opens, presents, follows every resize, obeys its keys, survives
//! being minimised, and ends with exit code 0. All runs are under validation, where any message makes the exit code 1.
//!
//! The test is a second client of the same server (`common::screen`). It resizes the window, types, and reads the pixels.
//! Where a real manager matters, there is one (openbox). The test does not sleep: the program changes its title a few times
//! a second while it presents frames, and the test waits for these changes.

mod loss;
mod panel;
mod storm;
mod watch;

use crate::common::program::{Finished, Place, Running};
use crate::common::screen::{self, Key, Screen, TestWindow};

const SIZE: &str = "--size 320x240 --msaa 1 --panel off --validation";

fn start(place: &Place, screen: &Screen, options: &str) -> Running {
    Running::start(place.command(&format!("view {SIZE} {options}")).env("DISPLAY", &screen.display))
}

/// Starts the program. Returns it with its window, which presents frames and gets the keys.
fn open(place: &Place, screen: Screen, options: &str) -> (Running, TestWindow) {
    let program = start(place, &screen, options);
    (program, screen.wait_for_window())
}

fn close(program: Running, window: &TestWindow) -> Finished {
    window.press(Key::ESCAPE);
    let finished = program.finish();
    assert_success(&finished);
    finished
}

fn assert_success(finished: &Finished) {
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{}", finished.stdout);
}

#[test]
fn presents_120_frames() {
    let (place, screen) = (Place::new(), Screen::start());
    let finished = start(&place, &screen, "--frames 120").finish();
    assert_success(&finished);
    assert_eq!(finished.stdout, "120 frames presented\n");
    assert!(!place.working_folder().join("throng.png").exists(), "there was a display");
}

#[test]
fn obeys_its_keys() {
    let place = Place::new();
    let (program, window) = open(&place, Screen::start(), "--clip Walk");
    let title = window.wait_for_title(|_| true);
    assert!(title.starts_with("Throng: walker.glb · 1 visible · Walk · ") && title.ends_with(" fps)"), "{title}");

    for (key, clip) in [
        (Key::typing(']'), "Run"),
        (Key::typing(']'), "Idle"),
        (Key::typing('['), "Run"),
        (Key::typing('4'), "Wave"),
        (Key::typing(']'), "Walk"),
        (Key::typing('['), "Wave"),
        (Key::typing('0'), "all clips"),
        (Key::typing('1'), "Walk"),
    ] {
        window.press(key);
        window.wait_for_title(|title| title.contains(&format!(" · {clip} · ")));
    }
    // There is no ninth clip, so nothing changes.
    window.press(Key::typing('9'));
    window.wait_for_frames();
    window.wait_for_title(|title| title.contains(" · Walk · "));

    window.pause();
    let paused = window.picture();
    assert!(paused.color_count() > 100, "{} colours", paused.color_count());
    window.press(Key::SPACE);
    window.wait_for_frames();
    assert!(window.picture() != paused, "the character stands still");

    let finished = close(program, &window);
    assert!(finished.stdout.ends_with(" frames presented\n"), "{}", finished.stdout);
}

/// While the animation is paused, the program changes its title after each frame.
#[test]
fn a_paused_window_draws_only_what_a_key_changes() {
    let place = Place::new();
    let (program, window) = open(&place, Screen::start(), "");
    let seconds = |title: String| title.split(" · paused at ").nth(1)?.strip_suffix(" s")?.parse::<f64>().ok();
    let paused = seconds(window.pause()).unwrap();
    // The picture changes with each step, there and back.
    let mut pictures = vec![window.picture()];
    for (key, frames) in [('.', 1.0), ('.', 2.0), (',', 1.0), (',', 0.0)] {
        window.press(Key::typing(key));
        let [title] = window.titles_until_answered(1).try_into().expect("one frame for one key");
        assert!((seconds(title).unwrap() - paused - frames / 30.0).abs() < 2e-3);
        pictures.push(window.picture());
    }
    let same: Vec<bool> = pictures.iter().map(|picture| *picture == pictures[0]).collect();
    assert_eq!(same, [true, false, false, false, true]);
    // A key without an action, and one that the program draws.
    window.press(Key::typing('j'));
    window.press(Key::typing('k'));
    assert_eq!(window.titles_until_answered(1).len(), 1);
    assert!(window.picture() != pictures[0], "the skeleton is drawn");
    close(program, &window);
}

#[test]
fn a_window_without_motion_draws_only_what_a_key_changes() {
    let place = Place::new();
    // The only title.
    let (program, window) = open(&place, Screen::start(), "--clip none");
    for _ in 0..3 {
        window.press(Key::typing('k'));
        let titles = window.titles_until_answered(1);
        assert!(matches!(&titles[..], [title] if title.ends_with(" · nothing moves")), "{titles:?}");
    }
    // Another clip moves.
    window.press(Key::typing('1'));
    window.wait_for_title(|title| title.ends_with(" fps)"));
    close(program, &window);
}

#[test]
fn pictures_are_those_of_render_and_replace_no_file() {
    let place = Place::new();
    let file = |name: &str| place.working_folder().join(name);
    std::fs::write(file("throng-1.png"), "kept").unwrap();
    let (program, window) =
        open(&place, Screen::start(), "--instances 3 --background none --ground shadow --skeleton on --speed 0.5");
    window.pause();
    window.drag((100, 100), (130, 90));
    window.titles_until_answered(1);
    for _ in ["throng-2.png", "throng-3.png"] {
        window.press(Key::typing('p'));
        window.titles_until_answered(1);
    }
    window.press_with(Key::SHIFT, Key::typing('p'));
    window.titles_until_answered(1);
    let finished = close(program, &window);
    let lines: Vec<&str> = finished.stdout.lines().collect();
    let [first, second, line, _] = lines[..] else { panic!("{lines:?}") };
    assert_eq!([first, second], ["wrote throng-2.png", "wrote throng-3.png"]);
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_throng"));
    let path = std::env::join_paths(
        std::iter::once(program.parent().unwrap().to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", line]).current_dir(place.working_folder()).env("PATH", path.unwrap());
    assert_success(&Running::start(&mut shell).finish());
    let [rendered, second, third] =
        ["throng.png", "throng-2.png", "throng-3.png"].map(|name| std::fs::read(file(name)).unwrap());
    assert!(second == third && second == rendered, "{line} draws something else");
    assert_eq!(std::fs::read(file("throng-1.png")).unwrap(), b"kept");
}

#[test]
fn the_camera_goes_to_the_selected_character_and_back() {
    let place = Place::new();
    let (program, window) = open(&place, Screen::start(), "--instances 2 --travel off --camera 0,5");
    let title = window.pause();
    let paused = title.rsplit(" · ").next().unwrap();
    // A step there and back has its own title. The camera has arrived once two such pictures are the same.
    let arrived = || {
        let mut last = window.picture();
        loop {
            window.press(Key::typing('.'));
            window.wait_for_title(|title| !title.ends_with(paused));
            window.press(Key::typing(','));
            window.wait_for_title(|title| title.ends_with(paused));
            let picture = window.picture();
            if last == picture {
                return picture;
            }
            last = picture;
        }
    };
    const AWAY: usize = 30;
    const CHARACTER: (i16, i16) = (240, 110);
    let before = arrived().corner(AWAY);
    window.click(CHARACTER);
    let start = arrived();
    assert!(start.corner(AWAY) == before, "a click selects, and does not move the camera");
    // The outline of the selected character, without a panel.
    assert!(start.count_of([255, 168, 41]) > 100, "{}", start.count_of([255, 168, 41]));
    window.press(Key::typing('f'));
    let focused = arrived();
    assert!(focused != start);
    window.press_with(Key::SHIFT, Key::typing('f'));
    assert!(arrived() != focused);
    window.press(Key::BACKSPACE);
    assert!(arrived() == focused);
    window.press(Key::BACKSPACE);
    assert!(arrived() == start);
    // Escape deselects. Keys with Control are no plain ones.
    window.press(Key::ESCAPE);
    assert_eq!(arrived().count_of([255, 168, 41]), 0);
    window.press_with(Key::CONTROL, Key::typing('k'));
    assert!(arrived().corner(AWAY) == before && arrived().count_of([255, 168, 41]) == 0, "a skeleton");
    window.press_with(Key::CONTROL, Key::typing('q'));
    assert_success(&program.finish());
}

#[test]
fn f11_fills_the_screen_and_gives_it_back() {
    let place = Place::new();
    let (program, window) = open(&place, Screen::with_manager(), "");
    for _ in 0..2 {
        for (size, is_full) in [(screen::SIZE, true), ((320, 240), false)] {
            window.press(Key::F11);
            window.wait_for_size(size);
            window.wait_for_frames();
            let picture = window.picture();
            assert_eq!((picture.width as u32, picture.height as u32), size);
            assert_eq!(window.is_full_screen(), is_full);
            assert!(picture.corner(30).color_count() > 1, "the lower right corner is flat");
        }
    }
    // Escape leaves full screen first.
    window.press(Key::F11);
    window.wait_for_size(screen::SIZE);
    window.press(Key::ESCAPE);
    window.wait_for_size((320, 240));
    close(program, &window);
}

/// A window that is hidden in each way, once while the clip plays and once while it is paused.
#[test]
fn a_hidden_window_rests_and_is_drawn_when_it_is_back() {
    let place = Place::new();
    let (program, window) = open(&place, Screen::with_manager(), "");
    let hide_and_show = |meanwhile: &dyn Fn(), afterwards: &dyn Fn()| {
        window.minimize();
        meanwhile();
        window.restore();
        afterwards();
        window.show_desktop(1);
        meanwhile();
        window.show_desktop(0);
        afterwards();
        let cover = window.cover();
        meanwhile();
        window.uncover(cover);
        afterwards();
    };
    let is_drawn = || {
        window.wait_for_frames();
        assert!(window.picture().color_count() > 100, "{} colours", window.picture().color_count());
    };
    hide_and_show(&|| program.wait_for_rest(), &is_drawn);
    window.focus();
    window.pause();
    let paused = window.picture();
    let is_drawn_again = || {
        // It is drawn once, with a title, and perhaps a second time.
        window.wait_for_title(|_| true);
        while window.picture() != paused {
            window.wait_for_title(|_| true);
        }
    };
    hide_and_show(&|| (), &is_drawn_again);
    window.focus();
    close(program, &window);
}

/// Another client may destroy the window (`xdotool windowclose`).
#[test]
fn ends_when_its_window_is_destroyed() {
    let place = Place::new();
    let (program, window) = open(&place, Screen::start(), "");
    window.destroy();
    assert_success(&program.finish());
}
