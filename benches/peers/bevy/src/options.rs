//! The command line.

use std::path::{Path, PathBuf};
use std::str::FromStr;

const USAGE: &str = "usage: throng-peer-bevy --model FILE.glb --crowd CROWD.json [--size WxH] [--frames N] [--warmup N] \
                     [--shadows on|off] [--msaa 1|4] [--ground on|off] [--in-flight 1|2] [--picture FILE.png]";

/// The settings of a run. The defaults are those of `throng bench`, except where a comment says otherwise.
#[derive(Debug, Clone)]
pub struct Options {
    /// The model file.
    pub model: PathBuf,
    /// The JSON of `throng crowd`.
    pub crowd: PathBuf,
    pub width: u32,
    pub height: u32,
    /// The number of frames to measure.
    pub frames: usize,
    /// The number of frames to draw before the first measured one.
    pub warmup: u32,
    pub shadows: bool,
    /// Samples per pixel: 1 or 4.
    pub msaa: u32,
    pub ground: bool,
    /// The number of frames that the GPU may have in its queue. Throng has 2, and 1 on a software driver.
    pub in_flight: usize,
    /// The file for the picture of the first frame, before the animation starts.
    pub picture: Option<PathBuf>,
}

impl Options {
    /// Parses pairs of a name and a value.
    ///
    /// # Errors
    /// The usage, or the value that is wrong.
    pub fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            model: PathBuf::new(),
            crowd: PathBuf::new(),
            width: 1280,
            height: 720,
            frames: 60,
            warmup: 5,
            shadows: true,
            msaa: 4,
            ground: true,
            in_flight: 2,
            picture: None,
        };
        let mut arguments = arguments;
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or(USAGE)?;
            let wrong = || format!("{name} {value}\n{USAGE}");
            match name.as_str() {
                "--model" => options.model = value.into(),
                "--crowd" => options.crowd = value.into(),
                "--size" => {
                    let (width, height) = value.split_once('x').ok_or_else(wrong)?;
                    (options.width, options.height) =
                        (positive(width).ok_or_else(wrong)?, positive(height).ok_or_else(wrong)?);
                }
                "--frames" => options.frames = positive(&value).ok_or_else(wrong)?,
                "--warmup" => options.warmup = value.parse().map_err(|_| wrong())?,
                "--shadows" => options.shadows = on_or_off(&value).ok_or_else(wrong)?,
                "--ground" => options.ground = on_or_off(&value).ok_or_else(wrong)?,
                "--msaa" => {
                    options.msaa = positive(&value).filter(|samples| [1, 4].contains(samples)).ok_or_else(wrong)?;
                }
                "--in-flight" => {
                    options.in_flight = positive(&value).filter(|frames| [1, 2].contains(frames)).ok_or_else(wrong)?;
                }
                "--picture" => options.picture = Some(value.into()),
                _ => return Err(wrong()),
            }
        }
        if options.model.as_os_str().is_empty() || options.crowd.as_os_str().is_empty() {
            return Err(USAGE.to_owned());
        }
        Ok(options)
    }

    /// Returns the absolute path of the folder that has the model file.
    ///
    /// # Errors
    /// There is no such file, or its path is not UTF-8.
    pub fn model_folder(&self) -> Result<String, String> {
        let model = std::fs::canonicalize(&self.model).map_err(|error| format!("{}: {error}", self.model.display()))?;
        let folder = model.parent().and_then(Path::to_str);
        folder.map(str::to_owned).ok_or_else(|| format!("{}: the path is not UTF-8", self.model.display()))
    }

    /// Returns the name of the model file in its folder.
    pub fn model_name(&self) -> String {
        self.model.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

fn positive<T: FromStr + PartialOrd + From<u8>>(value: &str) -> Option<T> {
    value.parse().ok().filter(|value| *value > T::from(0))
}

fn on_or_off(value: &str) -> Option<bool> {
    match value {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}
