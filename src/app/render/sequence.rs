//! The frames to draw, and the time and the camera of each.
//!
//! Both depend only on the frame's number in the whole sequence, and never on the part that is drawn.

use std::f64::consts::TAU;
use std::ops::Range;

use crate::cli::{FrameChoice, MOST_FRAMES};

/// The length of a film in seconds, if neither the command line nor the animation says otherwise.
const TYPICAL_SECONDS: f64 = 4.0;
/// An animation that takes longer is not shown as a whole by default.
const MOST_SECONDS: f64 = 20.0;

/// The frames to draw.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sequence {
    frames: Range<u32>,
    /// Frames in which the camera goes around once. `None`: it stands still.
    round: Option<u32>,
    start_seconds: f64,
    fps: f64,
}

/// The options that decide about the frames.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    /// The value of `--frames`.
    pub frames: Option<FrameChoice>,
    /// The value of `--turntable`. `Some(None)`: without a number.
    pub turntable: Option<Option<u32>>,
    /// The time of frame 0.
    pub start_seconds: f64,
    /// Frames for each second.
    pub fps: f64,
    /// Whether all frames go to one file.
    pub is_film: bool,
    /// The time after which the animation repeats.
    pub loop_seconds: Option<f64>,
}

impl Sequence {
    /// Returns the requested frames. Without `--frames`, a film and a turntable last for as many whole loops of the animation
    /// as come near to four seconds.
    pub fn new(request: Request) -> Self {
        let Request { frames, turntable, start_seconds, fps, is_film, loop_seconds } = request;
        let whole = whole_loops(loop_seconds, fps);
        let round = turntable.map(|round| match (round, frames) {
            (Some(round), _) | (None, Some(FrameChoice::Count(round))) => round,
            (None, _) => whole,
        });
        let frames = match frames {
            Some(FrameChoice::Count(count)) => 0..count,
            Some(FrameChoice::Part { first, end }) => first..end,
            None if is_film => 0..round.unwrap_or(whole),
            None => 0..round.unwrap_or(1),
        };
        Self { frames, round, start_seconds, fps }
    }

    /// Returns the numbers of the frames.
    pub fn frames(&self) -> Range<u32> {
        self.frames.clone()
    }

    /// Returns the number of frames for each second.
    pub fn fps(&self) -> f64 {
        self.fps
    }

    /// Returns the time of a frame in seconds.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A request for one image.
    const IMAGE: Request =
        Request { frames: None, turntable: None, start_seconds: 0.0, fps: 30.0, is_film: false, loop_seconds: None };

    #[test]
    fn a_part_has_the_times_and_cameras_of_the_whole() {
        let later = Request { start_seconds: 1.0, fps: 24.0, ..IMAGE };
        let whole = Sequence::new(Request { frames: Some(FrameChoice::Count(60)), turntable: Some(None), ..later });
        let part = FrameChoice::Part { first: 20, end: 30 };
        let part = Sequence::new(Request { frames: Some(part), turntable: Some(Some(60)), ..later });
        assert_eq!(part.frames(), 20..30);
        for frame in part.frames() {
            assert_eq!(part.time_seconds(frame), whole.time_seconds(frame));
            assert_eq!(part.yaw_radians(frame), whole.yaw_radians(frame));
        }
        assert_eq!(whole.time_seconds(24), 2.0);
    }

    #[test]
    fn a_turntable_goes_around_once() {
        let half = std::f32::consts::PI;
        let turntable = |turntable, frames| Sequence::new(Request { turntable, frames, ..IMAGE });
        let sixty = turntable(Some(None), Some(FrameChoice::Count(60)));
        assert_eq!(sixty.frames(), 0..60);
        assert_eq!([0, 30, 60].map(|frame| sixty.yaw_radians(frame)), [0.0, half, 0.0]);
        // The round is independent of the part.
        let part = Some(FrameChoice::Part { first: 2, end: 5 });
        assert_eq!(turntable(Some(Some(8)), part).yaw_radians(4), half);
        assert_eq!(turntable(Some(None), part).yaw_radians(60), half);
        assert_eq!(turntable(Some(Some(8)), None).frames(), 0..8);
        assert_eq!(turntable(None, Some(FrameChoice::Count(60))).yaw_radians(30), 0.0);
    }

    #[test]
    fn films_show_whole_loops() {
        let count = |loop_seconds| Sequence::new(Request { is_film: true, loop_seconds, ..IMAGE }).frames().len();
        assert_eq!(Sequence::new(Request { loop_seconds: Some(1.5), ..IMAGE }).frames(), 0..1);
        assert_eq!(count(None), 120);
        // 4 / 1.5 is nearest to three loops of 45 frames.
        assert_eq!(count(Some(1.5)), 135);
        assert_eq!(count(Some(10.0)), 300);
        assert_eq!(count(Some(1000.0)), 120);
        assert_eq!(count(Some(1e-6)), 120);
        let turntable = Request { turntable: Some(None), ..IMAGE };
        assert_eq!(Sequence::new(Request { loop_seconds: Some(1.5), ..turntable }).frames(), 0..135);
        assert_eq!(Sequence::new(Request { fps: 1e-6, ..turntable }).frames(), 0..1);
        assert_eq!(Sequence::new(Request { fps: 1e9, ..turntable }).frames(), 0..MOST_FRAMES);
    }
}
