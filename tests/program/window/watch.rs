//! `--watch`: files that change while the window shows them.
//!
//! The program looks at the files twice a second. The tests wait for the effects, which change the title.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::open;
use crate::common::assets::{STRIP, path_of};
use crate::common::program::{Finished, Place, Running};
use crate::common::screen::{Key, Picture, Screen, TestWindow};

/// Writes the strip with its buffer in a separate file, `strip.bin`. Returns the bytes of the buffer.
fn write_strip_with_a_buffer(folder: &Path) -> Vec<u8> {
    let text = std::fs::read_to_string(path_of(STRIP)).unwrap();
    let mut gltf: serde_json::Value = serde_json::from_str(&text).unwrap();
    let uri = gltf["buffers"][0]["uri"].as_str().unwrap().split_once(',').unwrap().1;
    let bytes = STANDARD.decode(uri).unwrap();
    gltf["buffers"][0]["uri"] = "strip.bin".into();
    std::fs::write(folder.join("strip.bin"), &bytes).unwrap();
    std::fs::write(folder.join("strip.gltf"), gltf.to_string()).unwrap();
    bytes
}

/// Asserts that the program ended well, after one warning that contains each of `parts`.
fn assert_one_warning(finished: &Finished, parts: &[&str]) {
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    let [warning] = finished.stderr.lines().collect::<Vec<_>>().try_into().expect("one warning");
    for part in parts {
        assert!(warning.contains(part), "no {part} in: {warning}");
    }
}

/// Opens the window and pauses the animation, so that only changed files change the picture.
fn open_paused(place: &Place, options: &str) -> (Running, TestWindow) {
    let (program, window) = open(place, Screen::start(), options);
    window.pause();
    (program, window)
}

fn wait_for_another_picture(window: &TestWindow, before: &Picture) {
    while window.picture() == *before {
        window.wait_for_title(|_| true);
    }
}

#[test]
fn a_changed_buffer_is_loaded_again() {
    let place = Place::new();
    let folder = place.working_folder();
    let mut bytes = write_strip_with_a_buffer(&folder);
    let (program, window) = open_paused(&place, "--watch strip.gltf");
    let before = window.picture();
    // Half as wide: the first component of the ten positions at the start of the buffer.
    for position in bytes[..120].chunks_exact_mut(12) {
        let x: [u8; 4] = position[..4].try_into().unwrap();
        position[..4].copy_from_slice(&(0.5 * f32::from_le_bytes(x)).to_le_bytes());
    }
    std::fs::write(folder.join("strip.bin"), &bytes).unwrap();
    wait_for_another_picture(&window, &before);
    // A buffer that is cut short is an error, and the model stays.
    let narrow = window.picture();
    std::fs::write(folder.join("strip.bin"), &bytes[..100]).unwrap();
    program.wait_for_stderr("strip.gltf: buffers[0]");
    assert!(window.picture() == narrow);
    window.press(Key::ESCAPE);
    assert_one_warning(&program.finish(), &["strip.gltf: buffers[0]", "100"]);
}

#[cfg(feature = "shaderc")]
fn edit(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{}: no {from}", path.display());
    std::fs::write(path, text.replace(from, to)).unwrap();
}

/// CI compiles this test only. To run it: `cargo test --features shaderc --test program window watch`.
#[cfg(feature = "shaderc")]
#[test]
fn changed_shaders_are_compiled_and_errors_change_nothing() {
    let place = Place::new();
    let shaders = place.working_folder().join("shaders");
    std::fs::create_dir(&shaders).unwrap();
    for entry in std::fs::read_dir(path_of("shaders")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, shaders.join(path.file_name().unwrap())).unwrap();
        }
    }
    let (program, window) = open_paused(&place, "--watch");
    let before = window.picture();
    let [tone_map, tone_curve] = ["tone_map.frag", "tone_curve.glsl"].map(|name| shaders.join(name));
    let (plain, green) = ("out_color = vec4(", "out_color = vec4(0.0, 1.0, 0.0, 1.0) * vec4(");
    edit(&tone_map, plain, green);
    wait_for_another_picture(&window, &before);
    let picture = window.picture();
    assert!(picture.color_count() > 50 && picture.rgba().all(|[red, _, blue, _]| (red, blue) == (0, 0)));
    // An error, in a file that the shader includes.
    edit(&tone_curve, "float least =", "float leats =");
    program.wait_for_stderr("shaders/tone_curve.glsl:17: error: 'least' : undeclared identifier");
    assert!(window.picture() == picture, "the pipelines stay");
    // The first text compiles to the first picture.
    edit(&tone_curve, "float leats =", "float least =");
    edit(&tone_map, green, plain);
    while window.picture() != before {
        window.wait_for_title(|_| true);
    }
    edit(&tone_curve, "return color * (", "return color.bgr * (");
    wait_for_another_picture(&window, &before);
    window.press(Key::ESCAPE);
    assert_one_warning(&program.finish(), &["shaders/tone_curve.glsl:17: error: "]);
}
