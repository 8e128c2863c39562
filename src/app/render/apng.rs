//! Animated PNG: all frames in one file, repeated forever.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result};
use png::{BitDepth, ColorType, Encoder, Writer};
use tempfile::TempPath;

use crate::app::output::{cannot_write, new_draft};
use crate::cli::Size;

/// A film that is being written, and the name of its file until it is complete.
pub(super) type Film = (Writer<File>, TempPath);

/// Starts a film of this many frames. Each is shown for a number of seconds: numerator, denominator.
pub(super) fn start(path: &Path, size: Size, frame_count: u32, delay: (u16, u16)) -> Result<Film> {
    let failed = || cannot_write(path);
    let (file, draft) = new_draft(path)?;
    let mut encoder = Encoder::new(file, size.width, size.height);
    encoder.set_color(ColorType::Rgba);
    encoder.set_depth(BitDepth::Eight);
    // 0 repeats forever.
    encoder.set_animated(frame_count, 0).with_context(failed)?;
    encoder.set_frame_delay(delay.0, delay.1).with_context(failed)?;
    Ok((encoder.write_header().with_context(failed)?, draft))
}

/// Returns the time between frames in seconds, as the fraction that is nearest to 1 / `fps`. `None` if the format has none
/// that is near.
pub fn delay(fps: f64) -> Option<(u16, u16)> {
    const MOST: f64 = u16::MAX as f64;
    if !(0.001..=MOST).contains(&fps) {
        return None;
    }
    // The smallest fraction whose error is far below a frame in an hour, or the best one.
    let error = |numerator: f64| ((numerator * fps).round() / fps / numerator - 1.0).abs();
    let candidates =
        || (1..=u16::MAX).map(f64::from).filter(|numerator| (1.0..=MOST).contains(&(numerator * fps).round()));
    let best = candidates().min_by(|&a, &b| error(a).total_cmp(&error(b)))?;
    let numerator = candidates().find(|&numerator| error(numerator) < 1e-9).unwrap_or(best);
    Some((numerator as u16, (numerator * fps).round() as u16))
}
