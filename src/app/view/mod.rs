//! `view`: shows the crowd in a window.
//!
//! Without a display (on a server, in a container) it renders one image, so that a newcomer's first command shows something.
//!
//! Reading order: [`state`] is everything that a person controls, with its [`clock`] and the camera's [`moves`]; [`window`]
//! turns events into actions and draws; `cli::keys` is the table of keys; [`mod@pointer`] is the mouse and the keys that are
//! held; [`hud`] is the panel, which changes the state; [`desk`] gives it [`words`], the files of the [`library`] and the
//! largest crowd, and builds renderers for changed options; [`picture`] draws what `render` would; [`watch`] notices changed
//! files, and `shaders` compiles changed shaders. `mapped` reads from an X server whether the window is shown.
//!
//! Invariant: a window in which nothing moves, and which nobody touches, only waits for events. A hidden window does the same.

#![cfg_attr(not(feature = "shaderc"), forbid(unsafe_code))]

mod actions;
pub mod clock;
mod desk;
pub mod hud;
pub mod library;
#[cfg(target_os = "linux")]
mod mapped;
pub mod moves;
mod picture;
pub mod pointer;
#[cfg(feature = "shaderc")]
mod shaders;
pub mod state;
pub mod watch;
mod window;
mod words;

use std::path::PathBuf;

use anyhow::{Context, Result};
use winit::error::EventLoopError;
use winit::event_loop::EventLoop;

use super::advice::{WINDOW, how_to_install};
use super::gpu::{finish, offscreen_device, offscreen_renderer};
use super::output::{print, write_file, write_new_file};
use super::render::encode_png;
use crate::cli::ViewArgs;
use state::State;
use window::Viewer;

pub fn run(args: &ViewArgs) -> Result<()> {
    let mut state = State::new(args)?;
    match EventLoop::new() {
        Ok(event_loop) => {
            if args.out.is_some() {
                tracing::warn!(
                    "there is a display, so --out writes nothing: P in the window writes a picture, and `throng render` needs no \
                     window"
                );
            }
            let mut viewer = Viewer::new(state);
            event_loop.run_app(&mut viewer).context("the window system failed")?;
            viewer.finish()
        }
        Err(error) => write_instead_of_window(&mut state, &reason(&error)),
    }
}

/// Returns why there is no event loop. winit's message is "os error at FILE:LINE: REASON.".
fn reason(error: &EventLoopError) -> String {
    let text = error.to_string();
    let reason = text.split_once(": ").map_or(text.as_str(), |(_, reason)| reason);
    reason.trim_end_matches('.').to_owned()
}

/// Writes one image instead of a window, to `--out`, or to `throng.png` or the next free name. Says why and where.
fn write_instead_of_window(state: &mut State, reason: &str) -> Result<()> {
    let State { args, scene, clock, .. } = state;
    let size = args.gpu.size;
    let mut renderer = offscreen_renderer(&offscreen_device(&args.gpu.device)?, &args.gpu, scene)?;
    scene.draw(&mut renderer, clock.time_seconds(), true)?;
    let png = encode_png(renderer.wait_for_pixels()?, size)?;
    let path = match &args.out {
        Some(path) => {
            write_file(path, &png)?;
            path.clone()
        }
        None => write_new_file(&png, |number| match number {
            0 => PathBuf::from("throng.png"),
            number => PathBuf::from(format!("throng-{number}.png")),
        })?,
    };
    let hint =
        if reason.contains("lib") { format!("For a window, {}.\n", how_to_install(WINDOW)) } else { String::new() };
    print(format!(
        "No display could be opened ({reason}), so here is one image instead of a window: {}\n{hint}`throng render` renders \
         more images; `throng --help` lists all commands.\n",
        std::fs::canonicalize(&path).unwrap_or(path).display()
    ))?;
    finish(renderer)
}
