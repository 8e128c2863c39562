//! Draws a crowd offscreen as `throng render` does, with renderer settings that the command line does not offer.

use std::path::PathBuf;
use std::sync::Arc;

use ash::vk;
use clap::Parser;
use throng::app::scene::Scene;
use throng::cli::{Cli, Command, RenderArgs};
use throng::model::{Model, import};
use throng::renderer::{Output, Renderer, RendererSettings};
use throng::vulkan::device::Device;

pub fn asset(name: &str) -> Model {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name);
    import::load(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Parses `throng render OPTIONS`. The models come from [`scene`], and the file name is unused.
pub fn arguments(options: &str) -> RenderArgs {
    let line = ["throng", "render", "--out", "unused.png"].into_iter().chain(options.split_whitespace());
    match Cli::try_parse_from(line).map(|cli| cli.command) {
        Ok(Some(Command::Render(args))) => args,
        other => panic!("{options}: {other:?}"),
    }
}

/// Returns the crowd of these models that `options` describe.
pub fn scene(models: &[Model], options: &str) -> Scene {
    let args = arguments(options);
    Scene::new(Arc::from(models), (&args).into()).unwrap_or_else(|error| panic!("{options}: {error}"))
}

pub fn renderer(device: &Arc<Device>, models: &[Model], extent: vk::Extent2D, settings: RendererSettings) -> Renderer {
    let output = Output::offscreen(device, extent).expect("an offscreen output");
    Renderer::new(device, models, output, settings).unwrap_or_else(|error| panic!("{settings:?}: {error}"))
}
