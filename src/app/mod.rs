//! The commands: what a person sees of the program. Everything else is a library to this folder.

pub mod bench;
pub mod devices;
pub mod gpu;
pub mod inspect;
mod output;
pub mod pose;
pub mod render;
pub mod scene;
pub mod view;

use std::io::Write;

use anyhow::{Context, Result};

use crate::cli::{Cli, Command};

/// Runs the command.
///
/// # Errors
/// Whatever went wrong, as a chain of causes.
pub fn run(cli: Cli) -> Result<()> {
    match cli.command.unwrap_or(Command::View(cli.view)) {
        Command::View(args) => view::run(&args),
        Command::Render(args) => render::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Pose(args) => pose::run(&args),
        Command::Devices(args) => devices::run(&args),
    }
}

/// Whether the command line asks for validation: `main` must know before anything else happens.
#[must_use]
pub fn wants_validation(cli: &Cli) -> bool {
    match &cli.command {
        None => cli.view.gpu.device.validation,
        Some(Command::View(args)) => args.gpu.device.validation,
        Some(Command::Render(args)) => args.gpu.device.validation,
        Some(Command::Bench(args)) => args.device.validation,
        Some(Command::Pose(args)) => args.device.validation,
        Some(Command::Inspect(_) | Command::Devices(_)) => false,
    }
}

/// Prints to standard output. A reader that has gone away (`throng inspect … | head`) is no error.
fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}
