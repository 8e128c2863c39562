//! Where frames go: a file for each, or one film. Everything that can be wrong with the options is found here, before a
//! model is loaded.

use std::path::PathBuf;

use anyhow::{Result, bail};

use super::apng::Apng;
use super::ffmpeg::{self, Container};
use super::format::Format;
use super::pattern::Pattern;
use super::sequence::Sequence;
use super::still::Still;
use crate::app::output::{Draft, check_folder_of, is_special};
use crate::cli::{FrameChoice, RenderArgs, Size};
use crate::view::Background;

/// The checked value of `--out`.
#[derive(Debug)]
pub(super) struct Destination {
    pattern: Pattern,
    kind: Kind,
    transparent: bool,
}

/// The writer of the frames, which is not started yet.
#[derive(Debug)]
enum Kind {
    Stills(Still),
    Apng,
    /// The path of `ffmpeg`.
    Film(Container, PathBuf),
}

impl Destination {
    /// Checks the name, the format and the number of frames.
    ///
    /// # Errors
    /// The extension is unknown, the format cannot hold the images, the folder does not exist, several frames have one name, or `ffmpeg` is missing.
    pub fn new(args: &RenderArgs) -> Result<Self> {
        let out = args.out.display();
        let (pattern, format) = name_and_format(args)?;
        let transparent = args.crowd.look.background == Background::None;
        check_folder_of(&args.out)?;
        let kind = match format {
            Format::Still(still) => Kind::Stills(still),
            Format::Apng | Format::Film(_) if is_special(&args.out) => {
                bail!("--out {out}: a film needs a regular file")
            }
            Format::Apng => Kind::Apng,
            Format::Film(container) => Kind::Film(container, ffmpeg::find(&out.to_string())?),
        };
        Ok(Self { pattern, kind, transparent })
    }

    /// Returns whether all frames go to one file.
    pub fn is_film(&self) -> bool {
        !matches!(self.kind, Kind::Stills(_))
    }

    /// Starts to write.
    ///
    /// # Errors
    /// The system refuses to write, or `ffmpeg` cannot be started.
    pub fn open(self, size: Size, sequence: &Sequence) -> Result<Writer> {
        let path = self.pattern.path(0);
        let fps = sequence.fps();
        Ok(match self.kind {
            Kind::Stills(still) => Writer::Stills(self.pattern, still, size),
            Kind::Apng => {
                let frame_count = sequence.frames().len() as u32;
                Writer::Apng(Apng::start(Draft::new(&path), size, frame_count, fps)?)
            }
            Kind::Film(container, program) => {
                let format = (container, self.transparent);
                Writer::Film(ffmpeg::Encoder::start(program.as_os_str(), format, size, fps, Draft::new(&path))?)
            }
        })
    }
}

/// Writes frames in their order.
pub(super) enum Writer {
    Stills(Pattern, Still, Size),
    Apng(Apng),
    Film(ffmpeg::Encoder),
}

impl Writer {
    /// Writes a frame.
    ///
    /// # Errors
    /// The system refuses to write, or `ffmpeg` has failed.
    pub fn add(&mut self, frame: u32, rgba: &[u8]) -> Result<()> {
        match self {
            Self::Stills(pattern, still, size) => still.write(&pattern.path(frame), rgba, *size),
            Self::Apng(film) => film.add(rgba),
            Self::Film(film) => film.add(rgba),
        }
    }

    /// Ends a film.
    ///
    /// # Errors
    /// The system refuses to write, or `ffmpeg` has failed.
    pub fn finish(self) -> Result<()> {
        match self {
            Self::Stills(..) => Ok(()),
            Self::Apng(film) => film.finish(),
            Self::Film(film) => film.finish(),
        }
    }
}

/// Returns the name and the format of the output. No file is touched, except that a name without an extension may be a device.
///
/// # Errors
/// The extension is unknown, the format cannot hold the images, or several frames have one name.
pub(super) fn name_and_format(args: &RenderArgs) -> Result<(Pattern, Format)> {
    let out = args.out.display();
    let pattern = Pattern::new(&args.out)?;
    let format = Format::of(&args.out)?;
    format.check(&args.out, args.gpu.size, args.crowd.look.background == Background::None)?;
    match format {
        Format::Still(_) if has_several_frames(args) && !pattern.is_numbered() => bail!(
            "--out {out}: several frames need a number in the name, such as frame_%04d.png, or a film: .apng, .mp4 or \
             .webm"
        ),
        Format::Apng | Format::Film(_) if pattern.is_numbered() => {
            bail!("--out {out}: a film is one file, so its name needs no number")
        }
        Format::Still(_) | Format::Apng | Format::Film(_) => Ok((pattern, format)),
    }
}

fn has_several_frames(args: &RenderArgs) -> bool {
    match (args.frames, args.turntable) {
        (Some(FrameChoice::Count(count)), _) | (None, Some(Some(count))) => count > 1,
        (Some(FrameChoice::Part { first, end }), _) => end - first > 1,
        (None, Some(None)) => true,
        (None, None) => false,
    }
}
