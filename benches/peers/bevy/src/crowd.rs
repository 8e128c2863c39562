//! The JSON of `throng crowd`. Matrices are column-major, lengths are metres, and colours are linear RGB.

use std::path::Path;

use bevy::ecs::resource::Resource;
use serde::Deserialize;

/// A crowd, its camera and its light.
#[derive(Debug, Clone, Deserialize, Resource)]
pub struct Crowd {
    pub models: Vec<String>,
    /// The time of the first frame in seconds.
    pub time: f64,
    pub speed: f64,
    pub camera: Camera,
    pub light: Light,
    pub instances: Vec<Instance>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Camera {
    pub world_from_view: [f32; 16],
    pub vertical_fov_radians: f32,
    pub near_metres: f32,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Light {
    pub to_sun: [f32; 3],
    /// The irradiance of the sun on a surface that faces it.
    pub sun: [f32; 3],
    /// The irradiance of the sky on open ground.
    pub sky: [f32; 3],
    /// The radiance of the sky at the horizon.
    pub horizon: [f32; 3],
    pub ground_albedo: [f32; 3],
}

#[derive(Debug, Clone, Deserialize)]
pub struct Instance {
    /// `None` is the rest pose.
    pub clip: Option<usize>,
    /// The time in the clip at the time 0.
    pub start_seconds: f64,
    pub world_from_model: [f32; 16],
    pub tint: [f32; 3],
}

impl Crowd {
    /// Reads the file.
    ///
    /// # Errors
    /// The file cannot be read, or Bevy would draw something else than Throng.
    pub fn read(path: &Path) -> Result<Self, String> {
        let failed = |reason: String| format!("{}: {reason}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        let crowd: Self = serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
        if crowd.models.len() != 1 {
            return Err(failed(format!("{} models: this program draws crowds of one model", crowd.models.len())));
        }
        // Bevy has a material for each tint, so tints would cost it far more than they cost Throng.
        if crowd.instances.iter().any(|instance| instance.tint != [1.0; 3]) {
            return Err(failed("instances are tinted: print the crowd with --variety 0".to_owned()));
        }
        Ok(crowd)
    }
}
