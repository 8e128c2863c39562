//! `pose`: one instance at given times, in numbers that can be compared with another implementation.
//!
//! Matrices come from the same functions that feed the palette. Positions are skinned by the CPU twin or, with
//! `--on gpu`, by `skin.comp` and read back from the transient vertex buffer. Times are not wrapped. With `--out` the posed mesh is
//! written for other programs; then a crowd repeats its clips.

#![forbid(unsafe_code)]

mod matrices;
mod report;
mod skinner;

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use glam::Vec3;

use self::report::{ClipReport, PoseReport, Primitives, by_source_node, evaluate};
use self::skinner::Skinner;
use super::export::PosedScene;
use super::gpu::finish;
use super::hide::hide;
use super::models::{blend_joints, embody, load_model, set_in_motion};
use super::morphs::hold_morphs;
use super::output::{FileName, check_folder_of, print, print_json};
use super::scene::{Scene, SceneOptions};
use super::text::page_columns;
use crate::cli::{MeshFile, PoseArgs, PrintCrowdArgs, WrongUsage};
use crate::crowd::ClipChoice;
use crate::model::humanoid::turn_round;
use crate::model::{Clip, Model};
use crate::retarget::bare::is_bare;

pub fn run(args: &PoseArgs) -> Result<()> {
    if let Some((path, _)) = &args.out {
        check_folder_of(path)?;
    }
    if let (Some(instances), Some(out)) = (args.instances, &args.out) {
        return write_crowd(&args.as_crowd(instances), &args.time, out);
    }
    let mut model = load_model(args.model.as_ref(), &args.clips)?;
    if args.out.is_some() && is_bare(&model) {
        embody(&mut model)?;
    }
    hide(std::slice::from_mut(&mut model), &args.hide)?;
    // A mesh is posed as a picture shows it, and numbers are those of the file.
    let shown = args.out.is_some().then_some(&ClipChoice::Auto);
    let wanted = args.clip.as_ref().or(shown);
    if let Some(wanted) = wanted {
        set_in_motion(&mut model, wanted)?;
    }
    hold_morphs(std::slice::from_mut(&mut model), &args.morphs)?;
    blend_joints(args.dual_quaternions, &mut model);
    // The numbers are those of the file, so that other programs have the same.
    let is_turned = model.humanoid.as_ref().is_some_and(|humanoid| humanoid.is_turned());
    if is_turned {
        turn_round(&mut model.skeleton, &mut model.clips);
        model.source.origin *= Vec3::new(-1.0, 1.0, -1.0);
    }
    for warning in &model.warnings {
        tracing::warn!("{}: {warning}", model.name);
    }
    let chosen = choose_clip(&model, wanted)?;
    let clip = chosen.map(|(_, clip)| clip);
    let mut skinner = Skinner::new(args, &model, clip)?;
    let mut at = |time_seconds: f64| evaluate(&model, clip, time_seconds, &mut skinner);
    let frames = args.time.iter().map(|&time_seconds| {
        let before = args.motion_seconds.map(|seconds| at(time_seconds - seconds)).transpose()?;
        let mut frame = at(time_seconds)?;
        frame.primitives.note_ways_since(before.map(|before| before.primitives));
        Ok(frame)
    });
    let frames = frames.collect::<Result<Vec<_>>>()?;
    if let Skinner::Gpu { renderer, .. } = skinner {
        finish(renderer)?;
    }
    let clip = chosen.map(|(index, clip)| ClipReport {
        index,
        name: clip.name.clone(),
        file: clip.file.as_deref().map(str::to_owned),
        duration: f64::from(clip.duration_seconds),
    });
    let on = if args.on_gpu { "gpu" } else { "cpu" };
    let names = model.skeleton.names.iter().map(String::as_str);
    let (name, node_names) = (model.name.clone(), by_source_node(&model, names.map(Some)));
    let origin_in_pictures = Some(model.source.origin.to_array()).filter(|origin| *origin != [0.0; 3]);
    let report =
        PoseReport { model: name, clip, on, turned_in_pictures: is_turned, origin_in_pictures, node_names, frames };
    if args.json {
        print_json(&report, false)?;
    } else if args.out.is_none() {
        print(matrices::as_text(&model, &report, page_columns()))?;
    }
    let Some(out) = &args.out else { return Ok(()) };
    let primitives = report.frames.into_iter().map(|frame| frame.primitives);
    let scene = |Primitives { posed, origin, .. }| Ok(PosedScene::of_model(posed, origin, is_turned));
    write_all(out, primitives.map(scene))
}

fn write_crowd(args: &PrintCrowdArgs, times_seconds: &[f64], out: &MeshFile) -> Result<()> {
    let PrintCrowdArgs { crowd, count, size } = args;
    // Nothing is drawn, so the levels of detail do not matter.
    let mut scene = Scene::load(SceneOptions { crowd, count: *count, size: *size, lod_error: 0.0 })?;
    let models = Arc::clone(&scene.models);
    let scenes = times_seconds.iter().map(|&time_seconds| {
        scene.crowd.move_to(time_seconds);
        PosedScene::of_crowd(&models, &scene.crowd, time_seconds, args.crowd.speed)
    });
    write_all(out, scenes)
}

/// Writes a file for each scene. Each is posed when the one before it has been written.
fn write_all<'m>(
    (path, format): &MeshFile,
    scenes: impl ExactSizeIterator<Item = Result<PosedScene<'m>>>,
) -> Result<()> {
    let name = FileName::new(path)?.numbered(scenes.len());
    for (number, scene) in (0..).zip(scenes) {
        print(format!("{}\n", scene?.write(&(name.of_frame(number), *format))?))?;
    }
    Ok(())
}

fn choose_clip<'m>(model: &'m Model, wanted: Option<&ClipChoice>) -> Result<Option<(usize, &'m Clip)>> {
    let choice = match wanted {
        None => return Ok(model.clips.first().map(|clip| (0, clip))),
        Some(ClipChoice::None) => return Ok(None),
        Some(ClipChoice::Auto) if model.clips.is_empty() => return Ok(None),
        Some(ClipChoice::All) => {
            bail!(WrongUsage("--clip all: pose shows one clip; use --clip NAME, INDEX or none".to_owned()))
        }
        Some(choice) => choice,
    };
    let clip = choice.index_in(model).and_then(|index| Some((index, model.clips.get(index)?)));
    clip.map(Some).with_context(|| {
        format!("{} has no such clip; it has: none, {}", model.name, choice.offers(std::slice::from_ref(model)))
    })
}
