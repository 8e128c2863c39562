//! How far levels of detail are from the truth: `cargo bench --bench truth -- ERRORS RENDER_OPTIONS...`
//!
//! For example `cargo bench --bench truth -- 1,2 Fox.glb --instances 300 --clip all --msaa 1 --shadows off`. The table has a
//! row for full detail and for each of the errors, in pixels: the mean FLIP to the truth (`tests/common/truth.rs`), and the
//! time of a frame; both also compared with full detail.

#[path = "../tests/common/flip.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod flip;
#[path = "../tests/common/truth.rs"]
mod truth;

use anyhow::{Result, bail};
use clap::Parser;
use throng::app::scene::Scene;
use throng::cli::{Cli, Command};
use throng::vulkan::device::Device;
use throng::vulkan::instance::{Instance, InstanceOptions};
use throng::vulkan::physical_device::PhysicalDevice;

/// Each setting is drawn this many times, all of them in turns.
const ROUNDS: usize = 3;

fn main() -> Result<()> {
    let mut options: Vec<String> = std::env::args().skip(1).filter(|option| option != "--bench").collect();
    if options.is_empty() {
        bail!("expected a list of errors in pixels and the options of throng render");
    }
    let mut errors = vec![0.0];
    for error in options.remove(0).split(',') {
        errors.push(error.parse()?);
    }
    let line = ["throng", "render", "--out", "unused.png"].map(str::to_owned).into_iter().chain(options);
    let Some(Command::Render(args)) = Cli::try_parse_from(line)?.command else { bail!("expected options of render") };
    let instance = Instance::new(InstanceOptions { validation: false, surface_extensions: &[] })?;
    let physical = PhysicalDevice::choose(&instance, args.gpu.device.device.as_deref(), None)?;
    let device = Device::new(&instance, physical, false)?;
    let mut scene = Scene::load((&args).into())?;
    let settings = truth::settings(&device, &mut scene, &args, &errors, ROUNDS)?;
    let full = &settings[0];
    println!("| lod error | mean FLIP | of full detail | frame | of full detail |\n|---|---|---|---|---|");
    for setting in &settings {
        let (flip, seconds) = (setting.mean_flip, setting.frame_seconds);
        println!(
            "| {} | {flip:.4} | {:.3} | {:.1} ms | {:.2} |",
            setting.lod_error,
            flip / full.mean_flip,
            1e3 * seconds,
            seconds / full.frame_seconds
        );
    }
    Ok(())
}
