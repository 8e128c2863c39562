//! The frames to draw, and the time and the camera of each.
//!
//! Both depend only on the frame's number in the whole sequence, and never on the part that is drawn.

use std::f64::consts::TAU;
use std::ops::Range;

use crate::cli::{FrameChoice, MOST_FRAMES, RenderArgs};

/// The length of a film in seconds, if neither the command line nor the animation says otherwise.
const TYPICAL_SECONDS: f64 = 4.0;
/// An animation that takes longer is not shown as a whole by default.
pub(super) const MOST_SECONDS: f64 = 20.0;

#[derive(Debug, Clone, PartialEq)]
pub struct Sequence {
    pub frames: Range<u32>,
    fps: f64,
    /// Frames in which the camera goes around once. `None`: it stands still.
    round: Option<u32>,
    pub start_seconds: f64,
}

impl Sequence {
    /// Returns the requested frames of an animation that repeats after `loop_seconds`. Without `--frames`, a film and a
    /// turntable last for as many whole loops as come near to four seconds.
    pub fn new(args: &RenderArgs, is_film: bool, loop_seconds: Option<f64>) -> Self {
        let whole = whole_loops(loop_seconds, args.fps);
        let round = args.turntable.map(|round| match (round, args.frames) {
            (Some(round), _) | (None, Some(FrameChoice::Count(round))) => round,
            (None, _) => whole,
        });
        let frames = match args.frames {
            Some(FrameChoice::Count(count)) => 0..count,
            Some(FrameChoice::Part { first, end }) => first..end,
            None if is_film => 0..round.unwrap_or(whole),
            None => 0..round.unwrap_or(1),
        };
        Self { frames, fps: args.fps, round, start_seconds: args.crowd.time }
    }

    pub fn time_seconds(&self, frame: u32) -> f64 {
        self.start_seconds + f64::from(frame) / self.fps
    }

    /// Returns the angle by which the camera has gone around the crowd. The frame after the last one would be the first.
    pub fn yaw_radians(&self, frame: u32) -> f32 {
        self.round.map_or(0.0, |round| (f64::from(frame % round) / f64::from(round) * TAU) as f32)
    }
}

/// Returns the number of frames that show whole loops of the animation.
fn whole_loops(loop_seconds: Option<f64>, fps: f64) -> u32 {
    let seconds = match loop_seconds {
        Some(once) if once <= MOST_SECONDS => (TYPICAL_SECONDS / once).round().max(1.0) * once,
        _ => TYPICAL_SECONDS,
    };
    // The conversion saturates.
    ((seconds * fps).round() as u32).clamp(1, MOST_FRAMES)
}
