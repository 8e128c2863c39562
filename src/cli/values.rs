//! The types of values, their parsers, and the texts that the parsers read again. A parser's error says what it expected.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use glam::Vec3;
use serde::{Serialize, Serializer};

use crate::animation::Stage;
use crate::crowd::{ClipChoice, Layout, PhaseMode};
use crate::extras::DebugView;
use crate::model::import::SceneChoice;
use crate::renderer::{Skinning, UploadPath};
use crate::view::{Background, Ground, SunDirection};

/// The value of `--upload`, or `None` if the device's memory types decide. The alias hides the `Option` from clap, which
/// would take the argument for an optional one.
pub type UploadChoice = Option<UploadPath>;

/// The value of `--msaa`, or `None` for `auto`.
pub type SamplesChoice = Option<u32>;

/// The size of an image in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Size {
    pub width: u32,
    pub height: u32,
}

impl Size {
    /// Returns width over height. A size of zero counts as one pixel.
    pub fn aspect(self) -> f32 {
        self.width.max(1) as f32 / self.height.max(1) as f32
    }
}

/// The direction from which the camera looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Direction {
    /// The angle around the crowd: 0 looks from the front (+Z), 90 from +X.
    pub yaw_degrees: f32,
    /// The angle above the ground. `None` is the one from which the crowd is seen best.
    pub pitch_degrees: Option<f32>,
    /// A factor on the distance that frames the crowd, or the character whose joint the camera looks at.
    pub zoom: Option<f32>,
}

impl Direction {
    const fn new(yaw_degrees: f32, pitch_degrees: f32) -> Self {
        Self { yaw_degrees, pitch_degrees: Some(pitch_degrees), zoom: None }
    }
}

/// The value of `--camera`.
#[derive(Debug, Clone, PartialEq)]
pub enum CameraChoice {
    Angles(Direction),
    /// The name or the index of a camera in the model's file.
    OfFile(String),
}

/// The value of `--look-at`.
#[derive(Debug, Clone, PartialEq)]
pub enum LookAt {
    /// A height above the ground in metres.
    Height(f32),
    /// A point in world space, in metres.
    Point(Vec3),
    Joint(String),
}

/// The value of `--morph`.
#[derive(Debug, Clone, PartialEq)]
pub struct MorphArg {
    pub name: String,
    pub weight: f32,
}

/// The value of `--frames`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameChoice {
    /// The first frames of a sequence.
    Count(u32),
    /// The frames from `first` to the one before `end`, at least one.
    Part { first: u32, end: u32 },
}

pub const MOST_FRAMES: u32 = 1_000_000;

/// What happens to clips that carry the body away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootMotion {
    /// The body goes where its clip takes it, and jumps back when the clip starts again.
    Keep,
    InPlace,
}

impl RootMotion {
    pub(super) const ALL: [(&str, Self); 2] = [("keep", Self::Keep), ("in-place", Self::InPlace)];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeshFormat {
    /// glTF: with materials, images and nodes.
    Glb,
    /// Wavefront: with normals, texture coordinates and groups.
    Obj,
    /// Polygons: with normals and colours.
    Ply,
    /// Triangles for printers: millimetres, +Z is up.
    Stl,
}

/// A file for a posed mesh, with the format that its extension names.
pub type MeshFile = (PathBuf, MeshFormat);

/// The columns and rows of a contact sheet, or `None` for as many as there are pictures. The alias hides the `Option` from clap.
pub type SheetChoice = Option<Size>;

/// Serializes values as the texts that their parsers read.
macro_rules! text_values {
    ($($value:ty: $text:expr;)*) => {$(
        impl Serialize for $value {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let text: fn(&Self) -> String = $text;
                serializer.serialize_str(&text(self))
            }
        }
    )*};
}

