//! The files of `render --out`: images by extension, parts of sequences, turntables, and films with a stand-in for `ffmpeg`.

use std::path::Path;

use image::AnimationDecoder;
use image::codecs::png::PngDecoder;

use crate::pictures::decode;
use crate::program::{Finished, Place, Running};

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
        (
            "--out x.gif",
            "error: --out x.gif: the extension .gif is unknown; use .png or .jpg for images, or .apng, .mp4 or .webm for a film",
        ),
        (
            "--out x",
            "error: --out x: the name has no extension; use .png or .jpg for images, or .apng, .mp4 or .webm for a film",
        ),
        (
            "--out x.jpg --background none",
            "error: --out x.jpg: this format has no transparency for --background none; use .png, .apng or .webm",
        ),
        (
            "--out x.mp4 --background none",
            "error: --out x.mp4: this format has no transparency for --background none; use .png, .apng or .webm",
        ),
        (
            "--out x.mp4 --size 63x31",
            "error: --out x.mp4: .mp4 needs an even width and height, not 63x31; use --size 64x32",
        ),
        ("--out x_%04d.apng", "error: --out x_%04d.apng: a film is one file, so its name needs no number"),
        (
            "--out x.png --turntable",
            "error: --out x.png: several frames need a number in the name, such as frame_%04d.png, or a film: .apng, .mp4 or .webm",
        ),
    ] {
        assert_eq!(place.fail(1, &format!("render no/such.glb {options}")), format!("{message}\n"));
    }
    // One frame of a sequence needs no number.
    place.succeed(&format!("render {SMALL} --frames 5..6 --out five.png"));
    assert_eq!(names(&place), ["five.png"]);
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
    let jelly = crate::run::repository_file("assets/jelly.gltf").display().to_string();
    let strip = crate::run::repository_file("assets/simple_strip.gltf").display().to_string();
    for scene in ["--clip Wave".to_owned(), format!("{jelly} --clip Hop"), strip, "--instances 7".to_owned()] {
        for round in ["", "--turntable=7"] {
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

#[cfg(unix)]
mod encoder {
    use super::*;

    /// Puts a script named `ffmpeg` on the PATH of a run. Returns the result.
    fn run_with(place: &Place, script: Option<&str>, arguments: &str) -> Finished {
        use std::os::unix::fs::PermissionsExt;
        let folder = place.file("../bin");
        std::fs::create_dir_all(&folder).unwrap();
        if let Some(script) = script {
            let file = folder.join("ffmpeg");
            std::fs::write(&file, format!("#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n")).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        Running::start(place.command(arguments).env("PATH", folder)).finish()
    }

    /// Writes its arguments and its input to the file that is named last.
    const RECORDER: &str = r#"for last; do :; done; { printf '%s\n' "$@"; echo; cat; } > "${last#file:}""#;

    #[test]
    fn the_frames_go_through_a_pipe() {
        let place = Place::new();
        for (name, pixels, codec) in [("a.mp4", "yuv420p", "libx264"), ("b.webm", "yuva420p", "libvpx-vp9")] {
            let background = if name == "b.webm" { "none" } else { "#204060" };
            let options = format!("{SMALL} --background {background} --fps 24 --frames 1..4");
            let finished = run_with(&place, Some(RECORDER), &format!("render {options} --out {name}"));
            assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{name}");
            assert!(finished.stdout.starts_with(&format!("{name}: frames 1..4, 1 of 1 ")), "{}", finished.stdout);
            let film = std::fs::read(place.file(name)).unwrap();
            let end = film.windows(2).position(|pair| pair == b"\n\n").unwrap();
            let arguments = String::from_utf8(film[..end].to_vec()).unwrap();
            for pair in [
                "-pixel_format\nrgba\n-video_size\n48x32\n-framerate\n24\n",
                &format!("\n-c:v\n{codec}\n-pix_fmt\n{pixels}\n"),
            ] {
                assert!(arguments.contains(pair), "{pair:?} is missing:\n{arguments}");
            }
            place.succeed(&format!("render {options} --out {name}_%d.png"));
            let frames: Vec<u8> =
                (1..4).flat_map(|frame| decode(&place.file(&format!("{name}_{frame}.png"))).into_raw()).collect();
            assert!(film[end + 2..] == frames[..], "{name}: other pixels");
        }
        assert_eq!(names(&place).iter().filter(|name| name.contains("tmp")).count(), 0);
    }

    /// The frames of a transparent film, decoded again, have the coverage of the images. VP9 stores it as a second film.
    #[test]
    fn a_transparent_film_keeps_its_alpha() {
        let ffmpeg = |arguments: &[&str], folder: &Path| {
            let mut command = std::process::Command::new("ffmpeg");
            command
                .args(["-hide_banner", "-loglevel", "error", "-nostdin"])
                .args(arguments)
                .current_dir(folder)
                .output()
        };
        let place = Place::new();
        let encoders = ffmpeg(&["-encoders"], &place.working_folder());
        if !encoders.is_ok_and(|found| String::from_utf8_lossy(&found.stdout).contains("libvpx-vp9")) {
            println!("not tested: there is no ffmpeg with libvpx-vp9 on the PATH");
            return;
        }
        let options = "--size 128x96 --msaa 4 --background none --frames 3 --fps 8";
        place.succeed(&format!("render {options} --out film.webm"));
        place.succeed(&format!("render {options} --out image_%d.png"));
        // The native decoder of ffmpeg drops alpha, so libvpx decodes.
        let decode_film =
            ["-c:v", "libvpx-vp9", "-i", "film.webm", "-pix_fmt", "rgba", "-start_number", "0", "film_%d.png"];
        let decoded = ffmpeg(&decode_film, &place.working_folder()).unwrap();
        assert!(decoded.status.success(), "{}", String::from_utf8_lossy(&decoded.stderr));
        for frame in 0..3 {
            let alpha = |name: &str| -> Vec<u8> {
                let image = decode(&place.file(&format!("{name}_{frame}.png")));
                image.pixels().map(|pixel| pixel[3]).collect()
            };
            let (film, image) = (alpha("film"), alpha("image"));
            let count = |of: &[u8], least: u8| of.iter().filter(|&&alpha| alpha >= least).count();
            assert!(count(&image, 255) > 300 && count(&image, 1) < image.len() / 2, "frame {frame}: an empty picture");
            let sum: u32 = film.iter().zip(&image).map(|(&a, &b)| u32::from(a.abs_diff(b))).sum();
            let mean = f64::from(sum) / film.len() as f64;
            println!("frame {frame}: alpha differs by {mean} of 255 in the mean");
            assert!(mean < 3.0, "frame {frame}: alpha differs by {mean} of 255 in the mean");
        }
    }

    #[test]
    fn a_missing_encoder_is_reported_before_anything_else() {
        let place = Place::new();
        let finished = run_with(&place, None, "render no/such.glb --out film.mp4");
        let expected = "error: --out film.mp4: this format needs the program ffmpeg, and there is none on the PATH; install \
                        ffmpeg, or use .apng or numbered images such as frame_%04d.png\n";
        assert_eq!((finished.code, finished.stderr.as_str()), (1, expected));
    }

    #[test]
    fn a_failing_encoder_is_quoted_and_leaves_no_file() {
        let place = Place::new();
        let options = format!("render {SMALL} --frames 40 --out film.webm");
        let silent = "error: cannot write film.webm\n  caused by: ffmpeg failed (exit status: 3): it gave no reason\n";
        let quoted = "error: cannot write film.webm\n  caused by: ffmpeg failed (exit status: 4): two | three | four\n";
        for (script, message) in [
            // It ends before its input does, and after it.
            ("exit 3", silent),
            ("cat > /dev/null; exit 3", silent),
            (
                r#"for last; do :; done; echo half > "${last#file:}"; printf 'one\ntwo\n\nthree\nfour\n' >&2; cat > /dev/null; exit 4"#,
                quoted,
            ),
        ] {
            let finished = run_with(&place, Some(script), &options);
            assert_eq!((finished.code, finished.stderr.as_str()), (1, message), "{script}");
            assert_eq!(names(&place), [] as [&str; 0], "{script}");
        }
        // A file of that name is kept.
        std::fs::write(place.file("film.webm"), "old").unwrap();
        run_with(&place, Some("exit 3"), &options);
        assert_eq!(std::fs::read(place.file("film.webm")).unwrap(), b"old");
        // A success without a file is none.
        let finished = run_with(&place, Some("cat > /dev/null"), &options);
        assert_eq!(finished.code, 1);
        assert!(finished.stderr.starts_with("error: cannot write film.webm\n  caused by: "), "{}", finished.stderr);
    }
}
