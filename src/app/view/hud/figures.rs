//! The times of the last frames, for the graph.
//!
//! In: the CPU's stages and the GPU's passes of each frame, as `bench` measures them. Out: the last frames, and the median of
//! each stage and pass over them.

use std::collections::VecDeque;

use crate::renderer::{PassTimes, StageTimes};

/// The number of frames that count.
pub const MOST_FRAMES: usize = 120;

/// The times of one frame.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FrameTimes {
    /// The CPU's stages.
    pub stages: StageTimes,
    /// The GPU's passes of a few frames before, or zeros if the device has no timestamps.
    pub passes: PassTimes,
}

/// The last frames.
#[derive(Debug, Default)]
pub struct Figures {
    frames: VecDeque<FrameTimes>,
}

impl Figures {
    /// Adds a frame, and forgets one that is too old.
    pub fn add(&mut self, stages: StageTimes, passes: Option<PassTimes>) {
        if self.frames.len() == MOST_FRAMES {
            self.frames.pop_front();
        }
        self.frames.push_back(FrameTimes { stages, passes: passes.unwrap_or_default() });
    }

    /// Forgets all frames: those of other settings do not count.
    pub fn clear(&mut self) {
        self.frames.clear();
    }

    /// Iterates over the frames, the oldest first.
    pub fn frames(&self) -> impl ExactSizeIterator<Item = &FrameTimes> {
        self.frames.iter()
    }

    /// Returns the median of each stage and of each pass.
    pub fn medians(&self) -> FrameTimes {
        let median = |of: &dyn Fn(&FrameTimes) -> f64| self.median(of).unwrap_or(0.0);
        FrameTimes {
            stages: StageTimes(std::array::from_fn(|stage| median(&|frame| frame.stages.0[stage]))),
            passes: PassTimes(std::array::from_fn(|pass| median(&|frame| frame.passes.0[pass]))),
        }
    }

    /// Returns the median of the CPU's time for a whole frame. `None` before the first one.
    pub fn median_frame_ms(&self) -> Option<f64> {
        self.median(&|frame| frame.stages.0.iter().sum())
    }

    fn median(&self, of: &dyn Fn(&FrameTimes) -> f64) -> Option<f64> {
        let mut values: Vec<f64> = self.frames.iter().map(of).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_those_of_the_last_frames() {
        let mut figures = Figures::default();
        assert_eq!((figures.medians(), figures.median_frame_ms()), (FrameTimes::default(), None));
        for frame in 0..MOST_FRAMES + 5 {
            let slow = if frame < 5 { 1e6 } else { 0.0 };
            let stages = StageTimes([1.0 + slow, 2.0, frame as f64, 0.5]);
            figures.add(stages, Some(PassTimes([0.0, 0.0, 0.0, 3.0, 0.0])));
        }
        assert_eq!(figures.frames().len(), MOST_FRAMES);
        let middle = 5.0 + MOST_FRAMES as f64 / 2.0;
        let expected =
            FrameTimes { stages: StageTimes([1.0, 2.0, middle, 0.5]), passes: PassTimes([0.0, 0.0, 0.0, 3.0, 0.0]) };
        assert_eq!((figures.medians(), figures.median_frame_ms()), (expected, Some(3.5 + middle)));
    }

    /// Every frame adds its times, also while the panel is hidden.
    #[test]
    fn adding_frames_soon_needs_no_more_memory() {
        let mut figures = Figures::default();
        let mut add = |count: usize| {
            (0..count).for_each(|_| figures.add(StageTimes::default(), None));
            figures.frames.capacity()
        };
        let capacity = add(MOST_FRAMES);
        assert_eq!(add(10 * MOST_FRAMES), capacity);
    }
}
