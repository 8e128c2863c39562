//! Whether a difference between two runs counts.
//!
//! In: the median of each round of both runs, and the machine's yardstick in both. Out: faster, slower, or no change.
//!
//! A ratio of medians counts only if it is outside of the range that is *explained* without a change of the program:
//!
//! * **Rounds.** Within a run, rounds differ because the machine does. The slowest round of one run against the fastest
//!   of the other one is a difference that no change caused. Ranges do not shrink with more frames, and neither does a
//!   machine's drift.
//! * **The machine.** A fixed amount of arithmetic took longer or shorter in one run. Frames that share memory and
//!   processors with others may lose more than arithmetic does, so twice this change (squared, as a ratio) is explained.
//! * **The process.** Two processes of one program place their memory differently and get different neighbours. So a
//!   few percent are always explained.
//!
//! Differences below the clock's resolution and samples of a few frames never count.

use super::report::Run;
use super::summary::{Summary, median_of};

/// Smaller differences come from the clock and the scheduler.
const RESOLUTION_MS: f64 = 0.02;
/// Medians of fewer frames are meaningless.
const FEWEST_FRAMES: u32 = 8;
/// The ratio by which two processes of one program differ on a steady machine.
const PROCESSES: f64 = 1.05;

/// The verdict on a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Faster,
    Slower,
    None,
    TooFewFrames,
}

impl Change {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::None => "no change",
            Self::TooFewFrames => "too few frames",
        }
    }
}

/// A time in the rounds of a run, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rounds {
    /// The median of all frames.
    pub(super) median: f64,
    /// The lowest and the highest median of a round.
    low: f64,
    high: f64,
    frames: u32,
}

impl Rounds {
    /// Returns the time with this name. The quartiles stand in for the rounds of older files.
    pub(super) fn of(run: &Run, name: &str, all: &Summary) -> Self {
        let medians: Vec<f64> = run.turns.iter().filter_map(|turn| turn.median_ms.get(name).copied()).collect();
        let (low, high) = match medians.len() {
            0 | 1 => all.middle_half(),
            _ => (
                medians.iter().copied().fold(f64::INFINITY, f64::min),
                medians.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            ),
        };
        // Rounds of different sizes may all lie on one side of the median of all frames.
        Self { median: all.median, low: low.min(all.median), high: high.max(all.median), frames: run.frames }
    }
}

/// The ratios of frame times that the machine explains: its own change, in both directions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Machine {
    low: f64,
    high: f64,
}

impl Machine {
    /// Compares the yardsticks of two rows. A file without them explains nothing.
    pub(super) fn between(old: &Run, new: &Run) -> Self {
        let work = |run: &Run| median_of(run.turns.iter().map(|turn| turn.work_ms).collect());
        let (old, new) = (work(old), work(new));
        let ratio = if old > 0.0 && new > 0.0 { new / old } else { 1.0 };
        Self { low: ratio.powi(2).min(1.0), high: ratio.powi(2).max(1.0) }
    }
}

/// A time in two runs, and the machine's change.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evidence {
    pub(super) old: Rounds,
    pub(super) new: Rounds,
    pub(super) machine: Machine,
}

impl Evidence {
    /// Returns the ratio of the medians: above 1 is slower.
    pub(super) fn ratio(&self) -> f64 {
        ratio(self.new.median, self.old.median)
    }

    /// Returns the lowest and the highest ratio that is explained without a change of the program.
    pub(super) fn explained(&self) -> (f64, f64) {
        let Self { old, new, machine } = self;
        // The new run is unchanged if one of its rounds could be a round of the old run.
        let spread = |rounds: &Rounds| (ratio(rounds.low, rounds.median), ratio(rounds.high, rounds.median));
        let ((old_low, old_high), (new_low, new_high)) = (spread(old), spread(new));
        (machine.low * ratio(old_low, new_high) / PROCESSES, machine.high * ratio(old_high, new_low) * PROCESSES)
    }

