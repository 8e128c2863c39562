//! From words to values: each parser says what it expected.

use super::{CameraArg, Size};
use crate::crowd::ClipChoice;
use crate::model::import::SceneChoice;

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

pub(super) fn parse_finite(text: &str) -> Result<f64, String> {
    /// About thirty years; keeps times within what clips can resolve.
    const MOST: f64 = 1e9;
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && value.abs() <= MOST => Ok(value),
        Ok(_) => Err(format!("expected a number between -{MOST:e} and {MOST:e}")),
        Err(_) => Err("expected a number".to_owned()),
    }
}

pub(super) fn parse_positive(text: &str) -> Result<f64, String> {
    match parse_finite(text)? {
        value if value >= 1e-6 => Ok(value),
        _ => Err("expected a number greater than 0".to_owned()),
    }
}

pub(super) fn parse_samples(text: &str) -> Result<u32, String> {
    match text {
        "1" | "2" | "4" | "8" => text.parse().map_err(|_| String::new()),
        _ => Err("expected 1, 2, 4 or 8".to_owned()),
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
