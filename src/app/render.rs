//! `render`: writes one image, or a sequence of images, to PNG files.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::gpu::{finish, offscreen_renderer};
use super::output::{cannot_write, print, progress_bar, write_file};
use super::scene::Scene;
use crate::cli::{RenderArgs, Size};
use crate::renderer::Renderer;

/// Runs the command.
///
/// # Errors
/// Loading, rendering or writing fails.
pub fn run(args: &RenderArgs) -> Result<()> {
    let pattern = OutputPattern::new(&args.out, args.frames)?;
    let mut scene = Scene::load(&args.crowd, args.count, args.gpu.size.aspect())?;
    let mut renderer = offscreen_renderer(&args.gpu, &mut scene, 1)?;
    let progress = progress_bar(args.frames.into(), "rendering {wide_bar} {pos}/{len} {eta} left");
    for frame in 0..args.frames {
        let time_seconds = args.crowd.time + f64::from(frame) / args.fps;
        draw_to_file(&mut scene, &mut renderer, time_seconds, args.gpu.size, &pattern.path(frame))?;
        progress.inc(1);
    }
    progress.finish_and_clear();
    let visible: u32 = scene.crowd.visible_counts().iter().sum();
    print(&format!(
        "{}: {} of {} instances visible, {}, {} skinning, {} upload\n",
        args.out.display(),
        visible,
        args.count.instances,
        renderer.device().physical.name,
        args.gpu.skinning.name(),
        renderer.upload_path().name(),
    ))?;
    finish(renderer)
}

/// Draws one frame and writes it as a PNG.
///
/// # Errors
/// Rendering or writing fails.
pub fn draw_to_file(
    scene: &mut Scene,
    renderer: &mut Renderer,
    time_seconds: f64,
    size: Size,
    path: &Path,
) -> Result<()> {
    scene.draw(renderer, time_seconds, size.aspect(), true)?;
    write_png(path, renderer.wait_for_pixels()?, size)
}

fn write_png(path: &Path, rgba: &[u8], size: Size) -> Result<()> {
    let mut png = Vec::new();
    let encoder = image::codecs::png::PngEncoder::new(&mut png);
    image::ImageEncoder::write_image(encoder, rgba, size.width, size.height, image::ExtendedColorType::Rgba8)
        .with_context(|| cannot_write(path))?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).with_context(|| cannot_write(path))?;
    }
    write_file(path, &png)
}

/// The value of `--out`, split at the frame's number.
#[derive(Debug)]
struct OutputPattern {
    before: String,
    /// The number of digits, or `None` for a single file.
    digits: Option<usize>,
    after: String,
}

impl OutputPattern {
    fn new(out: &Path, frames: u32) -> Result<Self> {
        const MOST_DIGITS: usize = 9;
        let text = out.to_str().with_context(|| format!("--out {}: the name is not Unicode", out.display()))?;
        let split = text.split_once('%').and_then(|(before, rest)| {
            let (digits, after) = rest.split_once('d')?;
            let digits = if digits.is_empty() { 1 } else { digits.parse().ok().filter(|&n| n <= MOST_DIGITS)? };
            Some(Self { before: before.to_owned(), digits: Some(digits), after: after.to_owned() })
        });
        match split {
            Some(pattern) => Ok(pattern),
            None if frames > 1 => {
                bail!("--out {text}: {frames} frames need a number in the name, such as frame_%04d.png")
            }
            None => Ok(Self { before: text.to_owned(), digits: None, after: String::new() }),
        }
    }

    fn path(&self, frame: u32) -> PathBuf {
        match self.digits {
            None => PathBuf::from(&self.before),
            Some(digits) => format!("{}{frame:0digits$}{}", self.before, self.after).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_numbered() {
        let pattern = OutputPattern::new(Path::new("out/fox_%04d.png"), 100).unwrap();
        assert_eq!(pattern.path(7), Path::new("out/fox_0007.png"));
        assert_eq!(OutputPattern::new(Path::new("a%d"), 2).unwrap().path(12), Path::new("a12"));
        assert_eq!(OutputPattern::new(Path::new("a.png"), 1).unwrap().path(0), Path::new("a.png"));
        let error = OutputPattern::new(Path::new("a.png"), 2).unwrap_err();
        assert!(error.to_string().contains("frame_%04d.png"), "{error}");
        // A percent sign alone stands for itself.
        assert_eq!(OutputPattern::new(Path::new("100%.png"), 1).unwrap().path(0), Path::new("100%.png"));
    }
}
