//! The files of `render --out`: images by extension, parts of sequences, turntables and films.

use std::path::Path;

use image::AnimationDecoder;
use image::codecs::png::PngDecoder;

use super::bundled;
use super::pictures::decode;
use crate::common::program::Place;

const SMALL: &str = "--size 48x32 --msaa 1 --validation";

/// Returns the images of an animated PNG, and the time of each in milliseconds.
fn apng(path: &Path) -> (Vec<image::RgbaImage>, u32) {
    let decoder = PngDecoder::new(std::io::BufReader::new(std::fs::File::open(path).unwrap())).unwrap();
    let frames = decoder.apng().unwrap().into_frames().collect_frames().unwrap();
    let (numerator, denominator) = frames[0].delay().numer_denom_ms();
    (frames.into_iter().map(image::Frame::into_buffer).collect(), numerator / denominator)
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
    place.succeed(&format!("render {} {SMALL} --frames 5..6 --out 5%.jpg", bundled("simple_strip.gltf")));
    assert_eq!(place.names(""), ["5%.jpg"]);
    assert_eq!(decode(&place.file("5%.jpg")).dimensions(), (48, 32));
}

/// Images are decoded in the format that their extension names.
#[test]
fn a_part_of_a_sequence_has_the_bytes_of_the_whole() {
    let place = Place::new();
    let options = format!("{SMALL} --instances 5 --clip all --fps 7 --turntable=6");
    let text = place.succeed(&format!("render {options} --frames 6 --out whole_%02d.png"));
    assert!(text.starts_with("whole_%02d.png: frames 0..6, 5 of 5 instances visible, "), "{text}");
    place.succeed(&format!("render {options} --frames 2..5 --out part_%02d.png"));
    for frame in 2..5 {
        let [part, whole] = ["part", "whole"].map(|name| std::fs::read(place.file(&format!("{name}_0{frame}.png"))));
        assert!(part.unwrap() == whole.unwrap(), "frame {frame}");
    }
    // Without --frames, the whole round is drawn.
    place.succeed(&format!("render {options} --out round_%02d.JPEG"));
    let parts = (2..5).map(|frame| format!("part_0{frame}.png"));
    let rounds = (0..6).map(|frame| format!("round_0{frame}.JPEG"));
    let wholes = (0..6).map(|frame| format!("whole_0{frame}.png"));
    assert!(place.names("").into_iter().eq(parts.chain(rounds).chain(wholes)), "{:?}", place.names(""));
    let [jpeg, png] = ["round_05.JPEG", "whole_05.png"].map(|name| decode(&place.file(name)));
    assert_eq!(jpeg.dimensions(), png.dimensions());
    let sum: u32 = jpeg.iter().zip(png.iter()).map(|(&a, &b)| u32::from(a.abs_diff(b))).sum();
    assert!(f64::from(sum) / (png.len() as f64) < 4.0, "the JPEG shows something else");
}

#[test]
fn a_turntable_ends_where_it_began() {
    let place = Place::new();
    let options = format!("{} {SMALL} --clip none --turntable=4", bundled("jelly.gltf"));
    place.succeed(&format!("render {options} --frames 0..5 --camera 30,20 --out turn_%d.png"));
    let turn: Vec<_> = (0..5).map(|frame| decode(&place.file(&format!("turn_{frame}.png")))).collect();
    assert!(turn[0] != turn[1] && turn[1] != turn[2]);
    assert!(turn[0] == turn[4], "the round does not close");
}

/// A film has one camera for all frames, and some room at each edge.
#[test]
fn the_crowd_stays_in_the_image() {
    let place = Place::new();
    for (scene, round) in [
        ("--clip Wave".to_owned(), "--turntable=7"),
        (format!("{} --clip Hop", bundled("jelly.gltf")), ""),
        (bundled("simple_strip.gltf"), "--turntable=7"),
        ("--instances 7".to_owned(), ""),
    ] {
        let options = "--background none --msaa 1 --size 48x32 --frames 0..7 --fps 4";
        place.succeed(&format!("render {scene} {options} {round} --out film.apng"));
        let (frames, milliseconds) = apng(&place.file("film.apng"));
        assert_eq!((frames.len(), milliseconds), (7, 250));
        let mut seen = 0;
        for (frame, image) in frames.iter().enumerate() {
            let covered = || image.enumerate_pixels().filter(|(.., pixel)| pixel[3] > 0);
            let cut = covered().filter(|(x, y, _)| *x == 0 || *y == 0 || *x == 47 || *y == 31).count();
            assert_eq!(cut, 0, "{scene} {round}, frame {frame}: pixels at the edge");
            seen += covered().count();
        }
        // The strip is invisible from its edge and from behind, so a round shows the least of it.
        assert!(seen > 300, "{scene} {round}: {seen} pixels in all");
    }
}

/// The walker's walk takes 16 frames of 1/15 s: four loops are nearest to four seconds.
#[test]
fn a_film_shows_whole_loops_by_default_and_holds_the_frames() {
    let place = Place::new();
    let options = format!("{SMALL} --clip Walk --background none --fps 15");
    place.succeed(&format!("render {options} --out walk.apng"));
    place.succeed(&format!("render {options} --frames 2..5 --out %d.png"));
    let (frames, _) = apng(&place.file("walk.apng"));
    assert_eq!(frames.len(), 64);
    for (number, frame) in (2..5).zip(&frames[2..5]) {
        assert!(*frame == decode(&place.file(&format!("{number}.png"))), "frame {number}");
    }
    assert!(frames[2] != frames[3]);
    assert_eq!(place.names(""), ["2.png", "3.png", "4.png", "walk.apng"], "a temporary file was left behind");
}
