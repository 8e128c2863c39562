//! The commands of the program. All other folders are a library for this one.
//!
//! Functions return the errors of the layers below, and [`run`] returns them to `main`. Only errors that a caller tells apart
//! are documented.

pub mod advice;
pub mod aim;
pub mod bench;
mod colors;
mod crowd;
mod devices;
pub mod export;
mod fact;
mod gpu;
pub mod hide;
pub mod inspect;
pub mod joint;
mod label;
pub mod models;
pub mod morphs;
mod output;
pub mod paint;
mod pose;
pub mod rebuild;
pub mod render;
pub mod scene;
mod shell;
pub mod text;
pub mod view;

use std::process::ExitCode;

use anyhow::Result;

use crate::cli::{Cli, Command};

/// Runs the command. The exit code tells a success from a measurement whose result is a failure.
pub fn run(cli: Cli) -> Result<ExitCode> {
    match cli.command.unwrap_or(Command::View(cli.view)) {
        Command::View(args) => view::run(&args),
        Command::Render(args) => render::run(&args),
        Command::Bench(args) => return bench::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Pose(args) => pose::run(&args),
        Command::Crowd(args) => crowd::run(&args),
        Command::Devices { json } => devices::run(json),
        Command::Completions { shell } => shell::completions(shell),
        Command::Man { command } => shell::man(command.as_deref()),
    }?;
    Ok(ExitCode::SUCCESS)
}
