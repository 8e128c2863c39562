//! The state of the window: time, moves, pointer, files, and what another model keeps.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Parser;
use glam::{Vec2, Vec3};
use throng::app::view::clock::Clock;
use throng::app::view::library::Library;
use throng::app::view::moves::Moves;
use throng::app::view::pointer::{Pointer, key_name};
use throng::app::view::state::State;
use throng::app::view::watch::{ModelFiles, PERIOD};
use throng::cli::keys::SHORTCUTS;
use throng::cli::{Cli, LookAt, Size};
use throng::view::OrbitCamera;
use winit::dpi::PhysicalPosition;
use winit::event::{ElementState, MouseButton};
use winit::keyboard::{Key, KeyCode, NamedKey, PhysicalKey};

use crate::common::assets::{JELLY, WALKER, path_of};

#[test]
fn a_paused_clock_stands_still_and_steps() {
    let mut clock = Clock::new(1.0, 2.0);
    let start = Instant::now();
    // The clock started a little earlier.
    let near = |seconds: f64, expected: f64| assert!((seconds - expected).abs() < 0.1, "{seconds}, not {expected}");
    let after = |seconds| start + Duration::from_secs(seconds);
    near(clock.advance_to(after(10)), 21.0);
    clock.toggle_pause();
    near(clock.advance_to(after(20)), 21.0);
    clock.step(60);
    assert!(clock.is_paused());
    near(clock.time_seconds(), 23.0);
    clock.step(-60);
    clock.toggle_pause();
    // The pause does not count, and neither does a clock of the system that goes back.
    near(clock.advance_to(after(5)), 31.0);
    near(clock.advance_to(start), 31.0);
}

#[test]
fn moves_are_shown_and_undone() {
    let start = OrbitCamera { yaw_radians: 3.0, ..OrbitCamera::default() };
    let mut moves = Moves::new(start);
    let now = Instant::now();
    let at = |milliseconds| now + Duration::from_millis(milliseconds);
    // A drag of two frames is one move, and each frame shows it at once.
    let mut dragged = start;
    for time in [1000, 1016] {
        dragged.orbit(0.1, 0.0);
        assert_eq!(moves.follow(dragged, at(time)), dragged);
    }
    // A jump is eased, also if it follows at once.
    moves.jump(at(1030));
    let jumped = OrbitCamera { yaw_radians: -3.0, distance: 1.0, target: Vec3::ONE, ..start };
    assert_eq!(moves.follow(jumped, at(1030)), dragged);
    let half = moves.follow(jumped, at(1105));
    assert!(half.yaw_radians > std::f32::consts::PI && (half.distance - 2.0).abs() < 1e-3, "{half:?}");
    assert!(moves.is_moving(at(1105)) && !moves.is_moving(at(1180)));
    assert_eq!(moves.follow(jumped, at(1180)), jumped);
    assert_eq!(moves.back(at(2000)), Some(dragged));
    assert_eq!(moves.follow(dragged, at(2200)), dragged);
    assert_eq!(moves.back(at(2300)), Some(start));
    assert_eq!(moves.back(at(2400)), None);
}

const SIZE: Size = Size { width: 200, height: 100 };
const LEFT: MouseButton = MouseButton::Left;

fn at(x: f64, y: f64) -> PhysicalPosition<f64> {
    PhysicalPosition::new(x, y)
}

#[test]
fn a_click_is_a_press_and_a_release_without_a_drag() {
    let (mut pointer, mut camera) = (Pointer::default(), OrbitCamera::default());
    // The cursor is a share of the window.
    assert_eq!(pointer.cursor(SIZE), Vec2::splat(0.5));
    pointer.moved(at(50.0, 50.0), SIZE, &mut camera);
    assert_eq!(pointer.cursor(SIZE), Vec2::new(0.25, 0.5));
    assert!(!pointer.press(LEFT, ElementState::Pressed));
    assert!(!pointer.moved(at(51.0, 50.0), SIZE, &mut camera));
    assert!(pointer.press(LEFT, ElementState::Released));
    assert_eq!(camera, OrbitCamera::default());
    // There and back again is a drag.
    pointer.press(LEFT, ElementState::Pressed);
    assert!(pointer.moved(at(70.0, 50.0), SIZE, &mut camera));
    pointer.moved(at(51.0, 50.0), SIZE, &mut camera);
    assert!(!pointer.press(LEFT, ElementState::Released));
    assert!(!pointer.press(MouseButton::Right, ElementState::Pressed));
    assert!(!pointer.press(MouseButton::Right, ElementState::Released));
}

