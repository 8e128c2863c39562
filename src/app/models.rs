//! The models of the command line, with the clips of other files.
//!
//! In: paths. Out: models that move: with their own clips, those of `--clips`, or else of the bundled character or an exercise.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Error, Result};
use glam::Affine3A;
use rayon::prelude::*;

use super::hide::hide;
use super::morphs::hold_morphs;
use super::text::counted;
use crate::animation::{PoseScratch, apply_bind_pose, joint_matrices, mirrored_by_clips, pose_model};
use crate::cli::files::named_files;
use crate::cli::{ClipArgs, CrowdArgs, RootMotion, ShowArgs};
use crate::crowd::ClipChoice;
use crate::levels;
use crate::model::{JOIN, Model, TOGETHER, import};
use crate::retarget::bare::{add_bones, is_bare};
use crate::retarget::exercise::EXERCISE;
use crate::retarget::together::{are_parts, join};
use crate::retarget::{borrow_clips, exercise, first_clips, humanoid_of, keep_in_place};

const BUNDLED: (&str, &[u8]) = ("walker.glb", include_bytes!("../../assets/walker.glb"));

/// Loads the files, or the bundled character if there are none, as the options show them, and builds their levels of
/// detail. Warnings go to standard error.
pub fn load_models(args: &CrowdArgs) -> Result<Arc<[Model]>> {
    let CrowdArgs { models: paths, hide: hidden, clips, clip, morphs, root_motion, show, .. } = args;
    let mut models = load_files(paths, clips)?;
    for model in models.iter_mut().filter(|model| is_bare(model)) {
        embody(model)?;
    }
    hide(&mut models, hidden)?;
    add_clips(&mut models, clips)?;
    if !show.bind_pose {
        models.iter_mut().try_for_each(|model| set_in_motion(model, clip))?;
    }
    if *root_motion != Some(RootMotion::Keep) {
        models.par_iter_mut().for_each(keep_in_place);
    }
    hold_morphs(&mut models, morphs)?;
    models.par_iter_mut().for_each(|model| {
        apply(show, model);
        model.geometry.leave_out_unused();
        levels::build(model);
    });
    for model in &models {
        for warning in &model.warnings {
            tracing::warn!("{}: {warning}", model.name);
        }
    }
    Ok(models.into())
}

/// Changes a model so that it stops at the stage of `--stage`, or stays in the bind pose.
pub fn apply(show: &ShowArgs, model: &mut Model) {
    if show.bind_pose {
        apply_bind_pose(model);
    }
    show.stage.apply(model);
    blend_joints(show.dual_quaternions, model);
}

/// Chooses how the joints of a model are blended. If joints mirror, matrices are: a dual quaternion has no mirror image.
pub fn blend_joints(dual_quaternions: bool, model: &mut Model) {
    if !dual_quaternions {
        return;
    }
    let mut scratch = PoseScratch::for_model(model);
    let rest = pose_model(model, None, 0.0, &mut scratch).model_from_node;
    let mut matrices = joint_matrices(&model.palette, rest).map(Affine3A::from);
    let mirrors = matrices.any(|matrix| matrix.matrix3.determinant() < 0.0) || mirrored_by_clips(model).contains(&true);
    if mirrors {
        model.warnings.push("some joints mirror, which dual quaternions cannot; matrices are blended".to_owned());
    }
    model.geometry.with_dual_quaternions = !mirrors;
}

/// Loads one file, or the bundled character, with the clips of other files.
pub fn load_model(path: Option<&PathBuf>, clips: &ClipArgs) -> Result<Model> {
    let mut model = load_file(path, clips)?;
    add_clips(std::slice::from_mut(&mut model), clips)?;
    Ok(model)
}

/// Loads the named files, or the bundled character if there are none. Of several files, those that cannot be read are warnings.
fn load_files(arguments: &[PathBuf], clips: &ClipArgs) -> Result<Vec<Model>> {
    if arguments.is_empty() {
        return Ok(vec![load_file(None, clips)?]);
    }
    let (mut models, mut errors) = (Vec::new(), Vec::new());
    for (path, casting) in named_files(arguments) {
        match load_file(Some(&path), clips) {
            Ok(mut model) => {
                model.source.casting = casting;
                models.push(model);
            }
            Err(error) => errors.push(error),
        }
    }
    if models.is_empty() && !errors.is_empty() {
        return Err(errors.swap_remove(0));
    }
    for error in errors {
        tracing::warn!("{error:#}; the other files are shown");
    }
    Ok(models)
}

fn load_file(path: Option<&PathBuf>, clips: &ClipArgs) -> Result<Model> {
    let scene = clips.scene.clone().unwrap_or_default();
    Ok(match path {
        None => import::load_glb_scene(BUNDLED.0, BUNDLED.1, &scene)?,
        // Its skeleton is that of the clips, for which a scene is not needed.
        Some(path) if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("vrma")) => import::load_clips(path)?,
        Some(path) => import::load_scene(path, &scene)?,
    })
}

