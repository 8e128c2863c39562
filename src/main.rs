//! Parse, dispatch, print the error chain, fix the exit code.

use std::process::ExitCode;

use clap::Parser;
use throng::app;
use throng::cli::Cli;
use throng::vulkan::instance::SUBMIT_VALIDATION_VARIABLE;

fn main() -> ExitCode {
    // clap ends the process with code 2 on wrong usage, with 0 after --help.
    let cli = Cli::parse();
    let (variable, value) = SUBMIT_VALIDATION_VARIABLE;
    if app::wants_validation(&cli) && std::env::var_os(variable).is_none() {
        // SAFETY: no other thread exists yet.
        unsafe { std::env::set_var(variable, value) };
    }
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::WARN)
        .with_writer(std::io::stderr)
        .without_time()
        .with_target(false)
        .init();
    match app::run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            for cause in error.chain().skip(1) {
                eprintln!("  caused by: {cause}");
            }
            ExitCode::FAILURE
        }
    }
}