    pub(super) fn change(&self) -> Change {
        if self.old.frames.min(self.new.frames) < FEWEST_FRAMES {
            return Change::TooFewFrames;
        }
        let (low, high) = self.explained();
        if (self.new.median - self.old.median).abs() < RESOLUTION_MS {
            Change::None
        } else if self.ratio() < low {
            Change::Faster
        } else if self.ratio() > high {
            Change::Slower
        } else {
            Change::None
        }
    }
}

/// Returns a ratio of times, 1 if both are zero.
fn ratio(of: f64, to: f64) -> f64 {
    /// A clock's tick.
    const TICK_MS: f64 = 1e-6;
    of.max(TICK_MS) / to.max(TICK_MS)
}

#[cfg(test)]
mod tests {
    use super::super::report::TurnReport;
    use super::super::testing::run;
    use super::*;

    /// Returns a row whose rounds have these medians.
    fn measured(medians: [f64; 6], work_ms: f64) -> Run {
        let mut run = run(100, "compute");
        let turn = |ms| TurnReport { median_ms: [("frame".to_owned(), ms)].into(), work_ms, frames_ms: vec![ms] };
        run.turns = medians.map(turn).to_vec();
        run.frame_ms = Summary::new(medians.to_vec());
        run
    }

    fn change(old: &Run, new: &Run) -> Change {
        let rounds = |run: &Run| Rounds::of(run, "frame", &run.frame_ms);
        Evidence { old: rounds(old), new: rounds(new), machine: Machine::between(old, new) }.change()
    }

    const CALM: [f64; 6] = [10.0, 10.1, 9.9, 10.0, 10.1, 9.9];

    #[test]
    fn a_difference_counts_if_nothing_else_explains_it() {
        let scaled = |factor: f64, work_ms| measured(CALM.map(|ms| ms * factor), work_ms);
        let old = scaled(1.0, 10.0);
        for (new, expected) in [
            (scaled(1.0, 10.0), Change::None),
            // A few percent are what processes differ by.
            (scaled(1.06, 10.0), Change::None),
            (scaled(0.95, 10.0), Change::None),
            (scaled(1.1, 10.0), Change::Slower),
            (scaled(0.9, 10.0), Change::Faster),
            // The machine is slower, too.
            (scaled(1.3, 13.0), Change::None),
            (scaled(1.3, 12.0), Change::None),
            (scaled(2.0, 13.0), Change::Slower),
            // The program is faster although the machine is slower.
            (scaled(0.9, 13.0), Change::Faster),
        ] {
            assert_eq!(change(&old, &new), expected, "{:?} at work {}", new.frame_ms.median, new.turns[0].work_ms);
        }
    }

    #[test]
    fn rounds_that_vary_need_a_larger_difference() {
        let old = measured([10.0, 14.0, 9.0, 10.0, 11.0, 13.0], 10.0);
        assert_eq!(change(&old, &measured(CALM.map(|ms| ms * 1.2), 10.0)), Change::None);
        assert_eq!(change(&old, &measured(CALM.map(|ms| ms * 1.6), 10.0)), Change::Slower);
        assert_eq!(change(&measured(CALM.map(|ms| ms * 1.6), 10.0), &old), Change::Faster);
    }

    #[test]
    fn a_few_frames_and_tiny_times_never_count() {
        let scaled = |factor: f64| measured(CALM.map(|ms| ms * factor), 10.0);
        let mut few = scaled(3.0);
        few.frames = 7;
        assert_eq!(change(&scaled(1.0), &few), Change::TooFewFrames);
        assert_eq!(change(&scaled(0.001), &scaled(0.002)), Change::None);
        assert_eq!(change(&scaled(0.0), &scaled(0.0)), Change::None);
    }

    #[test]
    fn files_without_rounds_are_judged_by_their_quartiles() {
        let mut old = measured(CALM, 10.0);
        old.turns.clear();
        assert_eq!(change(&old, &measured(CALM, 12.0)), Change::None);
        assert_eq!(change(&old, &measured(CALM.map(|ms| ms * 1.2), 10.0)), Change::Slower);
    }
}
