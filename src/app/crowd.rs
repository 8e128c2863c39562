//! `crowd`: a crowd, its camera and its light as JSON, so that other programs can draw the same scene.
//!
//! Everything comes from the [`Scene`] that `render` and `bench` draw. Matrices are column-major, as in the JSON of `pose`.
//! Colours are linear RGB.

use anyhow::Result;
use glam::Mat4;
use serde::Serialize;

use super::output::print_json;
use super::scene::Scene;
use crate::cli::PrintCrowdArgs;
use crate::crowd::InstanceState;
use crate::view::Sky;

#[derive(Debug, Serialize)]
struct CrowdReport {
    /// The name of each model, by index.
    models: Vec<String>,
    /// The time of the camera and of the placements, in seconds.
    time: f64,
    /// Seconds of each clip for each second of time.
    speed: f64,
    camera: CameraReport,
    light: LightReport,
    instances: Vec<InstanceReport>,
}

/// The camera. Depth is reversed, with an infinite far plane.
#[derive(Debug, Serialize)]
struct CameraReport {
    world_from_view: [f32; 16],
    clip_from_view: [f32; 16],
    vertical_fov_radians: f32,
    near_metres: f32,
}

/// The light of sun and sky, and the ground, which is the plane y = 0.
#[derive(Debug, Serialize)]
struct LightReport {
    to_sun: [f32; 3],
    /// The irradiance of the sun on a surface that faces it.
    sun: [f32; 3],
    /// The irradiance of the sky on open ground.
    sky: [f32; 3],
    /// The radiance of the sky at the horizon.
    horizon: [f32; 3],
    ground_albedo: [f32; 3],
}

#[derive(Debug, Serialize)]
struct InstanceReport {
    model: u32,
    clip: Option<u32>,
    start_seconds: f64,
    world_from_model: [f32; 16],
    tint: [f32; 3],
}

impl From<InstanceState> for InstanceReport {
    fn from(state: InstanceState) -> Self {
        let InstanceState { model, clip, start_seconds, world_from_model, tint } = state;
        let world_from_model = Mat4::from(world_from_model).to_cols_array();
        Self { model, clip, start_seconds, world_from_model, tint: tint.to_array() }
    }
}

/// Runs the command.
///
/// # Errors
/// A model cannot be loaded, or no model has the clip.
pub fn run(args: &PrintCrowdArgs) -> Result<()> {
    let aspect = args.size.aspect();
    let scene = Scene::load(args.into())?;
    let camera = CameraReport {
        world_from_view: scene.camera.view_from_world().inverse().to_cols_array(),
        clip_from_view: scene.camera.clip_from_view(aspect).to_cols_array(),
        vertical_fov_radians: scene.camera.vertical_fov_radians,
        near_metres: scene.camera.near(),
    };
    let sky = Sky::clear(scene.look.sun.to_light());
    let light = LightReport {
        to_sun: sky.to_sun.to_array(),
        sun: sky.sun.to_array(),
        sky: sky.irradiance_on_ground().to_array(),
        horizon: sky.horizon.to_array(),
        ground_albedo: sky.ground_albedo.to_array(),
    };
    let report = CrowdReport {
        models: scene.models.iter().map(|model| model.name.clone()).collect(),
        time: args.crowd.time,
        speed: args.crowd.speed,
        camera,
        light,
        instances: scene.crowd.instance_states().map(InstanceReport::from).collect(),
    };
    print_json(&report, false)
}