/// Gives a skeleton with nothing but clips a body: a humanoid's clips play on the bundled character, others get bones.
pub fn embody(model: &mut Model) -> Result<()> {
    let mut body = import::load_glb(BUNDLED.0, BUNDLED.1)?;
    body.clips.clear();
    let how = if humanoid_of(model).is_some() && borrow_clips(&mut body, model).is_ok() {
        body.clips.iter_mut().for_each(|clip| clip.file = None);
        let (name, source) = (std::mem::take(&mut model.name), std::mem::take(&mut model.source));
        let warnings = std::mem::take(&mut model.warnings);
        *model = Model { name, source, warnings, ..body };
        "its clips play on the bundled character"
    } else {
        add_bones(model);
        "its joints are drawn as bones"
    };
    model.warnings.retain(|warning| !warning.ends_with("shows nothing"));
    model.warnings.push(format!("it is a skeleton with clips and no mesh; {how}"));
    Ok(())
}

/// Adds the clips of files to each model that they fit.
fn add_clips(models: &mut [Model], clips: &ClipArgs) -> Result<()> {
    for path in &clips.files {
        let source = import::load_unpainted(path).or_else(|_| import::load_clips(path))?;
        let tried: Vec<_> = models.par_iter_mut().map(|model| borrow_clips(model, &source)).collect();
        if let Some(Err(no_fit)) = tried.iter().find(|tried| tried.is_err())
            && tried.iter().all(Result::is_err)
        {
            return Err(Error::new(no_fit.clone())).with_context(|| format!("--clips {}", path.display()));
        }
        for (model, tried) in models.iter_mut().zip(tried) {
            let sentences = tried.map_or_else(|no_fit| vec![no_fit.to_string()], |borrowed| borrowed.warnings);
            model.warnings.extend(sentences.into_iter().map(|sentence| format!("{}: {sentence}", source.name)));
        }
    }
    Ok(())
}

/// Returns the clips that a text such as `Walk+Blink` names.
pub fn parts_in(model: &Model, text: &str) -> Option<Vec<usize>> {
    let choice = |part: &str| part.parse().map_or_else(|_| ClipChoice::Name(part.to_owned()), ClipChoice::Index);
    let find = |part: &str| choice(part.trim()).index_in(model);
    text.contains(JOIN).then(|| text.split(JOIN).map(find).collect()).flatten()
}

/// Returns the choice of clips that are played together: by their names where these say which they are.
pub fn choice_of(model: &Model, parts: &[usize]) -> ClipChoice {
    let text = |&part: &usize| {
        let name = model.clips.get(part).and_then(|clip| clip.name.clone());
        let is_clear =
            |name: &String| !name.contains(JOIN) && ClipChoice::Name(name.clone()).index_in(model) == Some(part);
        name.filter(|name| is_clear(name) && name.parse::<usize>().is_err()).unwrap_or_else(|| part.to_string())
    };
    match parts {
        [] => ClipChoice::None,
        [one] => ClipChoice::Index(*one),
        _ => ClipChoice::Name(parts.iter().map(text).collect::<Vec<_>>().join(&JOIN.to_string())),
    }
}

/// Adds a clip that is made for the user: the exercise, several clips together (`Walk+Blink`), or all of them.
pub fn add_wanted(model: &mut Model, wanted: &ClipChoice) {
    let ClipChoice::Name(name) = wanted else { return };
    if model.clips.iter().any(|clip| clip.name.as_ref() == Some(name)) {
        return;
    }
    let parts = match &**name {
        EXERCISE => return model.clips.extend(exercise(model)),
        TOGETHER => Some((0..model.clips.len()).collect()),
        name => parts_in(model, name),
    };
    if let Some(parts) = parts.filter(|parts| !parts.is_empty()) {
        let (clip, replaced) = join(model, &parts, name);
        if replaced > 0 {
            let tracks = counted(replaced, "track");
            model.warnings.push(format!("clip {name:?}: {tracks} of earlier clips give way to those of later ones"));
        }
        model.clips.push(clip);
    }
}

/// Gives a model that has a skeleton and no clips those of the bundled character, or an exercise, unless the user wants the
/// rest pose. Also adds the clip that the user asks for.
pub fn set_in_motion(model: &mut Model, wanted: &ClipChoice) -> Result<()> {
    if are_parts(&model.clips) {
        let all: Vec<usize> = (0..model.clips.len()).collect();
        model.clips.push(join(model, &all, TOGETHER).0);
        model.first_clips = vec![all.len() as u32];
    } else {
        model.first_clips = first_clips(model);
    }
    add_wanted(model, wanted);
    if !model.clips.is_empty() || *wanted == ClipChoice::None {
        return Ok(());
    }
    let how = "--clips FILE adds others, and --clip none shows the rest pose";
    if humanoid_of(model).is_some() {
        let walker = import::load_glb(BUNDLED.0, BUNDLED.1)?;
        if borrow_clips(model, &walker).is_ok() {
            model.first_clips = first_clips(model);
            model.warnings.push(format!("it has no clips and borrows those of the bundled character; {how}"));
            return Ok(());
        }
    }
    if let Some(clip) = exercise(model) {
        model.clips.push(clip);
        model.warnings.push(format!("it has no clips; the clip {EXERCISE:?} turns each joint; {how}"));
    }
    Ok(())
}
