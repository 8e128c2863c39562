//! `--watch`: files that change while the window shows them.
//!
//! The program looks at the files twice a second. The tests wait for the effects, which change the title.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::program::{Finished, Place};
use crate::screen::{Key, Screen};
use crate::{package, start};

/// Writes the strip with its buffer in a separate file, `strip.bin`. Returns the bytes of the buffer.
fn write_strip_with_a_buffer(folder: &Path) -> Vec<u8> {
    let text = std::fs::read_to_string(package().join("assets/simple_strip.gltf")).unwrap();
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

#[test]
fn a_changed_buffer_is_loaded_again() {
    let (place, screen) = (Place::new(), Screen::start());
    let folder = place.working_folder();
    let mut bytes = write_strip_with_a_buffer(&folder);
    let program = start(&place, &screen, "--watch strip.gltf");
    let window = screen.wait_for_window();
    window.wait_for_title(|_| true);
    window.focus();
    window.press(Key::SPACE);
    window.wait_for_title(|title| title.contains(" · paused at "));
    let before = window.picture();
    // Half as wide: the first component of the ten positions at the start of the buffer.
    for position in bytes[..120].chunks_exact_mut(12) {
        let x: [u8; 4] = position[..4].try_into().unwrap();
        position[..4].copy_from_slice(&(0.5 * f32::from_le_bytes(x)).to_le_bytes());
    }
    std::fs::write(folder.join("strip.bin"), &bytes).unwrap();
    while window.picture() == before {
        window.wait_for_title(|_| true);
    }
    // A buffer that is cut short is an error, and the model stays.
    let narrow = window.picture();
    std::fs::write(folder.join("strip.bin"), &bytes[..100]).unwrap();
    program.wait_for_stderr("strip.gltf: buffers[0]");
    assert!(window.picture() == narrow);
    window.press(Key::ESCAPE);
    assert_one_warning(&program.finish(), &["strip.gltf: buffers[0]", "100"]);
}
