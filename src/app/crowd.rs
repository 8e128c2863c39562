//! `crowd`: a crowd, its camera and its light as JSON, so that other programs can draw the same scene.
//!
//! Everything comes from the [`Scene`] that `render` and `bench` draw. Matrices are column-major, as in the JSON of `pose`.
//! Colours are linear RGB.

use anyhow::Result;
use glam::{DMat4, DVec3, Mat4};
use serde::Serialize;

use super::fact::Fact;
use super::output::print_json;
use super::scene::{Scene, SceneOptions};
use crate::cli::PrintCrowdArgs;
use crate::crowd::InstanceState;
use crate::model::Model;
use crate::view::Sky;

#[derive(Debug, Serialize)]
struct CrowdReport {
    models: Vec<String>,
    /// The time of the camera and of the placements, in seconds.
    time: f64,
    /// Seconds of each clip for each second of time.
    speed: f64,
    camera: Fact,
    light: Fact,
    instances: Vec<InstanceReport>,
}

#[derive(Debug, Serialize)]
struct InstanceReport {
    model: u32,
    clip: Option<u32>,
    start_seconds: f64,
    world_from_model: [f32; 16],
    tint: [f32; 3],
}

impl InstanceReport {
    /// Other programs have the model where its file has it: not brought near, nor turned round.
    fn new(models: &[Model], state: InstanceState) -> Self {
        let InstanceState { model, clip, start_seconds, world_from_model, tint } = state;
        let Model { humanoid, source, .. } = &models[model as usize];
        let is_turned = humanoid.as_ref().is_some_and(|humanoid| humanoid.is_turned());
        let turn = if is_turned { DVec3::new(-1.0, 1.0, -1.0) } else { DVec3::ONE };
        let model_from_file = DMat4::from_translation(-source.origin.as_dvec3()) * DMat4::from_scale(turn);
        let world_from_file = Mat4::from(world_from_model).as_dmat4() * model_from_file;
        let world_from_model = world_from_file.as_mat4().to_cols_array();
        Self { model, clip, start_seconds, world_from_model, tint: tint.to_array() }
    }
}

pub fn run(args: &PrintCrowdArgs) -> Result<()> {
    let aspect = args.size.aspect();
    // Nothing is drawn, so the levels of detail do not matter.
    let PrintCrowdArgs { crowd, count, size } = args;
    let scene = Scene::load(SceneOptions { crowd, count: *count, size: *size, lod_error: 0.0 })?;
    // Depth is reversed, with an infinite far plane.
    let camera = Fact::from([
        ("world_from_view", scene.camera.view_from_world().inverse().to_cols_array().into()),
        ("clip_from_view", scene.camera.clip_from_view(aspect).to_cols_array().into()),
        ("vertical_fov_radians", scene.camera.vertical_fov_radians.into()),
        ("near_metres", scene.camera.near().into()),
    ]);
    // The ground is the plane y = 0.
    let sky = Sky::clear(scene.look.sun.to_light());
    let light = Fact::from([
        ("to_sun", sky.to_sun.to_array().into()),
        // The irradiance on a surface that faces the sun, and on open ground.
        ("sun", sky.sun.to_array().into()),
        ("sky", sky.irradiance_on_ground().to_array().into()),
        // The radiance of the sky at the horizon.
        ("horizon", sky.horizon.to_array().into()),
        ("ground_albedo", sky.ground_albedo.to_array().into()),
    ]);
    let report = CrowdReport {
        models: scene.models.iter().map(|model| model.name.clone()).collect(),
        time: args.crowd.time,
        speed: args.crowd.speed,
        camera,
        light,
        instances: scene.crowd.instance_states().map(|state| InstanceReport::new(&scene.models, state)).collect(),
    };
    print_json(&report, false)
}
