//! A contact sheet: one image of many small ones, each with a label.
//!
//! In: the arguments and the number of columns and rows. Out: an image with a cell for each model, for each of its clips if all are
//! wanted, or for each of evenly spaced times of its clip.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use image::imageops::replace;
use image::{ImageBuffer, Rgba, RgbaImage};

use crate::animation::PoseScratch;
use crate::app::aim::Shows;
use crate::app::gpu::{finish, offscreen_device, offscreen_renderer};
use crate::app::label::Labels;
use crate::app::output::progress_bar;
use crate::app::scene::Scene;
use crate::app::text::counted;
use crate::cli::files::named_files;
use crate::cli::{RenderArgs, SheetChoice, Size, WrongUsage};
use crate::crowd::{ClipChoice, Crowd, wrap_seconds};
use crate::model::text::printable;
use crate::retarget::first::jump_of;
use crate::view::Background;

/// The number of columns and rows of the times of a clip, if the sheet's is free.
const TIMES: Size = Size { width: 6, height: 4 };

struct Cell {
    label: String,
    /// The index of the clip; `None` for what the arguments ask for.
    clip: Option<usize>,
    time_seconds: f64,
}

/// Draws a sheet. Returns its size, its pixels and a text about it.
pub fn draw(args: &RenderArgs, choice: SheetChoice) -> Result<(Size, Vec<u8>, String)> {
    let mut scenes = Vec::new();
    let files: Vec<Vec<PathBuf>> = match &named_files(&args.crowd.models)[..] {
        [] => vec![Vec::new()],
        files => files.iter().map(|(path, _)| vec![path.clone()]).collect(),
    };
    for models in &files {
        let mut args = args.clone();
        args.crowd.models.clone_from(models);
        let scene = match Scene::load((&args).into()) {
            Err(error) if files.len() > 1 => {
                tracing::warn!("{error:#}; the other files are shown");
                continue;
            }
            loaded => loaded?,
        };
        let cells = cells(&scene, &args, files.len() > 1, choice);
        scenes.push((args, scene, cells));
    }
    let count = scenes.iter().map(|(_, _, cells)| cells.len()).sum::<usize>() as u32;
    ensure!(count > 0, "none of the files can be read");
    let grid = choice.unwrap_or_else(|| {
        // Cells are about as wide as high.
        let aspect = args.gpu.size.aspect();
        let columns = (1..count).find(|&columns| (columns * columns) as f32 >= count as f32 * aspect).unwrap_or(count);
        Size { width: columns, height: count.div_ceil(columns) }
    });
    let is_sequence = files.len() == 1 && args.crowd.clip != ClipChoice::All;
    let cell_size = Size { width: args.gpu.size.width / grid.width, height: args.gpu.size.height / grid.height };
    if cell_size.width == 0 || cell_size.height == 0 {
        let Size { width, height } = grid;
        bail!(WrongUsage(format!("--sheet {width}x{height}: the image has fewer pixels; use a larger --size")));
    }
    if count > grid.width * grid.height {
        tracing::warn!("--sheet has no room for {} of {count} pictures; `auto` has", count - grid.width * grid.height);
    }
    let size = Size { width: cell_size.width * grid.width, height: cell_size.height * grid.height };
    // Cells that are left over are dark.
    let empty = if args.crowd.look.background == Background::None { [0; 4] } else { [24, 24, 24, 255] };
    let mut sheet = RgbaImage::from_pixel(size.width, size.height, Rgba(empty));
    let device = offscreen_device(&args.gpu.device)?;
    let progress = progress_bar(count.into(), "rendering {wide_bar} {pos}/{len} {eta} left");
    let mut places = (0..grid.height).flat_map(|row| (0..grid.width).map(move |column| (row, column)));
    for (mut args, mut scene, cells) in scenes {
        args.gpu.size = cell_size;
        let mut renderer = offscreen_renderer(&device, &args.gpu, &mut scene)?;
        let mut labels = Labels::default();
        let instances = args.count.instances(&scene.models);
        for (cell, (row, column)) in cells.into_iter().zip(&mut places) {
            if let Some(clip) = cell.clip {
                args.crowd.clip = ClipChoice::Index(clip);
                scene.crowd =
                    Crowd::new(Arc::clone(&scene.models), &args.crowd.settings(instances, scene.models.len()))?;
            }
            if is_sequence {
                scene.frame_throughout(cell.time_seconds, false, cell_size.aspect());
            } else {
                scene.frame(Shows::Asked, cell.time_seconds, cell_size.aspect());
            }
            let time_seconds = match files.len() {
                1 => cell.time_seconds,
                _ => scene.time_with_something(cell.time_seconds, cell_size.aspect()),
            };
            labels.show(&cell.label, &mut renderer, [cell_size.width, cell_size.height])?;
            let pixels = scene.draw_picture(&mut renderer, time_seconds, args.fps)?;
            let picture = ImageBuffer::<Rgba<u8>, _>::from_raw(cell_size.width, cell_size.height, pixels);
            let (x, y) = (column * cell_size.width, row * cell_size.height);
            replace(&mut sheet, &picture.context("the picture is incomplete")?, x.into(), y.into());
            progress.inc(1);
        }
        finish(renderer)?;
    }
    progress.finish_and_clear();
    let shown = count.min(grid.width * grid.height);
    let pictures = counted(shown as usize, "picture");
    Ok((size, sheet.into_raw(), format!("{pictures} of {}x{} pixels", cell_size.width, cell_size.height)))
}

/// Returns the cells of a scene with one model.
fn cells(scene: &Scene, args: &RenderArgs, several: bool, choice: SheetChoice) -> Vec<Cell> {
    let (model, start) = (&scene.models[0], args.crowd.time);
    let with_name = |text: &str| if several { format!("{}: {text}", printable(&model.name)) } else { text.to_owned() };
    let is_still = model.clips.is_empty() || args.crowd.clip == ClipChoice::None;
    if args.crowd.clip == ClipChoice::All && !is_still {
        let clips = model.clips.iter().enumerate();
        return clips
            .map(|(index, clip)| {
                let name = clip.name.as_deref().map_or_else(|| format!("clip {index}"), printable);
                // Clips begin and end in poses that are much alike.
                let time_seconds = start + 0.5 * f64::from(clip.duration_seconds);
                Cell { label: with_name(&name), clip: Some(index), time_seconds }
            })
            .collect();
    }
    if several || is_still {
        return vec![Cell { label: printable(&model.name), clip: None, time_seconds: start }];
    }
    let Size { width, height } = choice.unwrap_or(TIMES);
    let count = width * height;
    let loop_seconds = scene.crowd.loop_seconds().unwrap_or(1.0);
    let clip = args.crowd.clip.index_in(model).and_then(|index| model.clips.get(index));
    // The end of a clip that repeats would look like its beginning.
    let repeats = clip.is_none_or(|clip| jump_of(model, clip, &mut PoseScratch::for_model(model)).is_small);
    let steps = if repeats { count } else { count.max(2) - 1 };
    // And one that does not repeat would begin again after its end.
    let [first, last] =
        if repeats { [start, start + loop_seconds] } else { [wrap_seconds(start, loop_seconds), loop_seconds] };
    (0..count)
        .map(|number| {
            let t = f64::from(number) / f64::from(steps);
            let time_seconds = (1.0 - t) * first + t * last;
            Cell { label: format!("{time_seconds:.2} s"), clip: None, time_seconds }
        })
        .collect()
}
