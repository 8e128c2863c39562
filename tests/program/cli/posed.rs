//! Files of posed meshes and contact sheets: their names, their pictures, and what goes wrong.

use super::bundled;
use super::pictures::decode;
use crate::common::assets::sample_path;
use crate::common::flip::{Flip, Statistics};
use crate::common::program::Place;

/// Draws both scenes with these options, and compares the pictures.
fn compare(place: &Place, scenes: [&str; 2], options: &str) -> Statistics {
    let [a, b] = scenes.map(|scene| {
        let fixed = "--size 160x120 --ground off --background #808080 --validation --out a.png";
        place.succeed(&format!("render {scene} {options} {fixed}"));
        decode(&place.file("a.png"))
    });
    Flip::between(&a, &b).statistics()
}

#[test]
fn a_reopened_mesh_gives_the_same_picture() {
    let place = Place::new();
    let fox = sample_path("Fox/Fox.glb").display().to_string();
    for (model, clip) in [(bundled("walker.glb"), "Wave"), (fox, "Run"), (bundled("jelly.gltf"), "0")] {
        let text = place.succeed(&format!("pose {model} --clip {clip} --time 0.4 --out posed.glb"));
        assert!(text.starts_with("posed.glb: ") && text.contains(" node"), "{text}");
        let scene = format!("{model} --clip {clip} --time 0.4 --root-motion keep");
        let statistics = compare(&place, [&scene, "posed.glb"], "--camera 30,10");
        assert!(statistics.mean < 0.01 && statistics.worst_window < 0.2, "{model}: {statistics:?}");
    }
}

#[test]
fn several_times_are_numbered_and_a_crowd_is_one_file() {
    let place = Place::new();
    let walker = bundled("walker.glb");
    assert_eq!(place.succeed(&format!("pose {walker} --time 0,0.2,0.4 --out x.stl")).lines().count(), 3);
    place.succeed(&format!("pose {walker} --time 0,0.2 --out part_%03d.ply"));
    assert_eq!(place.names(""), ["part_000.ply", "part_001.ply", "x-0.stl", "x-1.stl", "x-2.stl"]);
    let text = place.succeed(&format!("pose {walker} --instances 12 --time 0.5 --out crowd.glb"));
    assert!(text.starts_with("crowd.glb: 12 nodes, 63"), "{text}");
    let crowd = place.json("inspect crowd.glb --json");
    assert_eq!((&crowd["contents"]["nodes"], &crowd["contents"]["warnings"]), (&12.into(), &0.into()));
    // The same places and poses as in the picture of that crowd, which has tints.
    let statistics = compare(&place, [&format!("{walker} --instances 12 --time 0.5"), "crowd.glb"], "--camera 30,20");
    assert!(statistics.mean < 0.06, "{statistics:?}");
}

#[test]
fn wrong_files_and_options_are_named() {
    let place = Place::new();
    for (line, code, message) in [
        ("pose --out x.fbx", 2, "expected a name that ends with .glb, .obj, .ply or .stl"),
        ("pose --instances 3", 2, "--out <FILE>"),
        ("pose --out no/x.glb", 1, "the folder no does not exist"),
        ("render --sheet 3 --out s.png", 2, "expected auto, or COLUMNSxROWS, such as 6x4"),
        ("render --sheet 2x2 --out s.apng", 2, "a contact sheet is one image"),
        ("render --sheet 60x60 --size 32x32 --out s.png", 2, "use a larger --size"),
    ] {
        let found = place.fail(code, line);
        assert!(found.contains(message), "{line}: {found}");
    }
    assert!(place.names("").is_empty());
}

#[test]
fn a_sheet_has_a_labelled_picture_for_each_clip_time_or_model() {
    let place = Place::new();
    let walker = bundled("walker.glb");
    let sheet = |options: &str| {
        let text = place.succeed(&format!("render {walker} {options} --msaa 1 --validation --out sheet.png"));
        (text, decode(&place.file("sheet.png")))
    };
    let (text, picture) = sheet("--clip all --sheet auto --size 400x121");
    assert_eq!(text, "sheet.png: 4 pictures of 100x121 pixels\n");
    assert_eq!(picture.dimensions(), (400, 121));
    let cell = |column: u32| image::imageops::crop_imm(&picture, column * 100, 0, 100, 121).to_image();
    for column in 0..4 {
        let label = image::imageops::crop_imm(&picture, column * 100, 105, 50, 16).to_image();
        assert!(label.pixels().filter(|pixel| pixel.0[..3].iter().all(|&c| c > 240)).count() > 10, "label {column}");
        assert!((0..column).all(|other| cell(column) != cell(other)));
    }
    assert_eq!(sheet("--clip Walk --sheet 3x2 --size 300x200").0, "sheet.png: 6 pictures of 100x100 pixels\n");
    let (text, _) = sheet(&format!("{} --sheet auto --size 300x100", bundled("jelly.gltf")));
    assert_eq!(text, "sheet.png: 2 pictures of 150x100 pixels\n");
}
