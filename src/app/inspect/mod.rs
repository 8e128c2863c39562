//! What is in a model: all that somebody wants to know before using one, for people ([`report`]) and for programs
//! ([`Facts`], as JSON).
//!
//! Both say the same: `facts` works everything out from the imported [`Model`](crate::model::Model) alone (no file and no GPU is touched),
//! and `sections` puts that into words. Nothing recurses on the node tree, and deep trees stop being indented, so that
//! a hostile chain of nodes prints in bounded width. In the text names are shortened and made fit for a terminal; the
//! JSON has them as they are. It is written as it is serialised: the facts of a large file are never there twice.

mod clip_facts;
mod facts;
mod geometry_facts;
mod sections;
mod table;

use std::io::{BufWriter, Write};

use anyhow::{Context, Result};

pub use facts::Facts;
pub use sections::report;
pub(super) use table::{PAGE_COLUMNS, counted, name, wrapped};

use super::scene::load_model;
use crate::cli::InspectArgs;

/// Runs the command.
///
/// # Errors
/// If the file cannot be loaded, or standard output cannot be written to.
pub fn run(args: &InspectArgs) -> Result<()> {
    let model = load_model(args.model.as_ref(), &args.scene)?;
    if !args.json {
        return super::print(&report(&model));
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    serde_json::to_writer_pretty(&mut out, &Facts::of(&model))
        .map_err(std::io::Error::from)
        .and_then(|()| writeln!(out).and_then(|()| out.flush()))
        // A reader that has gone away (`throng inspect … --json | head`) is no error.
        .or_else(|error| if error.kind() == std::io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
        .context("cannot write to standard output")
}
