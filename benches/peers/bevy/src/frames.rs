//! The time of whole frames, with the GPU's work.
//!
//! Without a window nothing waits for the GPU, so the queue would grow without end and the time of a frame would be that
//! of its commands. After the submission of each frame, this plugin waits until the GPU has finished the frame
//! `in_flight - 1` frames before it. The time of a frame is the interval between the ends of two waits. So each
//! interval contains as much GPU work as the GPU finished in it, and a sum of intervals contains all of it.
//!
//! `in_flight` is 1 or 2. With 2, the GPU draws one frame while the CPU records the next one. With 1, the recording waits
//! for the GPU, as it does in Throng on a software driver. In both cases Bevy's own pipelining stays on: its main world
//! animates the next frame while the render world records this one and waits.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use bevy::prelude::*;
use bevy::render::render_resource::PollType;
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy::render::{Render, RenderApp, RenderSystems};
use wgpu::SubmissionIndex;

/// The times at which waits ended.
#[derive(Debug, Clone, Default, Resource)]
pub struct FrameClock(Arc<Mutex<Vec<Instant>>>);

impl FrameClock {
    /// Forgets all times so far.
    pub fn restart(&self) {
        self.times().clear();
    }

    /// Returns the last `count` intervals in milliseconds.
    pub fn intervals_ms(&self, count: usize) -> Vec<f64> {
        let times = self.times();
        let intervals: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64() * 1e3).collect();
        intervals[intervals.len().saturating_sub(count)..].to_vec()
    }

    fn times(&self) -> std::sync::MutexGuard<'_, Vec<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for the GPU in each frame, and notes the time.
pub struct FramePlugin {
    pub clock: FrameClock,
    /// The number of frames that the GPU may have in its queue, at least 1.
    pub in_flight: usize,
}

impl Plugin for FramePlugin {
    fn build(&self, app: &mut App) {
        let render_app = app.sub_app_mut(RenderApp);
        render_app
            .insert_resource(self.clock.clone())
            .insert_resource(Queue { in_flight: self.in_flight, submitted: VecDeque::new() });
        render_app.add_systems(Render, wait.after(RenderSystems::Render).before(RenderSystems::Cleanup));
    }
}

/// The frames that the GPU may not have finished, oldest first.
#[derive(Resource)]
struct Queue {
    in_flight: usize,
    submitted: VecDeque<SubmissionIndex>,
}

fn wait(device: Res<RenderDevice>, queue: Res<RenderQueue>, mut frames: ResMut<Queue>, clock: Res<FrameClock>) {
    // A queue executes submissions in order, so an empty one at the end of the frame marks the frame.
    frames.submitted.push_back(queue.submit([]));
    while frames.submitted.len() >= frames.in_flight {
        let submission_index = frames.submitted.pop_front();
        device.poll(PollType::Wait { submission_index, timeout: None }).expect("the GPU finishes its work");
    }
    clock.times().push(Instant::now());
}