text_values! {
    PhaseMode: |&phase| word_of(&PHASES, phase);
    RootMotion: |&motion| word_of(&RootMotion::ALL, motion);
    Layout: |&layout| word_of(&Layout::ALL, layout);
    Ground: |&ground| word_of(&Ground::ALL, ground);
    Stage: |&stage| word_of(&Stage::ALL, stage);
    Direction: |&side| word_of(&SIDES, side);
    DebugView: |view| view.name().to_owned();
    Skinning: |skinning| skinning.name().to_owned();
    UploadPath: |path| path.name().to_owned();
    Size: |size| format!("{}x{}", size.width, size.height);
    MorphArg: |morph| format!("{}={}", morph.name, morph.weight);
    SunDirection: |sun| format!("{},{}", sun.azimuth_degrees, sun.elevation_degrees);
    SceneChoice: |scene| match scene {
        SceneChoice::Default => String::new(),
        SceneChoice::Index(index) => index.to_string(),
        SceneChoice::Name(name) => name.clone(),
    };
    ClipChoice: |clip| match clip {
        ClipChoice::Auto => "auto".to_owned(),
        ClipChoice::None => "none".to_owned(),
        ClipChoice::All => "all".to_owned(),
        ClipChoice::Index(index) => index.to_string(),
        ClipChoice::Name(name) => name.clone(),
    };
    CameraChoice: |camera| match camera {
        CameraChoice::OfFile(name) => name.clone(),
        CameraChoice::Angles(Direction { yaw_degrees, pitch_degrees, zoom }) => {
            let zoom = zoom.map_or_else(String::new, |zoom| format!(",{zoom}"));
            format!("{yaw_degrees},{}{zoom}", pitch_degrees.unwrap_or(0.0))
        }
    };
    LookAt: |look_at| match look_at {
        LookAt::Height(metres) => metres.to_string(),
        LookAt::Point(point) => format!("{},{},{}", point.x, point.y, point.z),
        LookAt::Joint(name) => name.clone(),
    };
    Background: |background| match background {
        Background::Sky => "sky".to_owned(),
        Background::None => "none".to_owned(),
        Background::Color([red, green, blue]) => format!("#{red:02x}{green:02x}{blue:02x}"),
    };
}

fn word_of<T: PartialEq>(words: &[(&str, T)], wanted: T) -> String {
    words.iter().find(|(_, value)| *value == wanted).map_or("", |(word, _)| word).to_owned()
}

pub(super) fn blend<S: Serializer>(dual_quaternions: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&word_of(&BLENDS, *dual_quaternions))
}

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

/// The times in their clips at which instances start.
pub(super) const PHASES: [(&str, PhaseMode); 2] = [("random", PhaseMode::Random), ("zero", PhaseMode::Zero)];

/// The ways to blend joints: whether as dual quaternions.
pub(super) const BLENDS: [(&str, bool); 2] = [("linear", false), ("dual-quaternion", true)];

pub(super) fn skinning() -> impl TypedValueParser<Value = Skinning> {
    one_of([Skinning::Compute, Skinning::Vertex].map(|skinning| (skinning.name(), skinning)))
}

pub(super) fn upload() -> impl TypedValueParser<Value = UploadChoice> {
    let path = |path: UploadPath| (path.name(), Some(path));
    one_of([("auto", None), path(UploadPath::Direct), path(UploadPath::Staged)])
}

/// Returns a parser of whole numbers. clap's own says only "invalid digit" of `1e3`.
pub(super) fn whole_number<T>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + PartialOrd + Display + Clone,
{
    let expected = format!("a whole number from {} to {}, in digits", range.start(), range.end());
    number(range, expected)
}

/// The largest number of most options. As a time in seconds it is about thirty years; clips cannot resolve later ones.
pub(super) const MOST: f64 = 1e9;

/// Returns a parser of numbers in a range. `expected` describes it.
pub(super) fn number<T, E>(range: RangeInclusive<T>, expected: E) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + PartialOrd + Clone,
    E: Display + Clone,
{
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
        "auto" => ClipChoice::Auto,
        "none" => ClipChoice::None,
        "all" => ClipChoice::All,
        text => text.parse().map_or_else(|_| ClipChoice::Name(text.to_owned()), ClipChoice::Index),
    })
}

pub(super) fn parse_scene(text: &str) -> Result<SceneChoice, String> {
    Ok(text.parse().map_or_else(|_| SceneChoice::Name(text.to_owned()), SceneChoice::Index))
}

pub(super) fn parse_percent(text: &str) -> Result<f64, String> {
    number(0.0..=10_000.0, "a percentage of at least 0, such as 5")(text.trim().trim_end_matches('%'))
}

pub(super) fn file_ending_with(wanted: &'static str) -> impl Fn(&str) -> Result<PathBuf, String> + Clone {
    move |text| {
        let path = Some(PathBuf::from(text));
        let path = path.filter(|path| path.extension().is_some_and(|end| end.eq_ignore_ascii_case(wanted)));
        path.ok_or_else(|| format!("expected a name that ends with .{wanted}"))
    }
}

pub(super) fn parse_sheet(text: &str) -> Result<SheetChoice, String> {
    const MOST: u32 = 64;
    match parse_size(text) {
        Ok(grid) if grid.width <= MOST && grid.height <= MOST => Ok(Some(grid)),
        _ if text == "auto" => Ok(None),
        _ => Err(format!("expected auto, or COLUMNSxROWS, such as 6x4, of 1 to {MOST} each")),
    }
}

