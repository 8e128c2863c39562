//! Images: their size, their bytes and their paths.

use std::path::Path;

use super::bundled;
use crate::common::program::{Finished, Place, Running};

pub fn decode(path: &Path) -> image::RgbaImage {
    image::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).into_rgba8()
}

fn color_count(image: &image::RgbaImage) -> usize {
    image.pixels().collect::<std::collections::HashSet<_>>().len()
}

#[test]
fn render_writes_an_image_of_the_given_size() {
    let place = Place::new();
    std::fs::create_dir(place.file("folder")).unwrap();
    let text = place.succeed("render -s 123x45 -n 3 -c Run --validation -o folder/crowd.png");
    assert!(text.starts_with("folder/crowd.png: 3 of 3 instances visible, "), "{text}");
    assert!(text.contains(", compute skinning, "), "{text}");
    let picture = decode(&place.file("folder/crowd.png"));
    assert_eq!(picture.dimensions(), (123, 45));
    assert!(color_count(&picture) > 100, "{} colours", color_count(&picture));
    assert!(picture.pixels().all(|pixel| pixel[3] == 255), "opaque");
    assert_eq!(place.names("folder"), ["crowd.png"], "a temporary file was left behind");
    // Other users may read it, as any new file.
    let permissions = |path: &Path| std::fs::metadata(path).unwrap().permissions();
    std::fs::write(place.file("new"), "").unwrap();
    assert_eq!(permissions(&place.file("folder/crowd.png")), permissions(&place.file("new")));
}

#[test]
fn a_path_that_cannot_be_written_is_named() {
    let place = Place::new();
    std::fs::write(place.file("file"), "").unwrap();
    for (path, why) in [
        ("file/below.png", "file is not a folder"),
        ("nosuch/x.png", "the folder nosuch does not exist; create it, or name another one"),
    ] {
        let message = place.fail(1, &format!("render --size 16x16 --out {path}"));
        assert_eq!(message, format!("error: cannot write {path}: {why}\n"));
    }
    assert_eq!(place.names(""), ["file"]);
}

/// A newcomer may be connected to a server. No file is replaced without being named.
#[test]
fn without_a_display_the_first_command_still_shows_something() {
    let place = Place::new();
    let mut command = place.command("--size 160x90 --validation");
    assert_fallback(&place, &Running::start(&mut command).finish(), "throng.png");
    let first = std::fs::read(place.file("throng.png")).unwrap();
    std::fs::write(place.file("throng-1.png"), "kept").unwrap();
    // A display that does not answer is no display. None has this number.
    if cfg!(target_os = "linux") {
        command.env("DISPLAY", ":64321");
    }
    assert_fallback(&place, &Running::start(&mut command).finish(), "throng-2.png");
    assert_eq!(std::fs::read(place.file("throng-1.png")).unwrap(), b"kept");
    assert!(std::fs::read(place.file("throng.png")).unwrap() == first);
    // A name that was chosen is replaced.
    place.succeed(&format!("{} --size 32x32 --out throng.png", bundled("simple_strip.gltf")));
    assert_eq!(decode(&place.file("throng.png")).dimensions(), (32, 32));
    assert_eq!(place.run("--out throng.gif").code, 2);
}

fn assert_fallback(place: &Place, finished: &Finished, name: &str) {
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""));
    let picture = std::fs::canonicalize(place.file(name)).unwrap();
    assert!(finished.stdout.starts_with("No display could be opened ("), "{}", finished.stdout);
    assert!(finished.stdout.contains(picture.to_str().unwrap()), "{}", finished.stdout);
    assert!(!finished.stdout.contains(".rs:"), "a path of source code: {}", finished.stdout);
    let picture = decode(&picture);
    assert_eq!(picture.dimensions(), (160, 90));
    assert!(color_count(&picture) > 100);
}
