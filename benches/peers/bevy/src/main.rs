//! Draws a crowd that `throng crowd` printed with Bevy, and measures the frames.
//!
//! In: a model file, the JSON of `throng crowd`, and the settings of [`Options`]. Out: JSON with the time of each frame on
//! standard output, and the picture of the first frame if wanted.
//!
//! The scene is Throng's: the same placements, clips, start times, camera matrix, sun and flat ground. The ground has one
//! colour instead of a checkerboard, the sky is a clear colour, and ambient light has no direction. Bevy's settings are its
//! defaults, and characters are spawned and animated as in Bevy's example `many_foxes`. `README.md` in the folder above
//! lists the differences.

mod crowd;
mod frames;
mod options;
mod scene;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use bevy::app::PluginsState;
use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::render::renderer::RenderAdapterInfo;
use bevy::render::view::screenshot::{Captured, Screenshot, save_to_disk};
use bevy::time::TimeUpdateStrategy;
use bevy::window::ExitCondition;

use crowd::Crowd;
use frames::{FrameClock, FramePlugin};
use options::Options;
use scene::{Picture, Ready, ScenePlugin};

/// The step of the animation, which is that of `throng bench`.
const STEP: Duration = Duration::from_nanos(16_666_667);

/// The number of frames after which everything that has been spawned is drawn.
const FRAMES_TO_SETTLE: u32 = 4;

fn main() -> ExitCode {
    match Options::parse(std::env::args().skip(1)).and_then(|options| run(&options)) {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Draws the frames and returns the JSON of the measurement.
fn run(options: &Options) -> Result<serde_json::Value, String> {
    let crowd = Crowd::read(&options.crowd)?;
    let instances = crowd.instances.len();
    let clock = FrameClock::default();
    let mut app = App::new();
    app.add_plugins(
        DefaultPlugins
            .set(WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..default() })
            .set(AssetPlugin { file_path: options.model_folder()?, ..default() })
            // Otherwise the first frames leave out every mesh whose pipeline is not compiled yet.
            .set(RenderPlugin { synchronous_pipeline_compilation: true, ..default() }),
    )
    .add_plugins(FramePlugin { clock: clock.clone(), in_flight: options.in_flight })
    .add_plugins(ScenePlugin { crowd, options: options.clone() })
    .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::ZERO));

    // These steps are those of Bevy's `ScheduleRunnerPlugin`.
    while app.plugins_state() == PluginsState::Adding {
        bevy::tasks::tick_global_task_pools_on_main_thread();
    }
    app.finish();
    app.cleanup();

    // The animation stands still until all instances are there.
    while app.world().resource::<Ready>().0 < instances {
        app.update();
        if scene::has_failed(app.world()) {
            return Err(format!("Bevy cannot load {}", options.model.display()));
        }
    }
    if let Some(path) = &options.picture {
        // New instances are drawn one or two frames later.
        for _ in 0..FRAMES_TO_SETTLE {
            app.update();
        }
        take_picture(&mut app, path.clone());
    }
    app.insert_resource(TimeUpdateStrategy::ManualDuration(STEP));
    for _ in 0..options.warmup {
        app.update();
    }
    // The first of the measured intervals begins at the end of a frame.
    clock.restart();
    for _ in 0..=options.frames {
        app.update();
    }
    let frame_ms = clock.intervals_ms(options.frames);
    // The work must really have been done: the joints of all visible characters move from frame to frame.
    let (meshes, meshes_in_view) = scene::mesh_counts(app.world_mut());
    let before = scene::joints(app.world_mut());
    app.update();
    let moved = scene::joints(app.world_mut()).iter().zip(&before).filter(|(after, before)| after != before).count();
    let adapter = app.world().resource::<RenderAdapterInfo>();
    Ok(serde_json::json!({
        "program": "Bevy 0.20.1",
        "adapter": adapter.name,
        "driver": format!("{} {}", adapter.driver, adapter.driver_info),
        "device_type": format!("{:?}", adapter.device_type),
        "instances": instances,
        "meshes": meshes,
        "meshes_in_view": meshes_in_view,
        "joints": before.len(),
        "joints_moved_in_a_frame": moved,
        "median_ms": median(&frame_ms),
        "frame_ms": frame_ms,
    }))
}

/// Writes the picture of the camera's image.
fn take_picture(app: &mut App, path: PathBuf) {
    let image = app.world().resource::<Picture>().0.clone();
    app.world_mut().spawn(Screenshot::image(image)).observe(save_to_disk(path));
    // The image is read back asynchronously. Its entity is marked when the file has been written.
    let mut waiting = app.world_mut().query_filtered::<(), (With<Screenshot>, Without<Captured>)>();
    while waiting.iter(app.world()).next().is_some() {
        app.update();
    }
}

/// Returns the middle of the values, or the mean of the two in the middle.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        _ if sorted.is_empty() => f64::NAN,
        1 => sorted[middle],
        _ => 0.5 * (sorted[middle - 1] + sorted[middle]),
    }
}
