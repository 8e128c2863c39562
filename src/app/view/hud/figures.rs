//! The times of the last frames, for the graph.
//!
//! In: the CPU's stages and the GPU's passes of each frame, as `bench` measures them. Out: the last frames, and the median of
//! each stage and pass over them.

use std::collections::VecDeque;

use crate::renderer::{CpuTimes, GpuTimes};

/// The number of frames that count.
pub const MOST_FRAMES: usize = 120;
/// The CPU's stages, in the order of a frame.
pub const STAGES: [&str; 4] = ["cull", "wait", "animate", "record"];
/// The GPU's passes, in the order of a frame.
pub const PASSES: [&str; 5] = ["upload", "skin", "shadow", "draw", "post"];

/// The times of one frame in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FrameTimes {
    /// One for each of [`STAGES`].
    pub stages: [f32; STAGES.len()],
    /// One for each of [`PASSES`]: of a few frames before, or 0 if the device has no timestamps.
    pub passes: [f32; PASSES.len()],
}

/// The last frames.
#[derive(Debug, Default)]
pub struct Figures {
    frames: VecDeque<FrameTimes>,
}

impl Figures {
    /// Adds a frame, and forgets one that is too old.
    pub fn add(&mut self, cpu: CpuTimes, gpu: Option<GpuTimes>) {
        if self.frames.len() == MOST_FRAMES {
            self.frames.pop_front();
        }
        let gpu = gpu.unwrap_or_default();
        self.frames.push_back(FrameTimes {
            stages: [cpu.cull_ms, cpu.wait_ms, cpu.animate_ms, cpu.record_ms].map(|ms| ms as f32),
            passes: [gpu.upload_ms, gpu.skin_ms, gpu.shadow_ms, gpu.draw_ms, gpu.post_ms].map(|ms| ms as f32),
        });
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
        let median = |of: &dyn Fn(&FrameTimes) -> f32| {
            let mut values: Vec<f32> = self.frames.iter().map(of).collect();
            values.sort_unstable_by(f32::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or(0.0)
        };
        FrameTimes {
            stages: std::array::from_fn(|stage| median(&|frame| frame.stages[stage])),
            passes: std::array::from_fn(|pass| median(&|frame| frame.passes[pass])),
        }
    }

    /// Returns the median of the CPU's time for a whole frame. `None` before the first one.
    pub fn median_frame_ms(&self) -> Option<f32> {
        let mut sums: Vec<f32> = self.frames.iter().map(|frame| frame.stages.iter().sum()).collect();
        sums.sort_unstable_by(f32::total_cmp);
        sums.get(sums.len() / 2).copied()
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
            let cpu = CpuTimes { cull_ms: 1.0 + slow, wait_ms: 2.0, animate_ms: frame as f64, record_ms: 0.5 };
            figures.add(cpu, Some(GpuTimes { draw_ms: 3.0, ..GpuTimes::default() }));
        }
        assert_eq!(figures.frames().len(), MOST_FRAMES);
        let middle = 5.0 + MOST_FRAMES as f32 / 2.0;
        let expected = FrameTimes { stages: [1.0, 2.0, middle, 0.5], passes: [0.0, 0.0, 0.0, 3.0, 0.0] };
        assert_eq!((figures.medians(), figures.median_frame_ms()), (expected, Some(3.5 + middle)));
    }

    /// Every frame adds its times, also while the panel is hidden.
    #[test]
    fn adding_frames_soon_needs_no_more_memory() {
        let mut figures = Figures::default();
        let mut add = |count: usize| {
            (0..count).for_each(|_| figures.add(CpuTimes::default(), None));
            figures.frames.capacity()
        };
        let capacity = add(MOST_FRAMES);
        assert_eq!(add(10 * MOST_FRAMES), capacity);
    }
}
