//! Parses the command line, runs the command, prints the error chain and sets the exit code.

// No input from a file, a driver or a user may end the program.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{IsTerminal, stderr};
use std::process::ExitCode;

use clap::Parser;
use throng::app;
use throng::cli::{Cli, WrongUsage};
use throng::model::text::printable;
use throng::vulkan::instance::prepare_validation;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;

const WRONG_USAGE: u8 = 2;

fn main() -> ExitCode {
    let arguments = Cli::with_switch_values(std::env::args_os().collect());
    if let Some(message) = Cli::wrong_command(&arguments) {
        eprintln!("error: {message}");
        return ExitCode::from(WRONG_USAGE);
    }
    let wants_validation = arguments.iter().any(|argument| argument == "--validation");
    // clap exits with WRONG_USAGE, or with 0 after --help.
    let cli = Cli::parse_from(arguments);
    if wants_validation {
        // SAFETY: no other thread exists yet.
        unsafe { prepare_validation() };
    }
    show_warnings();
    match app::run(cli) {
        Ok(code) => code,
        Err(error) => {
            // One line per cause, even if a file or a driver put line breaks into it.
            eprintln!("error: {}", printable(&error.to_string()));
            for cause in error.chain().skip(1) {
                eprintln!("  caused by: {}", printable(&cause.to_string()));
            }
            if let Some(advice) = app::advice::advice(&error) {
                eprintln!("  advice: {advice}");
            }
            if error.is::<WrongUsage>() { ExitCode::from(WRONG_USAGE) } else { ExitCode::FAILURE }
        }
    }
}

/// Writes our warnings to standard error, in colour on a terminal. Other crates show errors only: their warnings help no user.
fn show_warnings() {
    let wanted = Targets::new().with_target("throng", LevelFilter::WARN).with_default(LevelFilter::ERROR);
    tracing_subscriber::fmt()
        .with_writer(stderr)
        .with_ansi(stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()))
        .without_time()
        .with_target(false)
        .finish()
        .with(wanted)
        .init();
}
