//! The files of `render --out`: images by extension, parts of sequences, turntables and films.

use std::path::Path;

use image::AnimationDecoder;
use image::codecs::png::PngDecoder;

use super::pictures::decode;
use crate::common::program::Place;

const SMALL: &str = "--size 48x32 --msaa 1 --validation";

fn names(place: &Place) -> Vec<String> {
    let entries = std::fs::read_dir(place.working_folder()).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Returns the images of an animated PNG, and the time of each in milliseconds.
fn apng(path: &Path) -> (Vec<image::RgbaImage>, u32) {
    let decoder = PngDecoder::new(std::io::BufReader::new(std::fs::File::open(path).unwrap())).unwrap();
    let frames = decoder.apng().unwrap().into_frames().collect_frames().unwrap();
    let (numerator, denominator) = frames[0].delay().numer_denom_ms();
    (frames.into_iter().map(image::Frame::into_buffer).collect(), numerator / denominator)
}

#[test]
fn the_extension_decides_the_format() {
    let place = Place::new();
    place.succeed(&format!("render {SMALL} --out a.png"));
    place.succeed(&format!("render {SMALL} --out a.jpg"));
    place.succeed(&format!("render {SMALL} --out b.JPEG"));
    let [png, jpg, jpeg] = ["a.png", "a.jpg", "b.JPEG"].map(|name| std::fs::read(place.file(name)).unwrap());
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    assert!(jpg.starts_with(&[0xff, 0xd8, 0xff]) && jpg == jpeg);
    let (png, jpg) = (decode(&place.file("a.png")), decode(&place.file("a.jpg")));
    assert_eq!(png.dimensions(), jpg.dimensions());
    let sum: u32 = png.iter().zip(jpg.iter()).map(|(&a, &b)| u32::from(a.abs_diff(b))).sum();
    assert!(f64::from(sum) / (png.len() as f64) < 4.0, "the JPEG shows something else");
}

#[test]
fn wrong_names_are_refused_before_a_model_is_loaded() {
    let place = Place::new();
    for (options, message) in [
        ("--out x.bmp", "--out x.bmp: the extension .bmp is unknown; use .png or .jpg for images, or .apng for a film"),
        ("--out x", "--out x: the name has no extension; use .png or .jpg for images, or .apng for a film"),
        (
            "--out x.mp4",
            "--out x.mp4: ffmpeg makes .mp4 from numbered images, with `ffmpeg -framerate 30 -i frame_%04d.png -pix_fmt \
             yuv420p film.mp4`; use .png or .jpg for images, or .apng for a film",
        ),
        (
            "--out x.jpg --background none",
            "--out x.jpg: this format has no transparency for --background none; use .png or .apng",
        ),
        ("--out x_%04d.apng", "--out x_%04d.apng: a film is one file, so its name needs no number"),
        ("--out x.apng --fps 1e-6", "--fps 0.000001: .apng can hold 0.001 to 65535 frames per second"),
        (
            "--out x.png --frames 3",
            "--out x.png: several frames need a number in the name, such as frame_%04d.png, or one film, such as film.apng",
        ),
        ("--out x.png --turntable 2", "--turntable 2: the number follows an equals sign: --turntable=2"),
    ] {
        assert_eq!(place.fail(2, &format!("render no/such.glb {options}")), format!("error: {message}\n"));
    }
    // One frame of a sequence needs no number. A percent sign alone stands for itself.
    place.succeed(&format!("render {SMALL} --frames 5..6 --out 5%.png"));
    assert_eq!(names(&place), ["5%.png"]);
}

#[test]
fn a_part_of_a_sequence_has_the_bytes_of_the_whole() {
    let place = Place::new();
    let options = format!("{SMALL} --instances 5 --clip all --fps 7 --turntable=6");
    let text = place.succeed(&format!("render {options} --frames 6 --out whole_%02d.png"));
    assert!(text.starts_with("whole_%02d.png: frames 0..6, 5 of 5 instances visible, "), "{text}");
    place.succeed(&format!("render {options} --frames 2..5 --out part_%02d.png"));
    let expected: Vec<String> = (2..5)
        .map(|frame| format!("part_0{frame}.png"))
        .chain((0..6).map(|frame| format!("whole_0{frame}.png")))
        .collect();
    assert_eq!(names(&place), expected);
    let bytes = |name: String| std::fs::read(place.file(&name)).unwrap();
    for frame in 2..5 {
        assert!(bytes(format!("whole_0{frame}.png")) == bytes(format!("part_0{frame}.png")), "frame {frame}");
    }
    // Without --frames, the whole round is drawn.
    place.succeed(&format!("render {options} --out round_%02d.png"));
    assert!(
        bytes("round_05.png".to_owned()) == bytes("whole_05.png".to_owned()) && !place.file("round_06.png").exists()
    );
}

#[test]
fn a_turntable_ends_where_it_began() {
    let place = Place::new();
    place.succeed(&format!("render {SMALL} --clip none --turntable=4 --frames 0..5 --camera 30,20 --out turn_%d.png"));
    let turn: Vec<_> = (0..5).map(|frame| decode(&place.file(&format!("turn_{frame}.png")))).collect();
    assert!(turn[0] != turn[1] && turn[1] != turn[2]);
    assert!(turn[0] == turn[4], "the round does not close");
}

/// A film has one camera for all frames, and some room at each edge.
#[test]
fn the_crowd_stays_in_the_image() {
    let place = Place::new();
    let jelly = super::run::repository_file("assets/jelly.gltf").display().to_string();
    let strip = super::run::repository_file("assets/simple_strip.gltf").display().to_string();
    for (scene, round) in [
        ("--clip Wave".to_owned(), "--turntable=7"),
        (format!("{jelly} --clip Hop"), ""),
        (strip, "--turntable=7"),
        ("--instances 7".to_owned(), ""),
    ] {
        place.succeed(&format!(
            "render {scene} --background none --msaa 1 --size 48x32 --frames 0..7 --fps 4 {round} --out %d.png"
        ));
        let mut seen = 0;
        for frame in 0..7 {
            let image = decode(&place.file(&format!("{frame}.png")));
            let covered = || image.enumerate_pixels().filter(|(.., pixel)| pixel[3] > 0);
            let cut = covered().filter(|(x, y, _)| *x == 0 || *y == 0 || *x == 47 || *y == 31).count();
            assert_eq!(cut, 0, "{scene} {round}, frame {frame}: pixels at the edge");
            seen += covered().count();
        }
        // The strip is invisible from its edge and from behind, so a round shows the least of it.
        assert!(seen > 300, "{scene} {round}: {seen} pixels in all");
    }
}

#[test]
fn an_animated_png_holds_the_frames() {
    let place = Place::new();
    let options = format!("{SMALL} --background none --fps 12.5");
    std::fs::create_dir(place.file("folder")).unwrap();
    place.succeed(&format!("render {options} --frames 2..5 --out folder/walk.apng"));
    place.succeed(&format!("render {options} --frames 2..5 --out %d.png"));
    let (frames, milliseconds) = apng(&place.file("folder/walk.apng"));
    assert_eq!((frames.len(), milliseconds), (3, 80));
    for (frame, image) in (2..5).zip(&frames) {
        assert!(*image == decode(&place.file(&format!("{frame}.png"))), "frame {frame}");
    }
    assert!(frames[0] != frames[1]);
    let files: Vec<_> = std::fs::read_dir(place.file("folder")).unwrap().collect();
    assert_eq!(files.len(), 1, "a temporary file was left behind: {files:?}");
}

/// The walker's first clip takes 16 frames of 1/15 s: four loops are nearest to four seconds.
#[test]
fn a_film_shows_whole_loops_by_default() {
    let place = Place::new();
    place.succeed("render --size 8x8 --msaa 1 --fps 15 --out walk.apng");
    assert_eq!(apng(&place.file("walk.apng")).0.len(), 64);
}
