//! The clock of the animation.
//!
//! In: the wall clock and the user's controls. Out: the time that a frame shows, in seconds of animation.

use std::time::Instant;

/// The animation time. It follows the wall clock, times the speed, except while paused.
#[derive(Debug, Clone)]
pub struct Clock {
    time_seconds: f64,
    speed: f64,
    is_paused: bool,
    last: Instant,
}

impl Clock {
    pub const STEP_SECONDS: f64 = 1.0 / 30.0;

    /// Starts a clock at a time. A negative speed runs backwards.
    pub fn new(time_seconds: f64, speed: f64) -> Self {
        Self { time_seconds, speed, is_paused: false, last: Instant::now() }
    }

    /// Returns the time of the next frame.
    pub fn advance(&mut self) -> f64 {
        self.advance_to(Instant::now())
    }

    /// Returns the time of a frame that is shown at `now`.
    pub fn advance_to(&mut self, now: Instant) -> f64 {
        if !self.is_paused {
            self.time_seconds += self.speed * now.saturating_duration_since(self.last).as_secs_f64();
        }
        self.last = now;
        self.time_seconds
    }

    /// Returns the time of the last frame.
    pub fn time_seconds(&self) -> f64 {
        self.time_seconds
    }

    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Pauses the animation, or continues from the same time.
    pub fn toggle_pause(&mut self) {
        // The time until now still counts if the clock runs, and does not count if it stands.
        self.advance();
        self.is_paused = !self.is_paused;
    }

    /// Returns the seconds of animation for each second.
    pub fn speed(&self) -> f64 {
        self.speed
    }

    pub fn set_speed(&mut self, speed: f64) {
        self.advance();
        self.speed = speed;
    }

    pub fn seek(&mut self, time_seconds: f64) {
        self.advance();
        self.time_seconds = time_seconds;
    }

    pub fn stop_at(&mut self, time_seconds: f64) {
        self.seek(time_seconds);
        self.is_paused = true;
    }

    /// Pauses, and goes on by a number of steps.
    pub fn step(&mut self, steps: i32) {
        self.is_paused = true;
        self.time_seconds += f64::from(steps) * Self::STEP_SECONDS;
    }
}