pub(super) fn parse_mesh_file(text: &str) -> Result<MeshFile, String> {
    let path = PathBuf::from(text);
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    let format = match extension.as_deref() {
        Some("glb") => MeshFormat::Glb,
        Some("obj") => MeshFormat::Obj,
        Some("ply") => MeshFormat::Ply,
        Some("stl") => MeshFormat::Stl,
        _ => return Err("expected a name that ends with .glb, .obj, .ply or .stl".to_owned()),
    };
    Ok((path, format))
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
    let expected = || "expected sky, none, white, grey, black, or a colour such as #20406f or #246".to_owned();
    let digits = match text.to_ascii_lowercase().as_str() {
        "sky" => return Ok(Background::Sky),
        "none" | "transparent" => return Ok(Background::None),
        "white" => "ffffff".to_owned(),
        "grey" | "gray" => "808080".to_owned(),
        "black" => "000000".to_owned(),
        text => text.strip_prefix('#').ok_or_else(expected)?.to_owned(),
    };
    // Of three digits, each counts twice.
    let digits: String = if digits.len() == 3 { digits.chars().flat_map(|digit| [digit; 2]).collect() } else { digits };
    let is_color = digits.len() == 6 && digits.bytes().all(|c| c.is_ascii_hexdigit());
    let color = u32::from_str_radix(&digits, 16).ok().filter(|_| is_color).ok_or_else(expected)?;
    let [_, red, green, blue] = color.to_be_bytes();
    Ok(Background::Color([red, green, blue]))
}

pub(super) fn parse_sun(text: &str) -> Result<SunDirection, String> {
    let numbers = text.split(',').map(parse_finite).collect::<Result<Vec<f64>, _>>().unwrap_or_default();
    let lowest = SunDirection::LOWEST_DEGREES;
    match numbers[..] {
        [azimuth, elevation] if (f64::from(lowest)..=90.0).contains(&elevation) => {
            Ok(SunDirection { azimuth_degrees: azimuth as f32, elevation_degrees: elevation as f32 })
        }
        _ => Err(format!("expected AZIMUTH,ELEVATION in degrees, with an elevation of {lowest} to 90, such as 60,12")),
    }
}

pub(super) const SIDES: [(&str, Direction); 6] = [
    ("front", Direction::new(0.0, 0.0)),
    ("back", Direction::new(180.0, 0.0)),
    ("left", Direction::new(90.0, 0.0)),
    ("right", Direction::new(-90.0, 0.0)),
    ("top", Direction::new(0.0, 88.0)),
    ("three-quarter", Direction::new(35.0, 10.0)),
];

pub(super) fn parse_look_at(text: &str) -> Result<LookAt, String> {
    let numbers: Vec<f64> = text.split(',').map_while(|part| parse_finite(part).ok()).collect();
    match numbers[..] {
        [x, y, z] if text.split(',').count() == 3 => Ok(LookAt::Point(Vec3::new(x as f32, y as f32, z as f32))),
        [metres] if !text.contains(',') && metres >= 0.0 => Ok(LookAt::Height(metres as f32)),
        [_] if !text.contains(',') => Err("expected a height of 0 or more metres above the ground".to_owned()),
        _ => Ok(LookAt::Joint(text.to_owned())),
    }
}

pub(super) fn parse_morph(text: &str) -> Result<MorphArg, String> {
    let (name, weight) = text.rsplit_once('=').filter(|(name, _)| !name.is_empty()).ok_or("expected NAME=WEIGHT")?;
    let weight = number(-1e3..=1e3, "a weight from -1000 to 1000 after the =")(weight)?;
    Ok(MorphArg { name: name.to_owned(), weight: weight as f32 })
}

pub(super) fn parse_camera(text: &str) -> Result<CameraChoice, String> {
    if !text.contains(',') {
        return Ok(CameraChoice::OfFile(text.to_owned()));
    }
    let numbers = text.split(',').map(parse_finite).collect::<Result<Vec<f64>, _>>()?;
    let (yaw, pitch, zoom) = match numbers[..] {
        [yaw, pitch] => (yaw, pitch, None),
        [yaw, pitch, zoom] => (yaw, pitch, Some(zoom)),
        _ => return Err("expected YAW,PITCH or YAW,PITCH,ZOOM".to_owned()),
    };
    if !(-89.0..=89.0).contains(&pitch) || !zoom.is_none_or(|zoom| (0.001..=1000.0).contains(&zoom)) {
        return Err("expected a pitch of -89 to 89 degrees and a zoom of 0.001 to 1000".to_owned());
    }
    let (yaw_degrees, pitch_degrees) = (yaw as f32, Some(pitch as f32));
    Ok(CameraChoice::Angles(Direction { yaw_degrees, pitch_degrees, zoom: zoom.map(|zoom| zoom as f32) }))
}
