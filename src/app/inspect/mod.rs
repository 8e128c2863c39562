//! `inspect`: the contents of a model file.
//!
//! [`facts`] derives everything from the imported [`Model`], without a GPU. The facts are the JSON for
//! programs, and the page for people is made from them. [`skeleton`] has what moves, and [`surface`] what is drawn. No function
//! recurses on the node tree and indentation has a limit, so a hostile chain of nodes prints in bounded width.

#![forbid(unsafe_code)]

pub mod odd;
mod skeleton;
mod surface;

use std::path::PathBuf;

use anyhow::Result;

use self::odd::{odd_things, summary};
use self::skeleton::{clips, morph_targets, nodes, roles, scenes, skins};
use self::surface::{bytes_per_instance, geometry, images, levels, material, static_bytes};
use super::advice::in_one_line;
use super::fact::{Fact, page};
use super::joint::joints;
use super::models::{load_model, set_in_motion};
use super::output::{print, print_json};
use super::text::{columns_or, counted, paragraph};
use crate::cli::InspectArgs;
use crate::crowd::ClipChoice;
use crate::measure::{PosedBounds, rest_box};
use crate::model::{ExtensionSupport, Model};
use crate::retarget::bare::is_bare;
use crate::retarget::humanoid_of;
use crate::retarget::together::are_parts;

/// The width of a page that is not written to a terminal: it fits the usual one.
const NARROW_COLUMNS: u16 = 80;

pub fn run(args: &InspectArgs) -> Result<()> {
    if args.models.len() > 1 {
        return compare(args);
    }
    let model = load(args.models.first(), args)?;
    if args.json {
        print_json(&facts(&model, args.levels), true)
    } else {
        print(report(&model, args.levels, columns_or(NARROW_COLUMNS)))
    }
}

/// Prints a line for each file. Those that cannot be read do not hide the others.
fn compare(args: &InspectArgs) -> Result<()> {
    let (mut models, mut errors) = (Vec::new(), Vec::new());
    for path in &args.models {
        match load(Some(path), args) {
            Ok(model) => models.push(if args.json { facts(&model, args.levels) } else { row(&model) }),
            Err(error) => errors.push(error),
        }
    }
    if args.json {
        print_json(&Fact::List(models), true)?;
    } else {
        print(page(&Fact::from([("files", Fact::List(models))]), columns_or(NARROW_COLUMNS)).trim_start())?;
    }
    let count = counted(errors.len(), "file");
    let mut errors = errors.into_iter();
    let Some(first) = errors.next() else { return Ok(()) };
    for error in errors {
        tracing::warn!("{}", in_one_line(&error));
    }
    Err(first.context(format!("{count} cannot be read")))
}

fn load(path: Option<&PathBuf>, args: &InspectArgs) -> Result<Model> {
    let mut model = load_model(path, &args.clips)?;
    if args.levels {
        // Those of the moving character that the other commands draw.
        let mut drawn = model.clone();
        set_in_motion(&mut drawn, &ClipChoice::All)?;
        crate::levels::build(&mut drawn);
        model.geometry.coarser_levels = drawn.geometry.coarser_levels;
    }
    Ok(model)
}

/// Returns the line of a file in a table of several.
fn row(model: &Model) -> Fact {
    let height = rest_box(model).map(|bounds| bounds.max.y - bounds.min.y);
    Fact::from([
        ("name", model.name.as_str().into()),
        ("bytes", model.source.bytes.into()),
        ("height", height.into()),
        ("triangles", model.geometry.triangle_count().into()),
        ("joints", joints(model).len().into()),
        ("clips", model.clips.len().into()),
        ("morph_targets", model.morph_weight_count().into()),
        ("images", model.images.len().into()),
        ("warnings", model.warnings.len().into()),
    ])
}

/// Describes a model on a page of this width: what is asked first, what is odd, and then everything.
pub fn report(model: &Model, with_levels: bool, columns: u16) -> String {
    let Fact::Object(facts) = facts(model, with_levels) else { return String::new() };
    let (first, rest) = facts.into_iter().partition(|(key, _)| ["odd", "warnings"].contains(key));
    let [first, rest] = [first, rest].map(|facts| page(&Fact::Object(facts), columns));
    format!("{}{first}\n{rest}", paragraph(columns, &summary(model, rest_box(model).as_ref())))
}

