//! `view`: shows the crowd in a window.
//!
//! Without a display (on a server, in a container) the command renders one image instead, so that a newcomer's first
//! command always shows something.
//!
//! Reading order: [`state`] is everything that a person controls, with its [`clock`]; [`window`] turns events into
//! actions and draws; `cli::keys` is the table of keys; [`mod@pointer`] is the mouse and the keys that are held; [`hud`] is the
//! panel, which changes the state; [`desk`] gives it [`words`], the files of the [`library`] and the largest crowd, and
//! builds renderers for changed options; [`title`] is for the title bar; [`picture`] writes screenshots; [`watch`] notices changed
//! files, and `shaders` compiles changed shaders.
//!
//! Invariant: a window that is paused and untouched draws nothing and waits for events.

#![cfg_attr(not(feature = "shaderc"), forbid(unsafe_code))]

mod clock;
mod desk;
mod hud;
mod library;
mod picture;
mod pointer;
#[cfg(feature = "shaderc")]
mod shaders;
mod state;
mod title;
mod watch;
mod window;
mod words;

use anyhow::{Context, Result};
use winit::error::EventLoopError;
use winit::event_loop::EventLoop;

use crate::cli::ViewArgs;
use state::State;
use window::Viewer;

/// Runs the command.
///
/// # Errors
/// Loading or rendering fails.
pub fn run(args: &ViewArgs) -> Result<()> {
    let mut state = State::new(args)?;
    match EventLoop::new() {
        Ok(event_loop) => {
            let mut viewer = Viewer::new(state);
            event_loop.run_app(&mut viewer).context("the window system failed")?;
            viewer.finish()
        }
        Err(error) => picture::write_instead_of_window(&mut state, &reason(&error)),
    }
}

/// Returns why there is no event loop. winit's message is "os error at FILE:LINE: REASON.".
fn reason(error: &EventLoopError) -> String {
    let text = error.to_string();
    let reason = text.split_once(": ").map_or(text.as_str(), |(_, reason)| reason);
    reason.trim_end_matches('.').to_owned()
}
