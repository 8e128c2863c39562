//! `--fit` on a real machine: each crowd of the search is a row of the session, and the last one of each combination stays.

use anyhow::Result;
use indicatif::ProgressBar;

use super::fit::{Effort, Machine, largest};
use super::samples::Samples;
use super::session::{Row, Session};
use super::sweep::{self, Settings, Share};
use crate::app::gpu::offscreen_device;
use crate::app::text::counted;
use crate::cli::SweepArgs;
use crate::crowd::MAX_INSTANCES;

/// The frames of a quick measurement, and those before them.
const QUICK: Share = Share { first_frame: 0, frames: 5, warmup: 2, most_ms: None };

/// One combination of the lists, whose crowds are measured.
struct Crowds<'s, 'a> {
    session: &'s mut Session<'a>,
    settings: Settings,
    /// The first row of this combination: the number of finished combinations.
    first_row: usize,
}

/// Finds the largest crowd for each combination of the lists. The session then has a row for each of them.
///
/// # Errors
/// A crowd cannot be created or drawn, not even one instance fits into memory, or the user interrupts. The rows of
/// finished combinations stay.
pub(super) fn measure(session: &mut Session<'_>, limit_ms: f64) -> Result<()> {
    let args = session.args;
    // A search measures many crowds, and the copies would take most of its time.
    session.copies_once = true;
    let sweep = SweepArgs { instances: vec![1], ..args.sweep.clone() };
    for settings in sweep::rows(&sweep, args.quality, session.defaults()) {
        let first_row = session.rows.len();
        session.progress = ProgressBar::new_spinner();
        let mut crowds = Crowds { session, settings, first_row };
        let found = largest(limit_ms, MAX_INSTANCES, &mut crowds);
        session.progress.finish_and_clear();
        match found {
            Ok(found) => {
                session.rows.iter_mut().skip(first_row).for_each(|row| row.planned.fit = Some((limit_ms, found.bound)))
            }
            Err(error) => {
                session.rows.truncate(first_row);
                return Err(error);
            }
        }
    }
    Ok(())
}

impl Machine for Crowds<'_, '_> {
    type Error = anyhow::Error;

    fn holds(&mut self, instances: u32) -> Result<bool> {
        self.session.forget_crowds();
        let device = offscreen_device(&self.session.args.device)?;
        match self.session.plan(&device, Settings { instances, ..self.settings })? {
            Ok(_) => Ok(true),
            // There is no smaller crowd.
            Err(error) if instances == 1 => Err(error),
            Err(_) => Ok(false),
        }
    }

    fn frame_ms(&mut self, instances: u32, effort: Effort) -> Result<f64> {
        let settings = Settings { instances, ..self.settings };
        self.session
            .progress
            .set_message(format!("looking for the largest crowd: {}", counted(instances as usize, "instance")));
        self.session.progress.tick();
        self.session.forget_crowds();
        let device = offscreen_device(&self.session.args.device)?;
        let planned = self.session.plan(&device, settings)??;
        drop(device);
        // The last row of full effort stays.
        self.session.rows.truncate(self.first_row);
        self.session.rows.push(Row { settings, planned, samples: Samples::default(), failure: None });
        let rounds = match effort {
            Effort::Quick => vec![QUICK],
            Effort::Full => sweep::rounds(self.session.args.frames, self.session.args.warmup),
        };
        self.session.measure(&[self.first_row], &rounds, effort == Effort::Full)?;
        match self.session.rows.last_mut() {
            Some(Row { failure, .. }) if failure.is_some() => failure.take().map_or(Ok(0.0), Err),
            row => Ok(row.map_or(0.0, |row| row.samples.median_ms())),
        }
    }
}
