//! The files that frames go to: an image for each, or one animated PNG. Wrong options are found here, before a model is loaded.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, bail};
use image::codecs::{jpeg::JpegEncoder, png::PngEncoder};
use image::{ExtendedColorType, ImageEncoder};
use png::{BitDepth, ColorType, Encoder, Writer};
use tempfile::TempPath;

use super::sequence::{MOST_SECONDS, Sequence};
use crate::app::output::{FileName, cannot_write, is_awaited, is_special, new_draft, write_file};
use crate::cli::{RenderArgs, Size, WrongUsage};
use crate::view::Background;

/// How films of other formats are made. WebM keeps alpha.
const FFMPEG: [(&str, &str); 3] = [
    ("mp4", "ffmpeg -framerate 30 -i frame_%04d.png -pix_fmt yuv420p film.mp4"),
    ("webm", "ffmpeg -framerate 30 -i frame_%04d.png -c:v libvpx-vp9 -pix_fmt yuva420p film.webm"),
    ("gif", "ffmpeg -framerate 25 -i frame_%04d.png film.gif"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// An image for each frame: lossless, transparent if wanted.
    Png,
    /// An image for each frame: small and opaque.
    Jpeg,
    /// One file for all frames: lossless, transparent if wanted, shown by every browser. The seconds per frame are a fraction.
    Apng { delay: (u16, u16) },
}

impl Format {
    /// Returns the format of a name. A device or a pipe without an extension gets PNG (`--out /dev/stdout`),
    /// and so does an empty file with an unknown one, as file managers make for thumbnails.
    fn of(path: &Path, fps: f64) -> Result<Self> {
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
        let found = match extension.as_deref() {
            Some("png") => return Ok(Self::Png),
            Some("jpg" | "jpeg") => return Ok(Self::Jpeg),
            Some("apng") => match delay(fps) {
                Some(delay) => return Ok(Self::Apng { delay }),
                None => bail!(WrongUsage(format!("--fps {fps}: .apng can hold 0.001 to 65535 frames per second"))),
            },
            None if is_special(path) || is_awaited(path) => return Ok(Self::Png),
            Some("glb" | "obj" | "ply" | "stl") => "`throng pose --out` writes posed meshes".to_owned(),
            None => "the name has no extension".to_owned(),
            Some(extension) => match FFMPEG.iter().find(|(other, _)| *other == extension) {
                None if is_awaited(path) => return Ok(Self::Png),
                Some((_, command)) => format!("ffmpeg makes .{extension} from numbered images, with `{command}`"),
                None => format!("the extension .{extension} is unknown"),
            },
        };
        let out = path.display();
        bail!(WrongUsage(format!("--out {out}: {found}; use .png or .jpg for images, or .apng for a film")))
    }
}

/// The checked value of `--out`. It takes frames in their order.
pub(super) struct Destination {
    name: FileName,
    format: Format,
    /// The one file of all frames, once it was started.
    film: Option<Film>,
}

impl Destination {
    /// Checks the name, the format and the number of frames. The file system only says whether a name is that of a device.
    ///
    /// # Errors
    /// The extension is unknown, the format cannot hold the images, several frames have one name, or a number is in the wrong
    /// place: all of them [`WrongUsage`].
    pub fn new(args: &RenderArgs) -> Result<Self> {
        let out = args.out.display();
        let (name, format) = (FileName::new(&args.out)?, Format::of(&args.out, args.fps)?);
        let transparent = args.crowd.look.background == Background::None;
        let is_numbered = name.is_numbered();
        let frames = Sequence::new(args, false, Some(MOST_SECONDS)).frames;
        let wrong = match format {
            _ if let Some(number) = number_after_turntable(args) => {
                format!("--turntable {number}: the number follows an equals sign: --turntable={number}")
            }
            Format::Jpeg if transparent => {
                format!("--out {out}: this format has no transparency for --background none; use .png or .apng")
            }
            Format::Png | Format::Jpeg if frames.len() > 1 && !is_numbered => format!(
                "--out {out}: several frames need a number in the name, such as frame_%04d.png, or one film, such as \
                 film.apng"
            ),
            Format::Apng { .. } if args.sheet.is_some() => {
                format!("--out {out}: a contact sheet is one image; use .png or .jpg")
            }
            Format::Apng { .. } if is_numbered => {
                format!("--out {out}: a film is one file, so its name needs no number")
            }
            Format::Apng { .. } if is_special(&args.out) => format!("--out {out}: a film needs a regular file"),
            Format::Png | Format::Jpeg | Format::Apng { .. } => return Ok(Self { name, format, film: None }),
        };
        bail!(WrongUsage(wrong))
    }

    /// Returns whether all frames go to one file.
    pub fn is_film(&self) -> bool {
        matches!(self.format, Format::Apng { .. })
    }

    /// Starts a film of this many frames, if it is one.
    pub fn open(&mut self, size: Size, frame_count: u32) -> Result<()> {
        let Format::Apng { delay } = self.format else { return Ok(()) };
        let path = self.name.of_frame(0);
        let failed = || cannot_write(&path);
        let (file, draft) = new_draft(&path)?;
        let mut encoder = Encoder::new(file, size.width, size.height);
        encoder.set_color(ColorType::Rgba);
        encoder.set_depth(BitDepth::Eight);
        // 0 repeats forever.
        encoder.set_animated(frame_count, 0).with_context(failed)?;
        encoder.set_frame_delay(delay.0, delay.1).with_context(failed)?;
        self.film = Some((encoder.write_header().with_context(failed)?, draft));
        Ok(())
    }

    /// Writes a frame. `rgba` has eight bits per channel.
    pub fn add(&mut self, frame: u32, rgba: &[u8], size: Size) -> Result<()> {
        let path = self.name.of_frame(frame);
        match &mut self.film {
            Some((film, _)) => film.write_image_data(rgba).with_context(|| cannot_write(&path)),
            None if self.format == Format::Jpeg => write_file(&path, &encode_jpeg(rgba, size)?),
            None => write_file(&path, &encode_png(rgba, size)?),
        }
    }

    /// Ends a film and gives it its name.
    pub fn finish(self) -> Result<()> {
        let Some((film, draft)) = self.film else { return Ok(()) };
        let path = self.name.of_frame(0);
        film.finish().with_context(|| cannot_write(&path))?;
        draft.persist(&path).with_context(|| cannot_write(&path))
    }
}

/// A film that is being written, and the name of its file until it is complete.
type Film = (Writer<File>, TempPath);

/// Returns the seconds between frames, as the fraction that is nearest to 1 / `fps`. `None` if the format has none nearby.
pub fn delay(fps: f64) -> Option<(u16, u16)> {
    const MOST: f64 = u16::MAX as f64;
    if !(0.001..=MOST).contains(&fps) {
        return None;
    }
    // The smallest fraction whose error is far below a frame in an hour, or the best one.
    let error = |numerator: f64| ((numerator * fps).round() / fps / numerator - 1.0).abs();
    let candidates =
        || (1..=u16::MAX).map(f64::from).filter(|numerator| (1.0..=MOST).contains(&(numerator * fps).round()));
    let best = candidates().min_by(|&a, &b| error(a).total_cmp(&error(b)))?;
    let numerator = candidates().find(|&numerator| error(numerator) < 1e-9).unwrap_or(best);
    Some((numerator as u16, (numerator * fps).round() as u16))
}

/// Returns an image as a PNG file. `rgba` has eight bits per channel.
pub fn encode_png(rgba: &[u8], Size { width, height }: Size) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    PngEncoder::new(&mut bytes).write_image(rgba, width, height, ExtendedColorType::Rgba8)?;
    Ok(bytes)
}

fn encode_jpeg(rgba: &[u8], Size { width, height }: Size) -> Result<Vec<u8>> {
    /// Of 100. No artefacts are visible at normal size.
    const QUALITY: u8 = 92;
    let mut bytes = Vec::new();
    let rgb: Vec<u8> = rgba.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    let encoder = JpegEncoder::new_with_quality(&mut bytes, QUALITY);
    encoder.write_image(&rgb, width, height, ExtendedColorType::Rgb8)?;
    Ok(bytes)
}

/// Returns the number of `--turntable 60`, which is parsed as the name of a model.
fn number_after_turntable(args: &RenderArgs) -> Option<u32> {
    args.turntable.filter(Option::is_none)?;
    args.crowd.models.iter().filter(|model| !model.exists()).find_map(|model| model.to_str()?.parse().ok())
}
