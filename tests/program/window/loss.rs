//! The loss of the device in a window: the program builds everything again, and shows the same.
//!
//! The program runs on its own loader ([`Losing`]), which loses the device when the test wants it to.

use std::path::PathBuf;
use std::process::Command;

use super::SIZE;
use crate::common::assets::path_of;
use crate::common::program::{Place, Running};
use crate::common::screen::{Key, Screen};

/// A Vulkan loader that loses devices (`loss.c`).
struct Losing {
    folder: PathBuf,
    real: PathBuf,
}

impl Losing {
    fn new(place: &Place) -> Self {
        let folder = place.working_folder().join("loader");
        std::fs::create_dir(&folder).unwrap();
        let mut compiler = Command::new("cc");
        // It has the name of the real loader, so it must stay loaded: otherwise that one would be found by its name.
        compiler.args(["-shared", "-fPIC", "-Wl,-z,nodelete,-soname,libvulkan.so.1", "-o"]);
        compiler.arg(folder.join("libvulkan.so.1"));
        let status = compiler.arg(path_of("tests/program/window/loss.c")).arg("-ldl").status();
        assert!(status.expect("cc is missing: run ./setup.sh, which installs it").success());
        // SAFETY: the library is a Vulkan loader.
        let _loaded = unsafe { ash::Entry::load() }.expect("a Vulkan loader");
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let real = maps.lines().filter_map(|line| line.split_once('/')).find(|(_, path)| path.contains("libvulkan.so"));
        Self { folder, real: PathBuf::from(format!("/{}", real.expect("it was loaded").1)) }
    }

    fn start(&self, place: &Place, screen: &Screen) -> Running {
        let folders = [self.folder.clone()]
            .into_iter()
            .chain(std::env::var_os("LD_LIBRARY_PATH").iter().flat_map(std::env::split_paths).collect::<Vec<_>>());
        let mut command = place.command(&format!("view {SIZE} --fade 0"));
        command
            .env("DISPLAY", &screen.display)
            .env("LD_LIBRARY_PATH", std::env::join_paths(folders).unwrap())
            .env("THRONG_REAL_LOADER", &self.real)
            .env("THRONG_LOSE", self.request());
        Running::start(&mut command)
    }

    fn request(&self) -> PathBuf {
        self.folder.join("lose")
    }
}

#[test]
fn after_the_loss_of_the_device_the_window_shows_the_same() {
    let (place, screen) = (Place::new(), Screen::start());
    let losing = Losing::new(&place);
    let program = losing.start(&place, &screen);
    let window = screen.wait_for_window();
    window.press(Key::typing('4'));
    window.wait_for_title(|title| title.contains(" · Wave · "));
    window.pause();
    let before = window.picture();
    std::fs::write(losing.request(), "").unwrap();
    // A step draws a frame, and the step back shows the old one.
    window.press(Key::typing('.'));
    let title = window.wait_for_title(|_| true);
    assert!(title.contains(" · Wave · paused at "), "{title}");
    assert!(!losing.request().exists() && window.picture() != before);
    window.press(Key::typing(','));
    window.wait_for_title(|_| true);
    assert!(window.picture() == before);
    window.press(Key::ESCAPE);
    let finished = program.finish();
    let warnings: Vec<&str> = finished.stderr.lines().collect();
    assert!(matches!(warnings[..], [loss] if loss.contains("the device was lost")), "{warnings:?}");
    assert_eq!(finished.code, 0);
}
