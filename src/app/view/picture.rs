//! Pictures that `view` writes: screenshots, and the image that stands in for a window. Neither replaces a file that a
//! person may want to keep.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::app::gpu::{finish, offscreen_renderer};
use crate::app::output::{print, write_file, write_new_file};
use crate::app::render::encode_png;
use crate::app::view::state::State;
use crate::cli::Size;
use crate::renderer::Renderer;

/// Writes the last frame, which was captured, to `throng-1.png` or the next free name. Returns the path.
///
/// # Errors
/// The window's images cannot be read, or the system refuses to write.
pub fn write_screenshot(renderer: &mut Renderer) -> Result<PathBuf> {
    let extent = renderer.image_extent().context("nothing was drawn yet")?;
    let pixels = renderer.wait_for_pixels()?;
    ensure!(!pixels.is_empty(), "the images of this window cannot be read; `throng render` writes images");
    let png = encode_png(pixels, Size { width: extent.width, height: extent.height })?;
    write_new_file(&png, |number| PathBuf::from(format!("throng-{}.png", number + 1)))
}

/// Writes one image instead of a window, to `--out`, or to `throng.png` or the next free name. Says why and where.
///
/// # Errors
/// Rendering or writing fails.
pub fn write_instead_of_window(state: &mut State, reason: &str) -> Result<()> {
    let State { args, scene, clock, .. } = state;
    let size = args.gpu.size;
    let mut renderer = offscreen_renderer(&args.gpu, scene, 1)?;
    scene.draw(&mut renderer, clock.time_seconds(), size.aspect(), true)?;
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
    print(&format!(
        "No display could be opened ({reason}), so here is one image instead of a window: {}\n`throng render` renders \
         more images; `throng --help` lists all commands.\n",
        std::fs::canonicalize(&path).unwrap_or(path).display()
    ))?;
    finish(renderer)
}