#[test]
fn opposite_keys_cancel_each_other() {
    let (mut pointer, mut camera) = (Pointer::default(), OrbitCamera::default());
    let key = |code| PhysicalKey::Code(code);
    assert!(!pointer.flight_key(key(KeyCode::KeyV), ElementState::Pressed));
    assert!(pointer.flight_key(key(KeyCode::KeyW), ElementState::Pressed) && pointer.is_flying());
    pointer.flight_key(key(KeyCode::KeyS), ElementState::Pressed);
    let start = camera.position();
    pointer.fly(0.05, &mut camera);
    assert!((camera.position() - start).length() < 1e-5);
    pointer.flight_key(key(KeyCode::KeyS), ElementState::Released);
    pointer.fly(0.05, &mut camera);
    assert!((camera.position() - start).dot(camera.forward()) > 0.01);
    pointer.release_all();
    assert!(!pointer.is_flying());
}

#[test]
fn every_key_of_the_table_can_be_pressed() {
    let named = [
        (NamedKey::Space, "Space"),
        (NamedKey::Escape, "Esc"),
        (NamedKey::Tab, "Tab"),
        (NamedKey::Backspace, "Backspace"),
        (NamedKey::F1, "F1"),
        (NamedKey::F11, "F11"),
        (NamedKey::F12, "F12"),
    ];
    for (key, name) in named {
        assert_eq!(key_name(&Key::Named(key)).as_deref(), Some(name));
    }
    for key in SHORTCUTS.iter().flat_map(|(keys, ..)| *keys) {
        let key = key.trim_start_matches("Shift ").trim_start_matches("Ctrl ");
        let types_it = key_name(&Key::Character(key.to_lowercase().into())).as_deref() == Some(key);
        assert!(named.iter().any(|&(_, name)| name == key) || (key.chars().count() == 1 && types_it), "{key}");
    }
}

#[test]
fn the_other_models_of_a_folder_are_offered() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["b.glb", "a.GLTF", "c.png", "d.glb"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    let shown = [folder.path().join("d.glb")];
    let mut library = Library::new(&shown);
    assert_eq!(library.names, ["d.glb", "a.GLTF", "b.glb"]);
    library.add(&folder.path().join("b.glb"));
    assert_eq!(library.names.len(), 3);
    assert_eq!((library.index_of(&shown), library.index_of(&[])), (Some(0), None));
    assert_eq!(library.paths.get(2), Some(&folder.path().join("b.glb")));
    library.add(Path::new("no/such/folder/x.glb"));
    let names: Vec<&Path> = library.names.iter().map(Path::new).collect();
    assert_eq!(names[3], Path::new("folder/x.glb"));
    assert!(names[0].ends_with("d.glb") && names[0].components().count() == 2, "{names:?}");
}

#[test]
fn a_change_counts_once_and_when_it_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.glb");
    let paths = [path.clone()];
    std::fs::write(&path, "1").unwrap();
    let start = Instant::now();
    let mut files = ModelFiles::default();
    let mut look = |number: u32, paths: &[PathBuf]| files.have_changed(paths, start + number * PERIOD);
    assert!(!look(0, &paths) && !look(1, &paths));
    std::fs::write(&path, "22").unwrap();
    assert!(!look(2, &paths), "it may still be written");
    std::fs::write(&path, "333").unwrap();
    assert!(!look(3, &paths));
    assert!(look(4, &paths));
    assert!(!look(5, &paths), "only once");
    // Removed and written again, as many programs do.
    std::fs::remove_file(&path).unwrap();
    assert!(!look(6, &paths) && !look(7, &paths));
    std::fs::write(&path, "4444").unwrap();
    assert!(!look(8, &paths) && look(9, &paths));
    // Another file is no change.
    std::fs::write(folder.path().join("other.glb"), "").unwrap();
    let other = [folder.path().join("other.glb")];
    assert!(!look(10, &other) && !look(11, &other));
}

#[test]
fn another_model_opens_although_it_lacks_what_was_asked_of_the_first() {
    let jelly = path_of(JELLY).display().to_string();
    let mut args = Cli::try_parse_from(["throng", &jelly, "--clip", "Hop", "--threads", "1"]).unwrap().view;
    args.crowd.camera.look_at = Some(LookAt::Joint("waist".to_owned()));
    let mut state = State::new(&args).unwrap();
    let target = state.scene.models[0].skeleton.morph_names[0].to_string();
    state.hold_morph(&target, Some(0.5));
    assert_eq!((state.scene.models[0].skeleton.held_morphs[0].1, state.args.crowd.morphs.len()), (0.5, 1));
    let (args, scene) = state.load(vec![path_of(WALKER)], Vec::new()).unwrap();
    assert!(args.crowd.morphs.is_empty() && scene.models[0].skeleton.held_morphs.is_empty());
}
