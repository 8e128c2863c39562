//! Target `command_line`: arbitrary arguments. Refused ones have a message, and accepted ones describe a scene whose numbers
//! are finite.
//!
//! The bytes are arguments, separated by line breaks. No device is opened and no file is read or written. The file
//! system only says whether some words are files or folders.

use std::ffi::OsString;
use std::sync::{Arc, LazyLock};

use clap::Parser;
use throng::app::scene::{Scene, SceneOptions};
use throng::app::{bench, render};
use throng::cli::{BenchArgs, Cli, Command, CrowdArgs, CrowdSizeArgs, GpuArgs, RenderArgs, Size, ViewArgs};
use throng::model::Model;
use throng::model::import::load_glb;

/// The models of every scene: skinned, with clips, in a few milliseconds.
static MODELS: LazyLock<Arc<[Model]>> = LazyLock::new(|| {
    let file = include_bytes!("../../assets/simple_strip.gltf");
    Arc::from([load_glb("assets/simple_strip.gltf", file).expect("a valid file")])
});

/// The largest crowd that is placed. Larger ones would leave the fuzzer no time.
const MOST_PLACED: u32 = 24;

/// Parses the arguments, and checks and applies them if that succeeds. Returns whether they were parsed.
///
/// # Panics
/// Panics if a promise of the command line does not hold.
pub fn run(data: &[u8]) -> bool {
    let arguments: Vec<OsString> =
        [OsString::from("throng")].into_iter().chain(data.split(|&byte| byte == b'\n').map(argument)).collect();
    if let Some(message) = Cli::wrong_command(&arguments) {
        let causes = ["no such command or file", "a command is the first argument"];
        assert!(causes.iter().any(|cause| message.contains(cause)), "{message}");
        return false;
    }
    match Cli::try_parse_from(&arguments) {
        Ok(cli) => {
            check(cli);
            true
        }
        Err(error) => {
            // Help and the version are no errors.
            assert!(matches!(error.exit_code(), 0 | 2), "exit code {}", error.exit_code());
            assert!(!error.render().to_string().trim().is_empty(), "no message for {arguments:?}");
            false
        }
    }
}

/// Returns an argument of these bytes. They need not be Unicode where the system allows that.
fn argument(bytes: &[u8]) -> OsString {
    #[cfg(unix)]
    return std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec());
    #[cfg(not(unix))]
    return String::from_utf8_lossy(bytes).into_owned().into();
}

fn check(cli: Cli) {
    match cli.command.unwrap_or(Command::View(cli.view)) {
        Command::View(ViewArgs { crowd, count, gpu, fade, frames, .. }) => {
            assert!(fade.is_finite() && fade >= 0.0 && frames != Some(0), "{fade} {frames:?}");
            check_gpu(&gpu);
            check_scene(&crowd, count, gpu.size);
        }
        Command::Render(args) => check_render(&args),
        Command::Bench(args) => check_bench(&args),
        Command::Crowd(args) => check_scene(&args.crowd, args.count, args.size),
        Command::Pose(args) => assert!(!args.time.is_empty() && args.time.iter().all(|time| time.is_finite())),
        Command::Inspect(_) | Command::Devices { .. } | Command::Completions { .. } | Command::Man { .. } => {}
    }
}

fn check_render(args: &RenderArgs) {
    check_gpu(&args.gpu);
    assert!(args.fps.is_finite() && args.fps > 0.0, "{}", args.fps);
    if let Err(error) = render::check(args) {
        assert!(format!("{error:#}").starts_with("--"), "{error:#}");
    }
    check_scene(&args.crowd, args.count, args.gpu.size);
}

fn check_bench(args: &BenchArgs) {
    let sweep = &args.sweep;
    assert!(args.frames > 0 && args.fit.is_none_or(|limit_ms| limit_ms.is_finite() && limit_ms > 0.0));
    assert!(sweep.lod_error.iter().all(|pixels| pixels.is_finite() && *pixels >= 0.0), "{:?}", sweep.lod_error);
    if let Err(error) = bench::check(args) {
        assert!(format!("{error:#}").contains("rows"), "{error:#}");
    }
    for (&size, &instances) in sweep.size.iter().zip(&sweep.instances).take(2) {
        check_scene(&args.crowd, CrowdSizeArgs { instances: Some(instances), threads: None }, size);
    }
}

fn check_gpu(gpu: &GpuArgs) {
    assert!(gpu.lod_error.is_finite() && gpu.lod_error >= 0.0, "{}", gpu.lod_error);
    assert!(matches!(gpu.quality.samples(), 1 | 2 | 4 | 8), "{:?}", gpu.quality);
}

/// Places a small crowd of the bundled strip as the arguments say, and looks at it.
fn check_scene(crowd: &CrowdArgs, count: CrowdSizeArgs, size: Size) {
    let instances = count.instances(&MODELS).min(MOST_PLACED);
    let aspect = size.aspect();
    assert!(aspect.is_finite() && aspect > 0.0, "{size:?}");
    let count = CrowdSizeArgs { instances: Some(instances), threads: Some(1) };
    let options = SceneOptions { crowd, count, size, lod_error: 0.0 };
    let Ok(mut scene) = Scene::new(Arc::clone(&MODELS), options) else { return };
    for all_around in [false, true] {
        assert!(scene.camera.clip_from_world(aspect).is_finite(), "{:?} of {crowd:?}", scene.camera);
        scene.frame_throughout(crowd.time, all_around, aspect);
    }
    let bounds = scene.crowd.bounds();
    assert!(bounds.min.is_finite() && bounds.max.is_finite(), "{bounds:?} of {crowd:?}");
    for state in scene.crowd.instance_states() {
        assert!(state.world_from_model.is_finite() && state.tint.is_finite(), "{state:?} of {crowd:?}");
    }
    let to_light = scene.look.sun.to_light();
    assert!((to_light.length() - 1.0).abs() < 1e-5, "{to_light} of {:?}", scene.look.sun);
    let (visible, poses) = scene.visible_counts(aspect, true);
    let (visible, poses) = (visible.iter().sum::<u32>(), poses.iter().sum::<u32>());
    assert!(visible <= instances && poses <= visible, "{visible} {poses} of {crowd:?}");
}
