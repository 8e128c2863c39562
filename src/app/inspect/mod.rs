//! `inspect`: the contents of a model file, for people ([`report`]) and for programs ([`Facts`], as JSON).
//!
//! Both say the same: `facts` derives everything from the imported [`Model`](crate::model::Model), without a GPU, and
//! `sections` puts it into words. No function recurses on the node tree and indentation has a limit, so a hostile chain
//! of nodes prints in bounded width. The text shortens names and escapes what a terminal would obey; the JSON keeps
//! them. JSON is written while it is serialised, so the facts of a large file are never in memory twice.

#![forbid(unsafe_code)]

mod bounds_facts;
mod clip_facts;
mod facts;
mod geometry_facts;
mod level_facts;
mod sections;

use anyhow::Result;

pub use facts::Facts;
pub use sections::report;

use super::output::{print, print_json};
use super::scene::load_model;
use super::text::page_columns;
use crate::cli::InspectArgs;
use crate::levels;

/// Runs the command.
///
/// # Errors
/// The file cannot be loaded, or standard output cannot be written.
pub fn run(args: &InspectArgs) -> Result<()> {
    let mut model = load_model(args.model.as_ref(), &args.file_scene)?;
    if args.levels {
        levels::build(&mut model);
    }
    let facts = Facts::of(&model, args.levels);
    if args.json { print_json(&facts, true) } else { print(&report(&facts, page_columns())) }
}