/// Returns the contents of a model, with its levels of detail on request. Scenes, skins and clips are listed by glTF index.
pub fn facts(model: &Model, with_levels: bool) -> Fact {
    let bounds = rest_box(model);
    let height = bounds.map(|bounds| bounds.max.y - bounds.min.y);
    let odd = odd_things(model, bounds.as_ref());
    let source = &model.source;
    let (roles_from, roles) = roles(model);
    let bounds = bounds.map_or(Fact::Absent, |PosedBounds { min, max }| {
        let [min, max] = [min, max].map(|corner| (corner + source.origin).to_array().into());
        Fact::from([("min", min), ("max", max), ("height", height.into())])
    });
    let contents = Fact::from([
        ("nodes", model.skeleton.len().into()),
        ("joints", joints(model).len().into()),
        ("skins", model.skins.len().into()),
        ("clips", model.clips.len().into()),
        ("morph_targets", model.morph_weight_count().into()),
        ("materials", model.materials.len().into()),
        ("images", model.images.len().into()),
        ("extensions", source.extensions.len().into()),
        ("warnings", model.warnings.len().into()),
    ]);
    let file = Fact::from([
        // Of the file and of all files that it refers to.
        ("bytes", source.bytes.into()),
        ("generator", source.generator.as_deref().into()),
        ("copyright", source.copyright.as_deref().into()),
    ]);
    // The page has a line for each fact, then a table for each list, in this order: what is asked first comes first.
    let mut facts = vec![
        ("model", model.name.as_str().into()),
        ("shown_as", shown_as(model).into()),
        ("humanoid", roles_from.as_deref().into()),
        // In metres, the unit of glTF. +Y is up.
        ("bounds", bounds),
        ("contents", contents),
        ("file", file),
        ("attributes", source.attributes.iter().map(String::as_str).collect()),
        // The number of joint matrices of a pose.
        ("palette", model.palette.len().into()),
        ("bytes_per_instance", bytes_per_instance(model)),
        ("static_bytes", static_bytes(model)),
        // What is odd about the model, though it is no fault of the file.
        ("odd", odd.iter().map(String::as_str).collect()),
        ("warnings", model.warnings.iter().map(String::as_str).collect()),
    ];
    if with_levels {
        facts.push(("levels", levels(model, height.filter(|&height| height > 0.0))));
    }
    facts.extend([
        ("clips", clips(model)),
        ("geometry", geometry(model)),
        ("materials", model.materials.iter().map(material).collect()),
        ("images", images(model)),
        ("morph_targets", morph_targets(model)),
        ("extensions", extensions(model)),
        ("skins", skins(model)),
        ("scenes", scenes(model)),
        ("cameras", source.cameras.iter().map(|camera| camera.name.as_deref()).collect::<Fact>()),
        ("lights", source.lights.iter().map(Option::as_deref).collect()),
        ("roles", roles),
        ("nodes", nodes(model)),
    ]);
    Fact::Object(facts)
}

/// Returns how a file is shown that has no mesh, no clips, or parts of one take.
fn shown_as(model: &Model) -> Option<&'static str> {
    let clips = &model.clips;
    Some(match (is_bare(model), humanoid_of(model).is_some()) {
        (true, true) => {
            "a skeleton with clips and no mesh: its clips play on the bundled character, and with --clips on others"
        }
        (true, false) => "a skeleton with clips and no mesh: its joints are drawn as bones",
        (false, true) if clips.is_empty() => "a body that borrows the clips of the bundled character",
        (false, _) if are_parts(clips) => "all clips together, because each moves another part",
        _ => return None,
    })
}

fn extensions(model: &Model) -> Fact {
    let facts = model.source.extensions.iter().map(|extension| {
        let support = match extension.support {
            ExtensionSupport::Honoured => "honoured",
            ExtensionSupport::NotDrawn => "not drawn",
            ExtensionSupport::Ignored => "ignored",
        };
        [("name", extension.name.as_str().into()), ("required", extension.required.into()), ("support", support.into())]
    });
    facts.collect()
}
