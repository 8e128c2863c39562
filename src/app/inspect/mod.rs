//! `inspect`: the contents of a model file.
//!
//! [`facts`] derives everything from the imported [`Model`](crate::model::Model), without a GPU. The facts are the JSON for
//! programs, and the page for people is made from them. No function recurses on the node tree and indentation has a limit, so a
//! hostile chain of nodes prints in bounded width.

#![forbid(unsafe_code)]

mod facts;

use anyhow::Result;

pub use facts::facts;

use super::fact::page;
use super::output::{print, print_json};
use super::scene::load_model;
use super::text::page_columns;
use crate::cli::InspectArgs;
use crate::levels;
use crate::model::Model;

/// Runs the command.
///
/// # Errors
/// The file cannot be loaded, or standard output cannot be written.
pub fn run(args: &InspectArgs) -> Result<()> {
    let mut model = load_model(args.model.as_ref(), &args.file_scene)?;
    if args.levels {
        levels::build(&mut model);
    }
    if args.json {
        print_json(&facts(&model, args.levels), true)
    } else {
        print(&report(&model, args.levels, page_columns()))
    }
}

/// Describes a model on a page of this width.
#[must_use]
pub fn report(model: &Model, with_levels: bool, columns: u16) -> String {
    page(&facts(model, with_levels), columns)
}
