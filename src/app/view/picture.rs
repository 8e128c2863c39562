//! A picture of a view, its posed meshes, and the command line that draws the same picture.
//!
//! In: the [`State`] and the size of the window. Out: arguments of `render` and its image, with all samples, without the panel,
//! and with alpha if there is no background.
//!
//! Invariant: the picture is drawn from the arguments that the command line parses to, so both are the same bytes.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::state::{State, placed};
use crate::app::export::PosedScene;
use crate::app::models::load_models;
use crate::app::output::write_new_file;
use crate::app::render;
use crate::cli::{CameraArgs, CameraChoice, Direction, LookAt, MeshFormat, QualityArgs, RenderArgs, Size};
use crate::renderer::Renderer;
use crate::view::OrbitCamera;

pub fn command_line(state: &State, size: Size) -> Result<String> {
    arguments(state, size).shell_line().context("the path of a model is no text, so it cannot be copied")
}

/// Writes the picture of a view to `throng-1.png` or the next free name. Returns a sentence about the file.
pub fn write(state: &State, renderer: &Renderer, size: Size) -> Result<String> {
    let args = arguments(state, size).parsed_again()?;
    // The files may have changed, and other clips may be borrowed for this choice of a clip.
    let mut scene = state.scene.with_models(load_models(&args.crowd)?, (&args).into())?;
    let png = render::image(&mut scene, &args, renderer.device())?;
    let path = write_new_file(&png, |number| PathBuf::from(format!("throng-{}.png", number + 1)))?;
    Ok(format!("wrote {}", path.display()))
}

/// Writes the posed meshes of a view to `throng-1.glb` or the next free name. Returns a sentence about the file.
pub fn write_mesh(state: &State, size: Size) -> Result<String> {
    let args = arguments(state, size).parsed_again()?;
    let scene = state.scene.with_models(load_models(&args.crowd)?, (&args).into())?;
    let posed = PosedScene::of_crowd(&scene.models, &scene.crowd, args.crowd.time, args.crowd.speed)?;
    let path = (1..).map(|number: u32| PathBuf::from(format!("throng-{number}.glb"))).find(|path| !path.exists());
    posed.write(&(path.context("all names are taken")?, MeshFormat::Glb))
}

fn arguments(state: &State, size: Size) -> RenderArgs {
    let mut crowd = placed(&state.args);
    crowd.travel = crowd.travel.filter(|travel| *travel);
    crowd.time = rounded(state.clock.time_seconds(), 6);
    crowd.camera = exactly(&state.scene.camera);
    let (look, show) = (state.scene.look, &state.scene.show);
    crowd.look.background = look.background;
    crowd.look.ground = Some(look.ground);
    crowd.look.exposure = rounded(look.exposure_ev.into(), 4);
    crowd.look.sun = Some(look.sun);
    crowd.show.skeleton = show.bones;
    if crowd.show.joint.is_none() {
        crowd.show.debug_view = show.view;
    }
    let mut gpu = state.args.gpu.clone();
    // A window may have fewer samples, to be fast.
    gpu.quality = QualityArgs { msaa: None, ..gpu.quality };
    gpu.size = size;
    gpu.lod_error = rounded(state.scene.lod_error_pixels.into(), 4);
    let out = PathBuf::from("throng.png");
    RenderArgs { crowd, count: state.args.count, gpu, out, frames: None, turntable: None, sheet: None, fps: 30.0 }
}

/// Returns the arguments that place a camera where it is. Without the panel, the target is in the middle.
fn exactly(camera: &OrbitCamera) -> CameraArgs {
    let degrees = |radians: f32| rounded(radians.to_degrees().into(), 3) as f32;
    // A thousandth of a pixel.
    let digits = (6.0 - camera.distance.log10().ceil()).clamp(0.0, 12.0) as u32;
    let metres = |metres: f32| rounded(metres.into(), digits) as f32;
    let direction = Direction {
        yaw_degrees: degrees(camera.yaw_radians),
        pitch_degrees: Some(degrees(camera.pitch_radians)),
        zoom: None,
    };
    let fov = rounded(camera.vertical_fov_radians.to_degrees().into(), 3);
    CameraArgs {
        camera: Some(CameraChoice::Angles(direction)),
        view: None,
        look_at: Some(LookAt::Point(camera.target.to_array().map(metres).into())),
        distance: Some(rounded(camera.distance.into(), digits)),
        fov: Some(fov),
    }
}

fn rounded(number: f64, digits: u32) -> f64 {
    let scale = 10f64.powi(digits as i32);
    (number * scale).round() / scale
}
