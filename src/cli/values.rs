//! The types of values, and their parsers. A parser's error says what it expected.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::animation::Stage;
use crate::crowd::{ClipChoice, Layout};
use crate::model::import::SceneChoice;
use crate::renderer::{Skinning, UploadPath};
use crate::view::{Background, DebugView, SunDirection};

/// The value of `--upload`, or `None` if the device's memory types decide. The alias hides the `Option` from clap, which
/// would take the argument for an optional one.
pub type UploadChoice = Option<UploadPath>;

/// The value of `--msaa`, or `None` for `auto`.
pub type SamplesChoice = Option<u32>;

/// The value of `--shadows`, or `None` for `auto`.
pub type ShadowsChoice = Option<bool>;

/// The size of an image in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub width: u32,
    pub height: u32,
}

impl Size {
    /// Returns width over height. A size of zero counts as one pixel.
    #[must_use]
    pub fn aspect(self) -> f32 {
        self.width.max(1) as f32 / self.height.max(1) as f32
    }
}

/// The value of `--camera`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CameraArg {
    /// The angle around the crowd: 0 looks from the front (+Z), 90 from +X.
    pub yaw_degrees: f32,
    /// The angle above the ground.
    pub pitch_degrees: f32,
    /// A factor on the distance that frames the crowd.
    pub zoom: f32,
}

/// The value of `--frames`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameChoice {
    /// The first frames of a sequence.
    Count(u32),
    /// The frames from `first` to the one before `end`, at least one.
    Part {
        /// The first frame.
        first: u32,
        /// The frame after the last one.
        end: u32,
    },
}

/// The largest number of frames of a sequence.
pub const MOST_FRAMES: u32 = 1_000_000;

/// Returns a parser of words that stand for values.
pub(super) fn one_of<T, const N: usize>(choices: [(&'static str, T); N]) -> impl TypedValueParser<Value = T>
where
    T: Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(choices.each_ref().map(|(word, _)| *word)).try_map(move |word| {
        let chosen = choices.iter().find(|(choice, _)| *choice == word);
        chosen.map(|(_, value)| value.clone()).ok_or("expected one of the listed words")
    })
}

pub(super) fn on_or_off() -> impl TypedValueParser<Value = bool> {
    one_of([("on", true), ("off", false)])
}

pub(super) fn skinning() -> impl TypedValueParser<Value = Skinning> {
    one_of([Skinning::Compute, Skinning::Vertex].map(|skinning| (skinning.name(), skinning)))
}

pub(super) fn debug_view() -> impl TypedValueParser<Value = DebugView> {
    one_of(DebugView::ALL.map(|view| (view.name(), view)))
}

pub(super) fn stage() -> impl TypedValueParser<Value = Stage> {
    one_of([("mesh", Stage::Mesh), ("joint", Stage::Joint), ("model", Stage::Model), ("world", Stage::World)])
}

pub(super) fn upload() -> impl TypedValueParser<Value = UploadChoice> {
    let path = |path: UploadPath| (path.name(), Some(path));
    one_of([("auto", None), path(UploadPath::Direct), path(UploadPath::Staged)])
}

pub(super) fn layout() -> impl TypedValueParser<Value = Layout> {
    one_of([("grid", Layout::Grid), ("ring", Layout::Ring), ("scatter", Layout::Scatter)])
}

/// Returns a parser of whole numbers. clap's own says only "invalid digit" of `1e3`.
pub(super) fn whole_number<T>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + PartialOrd + Display + Clone,
{
    move |text| {
        let (least, most) = (range.start(), range.end());
        let number = text.trim().parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("expected a whole number from {least} to {most}, in digits"))
    }
}

/// The largest number of most options. As a time in seconds it is about thirty years; clips cannot resolve later ones.
pub(super) const MOST: f64 = 1e9;

/// Returns a parser of numbers in a range. `expected` describes it.
pub(super) fn number(
    range: RangeInclusive<f64>,
    expected: &'static str,
) -> impl Fn(&str) -> Result<f64, String> + Clone {
    move |text| {
        let number = text.trim().parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("expected {expected}"))
    }
}

pub(super) fn positive() -> impl Fn(&str) -> Result<f64, String> + Clone {
    number(1e-6..=MOST, "a number greater than 0")
}

pub(super) fn parse_finite(text: &str) -> Result<f64, String> {
    number(-MOST..=MOST, "a number between -1e9 and 1e9")(text)
}

pub(super) fn parse_clip(text: &str) -> Result<ClipChoice, String> {
    Ok(match text {
        "none" => ClipChoice::None,
        "all" => ClipChoice::All,
        text => text.parse().map_or_else(|_| ClipChoice::Name(text.to_owned()), ClipChoice::Index),
    })
}

