//! `--fit`: finds the largest crowd whose median frame stays below a limit.
//!
//! In: the combinations of the lists. Out: a row of the session for each of them. The number of instances doubles until the
//! crowd is too slow or too large for memory, then it is bisected. One renderer draws a few frames of each crowd.

use anyhow::Result;
use indicatif::ProgressBar;

use super::report::{Bound, median_of};
use super::session::Session;
use super::sweep::{self, Settings, Share};
use crate::app::text::counted;
use crate::cli::SweepArgs;
use crate::crowd::MAX_INSTANCES;
use crate::renderer::UploadPath;

/// The aim, as a share of the limit: a few frames have less exact medians than the final measurement.
const AIM: f64 = 0.97;
/// The search ends if the range is at most this share of the crowd.
const PRECISION: f64 = 0.01;
/// The frames of a crowd of the search.
const SHARE: Share = Share { first_frame: 0, frames: 9, warmup: 2 };

/// Adds the largest crowd for each combination of the lists.
pub(super) fn add_rows(session: &mut Session<'_>, limit_ms: f64) -> Result<()> {
    let args = session.args;
    let sweep = SweepArgs { instances: vec![1], ..args.sweep.clone() };
    let progress = ProgressBar::new_spinner();
    for settings in sweep::rows(&sweep, UploadPath::best_for(&session.device.physical)) {
        let (instances, bound) = largest(MAX_INSTANCES, |instances| {
            progress.set_message(format!("looking for the largest crowd: {}", counted(instances as usize, "instance")));
            progress.tick();
            let settings = Settings { instances, ..settings };
            session.scenes.clear();
            if session.check_memory(settings)?.is_err() {
                return Ok(Some(Bound::Memory));
            }
            let turn = session.turn(settings, SHARE, false)?;
            Ok((median_of(turn.frames_ms) >= AIM * limit_ms).then_some(Bound::Time))
        })?;
        // Its buffers are those of larger crowds.
        session.kept = None;
        session.scenes.clear();
        session.add(Settings { instances, ..settings }, Some((limit_ms, bound)));
    }
    progress.finish_and_clear();
    Ok(())
}

/// Returns the largest crowd of at most `most` instances that is fast enough, and the reason why it is not larger. If none
/// is, returns a crowd of one. `bound_of` tries a number of instances, and returns the reason if they are too many.
pub fn largest(most: u32, mut bound_of: impl FnMut(u32) -> Result<Option<Bound>>) -> Result<(u32, Bound)> {
    let mut fast = 0;
    let (mut above, mut reason) = loop {
        if fast == most {
            return Ok((most, Bound::MostInstances));
        }
        let next = fast.saturating_mul(2).clamp(1, most);
        match bound_of(next)? {
            None => fast = next,
            Some(Bound::Time) if fast == 0 => return Ok((1, Bound::OneIsTooSlow)),
            Some(bound) if fast == 0 => return Ok((1, bound)),
            Some(bound) => break (next, bound),
        }
    };
    while above - fast > 1 && f64::from(above - fast) > PRECISION * f64::from(fast) {
        let middle = fast + (above - fast) / 2;
        match bound_of(middle)? {
            None => fast = middle,
            Some(bound) => (above, reason) = (middle, bound),
        }
    }
    Ok((fast, reason))
}