pub(super) fn parse_scene(text: &str) -> Result<SceneChoice, String> {
    Ok(text.parse().map_or_else(|_| SceneChoice::Name(text.to_owned()), SceneChoice::Index))
}

pub(super) fn parse_percent(text: &str) -> Result<f64, String> {
    match text.trim().trim_end_matches('%').parse::<f64>() {
        Ok(value) if (0.0..=10_000.0).contains(&value) => Ok(value),
        _ => Err("expected a percentage of at least 0, such as 5".to_owned()),
    }
}

pub(super) fn samples() -> impl TypedValueParser<Value = SamplesChoice> {
    one_of([("auto", None), ("1", Some(1)), ("2", Some(2)), ("4", Some(4)), ("8", Some(8))])
}

pub(super) fn shadows() -> impl TypedValueParser<Value = ShadowsChoice> {
    one_of([("auto", None), ("on", Some(true)), ("off", Some(false))])
}

pub(super) fn parse_png(text: &str) -> Result<PathBuf, String> {
    with_extension(text, "png")
}

pub(super) fn parse_svg(text: &str) -> Result<PathBuf, String> {
    with_extension(text, "svg")
}

fn with_extension(text: &str, wanted: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension() {
        Some(extension) if extension.eq_ignore_ascii_case(wanted) => Ok(path),
        _ => Err(format!("expected a name that ends with .{wanted}")),
    }
}

pub(super) fn parse_size(text: &str) -> Result<Size, String> {
    const MOST: u32 = 32_768;
    let expected = || format!("expected WIDTHxHEIGHT, such as 1280x720, of 1 to {MOST} pixels each");
    let (width, height) = text.split_once(['x', 'X']).ok_or_else(expected)?;
    match (width.parse(), height.parse()) {
        (Ok(width @ 1..=MOST), Ok(height @ 1..=MOST)) => Ok(Size { width, height }),
        _ => Err(expected()),
    }
}

pub(super) fn parse_frames(text: &str) -> Result<FrameChoice, String> {
    let number = |text: &str| text.parse().ok().filter(|&number| number <= MOST_FRAMES);
    let choice = match text.split_once("..") {
        None => number(text).filter(|&count| count > 0).map(FrameChoice::Count),
        Some((first, end)) => match (number(first), number(end)) {
            (Some(first), Some(end)) if first < end => Some(FrameChoice::Part { first, end }),
            _ => None,
        },
    };
    choice.ok_or_else(|| format!("expected a number of frames, or A..B with A below B, up to {MOST_FRAMES}"))
}

pub(super) fn parse_background(text: &str) -> Result<Background, String> {
    let digits = match text {
        "sky" => return Ok(Background::Sky),
        "none" => return Ok(Background::None),
        text => {
            text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.bytes().all(|c| c.is_ascii_hexdigit()))
        }
    };
    let color = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let [_, red, green, blue] = color.ok_or("expected sky, none, or a colour such as #20406f")?.to_be_bytes();
    Ok(Background::Color([red, green, blue]))
}

pub(super) fn parse_sun(text: &str) -> Result<SunDirection, String> {
    let numbers = text.split(',').map(parse_finite).collect::<Result<Vec<f64>, _>>()?;
    let lowest = SunDirection::LOWEST_DEGREES;
    match numbers[..] {
        [azimuth, elevation] if (f64::from(lowest)..=90.0).contains(&elevation) => {
            Ok(SunDirection { azimuth_degrees: azimuth as f32, elevation_degrees: elevation as f32 })
        }
        _ => Err(format!("expected AZIMUTH,ELEVATION in degrees, with an elevation of {lowest} to 90")),
    }
}

pub(super) fn parse_camera(text: &str) -> Result<CameraArg, String> {
    let numbers = text.split(',').map(parse_finite).collect::<Result<Vec<f64>, _>>()?;
    let (yaw, pitch, zoom) = match numbers[..] {
        [yaw, pitch] => (yaw, pitch, 1.0),
        [yaw, pitch, zoom] => (yaw, pitch, zoom),
        _ => return Err("expected YAW,PITCH or YAW,PITCH,ZOOM".to_owned()),
    };
    if !(-89.0..=89.0).contains(&pitch) || !(0.001..=1000.0).contains(&zoom) {
        return Err("expected a pitch of -89 to 89 degrees and a zoom of 0.001 to 1000".to_owned());
    }
    Ok(CameraArg { yaw_degrees: yaw as f32, pitch_degrees: pitch as f32, zoom: zoom as f32 })
}
